//! What a newcomer is told behind Hello, up to a bound.

use bytes::{Bytes, BytesMut};
use netcore::{Log, LogWriter};

use crate::{fingerprint, messages::ServerMessage, protocol::encode};

/// Who was accepted so far, or the game so far.
#[derive(Debug, Clone)]
pub(crate) struct History {
    // None once it would be longer than its bound: then nobody can be told it, and nothing of it is kept.
    log: Option<LogWriter>,
    bytes: u64,
    bound: u64,
    fingerprint: u64,
}

impl History {
    /// One of which nothing has happened, and which may have so many bytes.
    pub(crate) fn new(bound: u64) -> Self {
        Self { log: Some(LogWriter::new()), bytes: 0, bound, fingerprint: 0 }
    }

    /// Adds a message; gives its wire form, for those who hear it live.
    pub(crate) fn append(&mut self, message: &ServerMessage) -> Bytes {
        let Some(log) = &mut self.log else {
            let mut frame = BytesMut::new();
            encode(message, &mut frame);
            return frame.freeze();
        };
        let frame = log.append(|frame| encode(message, frame));
        self.bytes += frame.len() as u64;
        if self.bytes > self.bound {
            (self.log, self.fingerprint) = (None, 0);
        } else {
            self.fingerprint = fingerprint::extend(self.fingerprint, &frame);
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

    /// What is the same for two histories that newcomers cannot tell apart now or later.
    pub(crate) fn fingerprint(&self) -> u64 {
        // The bytes so far decide how long it will be told.
        if self.is_lost() { u64::MAX } else { self.fingerprint ^ self.bytes.rotate_left(32) }
    }
}
