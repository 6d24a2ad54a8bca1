//! The best tables and exact values.

use blackjack::{
    Action, Policy, State, StateSpace,
    exact::{Limit, Solver},
};
use serde_json::{Value, json};

/// Computes exact values, and has the best tables.
#[derive(Debug)]
pub(super) struct Best {
    solver: Solver,
    coarse: Policy,
    soft: Policy,
    // The expected rewards of these two.
    optima: [f64; 2],
    values: Limit,
}

impl Best {
    pub(super) fn new() -> Self {
        let solver = Solver::new();
        let [coarse, soft] = [StateSpace::Coarse, StateSpace::Soft].map(|space| solver.best(space));
        let optima = [&coarse, &soft].map(|policy| solver.value(policy));
        let values = solver.action_values(&soft);
        Self { solver, coarse, soft, optima, values }
    }

    /// The best table of a space.
    pub(super) const fn policy(&self, space: StateSpace) -> &Policy {
        match space {
            StateSpace::Coarse => &self.coarse,
            StateSpace::Soft => &self.soft,
        }
    }

    /// The expected reward of a round played by the best table of a space.
    pub(super) const fn optimum(&self, space: StateSpace) -> f64 {
        match space {
            StateSpace::Coarse => self.optima[0],
            StateSpace::Soft => self.optima[1],
        }
    }

    /// The expected reward of a round.
    pub(super) fn value(&self, policy: &Policy) -> f64 {
        self.solver.value(policy)
    }

    /// The best table on total, softness and upcard, with what each action is worth when everything after it is played by the table.
    pub(super) fn table(&self) -> Value {
        let state = |state: State| {
            let values = self.values.values(state);
            // States that the best play never comes to have no values.
            let worth = |value: f64| (values.visits > 0.0).then(|| (value * 10_000.0).round() / 10_000.0);
            json!({
                "total": state.total(),
                "soft": state.is_soft(),
                "upcard": state.upcard(),
                "hit": worth(values.hit),
                "stand": worth(values.stand),
                "best": if self.soft.action(state) == Action::Hit { "hit" } else { "stand" },
            })
        };
        let states: Vec<Value> = StateSpace::Soft.states().map(state).collect();
        json!({ "value": self.optimum(StateSpace::Soft), "states": states })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_table_has_the_value_that_is_known() {
        let table = Best::new().table();
        assert!((table["value"].as_f64().unwrap() + 0.042_806).abs() < 1e-6);
        let states = table["states"].as_array().unwrap();
        assert_eq!(states.len(), 280);
        for state in states {
            let (hit, stand) = (state["hit"].as_f64(), state["stand"].as_f64());
            if let (Some(hit), Some(stand)) = (hit, stand) {
                // Rounded values may be equal; 21 is never hit.
                let best = if hit > stand { "hit" } else { "stand" };
                assert!(state["best"] == best || (hit - stand).abs() < 1e-3, "{state}");
            }
        }
    }
}
