use std::{fmt, str::FromStr};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Game {
    /// The player who is destroyed least often wins.
    Robots,
    /// The player with the most gold wins.
    Nuggets,
    /// The player with the best balance of won and lost rounds wins, on the same decks.
    Blackjack,
    /// The player who needs the fewest turns for the same code wins.
    Mastermind,
}

impl Game {
    /// Each player plays alone, on the same cards or the same code.
    pub(crate) const fn is_solo(self) -> bool {
        matches!(self, Self::Blackjack | Self::Mastermind)
    }

    pub(crate) const fn max_seats(self) -> usize {
        match self {
            Self::Robots => 25,
            Self::Nuggets => 26,
            Self::Blackjack | Self::Mastermind => 1,
        }
    }

    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Robots => "times destroyed",
            Self::Nuggets => "nuggets",
            Self::Blackjack => "won rounds less lost ones",
            Self::Mastermind => "turns",
        }
    }

    /// Higher for a better result.
    pub(crate) const fn merit(self, score: i64) -> i64 {
        match self {
            Self::Robots | Self::Mastermind => score.saturating_neg(),
            Self::Nuggets | Self::Blackjack => score,
        }
    }

    /// Appended to a command without placeholders.
    pub(crate) const fn usual(self) -> &'static str {
        match self {
            Self::Robots | Self::Nuggets => "{host} {port} {name}",
            Self::Blackjack | Self::Mastermind => "{name} {host} {port}",
        }
    }
}

impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Robots => "robots",
            Self::Nuggets => "nuggets",
            Self::Blackjack => "blackjack",
            Self::Mastermind => "mastermind",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "game", rename_all = "lowercase", rename_all_fields = "kebab-case")]
pub(crate) enum Rules {
    Robots {
        turns: u16,
        turn_ms: u64,
        /// In fields.
        columns: u16,
        rows: u16,
    },
    Nuggets {
        map: String,
    },
    Blackjack {
        hands: u32,
        /// Between two messages to a text player. Older leagues without this field have no pause.
        #[serde(default)]
        delay_ms: u64,
    },
    Mastermind {
        pegs: u8,
        repeats: bool,
    },
}

impl Rules {
    pub(crate) const fn game(&self) -> Game {
        match self {
            Self::Robots { .. } => Game::Robots,
            Self::Nuggets { .. } => Game::Nuggets,
            Self::Blackjack { .. } => Game::Blackjack,
            Self::Mastermind { .. } => Game::Mastermind,
        }
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Robots { turns, turn_ms, columns, rows } => {
                write!(f, "{turns} turns of {turn_ms} ms on {columns} x {rows} fields")
            }
            Self::Nuggets { map } => write!(f, "a map of {} rows", map.lines().count()),
            Self::Blackjack { hands, delay_ms } => write!(f, "{hands} rounds, {delay_ms} ms between messages"),
            Self::Mastermind { pegs, repeats: true } => write!(f, "codes of {pegs} pegs, with repeats"),
            Self::Mastermind { pegs, repeats: false } => write!(f, "codes of {pegs} pegs, no repeats"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BotLevel(pub(crate) netcore::Level);

/// Precedes the level of a bot, in place of a command.
pub(crate) const BOT: &str = "bot:";

impl FromStr for BotLevel {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "easy" => Ok(Self(netcore::Level::Easy)),
            "normal" | "medium" => Ok(Self(netcore::Level::Normal)),
            "hard" => Ok(Self(netcore::Level::Hard)),
            other => Err(format!("unknown bot '{BOT}{other}': expected {BOT}easy, {BOT}normal or {BOT}hard")),
        }
    }
}
