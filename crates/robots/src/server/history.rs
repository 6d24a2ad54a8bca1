//! The messages that a newcomer is sent after Hello, up to a bound.

use bytes::{Bytes, BytesMut};
use netcore::{Fingerprint, History, HistoryWriter};

use crate::protocol::{ServerMessage, encode};

/// The players accepted so far, or the game so far, as messages.
#[derive(Debug, Clone)]
pub(super) struct BoundedHistory {
    // None once it would exceed its bound. Then it cannot be sent to anybody, and nothing of it is kept.
    written: Option<HistoryWriter>,
    bound: u64,
    fingerprint: Fingerprint,
}

impl BoundedHistory {
    /// An empty history with this bound in bytes.
    pub(super) fn new(bound: u64) -> Self {
        Self { written: Some(HistoryWriter::new()), bound, fingerprint: Fingerprint::new() }
    }

    /// A history with this content, or one that has exceeded its bound; `None` if the content exceeds the bound.
    pub(super) fn of(before: Option<History>, bound: u64) -> Option<Self> {
        let mut history = Self { written: None, ..Self::new(bound) };
        if let Some(before) = before {
            before.frames().for_each(|frame| history.fingerprint.add_bytes(&frame));
            history.written = Some(before).filter(|before| before.len() as u64 <= bound).map(HistoryWriter::from);
            history.written.as_ref()?;
        }
        Some(history)
    }

    /// Adds a message and returns its bytes, to be sent to connected clients.
    pub(super) fn append(&mut self, message: &ServerMessage) -> Bytes {
        let Some(written) = &mut self.written else {
            let mut frame = BytesMut::new();
            encode(message, &mut frame);
            return frame.freeze();
        };
        let frame = written.append(|frame| encode(message, frame));
        if written.len() as u64 > self.bound {
            self.written = None;
        } else {
            self.fingerprint.add_bytes(&frame);
        }
        frame
    }

    /// Whether it has exceeded its bound.
    pub(super) const fn is_lost(&self) -> bool {
        self.written.is_none()
    }

    /// All of it; `None` once it is longer than its bound.
    pub(super) fn snapshot(&mut self) -> Option<History> {
        self.written.as_mut().map(HistoryWriter::snapshot)
    }

    /// All of it, as [`snapshot`](BoundedHistory::snapshot) but without changing anything.
    pub(super) fn history(&self) -> Option<History> {
        self.written.as_ref().map(HistoryWriter::history)
    }

    /// A value that is equal for histories that newcomers can never tell apart.
    pub(super) const fn fingerprint(&self) -> u64 {
        if self.is_lost() { u64::MAX } else { self.fingerprint.value() }
    }
}
