use blackjack::{Policy, StateSpace, exact::Solver};

/// Creating one takes a fraction of a second.
#[derive(Debug, Clone)]
pub(crate) struct Judge {
    solver: Solver,
    coarse: Policy,
    soft: Policy,
}

impl Judge {
    pub(crate) fn new() -> Self {
        let solver = Solver::new();
        let [coarse, soft] = [StateSpace::Coarse, StateSpace::Soft].map(|space| solver.best(space));
        Self { solver, coarse, soft }
    }

    pub(crate) const fn solver(&self) -> &Solver {
        &self.solver
    }

    pub(crate) const fn best(&self, space: StateSpace) -> &Policy {
        match space {
            StateSpace::Coarse => &self.coarse,
            StateSpace::Soft => &self.soft,
        }
    }

    pub(crate) fn value(&self, policy: &Policy) -> f64 {
        self.solver.value(policy)
    }

    pub(crate) fn optimum(&self, space: StateSpace) -> f64 {
        self.value(self.best(space))
    }

    /// The value of the dealer's strategy.
    pub(crate) fn mimic(&self) -> f64 {
        self.value(&Policy::mimic())
    }
}

pub(crate) const fn facts(space: StateSpace) -> &'static str {
    match space {
        StateSpace::Coarse => "(total, upcard)",
        StateSpace::Soft => "(total, soft, upcard)",
    }
}
