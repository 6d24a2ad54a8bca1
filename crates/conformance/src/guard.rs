//! Guards: processes of this executable between the tester and a program under test. A guard sets the limits, starts
//! the program, counts its resources, and ends all of its processes in any group or session.
//!
//! The guard's standard input is a socket, on which the tester sends the bytes to type (see `words`). Closing it ends
//! all processes. The guard responds in lines: `begun`, or `cannot ERROR`; then `code N` or `signal N` when the program
//! ends, and `limit NAME` if a limit ended it.

mod inside;
mod network;

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{self, Read as _, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{self, Child, ChildStderr, ChildStdout, Command, Stdio},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvFlags, recv},
    process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_child_subreaper, waitid, waitpid,
    },
};

use crate::{
    launch::Exit,
    limits::Limits,
    processes::{family, numbers, process as process_of},
};

pub(crate) use self::network::{Namespace, confine_network};

static HAS_GUARDS: OnceLock<()> = OnceLock::new();

/// Each executable that tests programs must call this first in `main`. It does not return in a process that was started
/// as a guard. Without this call, programs have no limits.
///
/// If a program kills its guard, this process adopts the program's other processes and ends them. While programs run,
/// it must not start children by other means.
pub fn guard() {
    inside::run_guard_if_requested();
    let _ = HAS_GUARDS.set(());
}

pub(crate) fn has_guards() -> bool {
    HAS_GUARDS.get().is_some()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In a process namespace, which only root may create. All processes end with the first.
    Root,
    /// In a user namespace with a process namespace inside. Task limits count only the program's processes.
    User,
    /// The guard is the parent of all orphans, finds them and ends them.
    Plain,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Root, Self::User, Self::Plain];

    const fn word(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::User => "user",
            Self::Plain => "plain",
        }
    }
}

const INSIDE: &str = "--inside";
/// Still refers to this executable if the file was replaced.
const MYSELF: &str = "/proc/self/exe";
/// The argument of a process that tries to leave the network.
const NETWORK: &str = "network";
/// Shows that a process can be started, and exits.
const NOTHING: &str = "nothing";
const TERMINAL: &str = "terminal";
/// Two bytes with the length and then the bytes follow.
const TYPED: u8 = b'T';
const INPUT_ENDS: u8 = b'E';

fn guard_command(words: &[&str]) -> Command {
    let mut command = Command::new(MYSELF);
    command.arg(INSIDE).args(words);
    command
}

pub(crate) fn mode() -> Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    *MODE.get_or_init(|| Mode::ALL.into_iter().find(|mode| works(*mode)).unwrap_or(Mode::Plain))
}

fn works(mode: Mode) -> bool {
    let nothing = [INSIDE, NOTHING].map(str::to_owned);
    let mut command = Guard::command(OsStr::new(MYSELF), &nothing, &Limits::default(), mode, false);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Guard::start(&mut command).is_ok()
}

const PATIENCE: Duration = Duration::from_secs(30);
/// A guard may take this long to end all processes, since some may keep starting others.
const LAST: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(1);
const SIGKILL: i32 = 9;

/// Consecutive programs get this many different process ids.
const VARIED_IDS: u32 = 251;
static STARTED: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Guard {
    process: Child,
    control: UnixStream,
    received: Vec<u8>,
    exit: Option<Exit>,
    limit: Option<String>,
}

pub(crate) enum Refusal {
    Command(io::Error),
    Guard(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Guard(error)
    }
}

impl Guard {
    pub(crate) fn start(command: &mut Command) -> Result<Self, Refusal> {
        let (control, guard_end) = UnixStream::pair()?;
        let process = spawn(command.stdin(Stdio::from(OwnedFd::from(guard_end))))?;
        // The command keeps the guard's end of the socket open.
        command.stdin(Stdio::null());
        let mut guard = Self { process, control, received: Vec::new(), exit: None, limit: None };
        guard.begin()?;
        watch(guard.id(), guard.control.try_clone()?)?;
        Ok(guard)
    }

    /// `at_terminal` makes standard output also the standard input.
    pub(crate) fn command(
        program: &OsStr,
        arguments: &[String],
        limits: &Limits,
        mode: Mode,
        at_terminal: bool,
    ) -> Command {
        let skipped = STARTED.fetch_add(1, Ordering::Relaxed) % VARIED_IDS;
        let terminal = if at_terminal { TERMINAL } else { "pipe" };
        let mut command = guard_command(&[mode.word(), &limits.to_string(), terminal, &skipped.to_string()]);
        command.arg(program).args(arguments);
        command
    }

    fn begin(&mut self) -> Result<(), Refusal> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(line) = self.next_line() {
                let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
                return match (word, rest.parse()) {
                    ("begun", _) => Ok(()),
                    // The program may have ended before this message arrives.
                    ("limit", _) => {
                        self.limit = Some(rest.to_owned());
                        Ok(())
                    }
                    ("cannot", Ok(error)) => Err(Refusal::Command(io::Error::from_raw_os_error(error))),
                    _ => Err(Refusal::Guard(io::Error::other(format!("unexpected message of the guard: '{line}'")))),
                };
            }
            let left = deadline.saturating_duration_since(Instant::now());
            self.control.set_read_timeout(Some(left.max(POLL)))?;
            let mut chunk = [0; 256];
            match self.control.read(&mut chunk) {
                Ok(0) => return Err(Refusal::Guard(io::Error::other("the guard ended before it started the program"))),
                Ok(count) => self.received.extend(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn next_line(&mut self) -> Option<String> {
        let end = self.received.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.received.drain(..=end).take(end).collect();
        Some(String::from_utf8_lossy(&line).into_owned())
    }

    // Returns whether the socket is still open.
    fn receive(&mut self) -> bool {
        let mut chunk = [0; 256];
        let is_open = loop {
            match recv(&self.control, &mut chunk[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => break false,
                Ok((count, _)) => self.received.extend(&chunk[..count]),
                Err(Errno::INTR) => {}
                Err(error) => break error == Errno::AGAIN,
            }
        };
        while let Some(line) = self.next_line() {
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "code" => self.exit = rest.parse().ok().map(Exit::with),
                "signal" => self.exit = Some(Exit { code: None, signal: rest.parse().ok() }),
                "limit" => self.limit = Some(rest.to_owned()),
                _ => {}
            }
        }
        is_open
    }

    pub(crate) fn exit(&mut self) -> Option<Exit> {
        // An exited guard has ended all processes, or the program has killed it and is ended by now.
        if !self.receive() && self.exit.is_none() {
            self.exit = Some(Exit { code: None, signal: Some(SIGKILL) });
        }
        self.exit.clone()
    }

    pub(crate) fn limit(&self) -> Option<&str> {
        self.limit.as_deref()
    }

    pub(crate) fn output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.process.stdout.take(), self.process.stderr.take())
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn kill_handle(&self) -> io::Result<UnixStream> {
        self.control.try_clone()
    }

    /// Dropping it closes the input.
    pub(crate) fn input(&self) -> io::Result<Typing> {
        Ok(Typing(self.control.try_clone()?))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.control.shutdown(Shutdown::Both);
        let deadline = Instant::now() + LAST;
        let status = loop {
            match self.process.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
                Ok(None) => {
                    let _ = self.process.kill();
                    break self.process.wait().ok();
                }
                ended => break ended.ok().flatten(),
            }
        };
        collected(self.process.id(), status.is_some_and(|status| status.success()));
    }
}

pub(crate) struct Typing(UnixStream);

impl Write for Typing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = &bytes[..bytes.len().min(u16::MAX.into())];
        let count = u16::try_from(part.len()).map_err(io::Error::other)?;
        self.0.write_all(&[&[TYPED][..], &count.to_be_bytes(), part].concat())?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        let _ = self.0.write_all(&[INPUT_ENDS]);
    }
}

const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// All other children of this process are orphans.
static GUARDS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn guards() -> MutexGuard<'static, BTreeSet<u32>> {
    GUARDS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(command: &mut Command) -> io::Result<Child> {
    set_child_subreaper(Some(getpid()))?;
    // Locked, so that the guard is not mistaken for an orphan until it is in the set.
    let mut guards = guards();
    let guard = command.spawn()?;
    guards.insert(guard.id());
    Ok(guard)
}

/// Ends the orphans of a failed guard. A stopped guard counts no resources, so it is killed.
fn watch(guard: u32, control: UnixStream) -> io::Result<()> {
    let Some(guard) = Pid::from_raw(guard.cast_signed()) else { return Ok(()) };
    thread::Builder::new().name("guard".into()).spawn(move || {
        let is_stopped = || {
            let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            matches!(waitid(WaitId::Pid(guard), options), Ok(Some(_)))
        };
        while let Ok(0) | Err(Errno::INTR) = poll(&mut [PollFd::new(&control, PollFlags::RDHUP)], Some(&GLANCE)) {
            if is_stopped() {
                // The id is valid: the guard's exit has not been collected.
                let _ = kill_process(guard, Signal::KILL);
            }
        }
        // The thread that collects the exit also ends the orphans.
        if let Ok(Some(ended)) = waitid(WaitId::Pid(guard), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            && ended.exit_status() != Some(0)
        {
            end_orphans();
        }
    })?;
    Ok(())
}

fn collected(guard: u32, in_order: bool) {
    guards().remove(&guard);
    if !in_order {
        end_orphans();
    }
}

// Repeats the signals: processes may have started others, and children of orphans become orphans.
fn end_orphans() {
    let me = process::id();
    // Another namespace's `/proc` lists ids of other processes.
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
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        for pid in orphans.into_iter().filter_map(|id| Pid::from_raw(id.cast_signed())) {
            // A process that still runs remains an orphan for the next pass.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        drop(guards);
        thread::yield_now();
    }
}
