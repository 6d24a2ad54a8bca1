//! What has come from a dealer and was not looked at yet.

use std::{collections::VecDeque, io};

use bytes::{Buf, Bytes};
use tokio::time::Instant;
use tracing::debug;

/// Bytes that may wait while a result is shown; what comes behind them stays in the system.
const MAX_WAITING: usize = 64 << 10;

/// Pieces of a stream and when they came.
#[derive(Debug)]
pub(super) struct Inbox {
    pieces: VecDeque<(Instant, Bytes)>,
    waiting: usize,
    // When the byte came that was looked at last.
    pub(super) arrived: Instant,
    // Nothing more comes.
    closed: bool,
}

impl Inbox {
    pub(super) const fn new(now: Instant) -> Self {
        Self { pieces: VecDeque::new(), waiting: 0, arrived: now, closed: false }
    }

    /// Whether there is room, and more may come.
    pub(super) const fn wants_more(&self) -> bool {
        !self.closed && self.waiting < MAX_WAITING
    }

    pub(super) fn take(&mut self, read: io::Result<usize>, piece: Bytes) {
        match read {
            Ok(1..) => {
                self.waiting += piece.len();
                self.pieces.push_back((Instant::now(), piece));
            }
            Ok(0) => self.closed = true,
            Err(error) => {
                debug!(%error, "the connection is broken");
                self.closed = true;
            }
        }
    }

    pub(super) fn next_byte(&mut self) -> Option<u8> {
        let (at, piece) = self.pieces.front_mut()?;
        self.arrived = *at;
        let byte = piece.get_u8();
        self.waiting -= 1;
        if piece.is_empty() {
            self.pieces.pop_front();
        }
        Some(byte)
    }

    /// Whether all was looked at and nothing more comes.
    pub(super) fn is_over(&self) -> bool {
        self.closed && self.pieces.is_empty()
    }
}
