//! Ends all processes of a program under test, even if `sh` or `make` starts it.
//!
//! On Linux, a [guard](crate::guard()) ensures this. Without guards, the program leads a process group, and processes
//! that leave the group survive.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

#[cfg(target_os = "linux")]
use crate::guard::{self, Guard, Refusal, has_guards};
use crate::{
    launch::Exit,
    limits::Limits,
    terminal::{Output, Terminal},
};

const POLL: Duration = Duration::from_millis(50);
static STOPPED: AtomicBool = AtomicBool::new(false);
/// Keyed by the id of the first process.
static RUNNING: Mutex<BTreeMap<u32, KillHandle>> = Mutex::new(BTreeMap::new());

/// A termination signal ends all programs under test, sets the flag and aborts the scenarios. No further ones start.
pub fn stop_on_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let stopped = cmdkit::stop_flag()?;
    let flag = Arc::clone(&stopped);
    // A separate thread, since the tester blocks until a program under test has ended.
    thread::Builder::new().name("stop".into()).spawn(move || {
        while !flag.load(Ordering::SeqCst) {
            thread::sleep(POLL);
        }
        stop();
    })?;
    Ok(stopped)
}

fn stop() {
    STOPPED.store(true, Ordering::SeqCst);
    for kill_handle in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).values() {
        kill_handle.end();
    }
}

pub(crate) fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

pub(crate) fn end(id: u32) {
    if let Some(kill_handle) = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
        kill_handle.end();
    }
}

pub(crate) struct Start<'a> {
    pub(crate) program: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) folder: Option<&'a Path>,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only a guard enforces them"))]
    pub(crate) limits: &'a Limits,
    pub(crate) terminal: Terminal,
}

pub(crate) struct Ends {
    pub(crate) input: Option<Box<dyn Write + Send>>,
    pub(crate) output: Output,
    pub(crate) errors: Option<ChildStderr>,
}

enum Leader {
    Group(Child),
    #[cfg(target_os = "linux")]
    Guard(Guard),
}

/// Dropping it ends all processes.
pub(crate) struct Group {
    leader: Leader,
}

impl Group {
    pub(crate) fn start(start: &Start<'_>) -> io::Result<Result<(Self, Ends), io::Error>> {
        let (output, child_end) = Output::open(start.terminal)?;
        #[cfg(target_os = "linux")]
        if has_guards() {
            let at_terminal = start.terminal.has_input();
            let program = start.program.as_ref();
            let mode = guard::mode();
            let mut command = Guard::command(program, start.arguments, start.limits, mode, at_terminal);
            prepare(&mut command, start);
            child_end.attach_output(&mut command)?;
            let mut guard = match Guard::start(&mut command) {
                Ok(guard) => guard,
                Err(Refusal::Command(error)) => return Ok(Err(error)),
                Err(Refusal::Guard(error)) => return Err(error),
            };
            let input: Option<Box<dyn Write + Send>> =
                if at_terminal { output.keyboard()? } else { Some(Box::new(guard.input()?)) };
            let (pipe, errors) = guard.output();
            let ends = Ends { input, output: output.or(pipe), errors };
            let kill_handle = KillHandle::Guard(guard.kill_handle()?);
            return Ok(Ok((Self::running(Leader::Guard(guard), kill_handle), ends)));
        }
        let mut command = Command::new(start.program);
        command.args(start.arguments).stdin(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        prepare(&mut command, start);
        child_end.attach_output(&mut command)?;
        if start.terminal.has_input() {
            child_end.attach_input(&mut command)?;
        }
        let mut leader = match command.spawn() {
            Ok(leader) => leader,
            Err(error) => return Ok(Err(error)),
        };
        let input = match leader.stdin.take() {
            Some(input) => Some(Box::new(input) as Box<dyn Write + Send>),
            None => output.keyboard()?,
        };
        let ends = Ends { input, output: output.or(leader.stdout.take()), errors: leader.stderr.take() };
        let kill_handle = KillHandle::Group(leader.id());
        Ok(Ok((Self::running(Leader::Group(leader), kill_handle), ends)))
    }

    fn running(leader: Leader, kill_handle: KillHandle) -> Self {
        let group = Self { leader };
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if is_stopped() {
            kill_handle.end();
        }
        running.insert(group.id(), kill_handle);
        drop(running);
        group
    }

    pub(crate) fn id(&self) -> u32 {
        match &self.leader {
            Leader::Group(leader) => leader.id(),
            #[cfg(target_os = "linux")]
            Leader::Guard(guard) => guard.id(),
        }
    }

    /// A leader stays a zombie, which reserves the id of the group.
    pub(crate) fn exit(&mut self) -> Option<Exit> {
        match &mut self.leader {
            Leader::Group(leader) => exit(leader),
            #[cfg(target_os = "linux")]
            Leader::Guard(guard) => guard.exit(),
        }
    }

    pub(crate) fn limit(&self) -> Option<&str> {
        match &self.leader {
            Leader::Group(_) => None,
            #[cfg(target_os = "linux")]
            Leader::Guard(guard) => guard.limit(),
        }
    }

    pub(crate) fn udp_ports(&self) -> Option<Vec<u16>> {
        crate::sockets::udp_ports(self.id())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let id = self.id();
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kill_handle) = running.remove(&id) {
            kill_handle.end();
        }
        drop(running);
        match &mut self.leader {
            Leader::Group(leader) => {
                let _ = leader.kill();
                let _ = leader.wait();
            }
            // A guard is awaited when it is dropped.
            #[cfg(target_os = "linux")]
            Leader::Guard(_) => {}
        }
    }
}

fn prepare(command: &mut Command, start: &Start<'_>) {
    if let Some(folder) = start.folder {
        command.current_dir(folder);
    }
    if start.terminal != Terminal::No {
        // Programs would use these as the window size.
        command.env_remove("LINES").env_remove("COLUMNS");
    }
    if start.terminal.has_input() {
        command.env("TERM", "xterm");
    }
    command.stderr(Stdio::piped());
}

#[cfg(unix)]
fn exit(leader: &Child) -> Option<Exit> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(Pid::from_child(leader)), options).ok()??;
    Some(Exit { code: status.exit_status(), signal: status.terminating_signal() })
}

#[cfg(not(unix))]
fn exit(leader: &mut Child) -> Option<Exit> {
    let status = leader.try_wait().ok()??;
    Some(Exit { code: status.code(), signal: None })
}

enum KillHandle {
    Group(u32),
    #[cfg(target_os = "linux")]
    Guard(std::os::unix::net::UnixStream),
}

impl KillHandle {
    fn end(&self) {
        match self {
            Self::Group(leader) => kill(*leader),
            #[cfg(target_os = "linux")]
            Self::Guard(control) => {
                let _ = control.shutdown(std::net::Shutdown::Both);
            }
        }
    }
}

#[cfg(unix)]
fn kill(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_: u32) {}
