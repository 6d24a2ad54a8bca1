//! The states in which a player decides, and policies for them.
//!
//! Source: the requirements of the course's project, "Q table", whose states are the [`StateSpace::Coarse`] ones.

use core::fmt;

use crate::{
    game::Action,
    hand::{BEST, Points},
};

/// The smallest total with a decision: two deuces.
pub(crate) const MIN_TOTAL: u8 = 4;
/// The smallest value of an upcard. The largest is 11, an ace.
pub const MIN_UPCARD: u8 = 2;
pub(crate) const UPCARDS: usize = 10;
/// From 4 to 21.
const TOTALS: usize = 18;
/// The number of state indices, used or not: 18 totals, hard and soft, 10 upcards.
pub(crate) const STATES: usize = TOTALS * 2 * UPCARDS;

/// The facts that make up a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StateSpace {
    /// Total and upcard: the course's 180 states.
    #[default]
    Coarse,
    /// Total, whether it is soft, and upcard: 280 reachable states.
    Soft,
}

impl StateSpace {
    /// The word in table files and on command lines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Coarse => "coarse",
            Self::Soft => "soft",
        }
    }

    /// The space with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Coarse, Self::Soft].into_iter().find(|space| space.word() == word)
    }

    /// The states, sorted by total, then hard before soft, then upcard.
    ///
    /// ```
    /// use blackjack::StateSpace;
    /// assert_eq!(StateSpace::Coarse.states().count(), 180);
    /// assert_eq!(StateSpace::Soft.states().count(), 280);
    /// ```
    pub fn states(self) -> impl Iterator<Item = State> {
        (MIN_TOTAL..=BEST)
            .flat_map(|total| [false, true].map(|soft| (total, soft)))
            .flat_map(|(total, soft)| (MIN_UPCARD..=11).map(move |upcard| (total, soft, upcard)))
            .filter_map(move |(total, soft, upcard)| State::new(self, total, soft, upcard))
    }
}

impl fmt::Display for StateSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One state of a [`StateSpace`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    total: u8,
    soft: bool,
    upcard: u8,
}

impl State {
    /// The state with these facts; `None` if the space does not contain it.
    pub fn new(space: StateSpace, total: u8, soft: bool, upcard: u8) -> Option<Self> {
        let possible = (MIN_TOTAL..=BEST).contains(&total)
            && (MIN_UPCARD..=11).contains(&upcard)
            && (!soft || (space == StateSpace::Soft && total >= 12));
        possible.then_some(Self { total, soft, upcard })
    }

    /// The state of a hand of at least two cards that is not bust.
    #[inline]
    pub const fn of(space: StateSpace, points: Points, upcard: u8) -> Self {
        Self { total: points.total(), soft: points.is_soft() && matches!(space, StateSpace::Soft), upcard }
    }

    /// The player's total, 4 to 21.
    pub const fn total(self) -> u8 {
        self.total
    }

    /// Whether an ace counts 11; always `false` in the coarse space.
    pub const fn is_soft(self) -> bool {
        self.soft
    }

    /// The value of the dealer's upcard, 2 to 11.
    pub const fn upcard(self) -> u8 {
        self.upcard
    }

    /// An index below [`STATES`], ascending in the order of [`StateSpace::states`].
    #[inline]
    pub(crate) const fn index(self) -> usize {
        let row = (self.total.saturating_sub(MIN_TOTAL) as usize) * 2 + self.soft as usize;
        row * UPCARDS + self.upcard.saturating_sub(MIN_UPCARD) as usize
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let soft = if self.soft { "soft " } else { "" };
        write!(f, "{soft}{} against {}", self.total, self.upcard)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A decision for each state of a space.
#[derive(Clone, PartialEq, Eq)]
pub struct Policy {
    space: StateSpace,
    hits: [bool; STATES],
}

impl Policy {
    /// Creates the policy that hits if `hits` returns `true`, but never with 21.
    pub fn new(space: StateSpace, mut hits: impl FnMut(State) -> bool) -> Self {
        let mut policy = Self { space, hits: [false; STATES] };
        for state in space.states() {
            policy.hits[state.index()] = state.total < BEST && hits(state);
        }
        policy
    }

    /// The dealer's policy: hit below 17.
    pub fn mimic() -> Self {
        Self::new(StateSpace::Coarse, |state| state.total < crate::hand::DEALER_STANDS)
    }

    /// The policy that never hits.
    pub fn stand() -> Self {
        Self::new(StateSpace::Coarse, |_| false)
    }

    /// The space of its states.
    pub const fn space(&self) -> StateSpace {
        self.space
    }

    /// The action in a state.
    pub const fn action(&self, state: State) -> Action {
        if self.hits[state.index()] { Action::Hit } else { Action::Stand }
    }

    /// The action for a hand that is not bust.
    pub const fn decide(&self, points: Points, upcard: u8) -> Action {
        self.action(State::of(self.space, points, upcard))
    }

    pub(crate) const fn set(&mut self, state: State, action: Action) {
        self.hits[state.index()] = matches!(action, Action::Hit);
    }

    /// The states with different actions; compares a coarse policy with a soft one in the soft space.
    pub fn differences(&self, other: &Self) -> impl Iterator<Item = State> {
        let space = if self.space == other.space { self.space } else { StateSpace::Soft };
        space.states().filter(move |&state| self.comparable_action(state) != other.comparable_action(state))
    }

    fn comparable_action(&self, state: State) -> Action {
        self.action(State { soft: state.soft && self.space == StateSpace::Soft, ..state })
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policy({}, hits in ", self.space)?;
        f.debug_list().entries(self.space.states().filter(|state| self.hits[state.index()])).finish()?;
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn states_are_sorted_by_index() {
        for space in [StateSpace::Coarse, StateSpace::Soft] {
            let places: Vec<usize> = space.states().map(State::index).collect();
            assert!(places.is_sorted_by(|one, next| one < next));
            assert!(places.iter().all(|&place| place < STATES));
            assert_eq!(StateSpace::from_word(space.word()), Some(space));
        }
        assert_eq!(StateSpace::from_word("fine"), None);
    }

    #[test]
    fn impossible_states_are_rejected() {
        let state = |total, soft, upcard| State::new(StateSpace::Soft, total, soft, upcard);
        assert_eq!([state(3, false, 2), state(22, false, 2), state(4, false, 1), state(4, false, 12)], [None; 4]);
        assert_eq!([state(11, true, 5), State::new(StateSpace::Coarse, 12, true, 5)], [None; 2]);
        assert!(state(12, true, 11).is_some());
    }

    #[test]
    fn coarse_states_ignore_softness() {
        let soft = Points::EMPTY.with(11).with(6);
        let hard = Points::EMPTY.with(10).with(7);
        assert_eq!(State::of(StateSpace::Coarse, soft, 5), State::of(StateSpace::Coarse, hard, 5));
        assert_ne!(State::of(StateSpace::Soft, soft, 5), State::of(StateSpace::Soft, hard, 5));
    }

    #[test]
    fn no_policy_hits_21() {
        let greedy = Policy::new(StateSpace::Soft, |_| true);
        let stands: Vec<State> =
            StateSpace::Soft.states().filter(|&state| greedy.action(state) == Action::Stand).collect();
        assert_eq!(stands.len(), 20);
        assert!(stands.iter().all(|state| state.total() == 21));
    }

    #[test]
    fn policies_of_both_spaces_can_be_compared() {
        let mimic = Policy::mimic();
        let mut soft = Policy::new(StateSpace::Soft, |state| state.total() < 17);
        assert_eq!(mimic.differences(&soft).count(), 0);
        let changed = State::new(StateSpace::Soft, 17, true, 2).unwrap();
        soft.set(changed, Action::Hit);
        assert_eq!(soft.differences(&mimic).collect::<Vec<_>>(), [changed]);
    }
}
