//! Events of a room, in the same terms for every game.

use alloc::{string::String, vec::Vec};
use core::fmt;

use crate::{DisconnectReason, PeerId};

/// An event in a room.
///
/// Names come from peers: escape control characters before printing one to a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameEvent {
    /// A peer waits for a seat.
    Waiting {
        /// The peer.
        peer: PeerId,
        /// Its name.
        name: String,
        /// The number of peers ahead of it.
        before: u32,
    },
    /// A peer took a seat.
    Joined {
        /// The peer.
        peer: PeerId,
        /// Its name; empty for a spectator.
        name: String,
        /// The seat in the game's own terms, such as a letter or a number.
        seat: String,
    },
    /// A peer gave up or lost its seat.
    Left {
        /// The peer.
        peer: PeerId,
        /// Its name.
        name: String,
        /// The seat, as in [`GameEvent::Joined`]; empty if it had none.
        seat: String,
        /// The reason.
        why: Departure,
    },
    /// A game began.
    Started {
        /// Its number in this room, from 1; for blackjack, the number of the table.
        game: u32,
        /// The number of players.
        players: u32,
    },
    /// A game ended.
    Ended {
        /// Its number, as in [`GameEvent::Started`].
        game: u32,
        /// Whether it was completed.
        complete: bool,
        /// The result of each player, best first.
        standings: Vec<Standing>,
    },
    /// The progress of a game, reported at most a thousand times.
    Progress {
        /// Its number, as in [`GameEvent::Started`].
        game: u32,
        /// The number of finished rounds.
        done: u64,
        /// The total number of rounds.
        whole: u64,
    },
    /// A line for the log.
    Notice {
        /// Its importance.
        severity: Severity,
        /// The peer concerned, if it is a single one.
        peer: Option<PeerId>,
        /// The line, without the peer's address.
        text: String,
    },
    /// Text for the server's standard output.
    Summary(String),
}

/// Why a peer lost its seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Departure {
    /// It quit.
    Quit,
    /// The game is over for it.
    GameOver,
    /// Its connection ended.
    Disconnected(DisconnectReason),
    /// The server dismissed it for this reason.
    Dismissed(String),
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quit => f.write_str("quit"),
            Self::GameOver => f.write_str("game over"),
            Self::Disconnected(DisconnectReason::Left) => f.write_str("closed the connection"),
            Self::Disconnected(DisconnectReason::Broken) => f.write_str("the connection broke"),
            Self::Disconnected(DisconnectReason::Interrupted) => {
                f.write_str("did not reconnect after the server was resumed")
            }
            Self::Disconnected(DisconnectReason::Lagging) => f.write_str("did not read its messages"),
            Self::Dismissed(why) => write!(f, "disconnected by the server: {why}"),
        }
    }
}

/// The importance of a [`GameEvent::Notice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Requested by the operator, for instance a trace; always shown.
    Requested,
    /// Information.
    Info,
    /// A problem.
    Warning,
}

/// One row of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The rank, from 1. Equal scores may share one.
    pub rank: u32,
    /// The seat, as in [`GameEvent::Joined`].
    pub seat: String,
    /// The player's name.
    pub name: String,
    /// The score in the game's own unit: nuggets collected, rounds won, deaths.
    pub score: i64,
}

/// A peer that has a seat or waits for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupant {
    /// The peer.
    pub peer: PeerId,
    /// Its name.
    pub name: String,
    /// The seat, as in [`GameEvent::Joined`]; empty while it waits.
    pub seat: String,
}

/// The summary of a room for a lobby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The phase of the room.
    pub phase: Phase,
    /// The number of occupied seats.
    pub taken: u32,
    /// The number of seats.
    pub seats: u32,
}

/// The phase of a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for players.
    Lobby,
    /// A game is in progress.
    Playing,
    /// The server has ended.
    Over,
}
