//! Where keys come from: the terminal, or the bytes of standard input when that is none.

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

/// How many keys wait while the program is busy; whoever types more waits too.
const WAITING: usize = 64;
/// The least time between two keys of a pipe, so that a file of keys does not overrun the server's socket.
const PIPE_PACE: Duration = Duration::from_millis(2);

/// Something that was typed, or that happened to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// From the terminal.
    Event(Event),
    /// A byte of a pipe or file.
    Byte(u8),
    /// The end of the pipe or file.
    End,
}

/// The one place that keys come from.
#[derive(Debug)]
pub(crate) struct Inputs {
    inputs: Option<mpsc::Receiver<Input>>,
    // When the next byte of a pipe is wanted; a terminal is always listened to.
    next_byte: Option<Instant>,
}

impl Inputs {
    /// Keys and events of the terminal, which must be in raw mode.
    ///
    /// # Errors
    /// When standard input is no terminal or there can be no thread.
    pub(crate) fn terminal() -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel(WAITING);
        events::listen(move |event| sender.blocking_send(Input::Event(event)).is_ok())?;
        Ok(Self { inputs: Some(inputs), next_byte: None })
    }

    /// The bytes of standard input.
    ///
    /// # Errors
    /// When there can be no thread.
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
                    // What can be read no more has come to its end.
                    Err(_) => break,
                }
            }
            // If nobody listens any more, nobody wants to know.
            let _ = sender.blocking_send(Input::End);
        })?;
        Ok(Self { inputs: Some(inputs), next_byte: Some(Instant::now()) })
    }

    /// No keys at all.
    pub(crate) const fn none() -> Self {
        Self { inputs: None, next_byte: None }
    }

    /// Waits for the next input. What is in a pipe waits until the program is `ready` for it.
    /// Dropping it before it is done loses nothing.
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
