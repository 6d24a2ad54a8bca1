//! What happens in a room, told in the same words for every game.

use alloc::{string::String, vec::Vec};
use core::fmt;

use crate::{Gone, PeerId};

/// Something that happened in a room, for a log, a lobby or a store of results.
///
/// Names come from peers: whoever shows one escapes what a terminal would obey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameEvent {
    /// Somebody asked for a seat and has to wait for one.
    Waiting {
        /// Who.
        peer: PeerId,
        /// The name it gave.
        name: String,
        /// How many get a seat before it does.
        before: u32,
    },
    /// Somebody took a seat.
    Joined {
        /// Who.
        peer: PeerId,
        /// The name it gave; empty for one that only looks on.
        name: String,
        /// The seat in the game's own words: a letter, a number, a table and a place.
        seat: String,
    },
    /// Somebody gave its seat up, or lost it.
    Left {
        /// Who.
        peer: PeerId,
        /// The name it gave.
        name: String,
        /// The seat, as it was when it joined; empty for one that had none yet.
        seat: String,
        /// Why.
        why: Departure,
    },
    /// A game began.
    Started {
        /// Its number in this room, from 1; for tables the table's.
        game: u32,
        /// How many play.
        players: u32,
    },
    /// A game ended.
    Ended {
        /// Its number, as it was when it began.
        game: u32,
        /// Whether it was played to its end.
        complete: bool,
        /// How everybody did, best first.
        standings: Vec<Standing>,
    },
    /// How far a game is; not told more often than a thousand times in a game.
    Progress {
        /// Its number, as it was when it began.
        game: u32,
        /// How many rounds are over.
        done: u64,
        /// How many it has.
        whole: u64,
    },
    /// A line for the log.
    Notice {
        /// How much it matters.
        severity: Severity,
        /// Whom it is about, if it is about one peer.
        peer: Option<PeerId>,
        /// The line, without the peer's address.
        text: String,
    },
    /// Text for the server's standard output.
    Summary(String),
}

/// Why somebody has no seat any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Departure {
    /// It said goodbye, or the game is over for it.
    Quit,
    /// Its connection ended.
    Disconnected(Gone),
    /// It was sent away; the reason in words.
    Dismissed(String),
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quit => f.write_str("quit"),
            Self::Disconnected(Gone::Left) => f.write_str("closed the connection"),
            Self::Disconnected(Gone::Broken) => f.write_str("the connection broke"),
            Self::Disconnected(Gone::Interrupted) => f.write_str("did not come back after the server was away"),
            Self::Disconnected(Gone::Lagging) => f.write_str("did not read what was sent to it"),
            Self::Dismissed(why) => write!(f, "sent away: {why}"),
        }
    }
}

/// How much a [`GameEvent::Notice`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The host asked for exactly this, for instance a trace: every one of them is shown.
    Requested,
    /// Worth knowing.
    Info,
    /// Something is wrong.
    Warning,
}

/// One row of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The place, from 1; equal scores may share one.
    pub rank: u32,
    /// The seat, as it was when its holder joined.
    pub seat: String,
    /// The name that its holder gave.
    pub name: String,
    /// What decides, in the game's own unit: nuggets collected, rounds won, times destroyed.
    pub score: i64,
}

/// What a lobby shows of a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// How far it is.
    pub phase: Phase,
    /// Seats that are taken.
    pub taken: u32,
    /// Seats in all.
    pub seats: u32,
}

/// How far a room is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Waits for players.
    Lobby,
    /// A game is played.
    Playing,
    /// Nothing more happens.
    Over,
}
