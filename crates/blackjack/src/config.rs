//! The configuration of a dealer.

use core::time::Duration;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::game::{MAX_ROUNDS, MAX_SEATS, Seed};

/// The maximum number of simultaneous clients: seated, waiting, or not yet joined.
pub const MAX_CLIENTS: usize = 4_096;
/// The maximum number of simultaneous clients of one host, which gets another place only while more are free than it
/// has.
pub const MAX_CLIENTS_OF_HOST: usize = MAX_CLIENTS / 2;
/// The maximum number of simultaneous watchers, shared by the same rule.
pub const MAX_WATCHERS: usize = 256;
/// The default pause between two messages to a text client.
pub const DELAY: Duration = Duration::from_millis(50);
/// The default time limit for JOIN and for an answer.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// The configuration of a dealer. Its serialized form contains the seed, which reveals all future cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Seats at a table, 1 to 6. A table begins when all are taken.
    pub players: usize,
    /// The maximum number of simultaneous tables; unless `forever`, also the total.
    pub tables: u32,
    /// Whether a new table replaces a finished one.
    pub forever: bool,
    /// Rounds at each table, 1 to [`MAX_ROUNDS`].
    pub rounds: u32,
    /// The pause between two messages to a text client.
    pub delay: Duration,
    /// The time limit for JOIN and for each answer.
    pub timeout: Duration,
    /// The seed of the cards.
    pub seed: Seed,
    /// Whether standings are printed as JSON.
    pub json: bool,
    /// Whether every message and every dealer's hand is logged.
    pub trace: bool,
    /// The interval at which the standings are logged; `None` disables it.
    pub accounts: Option<Duration>,
}

impl Config {
    /// One table with one player, and defaults otherwise.
    pub const fn new(rounds: u32, seed: Seed) -> Self {
        Self {
            players: 1,
            tables: 1,
            forever: false,
            rounds,
            delay: DELAY,
            timeout: TIMEOUT,
            seed,
            json: false,
            trace: false,
            accounts: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if !(1..=MAX_SEATS).contains(&self.players) {
            return Err(ConfigError::Players(self.players));
        }
        let seats = usize::try_from(self.tables).unwrap_or(usize::MAX).saturating_mul(self.players);
        if !(1..=MAX_CLIENTS).contains(&seats) {
            return Err(ConfigError::Tables(self.tables));
        }
        if !(1..=MAX_ROUNDS).contains(&self.rounds) {
            return Err(ConfigError::Rounds(self.rounds));
        }
        if self.accounts.is_some_and(|every| every.is_zero()) {
            return Err(ConfigError::Accounts);
        }
        Ok(())
    }
}

/// Why a configuration is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The number of seats is out of range.
    #[error("invalid number of players {0}: a table has 1 to {MAX_SEATS} seats")]
    Players(usize),
    /// The number of tables is out of range.
    #[error("invalid number of tables {0}: expected at least 1, with seats for at most {MAX_CLIENTS} players")]
    Tables(u32),
    /// The number of rounds is out of range.
    #[error("invalid number of rounds {0}: expected 1 to {MAX_ROUNDS}")]
    Rounds(u32),
    /// The interval between two reports is zero.
    #[error("the pause between two accounts must be longer than zero")]
    Accounts,
}
