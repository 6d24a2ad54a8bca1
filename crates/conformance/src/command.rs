use std::{
    collections::VecDeque,
    fmt,
    io::{self, BufRead as _, BufReader, Read, Write},
    path::PathBuf,
    process::ChildStderr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};

use crate::{
    confinement,
    group::{self, Group, Start},
    launch::{EXTRA, Exit, Launcher, Run, Values},
    limits::Limits,
    terminal::{Output, ROWS, Screen, Terminal, plain},
};

const POLL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub struct CannotStart {
    program: String,
    error: io::Error,
}

impl CannotStart {
    /// Whether the system is out of processes or memory, perhaps temporarily.
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

#[derive(Clone, Debug)]
pub struct Program {
    words: Vec<String>,
    limits: Limits,
    folder: Option<PathBuf>,
    terminal: Option<Terminal>,
    is_fixed: bool,
}

impl Program {
    /// Appends `usual` if the command has no placeholder. `known` lists all placeholders, and `needed` those that it
    /// must contain.
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
    /// A command without placeholders, such as a build command. May contain braces.
    pub fn fixed(words: Vec<String>) -> Self {
        Self { words, limits: Limits::default(), folder: None, terminal: None, is_fixed: true }
    }

    /// Limits apply only in executables that have [guards](crate::guard()).
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    #[must_use]
    pub fn in_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    #[must_use]
    pub fn with_terminal(self, terminal: Terminal) -> Self {
        Self { terminal: Some(terminal), ..self }
    }

    // Omits a placeholder without a value, together with its option.
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

// Braces around anything but a name belong to the command.
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
            // An additional word after a shell script would not reach the program.
            EXTRA => words.all(|word| !word.contains(char::is_whitespace)),
            _ => words.any(|word| placeholders(word).any(|found| found == name)),
        }
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.start_at(Terminal::No, values)
    }

    fn start_at(&self, usual: Terminal, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        let words = self.filled(values);
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
        let captured = CapturedOutput::of(ends.output, ends.errors, group.id(), self.limits.output);
        // The tester cannot type an end of input at a terminal.
        let can_end_input = !start.terminal.has_input();
        Ok(Box::new(Running { group, input: ends.input, can_end_input, captured, limits: self.limits, exit: None }))
    }

    fn chooses_terminal(&self) -> bool {
        self.terminal.is_none()
    }

    fn is_at_terminal(&self) -> bool {
        self.terminal == Some(Terminal::Whole)
    }

    fn limits(&self) -> Vec<String> {
        confinement::report(&self.limits)
    }
}

struct Running {
    group: Group,
    input: Option<Box<dyn Write + Send>>,
    can_end_input: bool,
    captured: Arc<CapturedOutput>,
    limits: Limits,
    exit: Option<Exit>,
}

impl Run for Running {
    fn line(&mut self, by: Instant) -> Option<String> {
        self.captured.line(by)
    }

    fn partial_line(&mut self) -> String {
        self.captured.partial_line()
    }

    fn screen(&self) -> Option<Vec<String>> {
        self.captured.screen()
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
        self.captured.errors(self.exit.is_some())
    }

    fn end(self: Box<Self>) -> String {
        let Self { group, captured, .. } = *self;
        drop(group);
        captured.complete_errors(true).text()
    }

    fn limit(&self) -> Option<String> {
        let name = if self.captured.is_flood() { "output" } else { self.group.limit()? };
        Some(format!("{name}, which is {}", self.limits.value(name)))
    }

    fn first_output(&self) -> Option<Instant> {
        self.captured.first()
    }

    fn udp_ports(&self) -> Option<Vec<u16>> {
        self.group.udp_ports()
    }

    fn id(&self) -> Option<u32> {
        Some(self.group.id())
    }
}

/// In bytes.
const MAX_OUTPUT: u64 = 1 << 20;
/// In bytes. Longer lines are split.
const MAX_LINE: u64 = 4096;
/// In bytes.
const MAX_PARTIAL: usize = 4096;
/// In bytes.
const MAX_ERRORS: usize = 64 << 10;
/// Enough for the stack traces of most languages.
const ERRORS: usize = 50;
/// How long to wait for output of processes that outlive the program.
const FINAL_OUTPUT: Duration = Duration::from_millis(200);

pub(crate) struct CapturedOutput {
    lines: Mutex<Receiver<String>>,
    errors: Mutex<ErrorLines>,
    are_errors_complete: AtomicBool,
    written: AtomicU64,
    most: u64,
    first: OnceLock<Instant>,
    partial: Mutex<Vec<u8>>,
    screen: Option<Mutex<Screen>>,
}

/// The last lines of standard error, of at most [`MAX_ERRORS`] bytes.
#[derive(Debug, Default)]
struct ErrorLines {
    lines: VecDeque<String>,
    // With line feeds.
    bytes: usize,
    omitted: usize,
}

impl ErrorLines {
    fn push(&mut self, line: String) {
        self.bytes += line.len() + 1;
        self.lines.push_back(line);
        while self.bytes > MAX_ERRORS
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= oldest.len() + 1;
            self.omitted += oldest.len() + 1;
        }
    }

    fn text(&self) -> String {
        let omitted = match self.omitted {
            0 => String::new(),
            omitted => format!("({omitted} earlier bytes are omitted)\n"),
        };
        let lines = self.lines.iter().flat_map(|line| [line, "\n"]);
        [&*omitted].into_iter().chain(lines).collect()
    }
}

/// Also records an incomplete line: a screen or a prompt does not end with a line feed.
struct OutputRecorder<'a, R> {
    from: R,
    captured: &'a CapturedOutput,
}

impl<R: Read> Read for OutputRecorder<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        if count > 0 {
            self.captured.first.get_or_init(Instant::now);
        }
        if let Some(screen) = &self.captured.screen {
            let text = String::from_utf8_lossy(&buffer[..count]);
            screen.lock().unwrap_or_else(PoisonError::into_inner).write(&text);
        }
        let mut partial = self.captured.partial.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = &buffer[..count];
        if let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') {
            partial.clear();
            bytes = &bytes[end + 1..];
        }
        let free = MAX_PARTIAL.saturating_sub(partial.len());
        partial.extend(bytes.iter().take(free));
        Ok(count)
    }
}

impl CapturedOutput {
    /// Ends a program that writes more than `most` bytes.
    pub(crate) fn of(output: Output, errors: Option<ChildStderr>, program: u32, most: u64) -> Arc<Self> {
        let (sender, lines) = mpsc::channel();
        let captured = Arc::new(Self {
            lines: Mutex::new(lines),
            errors: Mutex::default(),
            are_errors_complete: AtomicBool::new(errors.is_none()),
            written: AtomicU64::new(0),
            most,
            first: OnceLock::new(),
            partial: Mutex::default(),
            screen: matches!(output, Output::Terminal(_)).then(|| Mutex::new(Screen::new(ROWS.into()))),
        });
        let reader = Arc::clone(&captured);
        thread::spawn(move || reader.read_lines(output, &sender, program));
        if let Some(errors) = errors {
            let reader = Arc::clone(&captured);
            thread::spawn(move || reader.read_errors(errors, program));
        }
        captured
    }

    fn read_lines(&self, output: Output, lines: &Sender<String>, program: u32) {
        let is_terminal = matches!(output, Output::Terminal(_));
        let mut kept = 0;
        self.each_line(OutputRecorder { from: output, captured: self }, program, |line| {
            kept += line.len() as u64 + 1;
            if kept <= MAX_OUTPUT {
                if is_terminal {
                    plain(&line).split('\n').for_each(|part| drop(lines.send(part.to_owned())));
                } else {
                    drop(lines.send(line));
                }
            }
        });
    }

    fn read_errors(&self, from: ChildStderr, program: u32) {
        self.each_line(from, program, |line| {
            self.errors.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        });
        self.are_errors_complete.store(true, Ordering::SeqCst);
    }

    // Passes lines without their ends, split at [`MAX_LINE`].
    fn each_line(&self, from: impl Read, program: u32, mut take: impl FnMut(String)) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while (&mut from).take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            self.written.fetch_add(line.len() as u64, Ordering::SeqCst);
            if self.is_flood() {
                group::end(program);
                return;
            }
            take(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned());
            line.clear();
        }
    }

    pub(crate) fn first(&self) -> Option<Instant> {
        self.first.get().copied()
    }

    pub(crate) fn partial_line(&self) -> String {
        let partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        plain(&String::from_utf8_lossy(&partial))
    }

    pub(crate) fn screen(&self) -> Option<Vec<String>> {
        let screen = self.screen.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(screen.lines().collect())
    }

    pub(crate) fn is_flood(&self) -> bool {
        self.written.load(Ordering::SeqCst) > self.most
    }

    /// `None` if no line arrives in time, or if the output has ended.
    pub(crate) fn line(&self, by: Instant) -> Option<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.recv_timeout(by.saturating_duration_since(Instant::now())).ok()
    }

    /// Complete if the program `has_ended`.
    pub(crate) fn errors(&self, has_ended: bool) -> Vec<String> {
        let errors = self.complete_errors(has_ended);
        let mut last: Vec<String> =
            errors.lines.iter().rev().filter(|line| !line.trim().is_empty()).take(ERRORS).cloned().collect();
        last.reverse();
        last
    }

    fn complete_errors(&self, has_ended: bool) -> MutexGuard<'_, ErrorLines> {
        let by = Instant::now() + FINAL_OUTPUT;
        while has_ended && !self.are_errors_complete.load(Ordering::SeqCst) && Instant::now() < by {
            thread::sleep(POLL);
        }
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_standard_error_is_bounded() {
        let mut errors = ErrorLines::default();
        errors.push("first".into());
        errors.push(String::new());
        assert_eq!(errors.text(), "first\n\n");
        for _ in 0..MAX_ERRORS / 64 {
            errors.push("x".repeat(63));
        }
        assert_eq!((errors.bytes, errors.omitted), (MAX_ERRORS, 7));
        assert!(errors.text().starts_with("(7 earlier bytes are omitted)\nxxx"));
    }

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
        let error = |command: &[&str]| program(command).unwrap_err().to_string();
        assert_eq!(error(&[]), "missing command: give it after '--'");
        assert_eq!(
            error(&["d", "{prot}"]),
            "unknown placeholder '{prot}' in the command: expected one of {port}, {rounds}"
        );
        assert_eq!(error(&["d", "{rounds}"]), "missing placeholder '{port}' in the command: expected {port}");
    }
}
