//! What starts a program under test, and the program while it runs.

use std::{fmt, iter, net::SocketAddr, time::Instant};

use crate::terminal::Terminal;

/// The values for the placeholders of a command, such as `("port", "4021")` for `{port}`.
pub type Values<'a> = &'a [(&'static str, String)];

/// The value that is no placeholder: a further word at the end of the command, for tests of its arguments.
pub(crate) const EXTRA: &str = "extra";
/// What a shell adds to the number of the signal that ended its command.
const SHELL: i32 = 128;
/// The names of the signals that end programs.
const SIGNALS: [(i32, &str); 16] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU, too much time on a processor"),
    (25, "SIGXFSZ, a file grew too large"),
    (31, "SIGSYS"),
];
/// What runtimes write on standard error when nobody caught an error.
const UNCAUGHT: [&str; 7] = [
    "Traceback (most recent call last)",
    "panicked at",
    "Exception in thread",
    "terminate called",
    "Sanitizer",
    "Unhandled exception",
    "goroutine ",
];

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The exit status, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl Exit {
    /// A program that ended with this status.
    pub const fn with(code: i32) -> Self {
        Self { code: Some(code), signal: None }
    }

    /// How a program ended, if it has, as a sentence about `who`.
    pub(crate) fn told(exit: Option<&Self>, who: &str) -> String {
        exit.map_or_else(|| format!("{who} still ran"), |exit| format!("{who} ended with {exit}"))
    }

    /// Whether it crashed: a signal ended it, or an error that it did not catch, as these last lines of its standard error say.
    pub(crate) fn is_crash(&self, errors: &[String]) -> bool {
        let uncaught = || errors.iter().any(|line| UNCAUGHT.iter().any(|words| line.contains(words)));
        match self.code {
            None => true,
            Some(0) => false,
            Some(code) => signal_name(code - SHELL).is_some() || uncaught(),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |signal| signal_name(signal).map_or(String::new(), |name| format!(" ({name})"));
        match (self.code, self.signal) {
            (Some(code), _) => match signal_name(code - SHELL) {
                Some(name) => write!(f, "exit status {code}, which a shell gives for {name}"),
                None => write!(f, "exit status {code}"),
            },
            (None, Some(signal)) => write!(f, "signal {signal}{}", named(signal)),
            (None, None) => f.write_str("a signal"),
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}

/// A program under test that runs. Dropping it ends the program and all that it has started.
pub trait Run: Send {
    /// The next line of standard output, without its line feed, or `None` when there is none by then or any more.
    fn line(&mut self, by: Instant) -> Option<String>;

    /// Standard output behind its last line feed.
    fn partial_line(&mut self) -> String {
        String::new()
    }

    /// The lines that a user sees of its standard output, if that is a terminal. A screen that the program has left is gone.
    fn screen(&self) -> Option<Vec<String>> {
        None
    }

    /// Types bytes on its standard input. A program that does not read them is no error.
    fn type_bytes(&mut self, bytes: &[u8]);

    /// Ends its standard input. Returns whether that is possible.
    fn end_input(&mut self) -> bool {
        false
    }

    /// How it ended, or `None` if it still runs then.
    fn exit(&mut self, by: Instant) -> Option<Exit>;

    /// The last lines that it has written on standard error.
    fn errors(&self) -> Vec<String> {
        Vec::new()
    }

    /// The limit for which it was ended, as in `memory, which is 1 GiB`.
    fn limit(&self) -> Option<String> {
        None
    }

    /// When the first byte of its standard output came.
    fn first_output(&self) -> Option<Instant> {
        None
    }

    /// The UDP ports at which it receives, where the system tells.
    fn udp_ports(&self) -> Option<Vec<u16>> {
        None
    }

    /// The process from which all its processes descend, if this tester has started it.
    fn id(&self) -> Option<u32> {
        None
    }
}

impl dyn Run + '_ {
    /// How the program has ended, if it has, for the end of a message: `; it ended with exit status 1`.
    pub fn obituary(&mut self) -> String {
        self.exit(Instant::now()).map_or_else(String::new, |exit| format!("; it ended with {exit}"))
    }

    /// The first of these rows that it does not print by then, behind those before. At a terminal the last screen counts.
    pub(crate) fn missing<'r>(&mut self, rows: impl IntoIterator<Item = &'r str>, by: Instant) -> Option<&'r str> {
        let printed = iter::from_fn(|| self.line(by)).collect();
        let mut shown = self.screen().unwrap_or(printed).into_iter();
        // What a screen needs may stand around a row.
        rows.into_iter().find(|row| !shown.any(|line| line.contains(row.trim_end())))
    }
}

/// Starts the program under test for a scenario. Scenarios run side by side.
pub trait Launcher: Sync {
    /// Where a server under test already runs, if it is not started for each scenario.
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// Whether the program takes this value, such as `players`.
    fn takes(&self, name: &str) -> bool;

    /// Starts the program with these values for the placeholders of its command.
    ///
    /// # Errors
    /// A [`crate::CannotStart`] when the system cannot run the command.
    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>>;

    /// As [`Launcher::start`], at a pseudo-terminal if it [chooses](Launcher::chooses_terminal) one and the system has them.
    ///
    /// # Errors
    /// As [`Launcher::start`].
    fn start_at(&self, _usual: Terminal, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.start(values)
    }

    /// As [`Launcher::start`], with these words behind the arguments.
    ///
    /// # Errors
    /// As [`Launcher::start`].
    fn start_with(&self, values: Values<'_>, _more: &[&str]) -> anyhow::Result<Box<dyn Run>> {
        self.start(values)
    }

    /// Whether it lets the tester choose what is at a pseudo-terminal.
    fn chooses_terminal(&self) -> bool {
        false
    }

    /// Whether all standard streams of its programs are at a terminal.
    fn is_at_terminal(&self) -> bool {
        false
    }

    /// What the program may take and what the system keeps it from, each as a line for people.
    fn limits(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A server that runs already.
pub struct Remote(pub SocketAddr);

struct Elsewhere;

impl Run for Elsewhere {
    fn line(&mut self, _: Instant) -> Option<String> {
        None
    }

    fn type_bytes(&mut self, _: &[u8]) {}

    fn exit(&mut self, _: Instant) -> Option<Exit> {
        None
    }
}

impl Launcher for Remote {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.0)
    }

    fn takes(&self, _: &str) -> bool {
        false
    }

    fn start(&self, _: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        Ok(Box::new(Elsewhere))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_told_from_an_end() {
        let lines = |text: &str| vec![text.to_owned()];
        let killed = Exit { code: None, signal: Some(11) };
        assert!(killed.is_crash(&[]));
        assert_eq!(killed.to_string(), "signal 11 (SIGSEGV)");
        assert!(Exit::with(139).is_crash(&[]), "a shell says so of its command");
        assert_eq!(Exit::with(139).to_string(), "exit status 139, which a shell gives for SIGSEGV");
        assert!(Exit::with(101).is_crash(&lines("thread 'main' panicked at src/main.rs:3:5:")));
        assert!(!Exit::with(1).is_crash(&lines("dealer: no player is left")));
        assert!(!Exit::with(0).is_crash(&lines("Traceback (most recent call last):")), "it went on after it");
    }
}
