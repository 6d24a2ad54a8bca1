//! Runs the command that starts the program under test.

use std::{
    fmt,
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};

use crate::{
    group::{Group, Start},
    holds,
    launch::{EXTRA, Exit, Launcher, Run, Values},
    limits::Limits,
    output::Spoken,
    terminal::Terminal,
};

/// The interval at which the tester checks whether a process has ended.
const POLL: Duration = Duration::from_millis(5);

/// The system cannot run the command.
#[derive(Debug)]
pub struct CannotStart {
    program: String,
    error: io::Error,
}

impl CannotStart {
    /// Whether the system temporarily has no room for another process, so that the error is not caused by the program.
    pub fn is_temporary(&self) -> bool {
        matches!(self.error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory)
    }
}

impl fmt::Display for CannotStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot start '{}': {}", self.program, self.error)
    }
}

impl std::error::Error for CannotStart {}

/// A command that starts the program under test.
#[derive(Clone, Debug)]
pub struct Program {
    words: Vec<String>,
    limits: Limits,
    folder: Option<PathBuf>,
    // `None` lets the tester of the kind choose.
    terminal: Option<Terminal>,
    // Whether braces are not placeholders.
    is_fixed: bool,
}

impl Program {
    /// Creates a program from the command in `words`. If no word has a placeholder, the arguments in `usual` are
    /// appended, as the specification of the game defines them. `known` are all placeholders, and the command must
    /// contain each of `needed`.
    ///
    /// # Errors
    /// If there is no command, a placeholder is unknown, or a needed one is missing.
    pub fn new(mut words: Vec<String>, usual: &str, known: &[&str], needed: &[&str]) -> anyhow::Result<Self> {
        if words.is_empty() {
            bail!("missing command: give it after '--'");
        }
        if !words.iter().any(|word| placeholders(word).next().is_some()) {
            words.extend(usual.split_whitespace().map(str::to_owned));
        }
        for name in words.iter().flat_map(|word| placeholders(word)) {
            if !known.contains(&name) {
                bail!("unknown placeholder '{{{name}}}' in the command: expected one of {{{}}}", known.join("}, {"));
            }
        }
        let program = Self { is_fixed: false, ..Self::fixed(words) };
        match needed.iter().find(|name| !program.takes(name)) {
            Some(name) => {
                bail!("missing placeholder '{{{name}}}' in the command: expected {{{}}}", needed.join("}, {"))
            }
            None => Ok(program),
        }
    }
}

impl Program {
    /// A command without placeholders, even if it contains braces, such as a build command.
    pub fn fixed(words: Vec<String>) -> Self {
        Self { words, limits: Limits::default(), folder: None, terminal: None, is_fixed: true }
    }

    /// Sets limits that replace the default ones. They apply only in executables that have [guards](crate::guard()).
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the working directory of the program.
    #[must_use]
    pub fn in_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// Sets whether the program runs at a pseudo-terminal, regardless of the default of its kind.
    #[must_use]
    pub fn with_terminal(self, terminal: Terminal) -> Self {
        Self { terminal: Some(terminal), ..self }
    }

    // The command with its values. A placeholder without a value is omitted together with its option.
    fn filled(&self, values: Values<'_>) -> Vec<String> {
        let is_given = |name: &str| values.iter().any(|(given, _)| *given == name);
        let mut filled: Vec<String> = Vec::new();
        for word in &self.words {
            if self.is_fixed {
                filled.push(word.clone());
            } else if placeholders(word).all(is_given) {
                filled.push(
                    values.iter().fold(word.clone(), |word, (name, value)| word.replace(&format!("{{{name}}}"), value)),
                );
            } else if word.starts_with('{') && filled.last().is_some_and(|before| before.starts_with('-')) {
                filled.pop();
            }
        }
        filled.extend(values.iter().filter(|(name, _)| *name == EXTRA).map(|(_, word)| word.clone()));
        filled
    }
}

// The words in braces that consist of lower-case letters and hyphens. Other braces belong to the command.
fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split('{').skip(1);
    parts
        .filter_map(|part| part.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

impl Launcher for Program {
    fn takes(&self, name: &str) -> bool {
        let mut words = self.words.iter().filter(|word| placeholders(word).next().is_some());
        match name {
            _ if self.is_fixed => false,
            // After a shell script, the word would not reach the program.
            EXTRA => words.all(|word| !word.contains(char::is_whitespace)),
            _ => words.any(|word| placeholders(word).any(|found| found == name)),
        }
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.start_at(Terminal::No, values)
    }

    fn start_at(&self, usual: Terminal, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.run(usual, &self.filled(values))
    }

    fn start_with(&self, values: Values<'_>, more: &[&str]) -> anyhow::Result<Box<dyn Run>> {
        let mut words = self.filled(values);
        words.extend(more.iter().map(|&word| word.to_owned()));
        self.run(Terminal::No, &words)
    }

    fn chooses_terminal(&self) -> bool {
        self.terminal.is_none()
    }

    fn is_at_terminal(&self) -> bool {
        self.terminal == Some(Terminal::Whole)
    }

    fn limits(&self) -> Vec<String> {
        holds::told(&self.limits)
    }
}

impl Program {
    fn run(&self, usual: Terminal, words: &[String]) -> anyhow::Result<Box<dyn Run>> {
        let (program, arguments) = words.split_first().context("empty command")?;
        let start = Start {
            program,
            arguments,
            folder: self.folder.as_deref(),
            limits: &self.limits,
            terminal: match (self.terminal, usual) {
                (Some(Terminal::Whole), Terminal::Shell) => Terminal::Shell,
                (chosen, _) => chosen.unwrap_or(usual),
            },
        };
        let (group, ends) = Group::start(&start)
            .context("cannot start a program")?
            .map_err(|error| CannotStart { program: program.clone(), error })?;
        let spoken = Spoken::of(ends.output, ends.errors, group.id(), self.limits.output);
        // The tester cannot type an end of input at a terminal.
        let can_end_input = !start.terminal.has_input();
        Ok(Box::new(Running { group, input: ends.input, can_end_input, spoken, limits: self.limits, exit: None }))
    }
}

struct Running {
    group: Group,
    input: Option<Box<dyn Write + Send>>,
    can_end_input: bool,
    spoken: Arc<Spoken>,
    limits: Limits,
    exit: Option<Exit>,
}

impl Run for Running {
    fn line(&mut self, by: Instant) -> Option<String> {
        self.spoken.line(by)
    }

    fn partial_line(&mut self) -> String {
        self.spoken.partial_line()
    }

    fn screen(&self) -> Option<Vec<String>> {
        self.spoken.screen()
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
        self.spoken.errors(self.exit.is_some())
    }

    fn limit(&self) -> Option<String> {
        let name = if self.spoken.is_flood() { "output" } else { self.group.limit()? };
        Some(format!("{name}, which is {}", self.limits.value(name)))
    }

    fn first_output(&self) -> Option<Instant> {
        self.spoken.first()
    }

    fn udp_ports(&self) -> Option<Vec<u16>> {
        self.group.udp_ports()
    }

    fn id(&self) -> Option<u32> {
        Some(self.group.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_uses_placeholders_or_usual_arguments() {
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
        let further = [(EXTRA, "-h".to_owned()), (EXTRA, "x".to_owned())];
        assert_eq!(program(&["d", "-p", "{port}"]).unwrap().filled(&further), ["d", "-h", "x"]);
        assert!(own.takes(EXTRA) && !program(&["sh", "-c", "./d {port}"]).unwrap().takes(EXTRA));
        let told = |command: &[&str]| program(command).unwrap_err().to_string();
        assert_eq!(told(&[]), "missing command: give it after '--'");
        assert_eq!(
            told(&["d", "{prot}"]),
            "unknown placeholder '{prot}' in the command: expected one of {port}, {rounds}"
        );
        assert_eq!(told(&["d", "{rounds}"]), "missing placeholder '{port}' in the command: expected {port}");
    }
}
