//! The player's knowledge of the hidden code.

use alloc::vec::Vec;

use crate::{
    code::{Code, Feedback, Peg},
    config::Rules,
    lifeline::Revealed,
};

/// Feedback and revealed facts, the input of [`solver::Hint`](crate::solver::Hint).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knowledge {
    rules: Rules,
    answers: Vec<(Code, Feedback)>,
    pub(crate) colour: Option<Peg>,
    /// The place is counted from 0.
    pub(crate) place: Option<(usize, Peg)>,
    turns_gone: usize,
}

impl Knowledge {
    /// Creates the knowledge at the start of a game.
    pub const fn new(rules: Rules) -> Self {
        Self { rules, answers: Vec::new(), colour: None, place: None, turns_gone: 0 }
    }

    /// The rules of the game.
    pub const fn rules(&self) -> Rules {
        self.rules
    }

    /// The distinct guesses with their feedback, in order.
    pub fn answers(&self) -> &[(Code, Feedback)] {
        &self.answers
    }

    /// The turns used by guesses and lifelines.
    pub const fn turns_gone(&self) -> usize {
        self.turns_gone
    }

    /// Adds the feedback on an allowed guess. A repeated guess takes a turn, but is stored once.
    pub fn answered(&mut self, guess: Code, feedback: Feedback) {
        if self.rules.allows_guess(guess) {
            if !self.answers.contains(&(guess, feedback)) {
                self.answers.push((guess, feedback));
            }
            self.turns_gone += 1;
        }
    }

    /// Adds a fact revealed by a lifeline, and the turns that it took.
    pub const fn revealed(&mut self, revealed: Revealed, turns: usize) {
        match revealed {
            Revealed::Colour(peg) => self.colour = Some(peg),
            Revealed::Place { place, peg } => self.place = Some((place, peg)),
        }
        self.turns_gone += turns;
    }

    /// Whether there are no answers and no revealed facts.
    pub const fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.colour.is_none() && self.place.is_none()
    }

    /// Whether this may be the code: it fits the rules, answers and revealed facts.
    pub fn allows(&self, code: Code) -> bool {
        self.rules.allows_secret(code)
            && self.answers.iter().all(|(guess, feedback)| Feedback::of(*guess, code) == *feedback)
            && self.colour.is_none_or(|colour| code.pegs().any(|peg| peg == colour))
            && self.place.is_none_or(|(place, peg)| code.peg(place) == Some(peg))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_answer_only_takes_a_turn() {
        let rules = Rules::new(4, 6, true).unwrap();
        let guess: Code = "1122".parse().unwrap();
        let feedback = Feedback::of(guess, "3142".parse().unwrap());
        let mut knowledge = Knowledge::new(rules);
        for turn in 1..=3 {
            knowledge.answered(guess, feedback);
            assert_eq!((knowledge.answers().len(), knowledge.turns_gone()), (1, turn));
        }
    }
}
