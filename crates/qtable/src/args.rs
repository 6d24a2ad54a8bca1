use std::path::{Path, PathBuf};

use blackjack::{
    StateSpace,
    learn::{Chance, Explore, ParseChanceError},
};
use clap::{Parser, Subcommand, ValueEnum};
use cmdkit::{UsageError, count, file_name};
use rand::{TryRng, rngs::SysRng};

const AFTER_HELP: &str = "\
Examples:
  qtable train --rounds 1000000
      train on a million rounds, into the file 'qtable'; repeat it to continue
  qtable eval
      compute the exact value of the table
  qtable chart -o chart.png
      draw its decisions as a picture; without -o in the terminal

Numbers may be abbreviated: 1e6 or 1_000_000 is a million.

Exit status: 0 on success, 1 on failure, 2 for wrong usage.";

/// Tools for learning the game of 21: train tables, evaluate them exactly, draw them
#[derive(Debug, Parser)]
#[command(name = "qtable", version, after_help = AFTER_HELP)]
pub struct Args {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn from rounds played in process, into a table file
    Train(TrainArgs),
    /// Compute the exact values of tables, next to those of the best table and the dealer's strategy
    Eval(EvalArgs),
    /// Print the exact values of the game and its best tables
    Exact(ExactArgs),
    /// Add up tables that were trained separately
    Merge(MergeArgs),
    /// Print the counts of a table
    Dump(DumpArgs),
    /// Draw the decisions of a table, and where the best table decides differently
    Chart(ChartArgs),
    /// Draw the values of tables by rounds of training
    Curve(CurveArgs),
    /// Let a table play, and compare the mean with its exact value
    Play(PlayArgs),
}

pub(crate) const DEFAULT_TABLE: &str = "qtable";
/// About what many threads play in a day.
pub(crate) const MAX_ROUNDS: u64 = 1_000_000_000_000;
pub(crate) const MAX_THREADS: u32 = 256;
/// Of a curve.
pub(crate) const MAX_RUNS: u32 = 100;

/// How a learner chooses actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExploreKind {
    /// Hit or stand at random: the course's way; never plays well
    Random,
    /// By the table, and sometimes at random
    Epsilon,
    /// At random until the better action is known with confidence: needs the fewest rounds
    #[value(alias = "doubt")]
    UntilConfident,
}

impl ExploreKind {
    /// `epsilon` is for [`ExploreKind::Epsilon`]. Also returns a description.
    pub(crate) fn explore(self, epsilon: &Epsilon) -> (Explore, String) {
        let word = self.word();
        match self {
            Self::Random => (Explore::Random, word.to_owned()),
            Self::Epsilon => (Explore::Epsilon(epsilon.chance), format!("{word} {}", epsilon.typed)),
            Self::UntilConfident => (Explore::UntilConfident, word.to_owned()),
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Epsilon => "epsilon",
            Self::UntilConfident => "until-confident",
        }
    }
}

/// The facts that identify a state.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Epsilon {
    pub(crate) chance: Chance,
    /// As typed.
    pub(crate) typed: String,
}

const DEFAULT_EPSILON: &str = "0.1";

fn epsilon(typed: &str) -> Result<Epsilon, ParseChanceError> {
    Ok(Epsilon { chance: typed.parse()?, typed: typed.to_owned() })
}

/// Fails if the probability is given for ways to explore that have none.
fn chance(asked: Option<&Epsilon>, ways: &[ExploreKind]) -> anyhow::Result<Epsilon> {
    match asked {
        Some(_) if !ways.contains(&ExploreKind::Epsilon) => {
            Err(UsageError("--epsilon requires --explore epsilon".to_owned()).into())
        }
        Some(asked) => Ok(asked.clone()),
        None => Ok(epsilon(DEFAULT_EPSILON)?),
    }
}

/// `--seed`, or a random number from the system.
pub(crate) fn seed(asked: Option<u64>) -> anyhow::Result<u64> {
    match asked {
        Some(seed) => Ok(seed),
        // Short enough for a user to type.
        None => Ok(u64::from(SysRng.try_next_u32()?)),
    }
}

const TRAIN_HELP: &str = "\
If FILE exists, its training continues. The same seed, threads and rounds give the same table, even if the training \
is stopped with Ctrl-C and continued with the command that the program then prints. A terminal shows the learning \
curve during the training.

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
    /// Rounds to play, in addition to those that the table has counted
    #[arg(long, value_name = "N", default_value_t = 10_000_000, allow_negative_numbers = true,
          value_parser = count(1..=MAX_ROUNDS, 1_000_000))]
    pub(crate) rounds: u64,

    /// How to choose actions while learning
    #[arg(long, value_enum, default_value_t = ExploreKind::Epsilon, value_name = "WAY")]
    pub(crate) explore: ExploreKind,

    /// Chance of a random decision with --explore epsilon; without it 0.1
    #[arg(long, value_name = "CHANCE", value_parser = epsilon, allow_negative_numbers = true)]
    pub(crate) epsilon: Option<Epsilon>,

    /// The facts that identify a state; without it those of FILE, or coarse for a new table
    #[arg(long, value_enum, value_name = "STATES")]
    pub(crate) state: Option<Space>,

    /// Threads that learn in parallel
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = count(1..=MAX_THREADS, 2),
          allow_negative_numbers = true)]
    pub(crate) threads: u32,

    /// Seed of the random numbers; without it a new one each time
    #[arg(long, value_name = "S", value_parser = count(0..=u64::MAX, 7), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// The table file; its training continues if it exists, otherwise it is created
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub(crate) output: PathBuf,

    /// Also save each time this number of rounds has been played
    #[arg(long, value_name = "N", default_value_t = 100_000_000, allow_negative_numbers = true,
          value_parser = count(1..=MAX_ROUNDS, 100_000_000))]
    pub(crate) save_every: u64,

    /// Show the progress on standard error even if it is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

impl TrainArgs {
    /// Also returns a description. Fails with [`UsageError`](cmdkit::UsageError) if a learner without a probability
    /// gets one.
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

    /// Seed of the cards; without it a new one each time
    #[arg(long, value_name = "S", value_parser = count(0..=u64::MAX, 7), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Show the progress on standard error even if it is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

const EVAL_HELP: &str = "\
Examples:
  qtable eval
  qtable eval monday.table tuesday.table --json";

const MERGE_HELP: &str = "\
All parts are read before OUT is written, so OUT may be one of them. If a pattern such as *.table matches OUT by \
accident, its rounds count twice.

Examples:
  for part in 1 2 3; do qtable train --rounds 1000000 --seed $part -o part-$part.table; done
  qtable merge part-1.table part-2.table part-3.table -o whole.table";

/// `qtable eval`.
#[derive(Debug, clap::Args)]
#[command(after_help = EVAL_HELP)]
pub(crate) struct EvalArgs {
    /// Tables
    #[arg(value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub(crate) files: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `qtable exact`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExactArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `qtable merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = MERGE_HELP)]
pub(crate) struct MergeArgs {
    /// Tables with the same kind of states
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The file for the sum; an existing file is replaced
    #[arg(short, long, value_name = "OUT", required = true)]
    pub(crate) output: PathBuf,
}

/// The output format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines of `total [soft] dealer hit_mean hit_n stand_mean stand_n`, `-` for an unknown mean
    Text,
    /// For spreadsheets, with a header line
    Csv,
    /// For programs
    Json,
}

/// `qtable dump`.
#[derive(Debug, clap::Args)]
pub(crate) struct DumpArgs {
    /// A table
    #[arg(value_name = "FILE", default_value = DEFAULT_TABLE)]
    pub(crate) file: PathBuf,

    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

const CHART_HELP: &str = "\
Without an output file, the chart is drawn in the terminal. The environment variable NO_COLOR is respected.

Examples:
  qtable chart
  qtable chart soft.table -o chart.svg -o chart.png
  qtable chart --policy random-limit --state coarse";

const CURVE_HELP: &str = "\
Without an output file, the curves are drawn in the terminal, or written to a pipe as CSV.

Examples:
  qtable curve --rounds 1e6 --runs 5 -o curve.svg -o curve.png
  qtable curve --rounds 1e5 --explore epsilon --explore until-confident --state soft -o curve.csv";

/// A policy that needs no training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KnownPolicy {
    /// The best table
    Best,
    /// The dealer's strategy: hit to 16
    Mimic,
    /// The table that random training converges to
    RandomLimit,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless the variable `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Svg,
    Png,
    Csv,
}

/// Each with the extension of its files.
pub(crate) const PICTURES: [(FileFormat, &str); 2] = [(FileFormat::Svg, ".svg"), (FileFormat::Png, ".png")];
const NUMBERS: (FileFormat, &str) = (FileFormat::Csv, ".csv");

/// The destination of a picture.
#[derive(Debug, clap::Args)]
pub(crate) struct PictureArgs {
    /// Write a file, as SVG or PNG by its extension; may be repeated
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Vec<PathBuf>,

    /// Write the picture as SVG, regardless of the file name
    #[arg(long, value_name = "OUT")]
    pub(crate) svg: Option<PathBuf>,

    /// Write the picture as PNG, regardless of the file name
    #[arg(long, value_name = "OUT")]
    pub(crate) png: Option<PathBuf>,

    /// Write this above the picture
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
}

impl PictureArgs {
    /// `formats` are those of `--output`. Fails with [`UsageError`] if a file name has no extension of one of them.
    pub(crate) fn files(&self, formats: &[(FileFormat, &str)]) -> Result<Vec<(FileFormat, &Path)>, UsageError> {
        let mut files: Vec<(FileFormat, &Path)> = vec![];
        files.extend(self.svg.iter().map(|path| (FileFormat::Svg, path.as_path())));
        files.extend(self.png.iter().map(|path| (FileFormat::Png, path.as_path())));
        for path in &self.output {
            let name = path.to_string_lossy().to_ascii_lowercase();
            let Some((format, _)) = formats.iter().find(|(_, ending)| name.ends_with(ending)) else {
                let endings = formats.iter().map(|&(_, ending)| ending).collect::<Vec<_>>().join(" or ");
                return Err(UsageError(format!(
                    "invalid file name {}: expected an extension of {endings}",
                    file_name(path)
                )));
            };
            files.push((*format, path));
        }
        Ok(files)
    }
}

/// `qtable chart`.
#[derive(Debug, clap::Args)]
#[command(after_help = CHART_HELP)]
pub(crate) struct ChartArgs {
    /// A table
    #[arg(value_name = "FILE", default_value = DEFAULT_TABLE, conflicts_with = "policy")]
    pub(crate) file: PathBuf,

    /// Draw this policy instead of a table
    #[arg(long, value_enum)]
    pub(crate) policy: Option<KnownPolicy>,

    /// The facts that identify a state of --policy; without it coarse
    #[arg(long, value_enum, value_name = "STATES", requires = "policy")]
    pub(crate) state: Option<Space>,

    /// Compare with the best table of these states; without it with that of the table's own states
    #[arg(long, value_enum, value_name = "STATES")]
    pub(crate) against: Option<Space>,

    /// The picture.
    #[command(flatten)]
    pub(crate) picture: PictureArgs,

    /// Colours in the terminal
    #[arg(long, value_enum, default_value_t = Colour::Auto, alias = "color", value_name = "WHEN")]
    pub(crate) colour: Colour,
}

/// `qtable curve`.
#[derive(Debug, clap::Args)]
#[command(after_help = CURVE_HELP)]
pub(crate) struct CurveArgs {
    /// Rounds of each run
    #[arg(long, value_name = "N", default_value_t = 1_000_000, allow_negative_numbers = true,
          value_parser = count(1_000..=MAX_ROUNDS, 1_000_000))]
    pub(crate) rounds: u64,

    /// Runs of each way to explore, with consecutive seeds
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = count(1..=MAX_RUNS, 5),
          allow_negative_numbers = true)]
    pub(crate) runs: u32,

    /// A way to choose actions while learning, may be repeated; without it all three
    #[arg(long, value_enum, value_name = "WAY")]
    pub(crate) explore: Vec<ExploreKind>,

    /// Chance of a random decision with --explore epsilon; without it 0.1
    #[arg(long, value_name = "CHANCE", value_parser = epsilon, allow_negative_numbers = true)]
    pub(crate) epsilon: Option<Epsilon>,

    /// The facts that identify a state
    #[arg(long, value_enum, default_value_t = Space::Coarse, value_name = "STATES")]
    pub(crate) state: Space,

    /// The seed of the first run
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = count(0..=u64::MAX - u64::from(MAX_RUNS), 1),
          allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// Runs that are trained at the same time
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = count(1..=MAX_THREADS, 2),
          allow_negative_numbers = true)]
    pub(crate) threads: u32,

    /// Write the numbers as CSV, regardless of the file name; --output does so for .csv
    #[arg(long, value_name = "OUT")]
    pub(crate) csv: Option<PathBuf>,

    /// The picture.
    #[command(flatten)]
    pub(crate) picture: PictureArgs,

    /// Show the progress on standard error even if it is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

impl CurveArgs {
    /// Fails as [`PictureArgs::files`].
    pub(crate) fn files(&self) -> Result<Vec<(FileFormat, &Path)>, UsageError> {
        let mut files = self.picture.files(&[&PICTURES[..], &[NUMBERS]].concat())?;
        files.extend(self.csv.iter().map(|path| (FileFormat::Csv, path.as_path())));
        Ok(files)
    }

    /// Each way once, and the probability for one of them. Fails with [`UsageError`] if learners without a probability
    /// get one.
    pub(crate) fn ways(&self) -> anyhow::Result<(Vec<ExploreKind>, Epsilon)> {
        let all = [ExploreKind::Random, ExploreKind::Epsilon, ExploreKind::UntilConfident];
        let asked: Vec<ExploreKind> =
            all.into_iter().filter(|way| self.explore.is_empty() || self.explore.contains(way)).collect();
        let epsilon = chance(self.epsilon.as_ref(), &asked)?;
        Ok((asked, epsilon))
    }
}
