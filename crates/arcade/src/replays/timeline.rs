//! What a replay is asked for, and what it tells.

use std::path::PathBuf;

use serde::Serialize;

/// Why a match cannot be shown again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("the journal of this match is gone, so it cannot be shown again")]
    Gone,
    #[error("this match cannot be shown again: {0}")]
    Damaged(String),
    #[error("this match cannot be shown again: its end is not in the journal")]
    Unfinished,
    #[error("nobody had the seat '{0}' in this match")]
    NoSeat(String),
    #[error("this was today's puzzle, so what a player saw is shown when the day is over in Greenwich")]
    Today,
}

/// What happened when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Timeline {
    /// Milliseconds.
    pub(crate) length: u64,
    pub(crate) seats: Vec<SeatView>,
    pub(crate) marks: Vec<Mark>,
}

/// A seat that the match can be seen from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SeatView {
    pub(crate) seat: String,
    pub(crate) name: String,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Mark {
    /// Milliseconds since the match began.
    pub(crate) at: u64,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// A match that is to be replayed.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) game: String,
    pub(super) path: PathBuf,
    pub(super) number: u32,
    // Microseconds of the time of the room.
    pub(super) begins: u64,
    pub(super) ends: u64,
    /// Whether it is shown as far as it goes if its end is not in the journal.
    pub(super) unfinished: bool,
}
