//! The output of a program under test. All of it is read, since a program that cannot write blocks. Only a small part
//! is kept.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, BufReader, Read},
    process::ChildStderr,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    group,
    screen::Screen,
    terminal::{Output, ROWS, plain},
};

/// The interval at which to check whether a program's output is complete.
const POLL: Duration = Duration::from_millis(5);
/// The maximum size of the kept output of a program, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;
/// The maximum length of a line in bytes. Longer lines are split.
const MAX_LINE: u64 = 4096;
/// The number of bytes that are kept of an incomplete line.
const MAX_PARTIAL: usize = 4096;
/// The number of the last lines of standard error that are kept. It suffices for the stack traces of most languages.
const ERRORS: usize = 50;
/// How long to wait for the output that a program wrote before it ended. Only processes that it has left behind can
/// still write more.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The output of a program.
pub(crate) struct Spoken {
    lines: Mutex<Receiver<String>>,
    errors: Mutex<VecDeque<String>>,
    are_errors_complete: AtomicBool,
    // The number of bytes on both streams.
    written: AtomicU64,
    most: u64,
    // When the first byte of standard output arrived.
    first: OnceLock<Instant>,
    // The standard output after the last line feed.
    partial: Mutex<Vec<u8>>,
    // The visible screen, if standard output is a terminal.
    screen: Option<Mutex<Screen>>,
}

/// Records the time of the first byte and the incomplete line. Programs that draw a screen or print a prompt complete
/// no line.
struct Noted<'a, R> {
    from: R,
    spoken: &'a Spoken,
}

impl<R: Read> Read for Noted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        if count > 0 {
            self.spoken.first.get_or_init(Instant::now);
        }
        if let Some(screen) = &self.spoken.screen {
            let text = String::from_utf8_lossy(&buffer[..count]);
            screen.lock().unwrap_or_else(PoisonError::into_inner).write(&text);
        }
        let mut partial = self.spoken.partial.lock().unwrap_or_else(PoisonError::into_inner);
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

impl Spoken {
    /// Reads in separate threads. If the program with this process id writes more than `most` bytes, it is ended.
    pub(crate) fn of(output: Output, errors: Option<ChildStderr>, program: u32, most: u64) -> Arc<Self> {
        let (sender, lines) = mpsc::channel();
        let spoken = Arc::new(Self {
            lines: Mutex::new(lines),
            errors: Mutex::default(),
            are_errors_complete: AtomicBool::new(errors.is_none()),
            written: AtomicU64::new(0),
            most,
            first: OnceLock::new(),
            partial: Mutex::default(),
            screen: matches!(output, Output::Terminal(_)).then(|| Mutex::new(Screen::new(ROWS.into()))),
        });
        let listener = Arc::clone(&spoken);
        thread::spawn(move || listener.listen(output, &sender, program));
        if let Some(errors) = errors {
            let listener = Arc::clone(&spoken);
            thread::spawn(move || listener.collect(errors, program));
        }
        spoken
    }

    fn listen(&self, output: Output, lines: &Sender<String>, program: u32) {
        let is_terminal = matches!(output, Output::Terminal(_));
        let mut kept = 0;
        self.each_line(Noted { from: output, spoken: self }, program, |line| {
            kept += line.len() as u64 + 1;
            if kept <= MAX_OUTPUT {
                // The tester may never request them.
                if is_terminal {
                    plain(&line).split('\n').for_each(|part| drop(lines.send(part.to_owned())));
                } else {
                    drop(lines.send(line));
                }
            }
        });
    }

    fn collect(&self, from: ChildStderr, program: u32) {
        self.each_line(from, program, |line| {
            if !line.trim().is_empty() {
                let mut lines = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.len() == ERRORS {
                    lines.pop_front();
                }
                lines.push_back(line);
            }
        });
        self.are_errors_complete.store(true, Ordering::SeqCst);
    }

    // Passes each line to `take`, without its end and split at the maximum length, until the output ends.
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

    /// When the first byte of standard output arrived.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.first.get().copied()
    }

    /// The standard output after the last line feed.
    pub(crate) fn partial_line(&self) -> String {
        let partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        plain(&String::from_utf8_lossy(&partial))
    }

    /// The visible lines of standard output, if that is a terminal.
    pub(crate) fn screen(&self) -> Option<Vec<String>> {
        let screen = self.screen.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(screen.lines().collect())
    }

    /// Whether the program has exceeded its output limit.
    pub(crate) fn is_flood(&self) -> bool {
        self.written.load(Ordering::SeqCst) > self.most
    }

    /// The next line of standard output. `None` if there is none by then, or if the output has ended.
    pub(crate) fn line(&self, by: Instant) -> Option<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.recv_timeout(by.saturating_duration_since(Instant::now())).ok()
    }

    /// The last lines of standard error. They are complete if the program `has_ended`.
    pub(crate) fn errors(&self, has_ended: bool) -> Vec<String> {
        let by = Instant::now() + LAST_WORDS;
        while has_ended && !self.are_errors_complete.load(Ordering::SeqCst) && Instant::now() < by {
            thread::sleep(POLL);
        }
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
