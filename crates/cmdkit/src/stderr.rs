//! Logging to a standard error that may be full, closed, or read by nobody; see [`Queue`].

use std::{
    io::{self, Write},
    sync::OnceLock,
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;

use crate::queued::Queue;

/// How long the end of a program waits for its last lines to be written.
const PATIENCE: Duration = Duration::from_millis(500);

static QUEUED: OnceLock<Queue> = OnceLock::new();

/// Where the lines of a log go in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queued;

impl Queued {
    /// Starts the thread that writes, if it does not run.
    pub(crate) fn start() -> Self {
        // There is nobody to be told that standard error is broken.
        QUEUED.get_or_init(|| Queue::start(io::stderr(), drop));
        Self
    }
}

impl Write for Queued {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(queue) = QUEUED.get() {
            // A full queue loses the line.
            queue.push(line.to_vec());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Queued {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

/// Writes text for people to standard error, behind the lines of the log that wait.
pub(crate) fn write(text: &str) {
    match QUEUED.get() {
        // By the same way: if that thread is stuck, nobody else gets at standard error either.
        Some(queue) => drop(queue.push(text.as_bytes().to_vec())),
        // Where standard error takes nothing, the exit code has to say it.
        None => drop(io::stderr().write_all(text.as_bytes())),
    }
}

/// Writes the last line of a program, behind those that wait.
pub(crate) fn say(line: &str) {
    write(&format!("{line}\n"));
    finish();
}

/// Waits until the last lines are written, but not for ever.
pub(crate) fn finish() {
    if let Some(queue) = QUEUED.get() {
        queue.finish(PATIENCE);
    }
}
