//! Starts the program under test.

use std::{
    fmt,
    io::{self, BufRead as _, BufReader, Read, Write as _},
    iter,
    net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket},
    ops::Range,
    process::{self, Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};

/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);
/// The most output that is kept of a program, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;
/// The longest line, in bytes; longer ones are cut into several.
const MAX_LINE: u64 = 4096;

/// The values for the placeholders of a command, such as `("port", "4021")` for `{port}`.
pub type Values<'a> = &'a [(&'static str, String)];

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The exit status, unless a signal ended it.
    pub code: Option<i32>,
}

impl Exit {
    /// How a program ended, if it has, as a sentence about `who`.
    pub(crate) fn told(exit: Option<&Self>, who: &str) -> String {
        match exit.map(|exit| exit.code) {
            Some(Some(code)) => format!("{who} ended with exit status {code}"),
            Some(None) => format!("a signal ended {who}"),
            None => format!("{who} still ran"),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "exit status {code}"),
            None => f.write_str("a signal"),
        }
    }
}

/// A program under test that runs. Dropping it ends the program.
pub trait Run {
    /// The next line of standard output, without its line feed, or `None` when there is none by then or any more.
    fn line(&mut self, by: Instant) -> Option<String>;

    /// Types bytes on its standard input. A program that does not read them is no error.
    fn type_bytes(&mut self, bytes: &[u8]);

    /// Ends its standard input. Returns whether that is possible.
    fn end_input(&mut self) -> bool {
        false
    }

    /// How it ended, or `None` if it still runs then.
    fn exit(&mut self, by: Instant) -> Option<Exit>;

    /// The last line that it has written on standard error, for messages.
    fn complaint(&self) -> Option<String> {
        None
    }
}

impl dyn Run + '_ {
    /// How the program has ended, if it has, for the end of a message: `; it ended with status 1: '...'`.
    pub fn obituary(&mut self) -> String {
        let Some(exit) = self.exit(Instant::now()) else { return String::new() };
        let how = exit.code.map_or_else(|| "a signal".to_owned(), |code| format!("status {code}"));
        let complaint = self.complaint().map_or(String::new(), |line| format!(": '{line}'"));
        format!("; it ended with {how}{complaint}")
    }

    /// The first of these rows that it does not print by then, behind those before. `fits` says whether a line has a row.
    pub(crate) fn missing<'r>(
        &mut self,
        rows: impl IntoIterator<Item = &'r str>,
        by: Instant,
        fits: fn(&str, &str) -> bool,
    ) -> Option<&'r str> {
        rows.into_iter().find(|row| !iter::from_fn(|| self.line(by)).any(|line| fits(&line, row.trim_end())))
    }
}

/// Starts the program under test for a scenario.
pub trait Launcher {
    /// Where a server under test already runs, if it is not started for each scenario.
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// Whether the program takes this value, such as `players`.
    fn takes(&self, name: &str) -> bool;

    /// Starts it.
    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>>;
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

/// A command that starts the program under test.
#[derive(Debug)]
pub struct Program {
    words: Vec<String>,
}

impl Program {
    /// `words` is the command. Where no word has a placeholder, `usual` follows: the arguments that the specification of the game gives to
    /// such programs. `known` are all placeholders, and each of `needed` must stand in the command.
    ///
    /// # Errors
    /// When there is no command, a placeholder is unknown, or one is missing.
    pub fn new(mut words: Vec<String>, usual: &str, known: &[&str], needed: &[&str]) -> anyhow::Result<Self> {
        if words.is_empty() {
            bail!("there is no command to test; give it behind '--'");
        }
        if !words.iter().any(|word| placeholders(word).next().is_some()) {
            words.extend(usual.split(' ').map(str::to_owned));
        }
        for name in words.iter().flat_map(|word| placeholders(word)) {
            if !known.contains(&name) {
                bail!("the command has the unknown placeholder '{{{name}}}'; there are {{{}}}", known.join("}, {"));
            }
        }
        let program = Self { words };
        match needed.iter().find(|name| !program.takes(name)) {
            Some(name) => {
                bail!("the command does not say where '{{{name}}}' stands; it needs {{{}}}", needed.join("}, {"))
            }
            None => Ok(program),
        }
    }
}

// What stands in braces and is made of lower-case letters and hyphens. Other braces are of the command.
fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split('{').skip(1);
    parts
        .filter_map(|part| part.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

impl Launcher for Program {
    fn takes(&self, name: &str) -> bool {
        self.words.iter().any(|word| placeholders(word).any(|found| found == name))
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        let mut words = self.words.iter().map(|word| {
            values.iter().fold(word.clone(), |word, (name, value)| word.replace(&format!("{{{name}}}"), value))
        });
        let program = words.next().unwrap_or_default();
        let mut command = Command::new(&program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start '{program}'"))?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, lines) = mpsc::channel();
        if let Some(output) = output {
            // A program that prints for ever ends at a closed pipe.
            thread::spawn(move || each_line(output.take(MAX_OUTPUT), |line| sender.send(line).is_ok()));
        }
        let complaint = Arc::new(Mutex::new(None));
        if let Some(errors) = errors {
            let complaint = Arc::clone(&complaint);
            // Read to its end, since a program that cannot log waits.
            thread::spawn(move || {
                each_line(errors, |line| {
                    if !line.trim().is_empty() {
                        *complaint.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
                    }
                    true
                });
            });
        }
        Ok(Box::new(Running { child, input, lines, complaint, exit: None }))
    }
}

// Gives each line, without its end and cut at a bound, until there is none or `take` wants no more.
fn each_line(from: impl Read, mut take: impl FnMut(String) -> bool) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while (&mut from).take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if !take(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned()) {
            return;
        }
        line.clear();
    }
}

struct Running {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    complaint: Arc<Mutex<Option<String>>>,
    exit: Option<Exit>,
}

impl Run for Running {
    fn line(&mut self, by: Instant) -> Option<String> {
        self.lines.recv_timeout(by.saturating_duration_since(Instant::now())).ok()
    }

    fn type_bytes(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input
            && input.write_all(bytes).and_then(|()| input.flush()).is_err()
        {
            self.input = None;
        }
    }

    fn end_input(&mut self) -> bool {
        self.input = None;
        true
    }

    fn exit(&mut self, by: Instant) -> Option<Exit> {
        while self.exit.is_none() {
            if let Ok(Some(status)) = self.child.try_wait() {
                self.exit = Some(Exit { code: status.code() });
            } else if Instant::now() >= by {
                return None;
            } else {
                thread::sleep(POLL);
            }
        }
        self.exit.clone()
    }

    fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The ports that programs under test are told to listen at. They lie below those that systems give to sockets without a port of their own:
/// no such socket takes one between the moment when it is found free and the moment when the program listens.
const PORTS: Range<u16> = 20_000..30_000;

/// A TCP port that is free now, and that this process has not handed out recently.
pub(crate) fn free_tcp_port() -> anyhow::Result<u16> {
    free_port(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(drop))
}

pub(crate) fn free_udp_port() -> anyhow::Result<u16> {
    free_port(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).map(drop))
}

fn free_port(bind: impl Fn(u16) -> io::Result<()>) -> anyhow::Result<u16> {
    static HANDED_OUT: AtomicU32 = AtomicU32::new(0);
    // Testers that run at the same time begin at different places: their process numbers mostly differ by little.
    let start = process::id().wrapping_mul(7919);
    let ports = u32::from(PORTS.end - PORTS.start);
    for _ in 0..ports {
        let offset = start.wrapping_add(HANDED_OUT.fetch_add(1, Ordering::Relaxed)) % ports;
        let port = PORTS.start + u16::try_from(offset)?;
        if bind(port).is_ok() {
            return Ok(port);
        }
    }
    bail!("none of the ports {} to {} is free", PORTS.start, PORTS.end - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_not_handed_out_and_no_port_twice_in_a_row() {
        let held: Vec<_> =
            (0..20).map(|_| TcpListener::bind(("127.0.0.1", free_tcp_port().unwrap())).unwrap()).collect();
        for _ in 0..50 {
            let port = free_tcp_port().unwrap();
            assert!(PORTS.contains(&port));
            assert!(held.iter().all(|listener| listener.local_addr().unwrap().port() != port));
        }
        let (one, other) = (free_udp_port().unwrap(), free_udp_port().unwrap());
        assert_ne!(one, other);
        let every_second = free_port(|port| if port % 2 == 0 { Ok(()) } else { Err(io::ErrorKind::AddrInUse.into()) });
        assert_eq!(every_second.unwrap() % 2, 0);
        let none = free_port(|_| Err(io::ErrorKind::AddrInUse.into()));
        assert_eq!(none.unwrap_err().to_string(), "none of the ports 20000 to 29999 is free");
    }

    #[test]
    fn a_command_has_its_placeholders_or_the_usual_arguments() {
        let program = |command: &[&str]| {
            let words = command.iter().map(|&word| word.to_owned()).collect();
            Program::new(words, "{port} {rounds}", &["port", "rounds"], &["port"])
        };
        assert_eq!(program(&["./dealer"]).unwrap().words, ["./dealer", "{port}", "{rounds}"]);
        let own = program(&["python3", "d.py", "--port={port}", "{}", "{'a': 1}"]).unwrap();
        assert!(own.takes("port") && !own.takes("rounds"));
        let told = |command: &[&str]| program(command).unwrap_err().to_string();
        assert_eq!(told(&[]), "there is no command to test; give it behind '--'");
        assert_eq!(
            told(&["d", "{prot}"]),
            "the command has the unknown placeholder '{prot}'; there are {port}, {rounds}"
        );
        assert_eq!(told(&["d", "{rounds}"]), "the command does not say where '{port}' stands; it needs {port}");
    }
}
