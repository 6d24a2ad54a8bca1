//! The options of the commands that play rounds: `train` and `play`.

use std::path::PathBuf;

use blackjack::learn::Explore;
use cmdkit::count;

use super::values::{DEFAULT_TABLE, Epsilon, MAX_ROUNDS, MAX_THREADS, Space, Way, chance, epsilon};

const TRAIN_HELP: &str = "\
If FILE exists, its training is continued. The same seed, threads and rounds give the same table, also when the training is \
stopped with Ctrl-C and continued; the program then prints the command for that. On a terminal the learning curve is drawn \
meanwhile.

Examples:
  qtable train --rounds 1e7 --state soft --explore until-confident -o soft.table
  qtable train --rounds 1e8 --threads 2 --seed 7 -o long.table";

const PLAY_HELP: &str = "\
Examples:
  qtable play --rounds 1e6 --seed 1
  qtable play soft.table --rounds 1e5 --json";

/// `qtable train`.
#[derive(Debug, clap::Args)]
#[command(after_help = TRAIN_HELP)]
pub(crate) struct TrainArgs {
    /// Rounds to play, beside those that the table has seen
    #[arg(long, value_name = "N", default_value_t = 10_000_000, allow_negative_numbers = true,
          value_parser = count(1..=MAX_ROUNDS, 1_000_000))]
    pub(crate) rounds: u64,

    /// How to decide while learning
    #[arg(long, value_enum, default_value_t = Way::Epsilon, value_name = "WAY")]
    pub(crate) explore: Way,

    /// Chance of a random decision with --explore epsilon; without it 0.1
    #[arg(long, value_name = "CHANCE", value_parser = epsilon, allow_negative_numbers = true)]
    pub(crate) epsilon: Option<Epsilon>,

    /// What makes a state; without it that of FILE, or coarse for a new one
    #[arg(long, value_enum, value_name = "STATES")]
    pub(crate) state: Option<Space>,

    /// Threads that learn beside each other
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = count(1..=MAX_THREADS, 2),
          allow_negative_numbers = true)]
    pub(crate) threads: u32,

    /// Where the random numbers come from; without it another one each time
    #[arg(long, value_name = "S", value_parser = count(0..=u64::MAX, 7), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// The table file: continued if it exists, else created
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub(crate) output: PathBuf,

    /// Save every so many rounds, too
    #[arg(long, value_name = "N", default_value_t = 100_000_000, allow_negative_numbers = true,
          value_parser = count(1..=MAX_ROUNDS, 100_000_000))]
    pub(crate) save_every: u64,

    /// Show the progress on standard error even if that is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

impl TrainArgs {
    /// How the learner decides, and that in words.
    /// Fails with [`UsageError`](cmdkit::UsageError) when there is a chance for a learner that has none.
    pub(crate) fn explore(&self) -> anyhow::Result<(Explore, String)> {
        Ok(self.explore.explore(&chance(self.epsilon.as_ref(), &[self.explore])?))
    }
}

/// `qtable play`.
#[derive(Debug, clap::Args)]
#[command(after_help = PLAY_HELP)]
pub(crate) struct PlayArgs {
    /// A table
    #[arg(value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub(crate) file: PathBuf,

    /// Rounds to play
    #[arg(long, value_name = "N", default_value_t = 1_000_000, allow_negative_numbers = true,
          value_parser = count(1..=MAX_ROUNDS, 1_000_000))]
    pub(crate) rounds: u64,

    /// Where the cards come from; without it another one each time
    #[arg(long, value_name = "S", value_parser = count(0..=u64::MAX, 7), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Show the progress on standard error even if that is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}
