//! The state of the panel game: what keys do at the moment, and what is on the screen to be pointed at.

use mastermind::{Lifeline, Peg, code::MAX_LENGTH};

/// The letters of the ninth symbol, by position.
pub(super) const LIFELINE: [char; MAX_LENGTH] = ['L', 'I', 'F', 'E', 'L', 'I', 'N', 'E'];

/// A key of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Up.
    Up,
    /// Down.
    Down,
    /// To the first position.
    First,
    /// To the last position.
    Last,
    /// Enter, also of the number pad.
    Enter,
    /// Esc.
    Escape,
    /// Backspace.
    Back,
    /// A digit from 0 to 9; there is no colour 0, and 9 is the ninth symbol.
    Digit(u8),
    /// Asks for a hint.
    Hint,
    /// Shows the statistics.
    Statistics,
    /// Shows the keys.
    Help,
    /// Leaves the program from the menu, or when a game is over.
    Quit,
    /// A key without a function. It only withdraws a request to leave.
    Other,
}

impl Press {
    /// All keys.
    pub const ALL: [Self; 24] = [
        Self::Left,
        Self::Right,
        Self::Up,
        Self::Down,
        Self::First,
        Self::Last,
        Self::Enter,
        Self::Escape,
        Self::Back,
        Self::Digit(0),
        Self::Digit(1),
        Self::Digit(2),
        Self::Digit(3),
        Self::Digit(4),
        Self::Digit(5),
        Self::Digit(6),
        Self::Digit(7),
        Self::Digit(8),
        Self::Digit(9),
        Self::Hint,
        Self::Statistics,
        Self::Help,
        Self::Quit,
        Self::Other,
    ];
}

/// Something on the screen that the mouse can point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A choice of the menu.
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
    /// The overlay, or anything below it.
    Cover,
}

/// A choice of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Menu {
    /// Play.
    Play,
    /// Leave.
    Quit,
}

/// What keys do at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The menu.
    Menu(Menu),
    /// Choosing the length of the code.
    Length(usize),
    /// Choosing whether colours may repeat.
    Repeats {
        /// The length that was chosen.
        length: usize,
        /// The choice that the cursor is at.
        repeats: bool,
    },
    /// Setting a code for the other, in a duel.
    Set,
    /// Editing a guess.
    Edit,
    /// Choosing a lifeline.
    Pick(Lifeline),
    /// The first game of a duel is over.
    Between,
    /// The game is over.
    Over,
}

/// What covers the panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlaid {
    /// The keys.
    Help,
    /// The statistics.
    Statistics,
}

/// What the program has to do after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// End.
    Leave,
    /// Record that the puzzle has been begun, and pass the result to [`Table::begun`](super::Table::begun).
    Begin,
    /// Count the game that is over, and pass the result to [`Table::counted`](super::Table::counted).
    Count,
}

/// What is at a position of the guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// A digit.
    Peg(Peg),
    /// A letter of LIFELINE, the ninth symbol.
    Lifeline,
}
