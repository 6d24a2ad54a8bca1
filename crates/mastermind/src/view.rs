//! What a peer may see of a game. Messages are made of these, and the code is in none of them before it may be shown.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};
use serde::{Deserialize, Serialize};

use crate::{
    code::{Code, MAX_LENGTH, MIN_LENGTH, ParseCodeError},
    config::Rules,
    feedback::Feedback,
    lifeline::{Lifeline, Revealed},
};

/// How much of a game somebody may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Guesses, answers, and what lifelines have revealed; the code once the game is over.
    All,
    /// The same without the code, which others still look for.
    NoCode,
    /// Answers only: the same code is to be found by others.
    Answers,
}

/// A code, or that it may not be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The code.
    Code(Code),
    /// A code of so many pegs that is not shown.
    Hidden(usize),
}

impl Shown {
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

impl fmt::Display for Shown {
    /// The digits of the code, or a star for each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => code.fmt(f),
            Self::Hidden(length) => (0..*length).try_for_each(|_| f.write_str("*")),
        }
    }
}

impl FromStr for Shown {
    type Err = ParseCodeError;

    fn from_str(text: &str) -> Result<Self, ParseCodeError> {
        if (MIN_LENGTH..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte == b'*') {
            return Ok(Self::Hidden(text.len()));
        }
        text.parse().map(Self::Code)
    }
}

/// How a game is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The code was found.
    Won,
    /// All turns are gone.
    Lost,
    /// The player gave up.
    Resigned,
    /// The time of the race was up.
    Late,
}

impl Ending {
    pub(crate) const ALL: [Self; 4] = [Self::Won, Self::Lost, Self::Resigned, Self::Late];

    /// The word for it on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Lost => "lost",
            Self::Resigned => "resigned",
            Self::Late => "late",
        }
    }
}

/// The end of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Over {
    /// How it came.
    pub how: Ending,
    /// Turns that are gone.
    pub turns: usize,
    /// Hints that the player had.
    pub hints: usize,
    /// The code, where it may be shown.
    pub code: Shown,
}

/// Something that took turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// A guess and its answer.
    Row {
        /// The turn, from 1 on.
        turn: usize,
        /// The guess, where it may be shown.
        guess: Shown,
        /// The answer.
        feedback: Feedback,
    },
    /// A lifeline.
    Lifeline {
        /// The first of its turns.
        turn: usize,
        /// Which one.
        lifeline: Lifeline,
        /// What it revealed, where that may be shown.
        revealed: Option<Revealed>,
    },
}

impl Line {
    /// The first turn that it took.
    pub const fn turn(&self) -> usize {
        match self {
            Self::Row { turn, .. } | Self::Lifeline { turn, .. } => *turn,
        }
    }
}

/// One game as somebody sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// The number of the game in its room.
    pub number: u32,
    /// The rules.
    pub rules: Rules,
    /// What took turns, in order.
    pub lines: Vec<Line>,
    /// How it is over, if it is.
    pub over: Option<Over>,
}
