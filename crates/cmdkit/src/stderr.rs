//! Logging to a standard error that may be full, closed, or without a reader; see [`Queue`].

use std::{
    io::{self, Write},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;

use crate::output_queue::Queue;

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
