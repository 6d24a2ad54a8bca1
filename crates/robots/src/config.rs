//! The configuration of a server.

use core::time::Duration;
use netcore::{Rate, wire::ShortText};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::protocol::Parameters;

/// The default of [`Config::max_history`], in bytes.
pub const MAX_HISTORY: u64 = 256 << 20;

/// The rate limit for reading from one connection: thousands of actions per second, although only the last one before
/// each turn counts.
pub const READ_RATE: Rate = Rate { per_second: 4 << 10, burst: 64 << 10 };

/// The configuration of a server and its games.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// The parameters in the Hello to every client.
    pub parameters: Parameters,
    /// The time from one turn to the next; may be zero.
    pub turn_duration: Duration,
    /// Blocks drawn at the start of a game. Repeated draws of one field yield one block.
    pub initial_blocks: u16,
    /// The seed of the generator for all games.
    pub seed: u32,
    /// The longest history for new clients, in bytes; see [`MAX_HISTORY`]. Beyond it, the server rejects new clients.
    pub max_history: u64,
}

/// Why a configuration is unplayable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A board without fields.
    #[error("invalid board {size_x} x {size_y}: expected 1 x 1 to 65535 x 65535")]
    NoFields {
        /// Columns.
        size_x: u16,
        /// Rows.
        size_y: u16,
    },
    /// A game without players.
    #[error("invalid number of players 0: expected 1 to 255")]
    NoPlayers,
    /// Bombs would explode before they are placed.
    #[error("invalid bomb timer 0: expected 1 to 65535 turns")]
    NoTimer,
}

// Lengths of the messages in a history, in bytes.
const GAME_STARTED: u64 = 5;
// Number, name of 255 bytes, IPv6 address of 45 characters with brackets and port.
const LISTED_PLAYER: u64 = 1 + 1 + 255 + 1 + 53;
const TURN: u64 = 7;
const BOMB_PLACED: u64 = 9;
const PLAYER_MOVED: u64 = 6;
const BLOCK_PLACED: u64 = 5;
// With the maximum number of destroyed blocks and no robot.
const BOMB_EXPLODED: u64 = 13 + 4 * 4;

impl Config {
    /// A small board with many blocks for four robots: a minute at five turns per second.
    pub fn arena(seed: u32) -> Self {
        Self {
            parameters: Parameters {
                server_name: ShortText::default(),
                players_count: 4,
                size_x: 12,
                size_y: 10,
                game_length: 300,
                explosion_radius: 4,
                bomb_timer: 5,
            },
            turn_duration: Duration::from_millis(200),
            initial_blocks: 48,
            seed,
            max_history: MAX_HISTORY,
        }
    }

    /// Checks that the configuration is playable.
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

    /// An upper estimate of the length of a busy game's history, in bytes.
    ///
    /// It is the sum of
    /// - `GameStarted`, 5 bytes, and 311 for each player;
    /// - turn 0: 7 bytes, 6 for each player, 5 for each block;
    /// - each turn: 7 bytes and 9 for each player, the longest action;
    /// - each turn in which bombs can explode: one explosion for every two players, of 29 bytes and 1 for each robot
    ///   that it hits.
    ///
    /// An explosion is assumed to hit the robot that placed the bomb, and a share of the others equal to the blast's
    /// share of the board. Its arms are assumed to be at most twice the number of fields per player, because crowds
    /// leave many blocks. Players who only place bombs can exceed the estimate; random players stay below it.
    pub fn expected_history(&self) -> u64 {
        let parameters = &self.parameters;
        let [size_x, size_y, length, radius, timer] = [
            parameters.size_x,
            parameters.size_y,
            parameters.game_length,
            parameters.explosion_radius,
            parameters.bomb_timer,
        ]
        .map(u64::from);
        let players = u64::from(parameters.players_count);
        let fields = (size_x * size_y).max(1);
        let arm = radius.min(2 * fields.div_ceil(players.max(1)));
        let blast = 1 + (2 * arm).min(size_x.saturating_sub(1)) + (2 * arm).min(size_y.saturating_sub(1));
        let others = players.saturating_sub(1);
        // A generator that yields only zeros puts all robots into one corner.
        let near = if self.seed.is_multiple_of(2_147_483_647) { others } else { (others * blast).div_ceil(fields) };
        let hit = 1 + near.min(others);

        let start = GAME_STARTED + LISTED_PLAYER * players;
        let turn_0 = TURN + PLAYER_MOVED * players + BLOCK_PLACED * u64::from(self.initial_blocks).min(fields);
        let actions = TURN + BOMB_PLACED * players;
        let explosions = players.div_ceil(2) * (BOMB_EXPLODED + hit);
        start + turn_0 + length * actions + length.saturating_sub(timer) * explosions
    }
}
