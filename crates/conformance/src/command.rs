//! Runs the command that starts the program under test.

use std::{
    collections::VecDeque,
    fmt,
    io::{self, BufRead as _, BufReader, Read, Write},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::bail;

use crate::{
    group::Group,
    launch::{Exit, Launcher, Run, Values},
    terminal::{Output, Terminal, plain},
};

/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);
/// The most output that is kept of a program, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;
/// The longest line, in bytes; longer ones are cut into several.
const MAX_LINE: u64 = 4096;
/// The last lines of standard error that are kept: as many as the traces of most languages have.
const ERRORS: usize = 50;
/// How long to wait for what a program has written before it ended. Only what it has left behind could write still more.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The system cannot run the command.
#[derive(Debug)]
pub struct CannotStart {
    program: String,
    error: io::Error,
}

impl fmt::Display for CannotStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot start '{}': {}", self.program, self.error)
    }
}

impl std::error::Error for CannotStart {}

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
            words.extend(usual.split_whitespace().map(str::to_owned));
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

impl Program {
    // The command with its values. A placeholder without one is left out, with the option in front of it.
    fn filled(&self, values: Values<'_>) -> Vec<String> {
        let is_given = |name: &str| values.iter().any(|(given, _)| *given == name);
        let mut filled: Vec<String> = Vec::new();
        for word in &self.words {
            if placeholders(word).all(is_given) {
                filled.push(
                    values.iter().fold(word.clone(), |word, (name, value)| word.replace(&format!("{{{name}}}"), value)),
                );
            } else if word.starts_with('{') && filled.last().is_some_and(|before| before.starts_with('-')) {
                filled.pop();
            }
        }
        filled
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
        self.start_at(Terminal::No, values)
    }

    fn chooses_terminal(&self) -> bool {
        true
    }

    fn start_at(&self, terminal: Terminal, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        let mut words = self.filled(values).into_iter();
        let program = words.next().unwrap_or_default();
        let mut command = Command::new(&program);
        let (output, theirs) = Output::open(terminal)?;
        command.args(words).stdin(Stdio::piped()).stderr(Stdio::piped());
        theirs.give(&mut command)?;
        if terminal == Terminal::Whole {
            theirs.give_input(&mut command)?;
        }
        let mut group = Group::start(&mut command).map_err(|error| CannotStart { program, error })?;
        // While the tester has their side too, it would see no end.
        drop((command, theirs));
        let leader = group.leader();
        let typed = leader.stdin.take().map(|input| Box::new(input) as Box<dyn Write + Send>);
        let input = output.keyboard()?.filter(|_| terminal == Terminal::Whole).or(typed);
        let (output, errors) = (output.or(leader.stdout.take()), leader.stderr.take());
        let (sender, lines) = mpsc::channel();
        // A program that prints for ever ends at a closed pipe.
        thread::spawn(move || each_line(output.take(MAX_OUTPUT), |line| sender.send(plain(&line)).is_ok()));
        let said = Arc::new(Errors::default());
        if let Some(errors) = errors {
            let said = Arc::clone(&said);
            thread::spawn(move || said.collect(errors));
        }
        let can_end_input = terminal != Terminal::Whole;
        Ok(Box::new(Running { group, input, can_end_input, lines, errors: said, exit: None }))
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

/// The last lines of standard error.
#[derive(Default)]
struct Errors {
    lines: Mutex<VecDeque<String>>,
    complete: AtomicBool,
}

impl Errors {
    // Reads to the end, since a program that cannot log waits.
    fn collect(&self, from: impl Read) {
        each_line(from, |line| {
            if !line.trim().is_empty() {
                let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.len() == ERRORS {
                    lines.pop_front();
                }
                lines.push_back(line);
            }
            true
        });
        self.complete.store(true, Ordering::SeqCst);
    }
}

struct Running {
    group: Group,
    input: Option<Box<dyn Write + Send>>,
    // At a terminal there is no end of input that the tester could type.
    can_end_input: bool,
    lines: Receiver<String>,
    errors: Arc<Errors>,
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
        if self.can_end_input {
            self.input = None;
        }
        self.can_end_input
    }

    fn exit(&mut self, by: Instant) -> Option<Exit> {
        while self.exit.is_none() {
            self.exit = self.group.exit();
            if self.exit.is_none() {
                if Instant::now() >= by {
                    return None;
                }
                thread::sleep(POLL);
            }
        }
        self.exit.clone()
    }

    fn errors(&self) -> Vec<String> {
        let by = Instant::now() + LAST_WORDS;
        while self.exit.is_some() && !self.errors.complete.load(Ordering::SeqCst) && Instant::now() < by {
            thread::sleep(POLL);
        }
        self.errors.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn udp_ports(&self) -> Option<Vec<u16>> {
        self.group.udp_ports()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_its_placeholders_or_the_usual_arguments() {
        let program = |command: &[&str]| {
            let words = command.iter().map(|&word| word.to_owned()).collect();
            Program::new(words, "{port} {rounds}", &["port", "rounds"], &["port"])
        };
        assert_eq!(program(&["./dealer"]).unwrap().words, ["./dealer", "{port}", "{rounds}"]);
        let own = program(&["python3", "d.py", "--port={port}", "{}", "{'a': 1}"]).unwrap();
        assert!(own.takes("port") && !own.takes("rounds"));
        let filled = |command: &[&str]| program(command).unwrap().filled(&[("port", "21".to_owned())]);
        assert_eq!(filled(&["d", "-p", "{port}", "-r", "{rounds}", "x"]), ["d", "-p", "21", "x"]);
        assert_eq!(filled(&["d", "{port}", "--rounds={rounds}"]), ["d", "21"]);
        let told = |command: &[&str]| program(command).unwrap_err().to_string();
        assert_eq!(told(&[]), "there is no command to test; give it behind '--'");
        assert_eq!(
            told(&["d", "{prot}"]),
            "the command has the unknown placeholder '{prot}'; there are {port}, {rounds}"
        );
        assert_eq!(told(&["d", "{rounds}"]), "the command does not say where '{port}' stands; it needs {port}");
    }
}
