//! What a policy does in each state, and where the best policy does something else.

pub(crate) mod drawing;
pub(crate) mod terminal;

use blackjack::{Action, Policy, QTable, State, StateSpace, hand::BEST};

use crate::judge::{Judge, facts};

/// A policy beside the best.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// The policy that is drawn.
    pub(crate) policy: Policy,
    /// The table that it was learned from, if it was.
    pub(crate) table: Option<QTable>,
    /// The states in which the best policy does something else.
    differences: Vec<State>,
    // The states of the best policy, and the exact values of both policies.
    against: StateSpace,
    value: f64,
    best: f64,
}

/// One cell of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) state: State,
    /// What the policy does.
    pub(crate) action: Action,
    /// Whether the best policy does something else.
    pub(crate) differs: bool,
    /// Whether an action was never tried there, so that nothing was learned.
    pub(crate) guessed: bool,
}

impl Chart {
    /// The chart of a policy that was not learned, beside the best on some states; without them, on its own.
    pub(crate) fn of_policy(policy: Policy, judge: &Judge, against: Option<StateSpace>) -> Self {
        let against = against.unwrap_or(policy.space());
        let differences = policy.differences(judge.best(against)).collect();
        let (value, best) = (judge.value(&policy), judge.optimum(against));
        Self { policy, table: None, differences, against, value, best }
    }

    /// The chart of a table.
    pub(crate) fn of_table(table: QTable, judge: &Judge, against: Option<StateSpace>) -> Self {
        let chart = Self::of_policy(table.policy(), judge, against);
        Self { table: Some(table), ..chart }
    }

    /// The states of the chart: those in which the two policies are compared.
    pub(crate) fn space(&self) -> StateSpace {
        let soft = self.differences.iter().any(|state| state.is_soft());
        if soft { StateSpace::Soft } else { self.policy.space() }
    }

    /// The cell of a state of [`Chart::space`].
    pub(crate) fn cell(&self, state: State) -> Cell {
        let own = State::new(self.policy.space(), state.total(), state.is_soft(), state.upcard());
        // A coarse policy does the same with soft hands.
        let own =
            own.or_else(|| State::new(self.policy.space(), state.total(), false, state.upcard())).unwrap_or(state);
        let guessed = self.table.as_ref().is_some_and(|table| {
            let entry = table.entry(own);
            own.total() < BEST && (entry.hit.n == 0 || entry.stand.n == 0)
        });
        Cell { state, action: self.policy.action(own), differs: self.differences.contains(&state), guessed }
    }

    /// What the two policies are worth, in words.
    pub(crate) fn worth(&self) -> String {
        let Self { value, best, against, .. } = self;
        format!("Worth {value:.4} a round; the best table on {} is worth {best:.4}", facts(*against))
    }

    /// In how many decisions the two differ, in words.
    pub(crate) fn differing(&self) -> String {
        let states = self.space().states().count();
        match self.differences.len() {
            0 => "Every decision is that of the best table".to_owned(),
            1 => format!("1 of {states} decisions differs from the best table"),
            many => format!("{many} of {states} decisions differ from the best table"),
        }
    }

    /// The rows of hard hands, or of soft ones, from 21 down; each has the upcards from 2 to ace. A coarse chart has only hard
    /// hands.
    pub(crate) fn rows(&self, soft: bool) -> Vec<(u8, Vec<Cell>)> {
        let mut rows: Vec<(u8, Vec<Cell>)> = vec![];
        for state in self.space().states().filter(|state| state.is_soft() == soft) {
            match rows.last_mut() {
                Some((total, cells)) if *total == state.total() => cells.push(self.cell(state)),
                _ => rows.push((state.total(), vec![self.cell(state)])),
            }
        }
        rows.reverse();
        rows
    }
}

/// The letter for an action; small where it is a guess.
pub(crate) const fn letter(cell: Cell) -> char {
    match (cell.action, cell.guessed) {
        (Action::Hit, false) => 'H',
        (Action::Hit, true) => 'h',
        (Action::Stand, false) => 'S',
        (Action::Stand, true) => 's',
    }
}

/// How the cards of a soft hand of two cards are written, for instance `A,7`.
pub(crate) fn soft_name(total: u8) -> String {
    match total.saturating_sub(11) {
        1 => "A,A".to_owned(),
        other => format!("A,{other}"),
    }
}
