//! What a person is told who has to decide.

use blackjack::{
    Action, Card, Hand, Policy,
    exact::{Odds, Solver},
};

/// What best play or a table would do, and the odds of both actions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advice {
    /// What to do.
    pub action: Action,
    /// Whether a table from a file says so, and not best play.
    pub by_table: bool,
    /// The odds of standing now, and of taking one card and going on as advised. None for cards that no deck has.
    pub odds: Option<(Odds, Odds)>,
}

/// Gives advice by a policy.
#[derive(Debug, Clone)]
pub struct Advisor {
    solver: Solver,
    pub(crate) policy: Policy,
    pub(crate) by_table: bool,
}

impl Advisor {
    /// An advisor who knows this policy, which is best play.
    pub const fn new(solver: Solver, policy: Policy) -> Self {
        Self { solver, policy, by_table: false }
    }

    /// What to do with a hand that is not bust against this card of the dealer.
    pub fn advise(&self, hand: &Hand, upcard: Card) -> Advice {
        let action = self.policy.decide(hand.points(), upcard.value());
        let values: Vec<u8> = hand.cards().iter().map(|card| card.value()).collect();
        Advice { action, by_table: self.by_table, odds: self.solver.odds(&values, upcard.value(), &self.policy) }
    }
}

#[cfg(test)]
impl Advisor {
    /// An advisor who knows the best table, made once for all tests.
    pub(crate) fn best() -> Self {
        use blackjack::StateSpace;
        use std::sync::OnceLock;

        static BEST: OnceLock<Advisor> = OnceLock::new();
        let best = BEST.get_or_init(|| {
            let solver = Solver::new();
            let policy = solver.best(StateSpace::Soft);
            Self::new(solver, policy)
        });
        best.clone()
    }
}
