//! What a newcomer is told behind Hello, up to a bound.

use bytes::{Bytes, BytesMut};
use netcore::{Fingerprint, Log, LogWriter};

use crate::{messages::ServerMessage, protocol::encode};

/// Who was accepted so far, or the game so far.
#[derive(Debug, Clone)]
pub(crate) struct History {
    // None once it would be longer than its bound: then nobody can be told it, and nothing of it is kept.
    log: Option<LogWriter>,
    bound: u64,
    fingerprint: Fingerprint,
}

impl History {
    /// One of which nothing has happened, and which may have so many bytes.
    pub(crate) fn new(bound: u64) -> Self {
        Self { log: Some(LogWriter::new()), bound, fingerprint: Fingerprint::new() }
    }

    /// One of which this has happened, or that is lost; `None` if it is longer than its bound.
    pub(crate) fn of(log: Option<Log>, bound: u64) -> Option<Self> {
        let mut history = Self { log: None, ..Self::new(bound) };
        if let Some(log) = log {
            log.frames().for_each(|frame| history.fingerprint.add_bytes(&frame));
            history.log = Some(log).filter(|log| log.len() as u64 <= bound).map(LogWriter::from);
            history.log.as_ref()?;
        }
        Some(history)
    }

    /// Adds a message; gives its wire form, for those who hear it live.
    pub(crate) fn append(&mut self, message: &ServerMessage) -> Bytes {
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

    /// Whether nobody can be told it any more.
    pub(crate) const fn is_lost(&self) -> bool {
        self.log.is_none()
    }

    /// All of it; `None` once it is longer than its bound.
    pub(crate) fn snapshot(&mut self) -> Option<Log> {
        self.log.as_mut().map(LogWriter::snapshot)
    }

    /// All of it, for one who may only look.
    pub(crate) fn log(&self) -> Option<Log> {
        self.log.as_ref().map(LogWriter::log)
    }

    /// What is the same for two histories that newcomers cannot tell apart now or later.
    pub(crate) const fn fingerprint(&self) -> u64 {
        if self.is_lost() { u64::MAX } else { self.fingerprint.value() }
    }
}
