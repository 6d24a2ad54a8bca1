//! The games of the hub: what a room can be asked for, and the engine that it gets.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use netcore::{Rate, wire::ShortText};
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};

/// A game of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Game {
    Nuggets,
    Robots,
    Blackjack,
}

impl Game {
    /// Its name in addresses, on the page and in journals.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Nuggets => "nuggets",
            Self::Robots => "robots",
            Self::Blackjack => "blackjack",
        }
    }

    /// How its messages look in WebSocket frames.
    pub(crate) const fn frames(self) -> Frames {
        match self {
            Self::Nuggets => Frames::Text,
            Self::Robots => Frames::Binary,
            Self::Blackjack => Frames::ZeroEndedText,
        }
    }

    /// Whether strangers reach it by datagrams; else over connections, from each of which so many bytes are read.
    pub(crate) const fn read_rate(self) -> Option<Rate> {
        match self {
            Self::Nuggets => None,
            Self::Robots => Some(Rate { per_second: 4 << 10, burst: 64 << 10 }),
            Self::Blackjack => Some(Rate { per_second: 16 << 20, burst: 16 << 20 }),
        }
    }
}

/// How messages look in WebSocket frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Text frames that hold the message.
    Text,
    /// Text frames that hold the message without the zero byte at its end.
    ZeroEndedText,
    /// Binary frames that hold the message.
    Binary,
}

/// What a new room is to be. Everything has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "game", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Options {
    Nuggets {
        /// One of the maps of the hub.
        #[serde(default = "main_map")]
        map: String,
        #[serde(default)]
        seed: Option<u64>,
    },
    Robots {
        #[serde(default = "four")]
        players: u8,
        #[serde(default = "sixteen")]
        columns: u16,
        #[serde(default = "twelve")]
        rows: u16,
        #[serde(default = "three_hundred")]
        turns: u16,
        /// Milliseconds.
        #[serde(default = "two_hundred")]
        turn_duration: u64,
        #[serde(default)]
        seed: Option<u32>,
    },
    Blackjack {
        #[serde(default = "two")]
        players: u8,
        #[serde(default = "twenty")]
        rounds: u32,
    },
}

fn main_map() -> String {
    "main".into()
}
const fn two() -> u8 {
    2
}
const fn four() -> u8 {
    4
}
const fn twelve() -> u16 {
    12
}
const fn sixteen() -> u16 {
    16
}
const fn twenty() -> u32 {
    20
}
const fn two_hundred() -> u64 {
    200
}
const fn three_hundred() -> u16 {
    300
}

/// The maps that rooms can be asked for, by name.
const MAPS: [(&str, &[u8]); 6] = [
    ("main", include_bytes!("../../../maps/main.txt")),
    ("alcoves", include_bytes!("../../../maps/alcoves.txt")),
    ("brawl", include_bytes!("../../../maps/brawl.txt")),
    ("donuts", include_bytes!("../../../maps/donuts.txt")),
    ("gold", include_bytes!("../../../maps/gold.txt")),
    ("spiral", include_bytes!("../../../maps/spiral.txt")),
];

/// The engine of a new room.
pub(crate) enum Engine {
    Nuggets(Box<nuggets::server::Server>),
    Robots(Box<robots::Server>),
    Blackjack(Box<blackjack::Server>),
}

impl Options {
    /// A room of this game with all defaults.
    pub(crate) fn usual(game: Game) -> Self {
        match game {
            Game::Nuggets => Self::Nuggets { map: main_map(), seed: None },
            Game::Robots => Self::Robots {
                players: four(),
                columns: sixteen(),
                rows: twelve(),
                turns: three_hundred(),
                turn_duration: two_hundred(),
                seed: None,
            },
            Game::Blackjack => Self::Blackjack { players: two(), rounds: twenty() },
        }
    }

    pub(crate) const fn game(&self) -> Game {
        match self {
            Self::Nuggets { .. } => Game::Nuggets,
            Self::Robots { .. } => Game::Robots,
            Self::Blackjack { .. } => Game::Blackjack,
        }
    }

    /// What the room is called in the lobby.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Nuggets { map, .. } => format!("map {map}"),
            Self::Robots { players, columns, rows, turns, .. } => {
                format!("{players} robots on {columns} x {rows}, {turns} turns")
            }
            Self::Blackjack { players: 1, rounds } => format!("a table for one, {rounds} rounds"),
            Self::Blackjack { players, rounds } => format!("a table for {players}, {rounds} rounds"),
        }
    }

    /// The engine that plays it. It goes on with another game when one is over.
    ///
    /// # Errors
    /// When no game can be played so; the message says what would be possible.
    pub(crate) fn engine(&self) -> anyhow::Result<Engine> {
        Ok(match self {
            Self::Nuggets { map, seed } => {
                let names = || MAPS.map(|(name, _)| name).join(", ");
                let (_, text) = MAPS
                    .iter()
                    .find(|(name, _)| name == map)
                    .with_context(|| format!("there is no map '{}'; choose one of {}", map.escape_debug(), names()))?;
                let (grid, _) = nuggets::Grid::parse(text)?;
                let seed = seed.map_or_else(|| SysRng.try_next_u32().map(u64::from), Ok)?;
                let config = nuggets::server::Config {
                    rules: nuggets::game::Rules::default(),
                    idle_timeout: None,
                    rematch: true,
                    wait_for: 0,
                    countdown: None,
                    seed,
                };
                Engine::Nuggets(Box::new(nuggets::server::Server::new(Arc::new(grid), config)?))
            }
            &Self::Robots { players, columns, rows, turns, turn_duration, seed } => {
                if !(1..=25).contains(&players) || !(20..=10_000).contains(&turn_duration) {
                    bail!("a room has 1 to 25 robots and turns of 20 to 10,000 ms");
                }
                let server_name = ShortText::try_from("Arcade").unwrap_or_default();
                let config = robots::Config {
                    parameters: robots::Parameters {
                        server_name,
                        players_count: players,
                        size_x: columns,
                        size_y: rows,
                        game_length: turns,
                        explosion_radius: 4,
                        bomb_timer: 5,
                    },
                    turn_duration: Duration::from_millis(turn_duration),
                    initial_blocks: u16::try_from(u32::from(columns) * u32::from(rows) / 8).unwrap_or(u16::MAX),
                    seed: seed.map_or_else(|| SysRng.try_next_u32(), Ok)?,
                    max_history: robots::MAX_HISTORY,
                };
                Engine::Robots(Box::new(robots::Server::new(config)?))
            }
            &Self::Blackjack { players, rounds } => {
                let mut key = [0; 32];
                SysRng.try_fill_bytes(&mut key)?;
                let mut config = blackjack::server::Config::new(rounds, blackjack::Seed::new(key));
                config.players = players.into();
                config.forever = true;
                Engine::Blackjack(Box::new(blackjack::Server::new(config)?))
            }
        })
    }
}
