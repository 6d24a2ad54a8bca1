//! Logging to a standard error that may be full, closed, or read by nobody.
//!
//! A program must neither end nor stand still because nobody takes its log. So lines go through a bounded queue to a
//! thread of their own, which may wait; what does not fit the queue is lost, and so is what cannot be written.

use std::{
    io::{self, Write},
    sync::{
        OnceLock,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;

/// Lines that wait to be written.
const QUEUE: usize = 1_024;
/// How long the end of a program waits for its last lines to be written.
const PATIENCE: Duration = Duration::from_millis(500);

static QUEUED: OnceLock<SyncSender<Message>> = OnceLock::new();

enum Message {
    Line(Vec<u8>),
    // All lines before this are written.
    Written(SyncSender<()>),
}

/// Where the lines of a log go in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queued;

impl Queued {
    /// Starts the thread that writes, if it does not run.
    pub(crate) fn start() -> Self {
        QUEUED.get_or_init(|| {
            let (sender, receiver) = sync_channel(QUEUE);
            thread::spawn(move || write(&receiver));
            sender
        });
        Self
    }
}

fn write(receiver: &Receiver<Message>) {
    let mut stderr = io::stderr();
    for message in receiver {
        match message {
            Message::Line(line) => {
                let _ = stderr.write_all(&line);
            }
            Message::Written(tell) => {
                let _ = tell.try_send(());
            }
        }
    }
}

impl Write for Queued {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(queue) = QUEUED.get() {
            // A full queue loses the line.
            let _ = queue.try_send(Message::Line(line.to_vec()));
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

/// Writes the last line of a program, behind those that wait.
pub(crate) fn say(line: &str) {
    let line = format!("{line}\n");
    match QUEUED.get() {
        // By the same way: if that thread is stuck, nobody else gets at standard error either.
        Some(queue) => {
            let _ = queue.try_send(Message::Line(line.into_bytes()));
            finish();
        }
        // Where standard error takes nothing, the exit code has to say it.
        None => {
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }
}

/// Waits until the last lines are written, but not for ever.
pub(crate) fn finish() {
    let Some(queue) = QUEUED.get() else { return };
    let (tell, told) = sync_channel(1);
    if queue.try_send(Message::Written(tell)).is_ok() {
        let _ = told.recv_timeout(PATIENCE);
    }
}
