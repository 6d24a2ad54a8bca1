//! The tester's side of a guard.

use std::{
    ffi::OsStr,
    io::{self, Read as _, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, ChildStderr, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::net::{RecvFlags, recv};

use super::{
    mode::Mode,
    orphans,
    words::{INPUT_ENDS, TERMINAL, TYPED, myself},
};
use crate::{launch::Exit, limits::Limits};

/// How long a guard may take to start. Usually it takes milliseconds, on a busy machine longer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a guard may take to end all processes.
const LAST: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(1);
const SIGKILL: i32 = 9;

/// The number of different process ids that programs get in namespaces of their own.
const VARIED_IDS: u32 = 251;
/// The number of programs that were started.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// The guard of a running program.
pub(crate) struct Guard {
    process: Child,
    control: UnixStream,
    heard: Vec<u8>,
    exit: Option<Exit>,
    limit: Option<String>,
}

/// The system's [`io::Error`] if it cannot run the command, or the reason why the guard itself failed.
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
    /// Starts a guard and waits until the program has started.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Refusal> {
        let (control, theirs) = UnixStream::pair()?;
        let process = orphans::spawn(command.stdin(Stdio::from(OwnedFd::from(theirs))))?;
        // The command keeps the guard's end of the socket open.
        command.stdin(Stdio::null());
        let mut guard = Self { process, control, heard: Vec::new(), exit: None, limit: None };
        guard.begin()?;
        orphans::watch(guard.id(), guard.control.try_clone()?)?;
        Ok(guard)
    }

    /// The command of a guard for a program. Its standard output and error, folder and environment are those of the
    /// program. With `at_terminal`, its standard output is also the program's standard input.
    pub(crate) fn command(
        program: &OsStr,
        arguments: &[String],
        limits: &Limits,
        mode: Mode,
        at_terminal: bool,
    ) -> Command {
        let skipped = STARTED.fetch_add(1, Ordering::Relaxed) % VARIED_IDS;
        let terminal = if at_terminal { TERMINAL } else { "pipe" };
        let mut command = myself(&[mode.word(), &limits.to_string(), terminal, &skipped.to_string()]);
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

    // Reads the guard's messages. Returns whether more may follow.
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
        // If the guard has exited, it has ended all processes, or the program has killed it and is ended by now.
        if !self.hear() && self.exit.is_none() {
            self.exit = Some(Exit { code: None, signal: Some(SIGKILL) });
        }
        self.exit.clone()
    }

    /// The name of the limit that caused the end of the program.
    pub(crate) fn limit(&self) -> Option<&str> {
        self.limit.as_deref()
    }

    /// Takes the pipes of the program's standard output and error. They can be taken once.
    pub(crate) fn output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.process.stdout.take(), self.process.stderr.take())
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// A handle with which another thread can end all processes.
    pub(crate) fn ender(&self) -> io::Result<UnixStream> {
        self.control.try_clone()
    }

    /// The standard input of the program. Dropping it closes the input.
    pub(crate) fn input(&self) -> io::Result<Typing> {
        Ok(Typing(self.control.try_clone()?))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The guard may have ended already.
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
        orphans::collected(self.process.id(), status.is_some_and(|status| status.success()));
    }
}

/// A handle for typing on a program's standard input.
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
        // The guard may have ended.
        let _ = self.0.write_all(&[INPUT_ENDS]);
    }
}
