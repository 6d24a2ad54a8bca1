//! What makes two games the same one.

use crate::{code::Rules, daily::Day};

/// What decides a code that is not set by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A number, as it is handed on from player to player.
    Seed(u64),
    /// A day, which has the same puzzle for everybody.
    Day(Day),
}

/// Something that can be played again: rules, and where the code comes from. Two games at the same puzzle have the same code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Puzzle {
    /// The rules.
    pub rules: Rules,
    /// Where the code comes from.
    pub origin: Origin,
}
