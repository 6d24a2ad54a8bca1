//! Groups of processes. A program under test gets one of its own, so that what it starts ends with it, also behind `sh`, `make` or `cargo run`.

use std::{
    collections::BTreeSet,
    io,
    process::{Child, Command},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::launch::Exit;

/// Set for good when the user wants the test to end.
static STOPPED: AtomicBool = AtomicBool::new(false);
/// The groups that run.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ends all programs under test. Scenarios that run are broken off, and no others begin.
pub fn stop() {
    STOPPED.store(true, Ordering::SeqCst);
    for leader in &*RUNNING.lock().unwrap_or_else(PoisonError::into_inner) {
        kill(*leader);
    }
}

pub(crate) fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// A program that leads a group of processes. Dropping it ends all of them.
pub(crate) struct Group {
    leader: Child,
}

impl Group {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let leader = command.spawn()?;
        running.insert(leader.id());
        drop(running);
        if is_stopped() {
            kill(leader.id());
        }
        Ok(Self { leader })
    }

    pub(crate) fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    /// How the leader has ended, if it has. It stays a zombie, so that no other process gets the number of the group.
    #[cfg(unix)]
    pub(crate) fn exit(&mut self) -> Option<Exit> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(Pid::from_child(&self.leader)), options).ok()??;
        Some(Exit { code: status.exit_status(), signal: status.terminating_signal() })
    }

    #[cfg(not(unix))]
    pub(crate) fn exit(&mut self) -> Option<Exit> {
        let status = self.leader.try_wait().ok()??;
        Some(Exit { code: status.code(), signal: None })
    }

    /// The UDP ports of all processes of the group.
    pub(crate) fn udp_ports(&self) -> Option<Vec<u16>> {
        crate::sockets::udp_ports(self.leader.id())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let id = self.leader.id();
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        kill(id);
        running.remove(&id);
        drop(running);
        // It may have ended by itself.
        let _ = self.leader.kill();
        let _ = self.leader.wait();
    }
}

#[cfg(unix)]
fn kill(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // All of them may have ended.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_: u32) {}
