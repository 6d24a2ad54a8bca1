//! What a server is set up with: the rules of its games, and what only the server needs to know.

use core::time::Duration;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::visibility::Vision;

/// Most gold that a game may hold: a purse always fits the ten columns of the final table.
pub const MAX_GOLD: u32 = 1_000_000;

/// How a server is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// The rules of its games.
    pub rules: Rules,
    /// A player who sends no key for that long loses its seat.
    pub idle_timeout: Option<Duration>,
    /// Whether a game that is over is followed by another.
    pub rematch: bool,
    /// A game begins when so many play; with fewer than two of them it begins with its first player.
    pub wait_for: u32,
    /// How long after that it begins. Until then players look around, and keys that move are ignored.
    pub countdown: Option<Duration>,
    /// Where the random numbers come from: same seed, same piles and places. Whoever hosts for strangers draws all 128 bits, since a
    /// short seed is found by trying which one gives the piles that were seen.
    pub seed: u128,
    /// Clients that may watch at the same time by SPECTATE. One more replaces the oldest of them. The protocol allows one.
    pub spectators: u32,
}

impl Default for Config {
    fn default() -> Self {
        let (rules, idle_timeout, rematch, wait_for) = (Rules::default(), None, false, 0);
        Self { rules, idle_timeout, rematch, wait_for, countdown: None, seed: 0, spectators: 1 }
    }
}

/// The rules of one game. [`Rules::default`] is the course's game; everything else is an extra.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Nuggets in the game.
    pub gold: u32,
    /// Least number of piles at the start.
    pub min_piles: u32,
    /// Largest number of piles at the start.
    pub max_piles: u32,
    /// How far players see.
    pub vision: Vision,
    /// What part of a purse one takes by stepping on its owner, in percent; 0 for none.
    pub steal_percent: u8,
    /// Whether a run stops on gold and after a swap.
    pub run_stop: bool,
    /// Whether a quitter's purse becomes a pile again.
    pub drop_on_quit: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            gold: 250,
            min_piles: 10,
            max_piles: 30,
            vision: Vision { radius: None },
            steal_percent: 0,
            run_stop: false,
            drop_on_quit: false,
        }
    }
}

/// Why no game can be played as a [`Config`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// No gold, or more than a game may hold.
    #[error("{0} nuggets are not possible: 1 to {MAX_GOLD} are")]
    Gold(u32),
    /// No piles at all, or a least number of piles above the largest.
    #[error("{0} to {1} piles are not possible: at least 1, and the least number not above the largest")]
    Piles(u32, u32),
    /// More piles than nuggets.
    #[error("{0} nuggets cannot make {1} piles: each pile holds at least one")]
    TooFewNuggets(u32, u32),
    /// A share above the whole.
    #[error("{0} percent of a purse cannot be taken: at most 100 can")]
    Steal(u8),
    /// A player who sees nothing.
    #[error("a radius of 0 shows nothing: at least 1 is needed")]
    Vision,
    /// A map that cannot hold both.
    #[error("the map has a single room spot ('.'): a game needs one for gold and one for a player")]
    OneSpot,
}

impl Rules {
    /// Whether a game can have these rules.
    ///
    /// # Errors
    /// [`ConfigError`] says which is wrong.
    pub const fn check(&self) -> Result<(), ConfigError> {
        let Self { gold, min_piles: min, max_piles: max, .. } = *self;
        if gold == 0 || gold > MAX_GOLD {
            return Err(ConfigError::Gold(gold));
        }
        if min == 0 || min > max {
            return Err(ConfigError::Piles(min, max));
        }
        if min > gold {
            return Err(ConfigError::TooFewNuggets(gold, min));
        }
        if self.steal_percent > 100 {
            return Err(ConfigError::Steal(self.steal_percent));
        }
        if matches!(self.vision.radius, Some(0)) {
            return Err(ConfigError::Vision);
        }
        Ok(())
    }
}
