//! The source of keys: the terminal, or the bytes of standard input if that is not a terminal.

use std::{
    future,
    io::{self, Read},
    thread,
    time::Duration,
};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use crate::{Event, events};

/// Capacity of the queue of keys. When it is full, the reading thread waits.
const WAITING: usize = 64;
/// The minimum time between two keys from a pipe, so that a file of keys does not overflow the server's socket.
const PIPE_PACE: Duration = Duration::from_millis(2);

/// A key, or another event of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// From the terminal.
    Event(Event),
    /// A byte of a pipe or file.
    Byte(u8),
    /// The end of the pipe or file.
    End,
}

/// The receiving side of the keys.
#[derive(Debug)]
pub(crate) struct Inputs {
    inputs: Option<mpsc::Receiver<Input>>,
    // When the next byte is taken from a pipe; none for a terminal, which is always read.
    next_byte: Option<Instant>,
}

impl Inputs {
    /// Keys and other events of the terminal, which must be in raw mode.
    pub(crate) fn terminal() -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel(WAITING);
        events::listen(move |event| sender.blocking_send(Input::Event(event)).is_ok())?;
        Ok(Self { inputs: Some(inputs), next_byte: None })
    }

    /// The bytes of standard input.
    pub(crate) fn pipe() -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel(WAITING);
        thread::Builder::new().name("standard input".into()).spawn(move || {
            let mut chunk = [0; 1024];
            let mut stdin = io::stdin().lock();
            loop {
                match stdin.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(count) => {
                        for &byte in &chunk[..count] {
                            if sender.blocking_send(Input::Byte(byte)).is_err() {
                                return;
                            }
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    // Any other error ends the input.
                    Err(_) => break,
                }
            }
            // This fails if the program has dropped the receiver, and is not needed then.
            let _ = sender.blocking_send(Input::End);
        })?;
        Ok(Self { inputs: Some(inputs), next_byte: Some(Instant::now()) })
    }

    /// No keys at all.
    pub(crate) const fn none() -> Self {
        Self { inputs: None, next_byte: None }
    }

    /// Waits for the next input. Bytes of a pipe are left there until the program is `ready`. Cancellation safe.
    pub(crate) async fn next(&mut self, ready: bool) -> Input {
        let Some(inputs) = &mut self.inputs else { return future::pending().await };
        if let Some(next_byte) = &mut self.next_byte {
            if !ready {
                return future::pending().await;
            }
            sleep_until(*next_byte).await;
        }
        let Some(input) = inputs.recv().await else {
            self.inputs = None;
            return Input::End;
        };
        if let Some(next_byte) = &mut self.next_byte {
            *next_byte = Instant::now() + PIPE_PACE;
        }
        input
    }
}
