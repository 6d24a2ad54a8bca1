//! The start of a game: waiting for players, the countdown, and play.

use netcore::Time;
use serde::{Deserialize, Serialize};

use super::facts::fold;

/// Whether the game that is played has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Start {
    /// Players are missing.
    Waiting,
    /// It begins at `begins`. The next second of the countdown is told at `tick`.
    Counting { begins: Time, tick: Time },
    /// It has begun.
    Begun,
}

impl Start {
    pub(super) const fn due(self) -> Option<Time> {
        match self {
            Self::Counting { tick, .. } => Some(tick),
            Self::Waiting | Self::Begun => None,
        }
    }

    /// A number for the fingerprint.
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Waiting => 0,
            Self::Begun => 1,
            Self::Counting { begins, tick } => fold(fold(2, begins.as_nanos()), tick.as_nanos()),
        }
    }
}
