//! The messages that a newcomer is sent after Hello, up to a bound.

use bytes::{Bytes, BytesMut};
use netcore::{Fingerprint, Log, LogWriter};

use crate::protocol::{ServerMessage, encode};

/// The players accepted so far, or the game so far, as messages.
#[derive(Debug, Clone)]
pub(super) struct History {
    // None once it would exceed its bound. Then it cannot be sent to anybody, and nothing of it is kept.
    log: Option<LogWriter>,
    bound: u64,
    fingerprint: Fingerprint,
}

impl History {
    /// An empty history with this bound in bytes.
    pub(super) fn new(bound: u64) -> Self {
        Self { log: Some(LogWriter::new()), bound, fingerprint: Fingerprint::new() }
    }

    /// A history with this content, or one that has exceeded its bound; `None` if the content exceeds the bound.
    pub(super) fn of(log: Option<Log>, bound: u64) -> Option<Self> {
        let mut history = Self { log: None, ..Self::new(bound) };
        if let Some(log) = log {
            log.frames().for_each(|frame| history.fingerprint.add_bytes(&frame));
            history.log = Some(log).filter(|log| log.len() as u64 <= bound).map(LogWriter::from);
            history.log.as_ref()?;
        }
        Some(history)
    }

    /// Adds a message and returns its bytes, to be sent to connected clients.
    pub(super) fn append(&mut self, message: &ServerMessage) -> Bytes {
        let Some(log) = &mut self.log else {
            let mut frame = BytesMut::new();
            encode(message, &mut frame);
            return frame.freeze();
        };
        let frame = log.append(|frame| encode(message, frame));
        if log.len() as u64 > self.bound {
            self.log = None;
        } else {
            self.fingerprint.add_bytes(&frame);
        }
        frame
    }

    /// Whether it has exceeded its bound.
    pub(super) const fn is_lost(&self) -> bool {
        self.log.is_none()
    }

    /// All of it; `None` once it is longer than its bound.
    pub(super) fn snapshot(&mut self) -> Option<Log> {
        self.log.as_mut().map(LogWriter::snapshot)
    }

    /// The whole history, by reference.
    pub(super) fn log(&self) -> Option<Log> {
        self.log.as_ref().map(LogWriter::log)
    }

    /// A value that is equal for histories that newcomers can never tell apart.
    pub(super) const fn fingerprint(&self) -> u64 {
        if self.is_lost() { u64::MAX } else { self.fingerprint.value() }
    }
}
