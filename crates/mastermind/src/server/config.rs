//! How a server is set up.

use core::time::Duration;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    code::{MAX_COLOURS, Rules},
    protocol::Mode,
};

/// Most players of a race.
pub const MAX_RACERS: u8 = 16;

/// The day with which a daily room begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstDay {
    /// Days since 1 January 1970.
    pub day: u32,
    /// How long it lasts from the start of the room on. Each later day lasts 24 hours.
    pub lasts: Duration,
}

/// How a server is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// How players have to do with each other.
    pub mode: Mode,
    /// Pegs in a code.
    pub length: u8,
    /// Whether a colour may occur twice in a code.
    pub repeats: bool,
    /// How long a race lasts at most.
    pub limit: Duration,
    /// The day of a daily room.
    pub first_day: Option<FirstDay>,
    /// Where codes come from: same seed, same codes.
    pub seed: u64,
}

/// A configuration that no server can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The rules are not possible.
    #[error(transparent)]
    Rules(#[from] crate::code::RulesError),
    /// Too few or too many players for a race.
    #[error("a race has 2 to {MAX_RACERS} players, not {0}")]
    Racers(u8),
    /// A race needs some time.
    #[error("a race lasts at least a second")]
    Limit,
    /// A daily room needs to know the day, and others have none.
    #[error("a daily room begins with a day, and no other room does")]
    Day,
}

impl Config {
    /// A room in which each plays games of its own, with codes of `length` pegs.
    pub const fn new(length: u8, repeats: bool, seed: u64) -> Self {
        Self { mode: Mode::Solo, length, repeats, limit: Duration::from_secs(600), first_day: None, seed }
    }

    pub(super) fn check(&self) -> Result<Rules, ConfigError> {
        match self.mode {
            Mode::Race(players) if !(2..=MAX_RACERS).contains(&players) => return Err(ConfigError::Racers(players)),
            Mode::Race(_) if self.limit < Duration::from_secs(1) => return Err(ConfigError::Limit),
            _ if (self.mode == Mode::Daily) != self.first_day.is_some() => return Err(ConfigError::Day),
            _ => {}
        }
        Ok(Rules::new(self.length.into(), MAX_COLOURS, self.repeats)?)
    }
}
