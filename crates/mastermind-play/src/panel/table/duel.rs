//! The two people of a duel.

use mastermind::{Rules, game::Outcome};

/// Two people and their codes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Duel {
    pub(super) rules: Rules,
    // Of the first and of the second player.
    pub(super) outcomes: [Option<Outcome>; 2],
    // Who guesses, 1 or 2; the other one has set the code.
    pub(super) guesser: usize,
}

impl Duel {
    pub(super) const fn setter(self) -> usize {
        3 - self.guesser
    }
}
