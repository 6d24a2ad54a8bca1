//! In-process learning: rounds without messages, millions per second.
//!
//! | decision rule | result |
//! |---------------|--------|
//! | [`Explore::Random`] | the course's way: approaches the values of *random play*, so it never plays well |
//! | [`Explore::Epsilon`] | approaches good play, minus the cost of its random moves |
//! | [`Explore::UntilConfident`] | the best table in the fewest rounds |
//!
//! Exact value of the learned policy by number of rounds, mean of several seeds. The best is -0.051474 coarse,
//! -0.042806 soft:
//!
//! | rounds | epsilon 0.1, coarse | until confident, coarse | epsilon 0.1, soft | until confident, soft |
//! |--------|---------------------|-------------------------|-------------------|-----------------------|
//! | 10^4   | -0.0800 | -0.0773 | -0.0758 | -0.0786 |
//! | 10^5   | -0.0578 | -0.0543 | -0.0522 | -0.0487 |
//! | 10^6   | -0.0521 | -0.0517 | -0.0439 | -0.0433 |
//! | 10^7   | -0.0516 | -0.0515 | -0.0429 | -0.0428 |
//!
//! Random training learns the value of hitting 11 *if every later decision is random too*, which mostly ends in a bust.
//! So it learns to stand on 11 against 2 to 6, and on nearly all of 12 and more.
//!
//! Source of the first two: the requirements of the course's project, "Player, training".

mod trainer;

pub use trainer::Trainer;

use core::str::FromStr;

use rand::Rng;
use thiserror::Error;

use crate::{
    game::Action,
    hand::{BEST, MAX_HAND},
    policy::State,
    qtable::{Entry, QTable},
    verdict::Verdict,
};

/// A probability, stored as a threshold for 64 random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// A chance of `probability`; `None` unless it is from 0 to 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked, and 1 saturates"
    )]
    pub fn new(probability: f64) -> Option<Self> {
        // 2^64 as a float; 1 saturates, which is off by 2^-64.
        (0.0..=1.0).contains(&probability).then_some(Self((probability * 18_446_744_073_709_551_616.0) as u64))
    }

    #[inline]
    const fn falls(self, bits: u64) -> bool {
        bits < self.0 || self.0 == u64::MAX
    }
}

/// The text is not a valid chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected a probability from 0 to 1, as in 0.1")]
pub struct ParseChanceError;

impl FromStr for Chance {
    type Err = ParseChanceError;

    /// Parses digits and a point, as in `0.1`.
    fn from_str(text: &str) -> Result<Self, ParseChanceError> {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        text.parse().ok().filter(|_| plain).and_then(Self::new).ok_or(ParseChanceError)
    }
}

/// How a learner decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explore {
    /// HIT or STAND with equal chance, even with 21.
    Random,
    /// At random with this chance, otherwise by the table so far; never HIT with 21.
    Epsilon(Chance),
    /// At random half of the time until the better action of the state is known with confidence, then 2% of the time;
    /// otherwise by the table so far; never HIT with 21. A round teaches only its last random decision and later ones,
    /// because a random decision affects earlier results.
    UntilConfident,
}

impl Explore {
    /// Decides in a state by the table so far.
    #[inline]
    pub fn choose<R: Rng + ?Sized>(self, table: &QTable, state: State, rng: &mut R) -> Choice {
        self.choose_by(self.plan(&table.entry(state), state.total()), state.total(), rng)
    }

    #[inline]
    fn plan(self, entry: &Entry, total: u8) -> Plan {
        match self {
            Self::Random => Plan::default(),
            Self::Epsilon(_) => Plan { hits: entry.best(total) == Action::Hit, confident: true },
            Self::UntilConfident => Plan { hits: entry.best(total) == Action::Hit, confident: is_confident(entry) },
        }
    }

    #[inline]
    fn choose_by<R: Rng + ?Sized>(self, plan: Plan, total: u8, rng: &mut R) -> Choice {
        let best = if plan.hits { Action::Hit } else { Action::Stand };
        match self {
            Self::Random => Choice::sure(coin(rng.next_u64())),
            Self::Epsilon(_) | Self::UntilConfident if total >= BEST => Choice::sure(Action::Stand),
            Self::Epsilon(chance) => {
                let explores = chance.falls(rng.next_u64());
                Choice::sure(if explores { coin(rng.next_u64()) } else { best })
            }
            Self::UntilConfident => {
                let chance = if plan.confident { CONFIDENT } else { NOT_CONFIDENT };
                if chance.falls(rng.next_u64()) {
                    Choice { action: coin(rng.next_u64()), counts_before: false }
                } else {
                    Choice::sure(best)
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Plan {
    hits: bool,
    confident: bool,
}

/// A decision of a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The action.
    pub action: Action,
    pub(crate) counts_before: bool,
}

impl Choice {
    /// Creates a decision that is not an experiment, so earlier ones still count.
    pub const fn sure(action: Action) -> Self {
        Self { action, counts_before: true }
    }
}

// How often a state explores before and after its better action is known with confidence.
const NOT_CONFIDENT: Chance = Chance(u64::MAX / 2);
const CONFIDENT: Chance = Chance(u64::MAX / 50);

#[inline]
const fn coin(bits: u64) -> Action {
    if bits >> 63 == 0 { Action::Hit } else { Action::Stand }
}

// Whether the two means are at least two standard errors apart.
#[expect(clippy::cast_precision_loss, reason = "a rule of thumb; which action is better is decided in whole numbers")]
fn is_confident(Entry { hit, stand }: &Entry) -> bool {
    // The variance of a reward is at most 1, so the squared standard error of a mean is at most 1/n.
    let (m, n) = (hit.n as f64, stand.n as f64);
    let difference = hit.sum as f64 * n - stand.sum as f64 * m;
    hit.n > 0 && stand.n > 0 && difference * difference >= 4.0 * (m + n) * m * n
}

/// The decisions of a round, from which a table learns once the result is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Episode {
    decisions: [Option<(State, Action)>; MAX_HAND],
    count: usize,
    from: usize,
}

impl Episode {
    /// Adds a decision. Decisions beyond the capacity are dropped.
    #[inline]
    pub(crate) fn record(&mut self, state: State, choice: Choice) {
        if !choice.counts_before {
            self.from = self.count;
        }
        if let Some(decision) = self.decisions.get_mut(self.count) {
            *decision = Some((state, choice.action));
            self.count += 1;
        }
    }

    /// Makes a table learn from the decisions that count, each with the reward of the round.
    #[inline]
    pub fn teach(&self, table: &mut QTable, verdict: Verdict) {
        let counted = self.decisions.get(self.from..self.count).unwrap_or_default();
        for &(state, action) in counted.iter().flatten() {
            table.learn(state, action, verdict.reward());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_a_decimal_number() {
        for (text, probability) in [("0", 0.0), ("0.1", 0.1), (".5", 0.5), ("1", 1.0), ("1.0", 1.0)] {
            assert_eq!(text.parse::<Chance>().ok(), Chance::new(probability), "{text}");
        }
        for wrong in ["", ".", "1.1", "-0.1", "+0.1", "1e-1", "nan", "inf", "0,1", "10%"] {
            assert_eq!(wrong.parse::<Chance>(), Err(ParseChanceError), "{wrong}");
        }
    }

    #[test]
    fn chances_are_limited_to_probabilities() {
        assert_eq!([Chance::new(-0.1), Chance::new(1.1), Chance::new(f64::NAN)], [None; 3]);
        let (never, always) = (Chance::new(0.0).unwrap(), Chance::new(1.0).unwrap());
        assert!(!never.falls(0) && always.falls(u64::MAX));
        let tenth = Chance::new(0.1).unwrap();
        assert!(tenth.falls(u64::MAX / 11) && !tenth.falls(u64::MAX / 9));
    }
}
