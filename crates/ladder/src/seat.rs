//! Programs and matches, as they are told apart.

use netcore::{HostId, Level, Time};

/// A program that is connected. Who comes again has another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramId(pub u64);

/// A match of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchId(pub u64);

/// Who sits there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// A program.
    Program(ProgramId),
    /// One of our own bots.
    Fixed(Level),
}

/// A program that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub host: HostId,
    /// Its rating when it came.
    pub rating: i64,
    /// When it came.
    pub since: Time,
}

/// A match that is played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playing {
    /// Who plays.
    pub seats: [Seat; 2],
    /// When it began.
    pub since: Time,
}
