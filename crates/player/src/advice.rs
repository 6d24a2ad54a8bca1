//! What a person is told who has to decide.

use blackjack::{
    Action, Card, Hand, Strategy,
    exact::{Odds, Solver},
};

/// What the table would do, and the odds of both actions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advice {
    /// What the table does.
    pub action: Action,
    /// The odds of standing now, and of taking one card and going on by the table. None for cards that no deck has.
    pub odds: Option<(Odds, Odds)>,
}

/// Gives advice by a strategy.
#[derive(Debug, Clone)]
pub struct Advisor {
    solver: Solver,
    strategy: Strategy,
}

impl Advisor {
    /// An advisor who knows this strategy.
    pub const fn new(solver: Solver, strategy: Strategy) -> Self {
        Self { solver, strategy }
    }

    /// The strategy.
    pub const fn strategy(&self) -> &Strategy {
        &self.strategy
    }

    /// What to do with a hand that is not bust against this card of the dealer.
    pub fn advise(&self, hand: &Hand, upcard: Card) -> Advice {
        let action = self.strategy.decide(hand.points(), upcard.value());
        let values: Vec<u8> = hand.cards().iter().map(|card| card.value()).collect();
        Advice { action, odds: self.solver.odds(&values, upcard.value(), &self.strategy) }
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
            let strategy = solver.best(StateSpace::Soft);
            Self::new(solver, strategy)
        });
        best.clone()
    }
}
