//! What a program under test writes. All of it is read, since a program that cannot write waits; little of it is kept.

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

/// How often to look whether a program has said its last words.
const POLL: Duration = Duration::from_millis(5);
/// The most output that is kept of a program, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;
/// The longest line, in bytes; longer ones are cut into several.
const MAX_LINE: u64 = 4096;
/// The bytes that are kept of a line that is not complete.
const MAX_PARTIAL: usize = 4096;
/// The last lines of standard error that are kept: as many as the traces of most languages have.
const ERRORS: usize = 50;
/// How long to wait for what a program has written before it ended. Only what it has left behind could write still more.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What a program has said.
pub(crate) struct Spoken {
    lines: Mutex<Receiver<String>>,
    errors: Mutex<VecDeque<String>>,
    are_errors_complete: AtomicBool,
    // Bytes, of both.
    written: AtomicU64,
    most: u64,
    // When the first byte of standard output came.
    first: OnceLock<Instant>,
    // Standard output behind its last line feed.
    partial: Mutex<Vec<u8>>,
    // What a user sees, at a terminal.
    screen: Option<Mutex<Screen>>,
}

/// Notes the time of the first byte and the line that is not complete. Programs that draw a screen or print a prompt complete none.
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
    /// Reads in threads of its own. The program with this number is ended when it writes more than `most` bytes.
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
                // The tester may not ask for them.
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

    // Gives each line, without its end and cut at a bound, until there is none.
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

    /// When the first byte of standard output came.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.first.get().copied()
    }

    /// Standard output behind its last line feed.
    pub(crate) fn partial_line(&self) -> String {
        let partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        plain(&String::from_utf8_lossy(&partial))
    }

    /// What a user sees of its standard output, if that is a terminal.
    pub(crate) fn screen(&self) -> Option<Vec<String>> {
        let screen = self.screen.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(screen.lines().collect())
    }

    /// Whether it has written more than it may.
    pub(crate) fn is_flood(&self) -> bool {
        self.written.load(Ordering::SeqCst) > self.most
    }

    /// The next line of standard output, or `None` when there is none by then or any more.
    pub(crate) fn line(&self, by: Instant) -> Option<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.recv_timeout(by.saturating_duration_since(Instant::now())).ok()
    }

    /// The last lines of standard error, all of them if the program `has_ended`.
    pub(crate) fn errors(&self, has_ended: bool) -> Vec<String> {
        let by = Instant::now() + LAST_WORDS;
        while has_ended && !self.are_errors_complete.load(Ordering::SeqCst) && Instant::now() < by {
            thread::sleep(POLL);
        }
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
