use std::{fmt, iter, net::SocketAddr, time::Instant};

use crate::terminal::Terminal;

/// Values of placeholders, such as `("port", "4021")` for `{port}`.
pub type Values<'a> = &'a [(&'static str, String)];

/// An additional word at the end of the command, without a placeholder.
pub(crate) const EXTRA: &str = "extra";
/// A shell adds this to the number of the signal that ended its command.
const SHELL: i32 = 128;
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
    (24, "SIGXCPU, too much CPU time"),
    (25, "SIGXFSZ, too large a file"),
    (31, "SIGSYS"),
];
/// Written by runtimes for an uncaught error.
const UNCAUGHT: [&str; 7] = [
    "Traceback (most recent call last)",
    "panicked at",
    "Exception in thread",
    "terminate called",
    "Sanitizer",
    "Unhandled exception",
    "goroutine ",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl Exit {
    pub const fn with(code: i32) -> Self {
        Self { code: Some(code), signal: None }
    }

    pub(crate) fn describe(exit: Option<&Self>, who: &str) -> String {
        exit.map_or_else(|| format!("{who} is still running"), |exit| format!("{who} ended with {exit}"))
    }

    /// Whether a signal ended the program, or the end of its standard error shows an uncaught error.
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
                Some(name) => write!(f, "exit status {code}, which a shell returns for {name}"),
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

/// Dropping it ends all processes of the program.
pub trait Run: Send {
    /// Returns the next line without its line feed; `None` if none arrives in time or the output has ended.
    fn line(&mut self, by: Instant) -> Option<String>;

    /// The output after the last line feed.
    fn partial_line(&mut self) -> String {
        String::new()
    }

    /// `None` without a terminal. Excludes screens that the program has left.
    fn screen(&self) -> Option<Vec<String>> {
        None
    }

    /// The program need not read them.
    fn type_bytes(&mut self, bytes: &[u8]);

    fn end_input(&mut self) -> bool {
        false
    }

    /// `None` if the program is still running then.
    fn exit(&mut self, by: Instant) -> Option<Exit>;

    /// The last lines of standard error, without blank ones.
    fn errors(&self) -> Vec<String> {
        Vec::new()
    }

    /// Ends all processes of the program. Returns at most the last 64 KiB of its standard error.
    fn end(self: Box<Self>) -> String {
        String::new()
    }

    /// As in `memory, which is 1 GiB`.
    fn limit(&self) -> Option<String> {
        None
    }

    fn first_output(&self) -> Option<Instant> {
        None
    }

    fn udp_ports(&self) -> Option<Vec<u16>> {
        None
    }

    /// The ancestor of all processes of the program, if the tester started it.
    fn id(&self) -> Option<u32> {
        None
    }
}

impl dyn Run + '_ {
    /// `; it ended with exit status 1`, or empty while the program runs.
    pub fn exit_clause(&mut self) -> String {
        self.exit(Instant::now()).map_or_else(String::new, |exit| format!("; it ended with {exit}"))
    }

    /// Returns the first row that the program does not print in time. Only the last screen of a terminal counts.
    pub(crate) fn missing<'r>(&mut self, rows: impl IntoIterator<Item = &'r str>, by: Instant) -> Option<&'r str> {
        let printed = iter::from_fn(|| self.line(by)).collect();
        let mut shown = self.screen().unwrap_or(printed).into_iter();
        // Decoration of a screen may surround a row.
        rows.into_iter().find(|row| !shown.any(|line| line.contains(row.trim_end())))
    }
}

pub trait Launcher: Sync {
    /// The address of a server that is already running.
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// Whether the program accepts this value, such as `players`.
    fn takes(&self, name: &str) -> bool;

    /// Returns a [`crate::CannotStart`] if the system cannot run the command.
    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>>;

    /// At a pseudo-terminal if the launcher [chooses](Launcher::chooses_terminal) one and the system has them.
    fn start_at(&self, _usual: Terminal, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.start(values)
    }

    fn chooses_terminal(&self) -> bool {
        false
    }

    fn is_at_terminal(&self) -> bool {
        false
    }

    fn limits(&self) -> Vec<String> {
        Vec::new()
    }
}

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
    fn distinguishes_crash_from_exit() {
        let lines = |text: &str| vec![text.to_owned()];
        let killed = Exit { code: None, signal: Some(11) };
        assert!(killed.is_crash(&[]));
        assert_eq!(killed.to_string(), "signal 11 (SIGSEGV)");
        assert!(Exit::with(139).is_crash(&[]), "exit status of a shell whose command crashed");
        assert_eq!(Exit::with(139).to_string(), "exit status 139, which a shell returns for SIGSEGV");
        assert!(Exit::with(101).is_crash(&lines("thread 'main' panicked at src/main.rs:3:5:")));
        assert!(!Exit::with(1).is_crash(&lines("dealer: no player is left")));
        assert!(!Exit::with(0).is_crash(&lines("Traceback (most recent call last):")), "it continued after the error");
    }
}
