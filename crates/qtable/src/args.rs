//! What can be asked for on the command line.

use std::path::PathBuf;

use blackjack::{
    StateSpace,
    learn::{Chance, Explore, ParseChanceError},
};
use clap::{Parser, Subcommand, ValueEnum};
use cmdkit::{UsageError, whole_number};
use rand::{TryRng, rngs::SysRng};

/// The table file where none is named.
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
  qtable chart --png chart.png
      what it does, as a picture; without --png in the terminal

Exit status: 0 when it worked, 1 when something failed, 2 when the usage is wrong.";

const TRAIN_HELP: &str = "\
FILE is gone on with if it is there. The same seed, threads and rounds give the same table, and so does a training that \
was stopped with Ctrl-C and gone on with. It says how.

Examples:
  qtable train --rounds 10000000 --state soft --explore until-confident -o soft.table
  qtable train --rounds 100000000 --threads 2 --seed 7 -o long.table";

const EVAL_HELP: &str = "\
Examples:
  qtable eval
  qtable eval monday.table tuesday.table --json";

const MERGE_HELP: &str = "\
All parts are read before OUT is written, so OUT may be one of them; with a pattern like *.table take care that it is not \
by accident, or it counts twice.

Examples:
  for part in 1 2 3; do qtable train --rounds 1000000 --seed $part -o part-$part.table; done
  qtable merge part-1.table part-2.table part-3.table -o whole.table";

const CHART_HELP: &str = "\
Without --svg and --png it is drawn in the terminal. The environment variable NO_COLOR is obeyed.

Examples:
  qtable chart
  qtable chart soft.table --svg chart.svg --png chart.png
  qtable chart --policy random-limit --state coarse";

const CURVE_HELP: &str = "\
Without --csv, --svg and --png the numbers go to standard output.

Examples:
  qtable curve --rounds 1000000 --runs 5 --svg curve.svg --png curve.png
  qtable curve --rounds 100000 --explore epsilon --explore until-confident --state soft --csv curve.csv";

const PLAY_HELP: &str = "\
Examples:
  qtable play --rounds 1000000 --seed 1
  qtable play soft.table --rounds 100000 --json";

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
    /// The way to explore that this is, with the chance that [`Way::Epsilon`] explores with.
    pub fn explore(self, chance: Chance) -> Explore {
        match self {
            Self::Random => Explore::Random,
            Self::Epsilon => Explore::Epsilon(chance),
            Self::UntilConfident => Explore::UntilConfident,
        }
    }

    /// How it is called on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Epsilon => "epsilon",
            Self::UntilConfident => "until-confident",
        }
    }
}

/// Which facts make a state.
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

/// The chance to explore where none is given.
const DEFAULT_EPSILON: &str = "0.1";

fn epsilon(typed: &str) -> Result<Epsilon, ParseChanceError> {
    Ok(Epsilon { chance: typed.parse()?, typed: typed.to_owned() })
}

// The chance that was asked for; only a learner that has one takes one.
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

/// `qtable train`.
#[derive(Debug, clap::Args)]
#[command(after_help = TRAIN_HELP)]
pub struct TrainArgs {
    /// Rounds to play, beside those that the table has seen
    #[arg(long, value_name = "N", default_value_t = 10_000_000, allow_negative_numbers = true,
          value_parser = whole_number(1..=MAX_ROUNDS, 1_000_000))]
    pub rounds: u64,

    /// How to decide while learning
    #[arg(long, value_enum, default_value_t = Way::Epsilon, value_name = "WAY")]
    pub explore: Way,

    /// Chance of a random decision with --explore epsilon; without it 0.1
    #[arg(long, value_name = "CHANCE", value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,

    /// What makes a state; without it that of FILE, or coarse for a new one
    #[arg(long, value_enum, value_name = "STATES")]
    pub state: Option<Space>,

    /// Threads that learn beside each other
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = whole_number(1..=MAX_THREADS, 2),
          allow_negative_numbers = true)]
    pub threads: u32,

    /// Where the random numbers come from; without it another one each time
    #[arg(long, value_name = "S", value_parser = whole_number(0..=u64::MAX, 7), allow_negative_numbers = true)]
    pub seed: Option<u64>,

    /// The table: gone on with if it is there, else new
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub output: PathBuf,

    /// Save every so many rounds, too
    #[arg(long, value_name = "N", default_value_t = 100_000_000, allow_negative_numbers = true,
          value_parser = whole_number(1..=MAX_ROUNDS, 100_000_000))]
    pub save_every: u64,

    /// Show the progress on standard error even if that is no terminal
    #[arg(long)]
    pub progress: bool,
}

impl TrainArgs {
    /// How the learner decides, and that in words.
    ///
    /// # Errors
    /// [`UsageError`] when there is a chance for a learner that has none.
    pub fn explore(&self) -> anyhow::Result<(Explore, String)> {
        let epsilon = chance(self.epsilon.as_ref(), &[self.explore])?;
        let words = match self.explore {
            Way::Epsilon => format!("epsilon {}", epsilon.typed),
            way => way.word().to_owned(),
        };
        Ok((self.explore.explore(epsilon.chance), words))
    }

    /// Where the random numbers come from.
    ///
    /// # Errors
    /// When the system has none.
    pub fn seed(&self) -> anyhow::Result<u64> {
        seed(self.seed)
    }
}

/// `qtable eval`.
#[derive(Debug, clap::Args)]
#[command(after_help = EVAL_HELP)]
pub struct EvalArgs {
    /// Tables
    #[arg(value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub files: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `qtable exact`.
#[derive(Debug, clap::Args)]
pub struct ExactArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `qtable merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = MERGE_HELP)]
pub struct MergeArgs {
    /// Tables of the same states
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Where their sum goes; what is there is replaced
    #[arg(short, long, value_name = "OUT", required = true)]
    pub output: PathBuf,
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines of `total [soft] dealer hit_mean hit_n stand_mean stand_n`, `-` for a mean that is not known
    Text,
    /// For spreadsheets, with a header line
    Csv,
    /// For programs
    Json,
}

/// `qtable dump`.
#[derive(Debug, clap::Args)]
pub struct DumpArgs {
    /// A table
    #[arg(value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub file: PathBuf,

    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// A policy that needs no training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KnownPolicy {
    /// The best table
    Best,
    /// What the dealer does: hit to 16
    Mimic,
    /// What random training ends up with, however long it is
    RandomLimit,
}

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless the variable `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Where a picture goes.
#[derive(Debug, clap::Args)]
pub struct PictureArgs {
    /// Write the picture as SVG
    #[arg(long, value_name = "OUT")]
    pub svg: Option<PathBuf>,

    /// Write the picture as PNG
    #[arg(long, value_name = "OUT")]
    pub png: Option<PathBuf>,

    /// Write this above the picture
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

impl PictureArgs {
    /// Whether there is to be a picture at all.
    pub const fn is_wanted(&self) -> bool {
        self.svg.is_some() || self.png.is_some()
    }
}

/// `qtable chart`.
#[derive(Debug, clap::Args)]
#[command(after_help = CHART_HELP)]
pub struct ChartArgs {
    /// A table
    #[arg(value_name = "FILE", default_value = DEFAULT_TABLE, conflicts_with = "policy")]
    pub file: PathBuf,

    /// Draw this instead of a table
    #[arg(long, value_enum)]
    pub policy: Option<KnownPolicy>,

    /// What makes a state of --policy; without it coarse
    #[arg(long, value_enum, value_name = "STATES", requires = "policy")]
    pub state: Option<Space>,

    /// Compare with the best table of these states; without it with that of the table's own
    #[arg(long, value_enum, value_name = "STATES")]
    pub against: Option<Space>,

    /// The picture.
    #[command(flatten)]
    pub picture: PictureArgs,

    /// Colours in the terminal
    #[arg(long, value_enum, default_value_t = Colour::Auto, alias = "color", value_name = "WHEN")]
    pub colour: Colour,
}

/// `qtable curve`.
#[derive(Debug, clap::Args)]
#[command(after_help = CURVE_HELP)]
pub struct CurveArgs {
    /// Rounds of each run
    #[arg(long, value_name = "N", default_value_t = 1_000_000, allow_negative_numbers = true,
          value_parser = whole_number(1_000..=MAX_ROUNDS, 1_000_000))]
    pub rounds: u64,

    /// Runs of each way to explore, with seeds one after the other
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = whole_number(1..=MAX_RUNS, 5),
          allow_negative_numbers = true)]
    pub runs: u32,

    /// A way to decide while learning, may be repeated; without it all three
    #[arg(long, value_enum, value_name = "WAY")]
    pub explore: Vec<Way>,

    /// Chance of a random decision with --explore epsilon; without it 0.1
    #[arg(long, value_name = "CHANCE", value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Option<Epsilon>,

    /// What makes a state
    #[arg(long, value_enum, default_value_t = Space::Coarse, value_name = "STATES")]
    pub state: Space,

    /// The seed of the first run
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_number(0..=u64::MAX - u64::from(MAX_RUNS), 1),
          allow_negative_numbers = true)]
    pub seed: u64,

    /// Runs that are trained at the same time
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = whole_number(1..=MAX_THREADS, 2),
          allow_negative_numbers = true)]
    pub threads: u32,

    /// Write the numbers as CSV
    #[arg(long, value_name = "OUT")]
    pub csv: Option<PathBuf>,

    /// The picture.
    #[command(flatten)]
    pub picture: PictureArgs,

    /// Show the progress on standard error even if that is no terminal
    #[arg(long)]
    pub progress: bool,
}

impl CurveArgs {
    /// The ways to explore, each once, and the chance that goes with one of them.
    ///
    /// # Errors
    /// [`UsageError`] when there is a chance for learners that have none.
    pub fn ways(&self) -> anyhow::Result<(Vec<Way>, Epsilon)> {
        let all = [Way::Random, Way::Epsilon, Way::UntilConfident];
        let asked: Vec<Way> =
            all.into_iter().filter(|way| self.explore.is_empty() || self.explore.contains(way)).collect();
        let epsilon = chance(self.epsilon.as_ref(), &asked)?;
        Ok((asked, epsilon))
    }
}

/// `qtable play`.
#[derive(Debug, clap::Args)]
#[command(after_help = PLAY_HELP)]
pub struct PlayArgs {
    /// A table
    #[arg(value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub file: PathBuf,

    /// Rounds to play
    #[arg(long, value_name = "N", default_value_t = 1_000_000, allow_negative_numbers = true,
          value_parser = whole_number(1..=MAX_ROUNDS, 1_000_000))]
    pub rounds: u64,

    /// Where the cards come from; without it another one each time
    #[arg(long, value_name = "S", value_parser = whole_number(0..=u64::MAX, 7), allow_negative_numbers = true)]
    pub seed: Option<u64>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Show the progress on standard error even if that is no terminal
    #[arg(long)]
    pub progress: bool,
}

impl PlayArgs {
    /// Where the cards come from.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn seed(&self) -> anyhow::Result<u64> {
        seed(self.seed)
    }
}
