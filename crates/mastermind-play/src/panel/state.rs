//! The state of the panel game: what keys do at the moment, and what is on the screen to be pointed at.

use mastermind::{Lifeline, Peg, Rules, code::MAX_LENGTH, game::Outcome};

/// The letters of the ninth symbol, by position.
pub(super) const LIFELINE: [char; MAX_LENGTH] = ['L', 'I', 'F', 'E', 'L', 'I', 'N', 'E'];

/// A key of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Press {
    Left,
    Right,
    Up,
    Down,
    First,
    Last,
    Enter,
    Escape,
    Back,
    /// A digit from 0 to 9; there is no colour 0, and 9 is the ninth symbol.
    Digit(u8),
    Hint,
    Statistics,
    Help,
    /// Leaves the program from the menu, or when a game is over.
    Quit,
    /// A key without a function. It only withdraws a request to leave.
    Other,
}

impl Press {
    /// Where the key moves to among `count` places in a row, the first of which follows the last.
    pub(super) const fn moves(self, at: usize, count: usize) -> Option<usize> {
        match self {
            Self::Left => Some((at + count - 1) % count),
            Self::Right => Some((at + 1) % count),
            Self::First => Some(0),
            Self::Last => Some(count - 1),
            _ => None,
        }
    }
}

/// Something on the screen that the mouse can point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Menu(Menu),
    /// A choice of the set-up, by its number.
    Choice(usize),
    /// The arrow above a position.
    Above(usize),
    /// A position of the guess.
    Position(usize),
    /// The arrow below a position.
    Below(usize),
    /// The word that submits the guess.
    Submit,
    /// A peg among those that can be chosen.
    Peg(Peg),
    /// The overlay, or anything below it.
    Cover,
}

/// A choice of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Menu {
    Play,
    Quit,
}

/// What keys do at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Menu(Menu),
    /// Choosing the length of the code.
    Length(usize),
    /// Choosing whether colours may repeat, after the length.
    Repeats {
        length: usize,
        repeats: bool,
    },
    /// Setting a code for the other, in a duel.
    Set,
    Edit,
    Pick(Lifeline),
    /// The first game of a duel is over.
    Between,
    Over,
}

/// What covers the panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlaid {
    Help,
    Statistics,
}

/// What the program has to do after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Asked {
    Nothing,
    Leave,
    /// Record that the puzzle has been begun, and pass the result to [`Table::begun`](super::table::Table::begun).
    Begin,
    /// Count the game that is over, and pass the result to [`Table::counted`](super::table::Table::counted).
    Count,
}

/// What is at a position of the guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Peg(Peg),
    /// A letter of LIFELINE, the ninth symbol.
    Lifeline,
}

/// Two people and their codes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Duel {
    pub(super) rules: Rules,
    /// Of the first and of the second player.
    pub(super) outcomes: [Option<Outcome>; 2],
    /// Who guesses, 1 or 2; the other one has set the code.
    pub(super) guesser: usize,
}

impl Duel {
    pub(super) const fn setter(self) -> usize {
        3 - self.guesser
    }
}
