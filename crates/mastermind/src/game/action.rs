//! The actions of a player, and reasons to reject them.

use thiserror::Error;

use crate::{
    code::{Code, ParseCodeError},
    lifeline::Lifeline,
};

/// An action of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Guesses the code.
    Guess(Code),
    /// Uses a lifeline.
    Lifeline(Lifeline),
}

/// The input is not a valid action.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseActionError {
    /// The input is not a code or a lifeline.
    #[error("type a code, or lifeline#1 or lifeline#2: {0}")]
    Neither(ParseCodeError),
    /// The lifeline does not exist.
    #[error("there are two lifelines: type lifeline#1 or lifeline#2")]
    NoSuchLifeline,
}

impl Action {
    /// Parses the digits of a guess, or `lifeline#1` or `lifeline#2` in any case.
    pub fn parse(text: &str) -> Result<Self, ParseActionError> {
        const WORD: &str = "lifeline#";
        if let Some((word, number)) = text.split_at_checked(WORD.len())
            && word.eq_ignore_ascii_case(WORD)
        {
            let lifeline = match number {
                "1" => Lifeline::Colour,
                "2" => Lifeline::Place,
                _ => return Err(ParseActionError::NoSuchLifeline),
            };
            return Ok(Self::Lifeline(lifeline));
        }
        text.parse().map(Self::Guess).map_err(ParseActionError::Neither)
    }
}

/// Why an action was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ActionError {
    /// The game is over.
    #[error("the game is over")]
    Over,
    /// The guess has another length than the code.
    #[error("a guess has {expected} pegs in this game, not {found}")]
    Length {
        /// Pegs of the guess.
        found: usize,
        /// Pegs of the code.
        expected: usize,
    },
    /// The guess has a colour that is not in the game.
    #[error("{guess} has a colour that is not in this game: there are 1 to {colours}")]
    Colour {
        /// The guess.
        guess: Code,
        /// The number of colours.
        colours: usize,
    },
    /// The single use of a lifeline is spent.
    #[error("{0} cannot be used: the one use of a lifeline in this game is spent")]
    LifelineUsed(Lifeline),
    /// The lifeline would leave no turn for a guess.
    #[error(
        "{lifeline} cannot be used now: it takes {cost} turns and {left} are left, so none would remain for a guess"
    )]
    LifelineBlocked {
        /// The requested lifeline.
        lifeline: Lifeline,
        /// The turns that it takes.
        cost: usize,
        /// The turns left.
        left: usize,
    },
}
