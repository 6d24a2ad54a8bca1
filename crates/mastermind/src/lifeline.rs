//! Lifelines reveal part of the code and take turns. A game allows a single use of either kind.

use core::fmt;

use crate::code::Peg;

/// The kinds of lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifeline {
    /// The first reveals the colour of a random place, but not the place.
    Colour,
    /// The second reveals a random place and its colour.
    Place,
}

impl Lifeline {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Colour, Self::Place];

    /// The number, 1 or 2, by which players select the lifeline.
    pub const fn number(self) -> usize {
        match self {
            Self::Colour => 1,
            Self::Place => 2,
        }
    }

    /// The lifeline with this number.
    pub const fn from_number(number: usize) -> Option<Self> {
        match number {
            1 => Some(Self::Colour),
            2 => Some(Self::Place),
            _ => None,
        }
    }

    /// The number of turns that the lifeline takes.
    pub const fn cost(self, style: Style) -> usize {
        match style {
            Style::Text => self.number() + 1,
            Style::Panel => self.number(),
        }
    }
}

impl fmt::Display for Lifeline {
    /// Formats the lifeline as `lifeline#1`, as typed in the text game.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lifeline#{}", self.number())
    }
}

/// The styles of play, which differ in the cost of a lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Style {
    /// Line by line. A lifeline costs its penalty plus the current turn: 2 turns for the first, 3 for the second.
    Text,
    /// On panels. A lifeline fills rows of the history: 1 for the first, 2 for the second.
    Panel,
}

/// A fact revealed by a lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revealed {
    /// The code has this colour somewhere.
    Colour(Peg),
    /// The code has this colour at this place.
    Place {
        /// The place, counted from 0.
        place: usize,
        /// The colour.
        peg: Peg,
    },
}

impl Revealed {
    /// The lifeline that reveals such facts.
    pub const fn lifeline(self) -> Lifeline {
        match self {
            Self::Colour(_) => Lifeline::Colour,
            Self::Place { .. } => Lifeline::Place,
        }
    }
}

impl fmt::Display for Revealed {
    /// Formats the fact as `the code has a 5` or `place 2 of the code is 5`, with places from 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Colour(peg) => write!(f, "the code has a {peg}"),
            Self::Place { place, peg } => write!(f, "place {} of the code is {peg}", place + 1),
        }
    }
}
