//! The configuration of a server and the rules of its games.

use core::time::Duration;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::visibility::Vision;

/// The largest amount of gold in a game. It fits the ten columns of the final table.
pub const MAX_GOLD: u32 = 1_000_000;

/// The configuration of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// The rules of its games.
    pub rules: Rules,
    /// A player loses its seat after this long without a key.
    pub idle_timeout: Option<Duration>,
    /// Whether another game follows the end of a game.
    pub rematch: bool,
    /// The number of players at which a game begins. With 0 or 1, it begins with its first player.
    pub wait_for: u32,
    /// The delay between reaching `wait_for` and the start. Until the start, keys that move are answered with an ERROR.
    pub countdown: Option<Duration>,
    /// The seed of the random numbers. The same seed gives the same piles and places. Against untrusted players use all
    /// 128 bits: a short seed can be guessed from the piles.
    pub seed: u128,
    /// The number of simultaneous spectators by SPECTATE; the course's protocol allows one. A further one replaces the
    /// oldest.
    pub spectators: u32,
}

impl Default for Config {
    fn default() -> Self {
        let (rules, idle_timeout, rematch, wait_for) = (Rules::default(), None, false, 0);
        Self { rules, idle_timeout, rematch, wait_for, countdown: None, seed: 0, spectators: 1 }
    }
}

/// The rules of one game, by default the course's game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Nuggets in the game.
    pub gold: u32,
    /// Minimum number of piles at the start.
    pub min_piles: u32,
    /// Maximum number of piles at the start.
    pub max_piles: u32,
    /// How far players see.
    pub vision: Vision,
    /// The share of a purse, in percent, that a player takes by stepping on its owner.
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

/// Why a [`Config`] is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// No gold, or more than the limit of a game.
    #[error("invalid number of nuggets {0}: expected 1 to {MAX_GOLD}")]
    Gold(u32),
    /// A minimum of 0, or above the maximum.
    #[error("invalid range of piles {0} to {1}: expected a minimum of at least 1 and at most the maximum")]
    Piles(u32, u32),
    /// A minimum above the number of nuggets.
    #[error("{0} nuggets cannot make {1} piles: each pile holds at least one")]
    TooFewNuggets(u32, u32),
    /// A share above 100 percent.
    #[error("invalid percentage of a purse {0}: expected at most 100")]
    Steal(u8),
    /// A radius of 0.
    #[error("invalid radius 0: expected at least 1")]
    Vision,
    /// A map with a single room spot.
    #[error("the map has a single room spot ('.'): a game needs one for gold and one for a player")]
    OneSpot,
}

impl Rules {
    /// Checks the rules.
    ///
    /// # Errors
    /// [`ConfigError`] names the first invalid rule.
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
