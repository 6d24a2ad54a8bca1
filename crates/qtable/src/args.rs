//! The command line: the commands, and the values that several of them take.

mod learning;
mod pictures;
mod tables;

use blackjack::{
    StateSpace,
    learn::{Chance, Explore, ParseChanceError},
};
use clap::{Parser, Subcommand, ValueEnum};
use cmdkit::UsageError;
use rand::{TryRng, rngs::SysRng};

pub use self::{
    learning::{PlayArgs, TrainArgs},
    pictures::{ChartArgs, Colour, CurveArgs, FileFormat, KnownPolicy, PictureArgs},
    tables::{DumpArgs, EvalArgs, ExactArgs, Format, MergeArgs},
};

/// The table file if none is named.
pub const DEFAULT_TABLE: &str = "qtable";
/// The most rounds that can be asked for: a day of many threads.
pub const MAX_ROUNDS: u64 = 1_000_000_000_000;
/// The most threads that can be asked for.
pub const MAX_THREADS: u32 = 256;
/// The most runs that a curve is drawn of.
pub const MAX_RUNS: u32 = 100;

const AFTER_HELP: &str = "\
Examples:
  qtable train --rounds 1000000
      learn from a million rounds, into the file 'qtable'; again, and it goes on
  qtable eval
      what that is worth, exactly
  qtable chart -o chart.png
      what it does, as a picture; without -o in the terminal

Numbers may be written short: 1e6 or 1_000_000 for a million.

Exit status: 0 when it worked, 1 when something failed, 2 when the usage is wrong.";

/// The learner's bench of the game of 21: train tables, judge them exactly, draw them
#[derive(Debug, Parser)]
#[command(name = "qtable", version, after_help = AFTER_HELP)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn from rounds played in process, into a table file
    Train(TrainArgs),
    /// Say exactly what tables are worth, beside the best and the dealer's own way
    Eval(EvalArgs),
    /// Print the exact values of the game and its best tables
    Exact(ExactArgs),
    /// Add up tables that were trained apart
    Merge(MergeArgs),
    /// Print what a table has counted
    Dump(DumpArgs),
    /// Draw what a table does, and where the best table does something else
    Chart(ChartArgs),
    /// Draw what tables are worth after how many rounds of training
    Curve(CurveArgs),
    /// Let a table play, and compare the mean with its exact value
    Play(PlayArgs),
}

/// How a learner decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// Hit or stand by a coin: the course's way; never gets good
    Random,
    /// By the table, and now and then by a coin
    Epsilon,
    /// By a coin until the better action is known with confidence: needs the fewest rounds
    #[value(alias = "doubt")]
    UntilConfident,
}

impl Way {
    /// The way to explore; `chance` is for [`Way::Epsilon`].
    pub fn explore(self, chance: Chance) -> Explore {
        match self {
            Self::Random => Explore::Random,
            Self::Epsilon => Explore::Epsilon(chance),
            Self::UntilConfident => Explore::UntilConfident,
        }
    }

    /// Its name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Epsilon => "epsilon",
            Self::UntilConfident => "until-confident",
        }
    }
}

/// The facts that make a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Space {
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
pub struct Epsilon {
    /// The chance.
    pub chance: Chance,
    /// What was typed for it.
    pub typed: String,
}

/// The chance to explore if none is given.
const DEFAULT_EPSILON: &str = "0.1";

fn epsilon(typed: &str) -> Result<Epsilon, ParseChanceError> {
    Ok(Epsilon { chance: typed.parse()?, typed: typed.to_owned() })
}

/// The chance to explore with. Only one of the ways to explore takes one.
fn chance(asked: Option<&Epsilon>, ways: &[Way]) -> anyhow::Result<Epsilon> {
    match asked {
        Some(_) if !ways.contains(&Way::Epsilon) => {
            Err(UsageError("--epsilon is for --explore epsilon; the other ways have no such chance".to_owned()).into())
        }
        Some(asked) => Ok(asked.clone()),
        None => Ok(epsilon(DEFAULT_EPSILON)?),
    }
}

/// `--seed`, or a number of the system's.
fn seed(asked: Option<u64>) -> anyhow::Result<u64> {
    match asked {
        Some(seed) => Ok(seed),
        // Short enough to be typed again.
        None => Ok(u64::from(SysRng.try_next_u32()?)),
    }
}
