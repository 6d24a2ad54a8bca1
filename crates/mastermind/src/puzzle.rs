//! When two games have the same code.

use crate::{code::Rules, daily::Day};

/// Where a code comes from that no person has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A seed, which players can pass on.
    Seed(u64),
    /// A day, which has the same puzzle for everybody.
    Day(Day),
}

/// Rules, and where the code comes from. Two games of the same puzzle have the same code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Puzzle {
    /// The rules.
    pub rules: Rules,
    /// Where the code comes from.
    pub origin: Origin,
}
