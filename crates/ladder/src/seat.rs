//! Identifiers of programs and matches, and their state.

use netcore::{HostId, Level, Time};

/// A connected program. A program that reconnects gets a new number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramId(pub u64);

/// A match of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchId(pub u64);

/// The occupant of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// A program.
    Program(ProgramId),
    /// A built-in bot.
    Fixed(Level),
}

/// A waiting program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its name.
    pub name: String,
    /// The host that it connected from.
    pub host: HostId,
    /// Its rating when it connected.
    pub rating: i64,
    /// When it started to wait, or when the program that it replaced did.
    pub since: Time,
}

/// A running match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playing {
    /// The players.
    pub seats: [Seat; 2],
    /// When it started.
    pub since: Time,
}
