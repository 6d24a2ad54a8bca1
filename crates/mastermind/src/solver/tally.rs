//! Counts of turns.

use alloc::vec::Vec;
use core::fmt;

/// The number of codes found at each turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    turns: Vec<u64>,
    /// The number of guesses that had to be chosen.
    pub(crate) guesses: u64,
}

impl Tally {
    pub(crate) fn found(&mut self, turn: usize, codes: u64) {
        if self.turns.len() < turn {
            self.turns.resize(turn, 0);
        }
        self.turns[turn - 1] += codes;
    }

    /// Adds the tally of another part of the work.
    pub fn add(&mut self, other: &Self) {
        for (turn, &codes) in (1..).zip(&other.turns) {
            self.found(turn, codes);
        }
        self.guesses += other.guesses;
    }

    /// The number of codes found.
    pub fn codes(&self) -> u64 {
        self.turns.iter().sum()
    }

    /// The turns of all codes together, including the winning ones.
    pub fn total(&self) -> u64 {
        (1..).zip(&self.turns).map(|(turn, codes)| turn * codes).sum()
    }

    /// The turns of the slowest code.
    pub fn longest(&self) -> usize {
        self.turns.len()
    }

    /// Codes found at each turn, the first at index 0.
    pub fn turns(&self) -> &[u64] {
        &self.turns
    }
}

impl fmt::Display for Tally {
    /// Formats the tally as `total 5625 / 1296 = 4.3403, longest 6`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = self.codes().max(1);
        let average = (self.total() * 10_000 + codes / 2) / codes;
        let (whole, rest) = (average / 10_000, average % 10_000);
        write!(f, "total {} / {} = {whole}.{rest:04}, longest {}", self.total(), self.codes(), self.longest())
    }
}
