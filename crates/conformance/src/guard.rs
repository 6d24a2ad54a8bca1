//! Guards: processes of this executable that stand between the tester and a program under test. A guard sets the limits, starts the
//! program, counts what it uses, and ends all that is left of it, whatever group or session that belongs to.
//!
//! The guard's standard input is a socket. The tester sends what is to be typed ([`TYPED`], [`INPUT_ENDS`]); when the socket ends, the
//! guard ends everything. The guard answers in lines: `begun`, or `cannot ERROR`; then `code N` or `signal N` when the program ends, and
//! `limit NAME` when it was ended for a limit.

mod inside;
mod mode;
mod network;
mod watch;

use std::{
    ffi::OsStr,
    io::{self, Read as _, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, ChildStderr, ChildStdout, Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use rustix::net::{RecvFlags, recv};

pub(crate) use self::{mode::Mode, network::confine_network};
use crate::{launch::Exit, limits::Limits};

/// The first argument of a guard.
const INSIDE: &str = "--inside";
/// This executable, also when the file was replaced.
const MYSELF: &str = "/proc/self/exe";
/// Begins bytes to be typed: two bytes with their number follow, and then they.
const TYPED: u8 = b'T';
const INPUT_ENDS: u8 = b'E';
/// How long a guard may take to start. It is a matter of milliseconds, on a busy machine more.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to end everything.
const LAST: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(1);
const SIGKILL: i32 = 9;

/// Whether this executable can be started as a guard.
static HAS_GUARDS: OnceLock<()> = OnceLock::new();

/// Must be called first by the `main` of each executable that tests programs. If the process was started as a guard, it works as one and
/// does not return. Otherwise this executable is used for guards from now on. Without it programs have no limits.
pub fn guard() {
    inside::work_if_asked();
    // It may be called twice.
    let _ = HAS_GUARDS.set(());
}

pub(crate) fn has_guards() -> bool {
    HAS_GUARDS.get().is_some()
}

fn myself(words: &[&str]) -> Command {
    let mut command = Command::new(MYSELF);
    command.arg(INSIDE).args(words);
    command
}

/// The guard of a program that runs.
pub(crate) struct Guard {
    process: Child,
    control: UnixStream,
    heard: Vec<u8>,
    exit: Option<Exit>,
    limit: Option<String>,
}

/// What the system answers when it cannot run the command, as [`io::Error`], or why the guard itself does not work.
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
    /// Starts a guard, and waits until the program has begun.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Refusal> {
        let (control, theirs) = UnixStream::pair()?;
        let process = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        // The command holds the guard's end open.
        command.stdin(Stdio::null());
        let mut guard = Self { process, control, heard: Vec::new(), exit: None, limit: None };
        guard.begin()?;
        Ok(guard)
    }

    /// The command of a guard for a program. Its standard output and error, folder and environment are those of the program; with
    /// `at_terminal` its standard output becomes the program's standard input, too.
    pub(crate) fn command(
        program: &OsStr,
        arguments: &[String],
        limits: &Limits,
        mode: Mode,
        at_terminal: bool,
    ) -> Command {
        let mut command = myself(&[mode.word(), &limits.to_string(), if at_terminal { "terminal" } else { "pipe" }]);
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
                    ("cannot", Ok(error)) => Err(Refusal::Command(io::Error::from_raw_os_error(error))),
                    _ => Err(Refusal::Guard(io::Error::other(format!("the guard says '{line}'")))),
                };
            }
            let left = deadline.saturating_duration_since(Instant::now());
            self.control.set_read_timeout(Some(left.max(POLL)))?;
            let mut chunk = [0; 256];
            match self.control.read(&mut chunk) {
                Ok(0) => return Err(Refusal::Guard(io::Error::other("the guard ended before it began"))),
                Ok(count) => self.heard.extend(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn next_line(&mut self) -> Option<String> {
        let end = self.heard.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.heard.drain(..=end).take(end).collect();
        Some(String::from_utf8_lossy(&line).into_owned())
    }

    // Hears what the guard has said. Returns whether it can say more.
    fn hear(&mut self) -> bool {
        let mut chunk = [0; 256];
        let goes_on = loop {
            match recv(&self.control, &mut chunk[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => break false,
                Ok((count, _)) => self.heard.extend(&chunk[..count]),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => break error == rustix::io::Errno::AGAIN,
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
        goes_on
    }

    /// How the program has ended, if it has.
    pub(crate) fn exit(&mut self) -> Option<Exit> {
        // A guard that is gone has ended all.
        if !self.hear() && self.exit.is_none() {
            self.exit = Some(Exit { code: None, signal: Some(SIGKILL) });
        }
        self.exit.clone()
    }

    /// The name of the limit for which everything was ended.
    pub(crate) fn limit(&self) -> Option<&str> {
        self.limit.as_deref()
    }

    /// The pipes of the program's standard output and error, once.
    pub(crate) fn output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.process.stdout.take(), self.process.stderr.take())
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// What ends everything from another thread.
    pub(crate) fn ender(&self) -> io::Result<UnixStream> {
        self.control.try_clone()
    }

    /// The standard input of the program. It ends when this is dropped.
    pub(crate) fn input(&self) -> io::Result<Typing> {
        Ok(Typing(self.control.try_clone()?))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.control.shutdown(Shutdown::Both);
        let deadline = Instant::now() + LAST;
        while matches!(self.process.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                let _ = self.process.kill();
                let _ = self.process.wait();
                return;
            }
            thread::sleep(POLL);
        }
    }
}

/// The way to a program's standard input.
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
        // The guard may be gone.
        let _ = self.0.write_all(&[INPUT_ENDS]);
    }
}
