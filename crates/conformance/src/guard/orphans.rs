//! Processes whose guard was killed. Without namespaces, a program can kill its guard, since it runs as the same user.
//! The tester adopts all processes that the program has started, in any group or session, and ends them.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::net::UnixStream,
    process::{self, Child, Command},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_child_subreaper, waitid, waitpid,
    },
};

use crate::processes::{family, numbers, process as process_of};

/// The interval at which to check whether a guard was stopped.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// How long to try to end processes that constantly start others.
const LAST: Duration = Duration::from_secs(10);

/// The guards that have been started and whose exits have not been collected. All other children of this process are
/// orphans.
static GUARDS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn guards() -> MutexGuard<'static, BTreeSet<u32>> {
    GUARDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a guard.
pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    set_child_subreaper(Some(getpid()))?;
    // Until it is in the set, the guard could be mistaken for an orphan.
    let mut guards = guards();
    let guard = command.spawn()?;
    guards.insert(guard.id());
    Ok(guard)
}

/// Watches a guard in a thread, until either end of the control socket is closed. If the guard does not end in an
/// orderly way, its orphans are ended. A stopped guard does not count resources any more, so it is killed.
pub(super) fn watch(guard: u32, control: UnixStream) -> io::Result<()> {
    let Some(guard) = Pid::from_raw(guard.cast_signed()) else { return Ok(()) };
    thread::Builder::new().name("guard".into()).spawn(move || {
        let is_stopped = || {
            let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            matches!(waitid(WaitId::Pid(guard), options), Ok(Some(_)))
        };
        while let Ok(0) | Err(Errno::INTR) = poll(&mut [PollFd::new(&control, PollFlags::RDHUP)], Some(&GLANCE)) {
            if is_stopped() {
                // The guard is a child of this process that has not been collected.
                let _ = kill_process(guard, Signal::KILL);
            }
        }
        // It stays a child until it is collected. The thread that collects it also ends the orphans.
        if let Ok(Some(ended)) = waitid(WaitId::Pid(guard), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            && ended.exit_status() != Some(0)
        {
            end_orphans();
        }
    })?;
    Ok(())
}

/// Handles the collected exit of a guard. Unless it ended in an orderly way, its orphans are ended.
pub(super) fn collected(guard: u32, in_order: bool) {
    guards().remove(&guard);
    if !in_order {
        end_orphans();
    }
}

// Repeats the signals, since processes may have started others in the meantime, and children of orphans become orphans.
fn end_orphans() {
    let me = process::id();
    // If `/proc` belongs to another namespace, its ids are those of other processes.
    if fs::read_link("/proc/self").ok().and_then(|link| link.to_str()?.parse().ok()) != Some(me) {
        return;
    }
    let deadline = Instant::now() + LAST;
    while Instant::now() < deadline {
        let guards = guards();
        let is_orphan = |id: &u32| process_of(*id).is_some_and(|process| process.parent == me) && !guards.contains(id);
        let orphans: Vec<u32> = numbers().filter(is_orphan).collect();
        if orphans.is_empty() {
            return;
        }
        for id in orphans.iter().flat_map(|orphan| family(*orphan)).map(|process| process.id) {
            if let Some(pid) = Pid::from_raw(id.cast_signed()).filter(|_| !guards.contains(&id)) {
                // The process may have ended already.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        for pid in orphans.into_iter().filter_map(|id| Pid::from_raw(id.cast_signed())) {
            // A process that has not ended yet is still an orphan in the next pass.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        drop(guards);
        thread::yield_now();
    }
}
