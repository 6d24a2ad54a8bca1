//! Options for logging.

use std::{
    collections::VecDeque,
    env,
    fs::File,
    io::{self, IsTerminal, Write},
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Context;
use clap::{Args, ValueEnum};
#[cfg(unix)]
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use tracing_subscriber::{
    EnvFilter,
    fmt::{MakeWriter, writer::BoxMakeWriter},
};

use crate::UsageError;

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines of text for people.
    Text,
    /// Lines of JSON for programs.
    Json,
}

/// The options for logging.
#[derive(Debug, Clone, Args)]
pub struct LogArgs {
    /// What to log on standard error: off, error, warn, info, debug, trace, or a filter as in `RUST_LOG`
    #[arg(long, value_name = "FILTER", help_heading = "Logging")]
    pub log: Option<String>,

    /// Format of log lines
    #[arg(long, value_enum, default_value_t = LogFormat::Text, value_name = "FORMAT", help_heading = "Logging")]
    pub log_format: LogFormat,
}

impl LogArgs {
    /// The filter is `--log`, or else `RUST_LOG`, or else `default`. Fails with [`UsageError`] if it is invalid.
    pub fn start(&self, default: &str) -> anyhow::Result<()> {
        self.init(default, BoxMakeWriter::new(QueuedStderr::start()), has_colour(&io::stderr()))
    }

    fn init(&self, default: &str, writer: BoxMakeWriter, colour: bool) -> anyhow::Result<()> {
        let from_environment = env::var(EnvFilter::DEFAULT_ENV).ok().filter(|filter| !filter.is_empty());
        let wanted = self.log.clone().or(from_environment).unwrap_or_else(|| default.to_owned());
        let filter = EnvFilter::try_new(&wanted)
            .map_err(|error| UsageError(format!("invalid log filter '{wanted}': {error}; try 'info'")))?;
        let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(colour);
        // Otherwise a write error is printed to standard error, which panics if that is what failed.
        let builder = builder.log_internal_errors(false);
        match self.log_format {
            LogFormat::Text => builder.with_target(false).init(),
            LogFormat::Json => builder.json().init(),
        }
        Ok(())
    }
}

/// The log options of a program that draws on the terminal: its log must not overwrite its own screen.
#[derive(Debug, Clone, Args)]
pub struct ScreenLogArgs {
    /// Write logs to this file; needed to see logs while a screen is drawn
    #[arg(long, value_name = "FILE", help_heading = "Logging")]
    pub log_file: Option<PathBuf>,

    /// The options for logging.
    #[command(flatten)]
    pub log: LogArgs,
}

impl ScreenLogArgs {
    /// As [`LogArgs::start`], but to the file if given. If the program draws a screen (`draws`) on the terminal of
    /// standard error, logs are discarded, and `--log` is an error.
    pub fn start(&self, default: &str, draws: bool) -> anyhow::Result<()> {
        let writer = match &self.log_file {
            Some(path) => {
                let file =
                    File::create(path).with_context(|| format!("cannot write the log file '{}'", path.display()))?;
                BoxMakeWriter::new(Mutex::new(file))
            }
            None if draws && io::stdout().is_terminal() && io::stderr().is_terminal() => {
                if let Some(filter) = &self.log.log {
                    return Err(UsageError(format!(
                        "--log {filter} would write over the screen; add --log-file FILE, or 2>FILE"
                    ))
                    .into());
                }
                BoxMakeWriter::new(io::sink)
            }
            None => BoxMakeWriter::new(QueuedStderr::start()),
        };
        self.log.init(default, writer, false)
    }
}

// Logging to a standard error that may be full, closed, or without a reader; see [`Queue`].

/// How long a program waits for its last lines when it ends.
const PATIENCE: Duration = Duration::from_millis(500);

static QUEUE: OnceLock<Queue> = OnceLock::new();

/// Rows of the shown progress, from the first to the one with the cursor.
static PROGRESS_ROWS: AtomicUsize = AtomicUsize::new(0);

/// Returns the previous number.
pub(crate) fn set_progress_rows(rows: usize) -> usize {
    PROGRESS_ROWS.swap(rows, Ordering::Relaxed)
}

/// Erases the shown progress, and leaves the cursor at its start.
pub(crate) fn erase_rows(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\r{}\x1b[J", "\x1b[A".repeat(rows - 1)) }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct QueuedStderr;

impl QueuedStderr {
    pub(crate) fn start() -> Self {
        // A write error of standard error cannot be reported.
        QUEUE.get_or_init(|| Queue::start(io::stderr(), drop));
        Self
    }
}

impl Write for QueuedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(queue) = QUEUE.get() {
            // The progress is drawn again below the line.
            queue.push([erase_rows(set_progress_rows(0)).as_bytes(), line].concat());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for QueuedStderr {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

pub fn print_stderr(text: &str) {
    match QUEUE.get() {
        // Through the same queue: while its thread is blocked, standard error cannot be written to anyway.
        Some(queue) => drop(queue.push(text.as_bytes().to_vec())),
        // If this fails, only the exit code reports the error.
        None => drop(io::stderr().write_all(text.as_bytes())),
    }
}

pub(crate) fn print_last(line: &str) {
    print_stderr(&format!("{line}\n"));
    finish();
}

pub(crate) fn finish() {
    if let Some(queue) = QUEUE.get() {
        queue.finish(PATIENCE);
    }
}

// Writing to a stream that may be full, closed, or without a reader.
//
// A program must not end or block because its output is not read: a thread writes from a bounded queue. Texts that do
// not fit, or that cannot be written, are dropped.

/// Each text counts [`ENTRY`] more than its length.
const MAX_BYTES: usize = 4 << 20;
const ENTRY: usize = 64;

#[derive(Debug, Clone)]
pub struct Queue {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    // Never locked during a write.
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    texts: VecDeque<Vec<u8>>,
    // Includes the text that is being written.
    bytes: usize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// `failed` receives the first write error; later ones are not reported.
    pub fn start(stream: impl Write + Send + 'static, failed: impl FnOnce(io::Error) + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let queue = Self { shared: Arc::clone(&shared) };
        #[cfg(unix)]
        let _mask = SigtstpMask::begin();
        thread::spawn(move || write(&shared, stream, failed));
        queue
    }

    /// Queues a text to be written in one piece. Returns `false` if there is no room and the text is dropped.
    pub fn push(&self, text: Vec<u8>) -> bool {
        let mut state = self.shared.state();
        let bytes = state.bytes + text.len() + ENTRY;
        let fits = bytes <= MAX_BYTES;
        if fits {
            state.bytes = bytes;
            state.texts.push_back(text);
            self.shared.changed.notify_all();
        }
        fits
    }

    /// Waits for at most `patience`. Returns whether everything is written.
    pub fn finish(&self, patience: Duration) -> bool {
        let done = self.shared.changed.wait_timeout_while(self.shared.state(), patience, |state| state.bytes > 0);
        let (state, _) = done.unwrap_or_else(PoisonError::into_inner);
        state.bytes == 0
    }
}

/// Blocks SIGTSTP in threads that are started while this value exists. A program that draws on the terminal handles the
/// signal in one thread, which first gives the terminal back; any other thread would stop the program before.
#[cfg(unix)]
struct SigtstpMask(Option<SigSet>);

#[cfg(unix)]
impl SigtstpMask {
    fn begin() -> Self {
        Self(SigSet::from(Signal::SIGTSTP).thread_swap_mask(SigmaskHow::SIG_BLOCK).ok())
    }
}

#[cfg(unix)]
impl Drop for SigtstpMask {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            let _ = before.thread_set_mask();
        }
    }
}

fn write(shared: &Shared, mut stream: impl Write, failed: impl FnOnce(io::Error)) {
    let mut failed = Some(failed);
    loop {
        let waiting = shared.changed.wait_while(shared.state(), |state| state.texts.is_empty());
        let text = waiting.unwrap_or_else(PoisonError::into_inner).texts.pop_front();
        let Some(text) = text else { continue };
        if let Err(error) = stream.write_all(&text).and_then(|()| stream.flush())
            && let Some(failed) = failed.take()
        {
            failed(error);
        }
        shared.state().bytes -= text.len() + ENTRY;
        shared.changed.notify_all();
    }
}

/// Reads the environment with the library that clap uses for its messages.
pub fn has_colour(stream: &impl IsTerminal) -> bool {
    !anstyle_query::no_color() && anstyle_query::term_supports_ansi_color() && stream.is_terminal()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[derive(Clone, Default)]
    struct Unread {
        read: Arc<(Mutex<bool>, Condvar)>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Unread {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (read, changed) = &*self.read;
            drop(changed.wait_while(read.lock().unwrap(), |read| !*read).unwrap());
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn unread_stream_does_not_block() {
        let stream = Unread::default();
        let queue = Queue::start(stream.clone(), |error| panic!("{error}"));
        let text = [b'x'; 1_000];
        let accepted = (0..10_000).filter(|_| queue.push(text.to_vec())).count();
        assert_eq!(accepted, MAX_BYTES / (text.len() + ENTRY));
        assert!(!queue.finish(Duration::from_millis(1)));
        *stream.read.0.lock().unwrap() = true;
        stream.read.1.notify_all();
        assert!(queue.finish(Duration::from_secs(30)));
        assert_eq!(stream.written.lock().unwrap().len(), accepted * text.len());
    }

    #[test]
    fn broken_stream_is_reported_once() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (sender, errors) = sync_channel(9);
        let queue = Queue::start(Broken, move |error| sender.send(error.kind()).unwrap());
        assert!(queue.push(b"one".to_vec()) && queue.push(b"two".to_vec()) && queue.finish(Duration::from_secs(30)));
        assert_eq!(errors.try_iter().collect::<Vec<_>>(), [io::ErrorKind::BrokenPipe]);
    }
}
