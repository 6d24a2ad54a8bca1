//! The Q table: learned values, stored as counts.
//!
//! For each state and action, the table counts how many times the action was taken (`n`) and sums the final rewards of
//! those rounds; its value is `sum / n`. Integers are exact, can be added when tables are merged, and are the same on
//! every machine.
//!
//! Source: the requirements of the course's project, "Q table": the update follows the round, and every visit counts.

mod file;

use alloc::{boxed::Box, string::String};
use core::{cmp::Ordering, fmt::Write};
use thiserror::Error;

pub use file::{MAX_FILE, ParseTableError, Trouble};

use crate::{
    game::Action,
    hand::{BEST, DEALER_STANDS},
    policy::{Policy, STATES, State, StateSpace},
};

/// The results of an action in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many times the action was taken.
    pub n: u64,
    /// The sum of the rewards of those rounds, between `-n` and `n`.
    pub sum: i64,
}

impl Tally {
    /// The mean reward; `None` if the action was never taken.
    #[expect(clippy::cast_precision_loss, reason = "a mean for people to read; decisions compare whole numbers")]
    pub fn mean(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    #[inline]
    fn cmp_mean(self, other: Self) -> Ordering {
        // Below this bound, which nearly always holds, the products fit in 64 bits.
        if (self.n | other.n) >> 31 == 0 {
            #[expect(clippy::cast_possible_wrap, reason = "both counts are below 2^31 here")]
            let (ours, theirs) = (self.sum * other.n as i64, other.sum * self.n as i64);
            ours.cmp(&theirs)
        } else {
            (i128::from(self.sum) * i128::from(other.n)).cmp(&(i128::from(other.sum) * i128::from(self.n)))
        }
    }
}

/// The tallies of both actions in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// Taking a card.
    pub hit: Tally,
    /// Taking no card.
    pub stand: Tally,
}

impl Entry {
    /// The tally of one action.
    pub const fn of(&self, action: Action) -> Tally {
        match action {
            Action::Hit => self.hit,
            Action::Stand => self.stand,
        }
    }

    /// The number of decisions in the state.
    pub const fn visits(&self) -> u64 {
        self.hit.n.saturating_add(self.stand.n)
    }

    // A branch on the action would often be mispredicted.
    #[inline]
    fn add(&mut self, action: Action, reward: i8) {
        for (tally, of) in [(&mut self.hit, Action::Hit), (&mut self.stand, Action::Stand)] {
            let taken = action == of;
            tally.n += u64::from(taken);
            tally.sum += i64::from(taken) * i64::from(reward);
        }
    }

    #[inline]
    pub(crate) fn best(&self, total: u8) -> Action {
        let hit = if self.hit.n > 0 && self.stand.n > 0 {
            self.hit.cmp_mean(self.stand) == Ordering::Greater && total < BEST
        } else {
            total < DEALER_STANDS
        };
        if hit { Action::Hit } else { Action::Stand }
    }
}

/// Why two tables cannot be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MergeError {
    /// Their states differ.
    #[error("one table has {0} states and the other {1}; only tables of the same states can be added up")]
    OtherSpace(StateSpace, StateSpace),
    /// A count would be too large.
    #[error("{0}: the counts add up to more than a table can hold")]
    TooLarge(State),
}

/// The learned values of each state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QTable {
    space: StateSpace,
    entries: Box<[Entry; STATES]>,
}

impl QTable {
    /// The largest count of an action in a file or a merge. Training cannot overflow it.
    pub(crate) const MAX_COUNT: u64 = 1 << 62;

    /// Creates an empty table.
    pub fn new(space: StateSpace) -> Self {
        Self { space, entries: Box::new([Entry::default(); STATES]) }
    }

    /// The space of its states.
    pub const fn space(&self) -> StateSpace {
        self.space
    }

    /// The entry of a state.
    #[inline]
    pub fn entry(&self, state: State) -> Entry {
        self.entries[state.index()]
    }

    /// Counts one decision of a round that ended with `reward`. Call it for every decision.
    #[inline]
    pub fn learn(&mut self, state: State, action: Action, reward: i8) {
        self.learn_at(state.index(), action, reward);
    }

    #[inline]
    pub(crate) fn learn_at(&mut self, place: usize, action: Action, reward: i8) -> &Entry {
        let entry = &mut self.entries[place];
        entry.add(action, reward);
        entry
    }

    /// The decision of the table: HIT if both actions were tried and HIT has the greater mean. If one was never tried,
    /// HIT below 17; never HIT with 21.
    #[inline]
    pub fn best(&self, state: State) -> Action {
        self.entries[state.index()].best(state.total())
    }

    /// The policy of the table.
    pub fn policy(&self) -> Policy {
        Policy::new(self.space, |state| self.best(state) == Action::Hit)
    }

    /// The visited states in order, with their entries.
    pub fn visited(&self) -> impl Iterator<Item = (State, Entry)> {
        self.space.states().map(|state| (state, self.entry(state))).filter(|(_, entry)| entry.visits() > 0)
    }

    /// The least taken action, with its state and count, except HIT with 21, which most learners never try.
    pub fn least_visited(&self) -> Option<(State, Action, u64)> {
        self.space
            .states()
            .flat_map(|state| {
                [Action::Hit, Action::Stand].map(|action| (state, action, self.entry(state).of(action).n))
            })
            .filter(|&(state, action, _)| action == Action::Stand || state.total() < BEST)
            .min_by_key(|&(_, _, n)| n)
    }

    /// Adds the counts of another table.
    ///
    /// # Errors
    /// [`MergeError`] if the states differ or a count gets too large. The table is then unchanged.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.space != other.space {
            return Err(MergeError::OtherSpace(self.space, other.space));
        }
        let mut merged = self.entries.clone();
        for state in self.space.states() {
            let (entry, more) = (&mut merged[state.index()], other.entry(state));
            for (tally, more) in [(&mut entry.hit, more.hit), (&mut entry.stand, more.stand)] {
                tally.n =
                    tally.n.checked_add(more.n).filter(|&n| n <= Self::MAX_COUNT).ok_or(MergeError::TooLarge(state))?;
                // A sum is no larger than its count.
                tally.sum += more.sum;
            }
        }
        self.entries = merged;
        Ok(())
    }

    /// The counts added since `earlier`, for merging learners that started from one table. Decreased counts become 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut gained = self.clone();
        for (entry, was) in gained.entries.iter_mut().zip(earlier.entries.iter()) {
            for (tally, was) in [(&mut entry.hit, was.hit), (&mut entry.stand, was.stand)] {
                match tally.n.checked_sub(was.n) {
                    Some(n) => *tally = Tally { n, sum: tally.sum - was.sum },
                    None => *tally = Tally::default(),
                }
            }
        }
        gained
    }

    /// One line per visited state, `total dealer hit_mean hit_n stand_mean stand_n`.
    ///
    /// `soft` (0 or 1) follows the total in the soft space; an unknown mean is `-`.
    pub fn dump(&self) -> String {
        let mut text = String::new();
        for (state, entry) in self.visited() {
            let _ = write!(text, "{} ", state.total());
            if self.space == StateSpace::Soft {
                let _ = write!(text, "{} ", u8::from(state.is_soft()));
            }
            let _ = write!(text, "{}", state.upcard());
            for tally in [entry.hit, entry.stand] {
                let _ = match tally.mean() {
                    Some(mean) => write!(text, " {mean:.6} {}", tally.n),
                    None => write!(text, " - 0"),
                };
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(total: u8, upcard: u8) -> State {
        State::new(StateSpace::Coarse, total, false, upcard).unwrap()
    }

    fn table(state: State, hit: (u64, i64), stand: (u64, i64)) -> QTable {
        let mut table = QTable::new(StateSpace::Coarse);
        let tally = |(n, sum)| Tally { n, sum };
        table.entries[state.index()] = Entry { hit: tally(hit), stand: tally(stand) };
        table
    }

    #[test]
    fn best_action_follows_the_means_or_the_default() {
        use Action::{Hit, Stand};
        for (total, hit, stand, expected) in [
            (16, (0, 0), (0, 0), Hit),
            (17, (0, 0), (0, 0), Stand),
            (16, (0, 0), (9, 9), Hit),
            (17, (9, 9), (0, 0), Stand),
            (16, (2, -1), (4, -2), Stand),
            (12, (3, 1), (4, 1), Hit),
            (18, (3, 1), (4, 1), Hit),
            (12, (4, 1), (3, 1), Stand),
            (12, (4, -1), (3, -1), Hit),
            (21, (4, 4), (4, -4), Stand),
            (21, (0, 0), (0, 0), Stand),
            // The means differ in the 18th digit, beyond floating point.
            (12, (999_999_999_999_999_999, 1), (1_000_000_000_000_000_000, 1), Hit),
            (12, (1_000_000_000_000_000_000, 1), (999_999_999_999_999_999, 1), Stand),
        ] {
            let state = state(total, 10);
            let table = table(state, hit, stand);
            assert_eq!(table.best(state), expected, "{total} {hit:?} {stand:?}");
            assert_eq!(table.policy().action(state), expected, "{total} {hit:?} {stand:?}");
        }
    }

    #[test]
    fn every_visit_counts_with_the_reward_of_the_round() {
        let mut table = QTable::new(StateSpace::Coarse);
        let at = state(16, 7);
        for (action, reward) in [(Action::Hit, -1), (Action::Hit, -1), (Action::Stand, 1), (Action::Stand, 0)] {
            table.learn(at, action, reward);
        }
        assert_eq!(table.entry(at), Entry { hit: Tally { n: 2, sum: -2 }, stand: Tally { n: 2, sum: 1 } });
        assert_eq!((table.entry(at).stand.mean(), table.visited().count()), (Some(0.5), 1));
        assert_eq!(table.least_visited().map(|(_, _, n)| n), Some(0));
        assert_eq!(table.dump(), "16 7 -1.000000 2 0.500000 2\n");
    }

    #[test]
    fn merge_adds_and_since_subtracts() {
        let at = state(9, 2);
        let (base, more) = (table(at, (5, 3), (1, -1)), table(at, (2, -2), (7, 7)));
        let mut sum = base.clone();
        sum.merge(&more).unwrap();
        assert_eq!(sum, table(at, (7, 1), (8, 6)));
        assert_eq!(sum.since(&base), more);
    }

    #[test]
    fn failed_merge_changes_nothing() {
        let at = state(9, 2);
        let full = table(at, (QTable::MAX_COUNT, 0), (0, 0));
        let mut sum = table(at, (1, 1), (1, 1));
        assert_eq!(sum.merge(&full), Err(MergeError::TooLarge(at)));
        assert_eq!(sum, table(at, (1, 1), (1, 1)));
        let other = QTable::new(StateSpace::Soft);
        let refused = MergeError::OtherSpace(StateSpace::Coarse, StateSpace::Soft);
        assert_eq!(sum.merge(&other), Err(refused));
    }
}
