//! How a server's games are set up.

use core::time::Duration;
use thiserror::Error;

use crate::messages::Parameters;

/// How a server and its games are set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What everybody is told.
    pub parameters: Parameters,
    /// Time from one turn to the next; may be zero.
    pub turn_duration: Duration,
    /// Blocks drawn at the start of a game; those that fall on each other are one.
    pub initial_blocks: u16,
    /// Where the random numbers of all games come from.
    pub seed: u32,
}

/// A set-up with which no game can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A board without fields.
    #[error("a board of {size_x} x {size_y} has no fields: 1 x 1 to 65535 x 65535 are possible")]
    NoFields {
        /// Columns.
        size_x: u16,
        /// Rows.
        size_y: u16,
    },
    /// A game without players.
    #[error("a game of 0 players never starts: 1 to 255 are possible")]
    NoPlayers,
    /// Bombs that explode before they are there.
    #[error("a bomb timer of 0 turns is too short: 1 to 65535 are possible")]
    NoTimer,
}

impl Config {
    /// Whether games can be played so.
    ///
    /// # Errors
    /// [`ConfigError`] says what is wrong.
    pub const fn check(&self) -> Result<(), ConfigError> {
        let Parameters { size_x, size_y, players_count, bomb_timer, .. } = self.parameters;
        if size_x == 0 || size_y == 0 {
            return Err(ConfigError::NoFields { size_x, size_y });
        }
        if players_count == 0 {
            return Err(ConfigError::NoPlayers);
        }
        if bomb_timer == 0 {
            return Err(ConfigError::NoTimer);
        }
        Ok(())
    }
}
