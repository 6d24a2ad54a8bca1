//! Values that several commands take.

use blackjack::{
    StateSpace,
    learn::{Chance, Explore, ParseChanceError},
};
use clap::ValueEnum;
use cmdkit::UsageError;
use rand::{TryRng, rngs::SysRng};

/// The table file if none is named.
pub(crate) const DEFAULT_TABLE: &str = "qtable";
/// The most rounds that can be asked for: a day of many threads.
pub(crate) const MAX_ROUNDS: u64 = 1_000_000_000_000;
/// The most threads that can be asked for.
pub(crate) const MAX_THREADS: u32 = 256;
/// The most runs that a curve is drawn of.
pub(crate) const MAX_RUNS: u32 = 100;

/// How a learner decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Hit or stand by a coin: the course's way; never gets good
    Random,
    /// By the table, and now and then by a coin
    Epsilon,
    /// By a coin until the better action is known with confidence: needs the fewest rounds
    #[value(alias = "doubt")]
    UntilConfident,
}

impl Way {
    /// The way to explore, and that in words; `epsilon` is for [`Way::Epsilon`].
    pub(crate) fn explore(self, epsilon: &Epsilon) -> (Explore, String) {
        let word = self.word();
        match self {
            Self::Random => (Explore::Random, word.to_owned()),
            Self::Epsilon => (Explore::Epsilon(epsilon.chance), format!("{word} {}", epsilon.typed)),
            Self::UntilConfident => (Explore::UntilConfident, word.to_owned()),
        }
    }

    /// Its name on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Epsilon => "epsilon",
            Self::UntilConfident => "until-confident",
        }
    }
}

/// The facts that make a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Space {
    /// Total and upcard
    Coarse,
    /// Total, whether it is soft, and upcard
    Soft,
}

impl From<Space> for StateSpace {
    fn from(space: Space) -> Self {
        match space {
            Space::Coarse => Self::Coarse,
            Space::Soft => Self::Soft,
        }
    }
}

/// A chance as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Epsilon {
    pub(crate) chance: Chance,
    /// What was typed for it.
    pub(crate) typed: String,
}

/// The chance to explore if none is given.
const DEFAULT_EPSILON: &str = "0.1";

pub(super) fn epsilon(typed: &str) -> Result<Epsilon, ParseChanceError> {
    Ok(Epsilon { chance: typed.parse()?, typed: typed.to_owned() })
}

/// The chance to explore with. Only one of the ways to explore takes one.
pub(super) fn chance(asked: Option<&Epsilon>, ways: &[Way]) -> anyhow::Result<Epsilon> {
    match asked {
        Some(_) if !ways.contains(&Way::Epsilon) => {
            Err(UsageError("--epsilon is for --explore epsilon; the other ways have no such chance".to_owned()).into())
        }
        Some(asked) => Ok(asked.clone()),
        None => Ok(epsilon(DEFAULT_EPSILON)?),
    }
}

/// `--seed`, or a number of the system's.
pub(crate) fn seed(asked: Option<u64>) -> anyhow::Result<u64> {
    match asked {
        Some(seed) => Ok(seed),
        // Short enough to be typed again.
        None => Ok(u64::from(SysRng.try_next_u32()?)),
    }
}
