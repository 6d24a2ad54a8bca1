//! The parts of a game that a peer may see. Messages are built from these types, which contain the code only once it
//! may be shown.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};
use serde::{Deserialize, Serialize};

use crate::{
    code::{Code, Feedback, MAX_LENGTH, MIN_LENGTH, ParseCodeError},
    config::Rules,
    lifeline::{Lifeline, Revealed},
};

/// The part of a game that a peer may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Guesses, answers and revealed facts; the code once the game is over.
    All,
    /// The same without the code, because other players are still guessing it.
    NoCode,
    /// Answers only, because other players are guessing the same code.
    Answers,
}

/// A code, or a placeholder for a hidden code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskedCode {
    /// The code.
    Code(Code),
    /// A hidden code with this number of pegs.
    Hidden(usize),
}

impl MaskedCode {
    pub(crate) fn of(code: Code, shows: bool) -> Self {
        if shows { Self::Code(code) } else { Self::Hidden(code.len()) }
    }

    /// The number of pegs.
    #[expect(clippy::len_without_is_empty, reason = "a code has at least four pegs")]
    pub const fn len(self) -> usize {
        match self {
            Self::Code(code) => code.len(),
            Self::Hidden(length) => length,
        }
    }
}

impl fmt::Display for MaskedCode {
    /// The digits of the code, or a star for each hidden peg.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => code.fmt(f),
            Self::Hidden(length) => (0..*length).try_for_each(|_| f.write_str("*")),
        }
    }
}

impl FromStr for MaskedCode {
    type Err = ParseCodeError;

    fn from_str(text: &str) -> Result<Self, ParseCodeError> {
        if (MIN_LENGTH..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte == b'*') {
            return Ok(Self::Hidden(text.len()));
        }
        text.parse().map(Self::Code)
    }
}

/// How a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GameOutcome {
    /// The code was found.
    Won,
    /// All turns were used.
    Lost,
    /// The player gave up.
    Resigned,
    /// The time of the race ran out.
    Late,
}

impl GameOutcome {
    pub(crate) const ALL: [Self; 4] = [Self::Won, Self::Lost, Self::Resigned, Self::Late];

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Lost => "lost",
            Self::Resigned => "resigned",
            Self::Late => "late",
        }
    }
}

/// The result of a finished game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameResult {
    /// How the game ended.
    pub how: GameOutcome,
    /// Turns used.
    pub turns: usize,
    /// Hints received.
    pub hints: usize,
    /// The code, if it may be shown.
    pub code: MaskedCode,
}

/// A guess or a lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnRecord {
    /// A guess and its answer.
    Row {
        /// The turn, counted from 1.
        turn: usize,
        /// The guess, if it may be shown.
        guess: MaskedCode,
        /// The answer.
        feedback: Feedback,
    },
    /// A lifeline.
    Lifeline {
        /// The first of its turns.
        turn: usize,
        /// The kind of lifeline.
        lifeline: Lifeline,
        /// The revealed fact, if it may be shown.
        revealed: Option<Revealed>,
    },
}

impl TurnRecord {
    /// The first of its turns.
    pub const fn turn(&self) -> usize {
        match self {
            Self::Row { turn, .. } | Self::Lifeline { turn, .. } => *turn,
        }
    }
}

/// A game as seen by a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// The number of the game in its room.
    pub number: u32,
    /// The rules.
    pub rules: Rules,
    /// Guesses and lifelines, in order.
    pub lines: Vec<TurnRecord>,
    /// The result, if the game is over.
    pub over: Option<GameResult>,
}
