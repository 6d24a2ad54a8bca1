//! The options of the commands that draw: `chart` and `curve`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use cmdkit::{UsageError, count, file_name};

use super::values::{DEFAULT_TABLE, Epsilon, MAX_ROUNDS, MAX_RUNS, MAX_THREADS, Space, Way, chance, epsilon};

const CHART_HELP: &str = "\
Without a file to write, the chart is drawn in the terminal. The environment variable NO_COLOR is obeyed.

Examples:
  qtable chart
  qtable chart soft.table -o chart.svg -o chart.png
  qtable chart --policy random-limit --state coarse";

const CURVE_HELP: &str = "\
Without a file to write, the curves are drawn in the terminal; through a pipe the numbers are written as CSV.

Examples:
  qtable curve --rounds 1e6 --runs 5 -o curve.svg -o curve.png
  qtable curve --rounds 1e5 --explore epsilon --explore until-confident --state soft -o curve.csv";

/// A policy that needs no training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KnownPolicy {
    /// The best table
    Best,
    /// What the dealer does: hit to 16
    Mimic,
    /// What random training ends up with, however long it is
    RandomLimit,
}

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless the variable `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The format of a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// A picture as SVG.
    Svg,
    /// A picture as PNG.
    Png,
    /// Numbers as CSV.
    Csv,
}

/// The formats of pictures and of numbers, and the endings of names of such files.
pub(crate) const PICTURES: [(FileFormat, &str); 2] = [(FileFormat::Svg, ".svg"), (FileFormat::Png, ".png")];
const NUMBERS: (FileFormat, &str) = (FileFormat::Csv, ".csv");

/// Where a picture goes.
#[derive(Debug, clap::Args)]
pub(crate) struct PictureArgs {
    /// Write a file, as SVG or PNG by the ending of its name; may be repeated
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Vec<PathBuf>,

    /// Write the picture as SVG, whatever the file is called
    #[arg(long, value_name = "OUT")]
    pub(crate) svg: Option<PathBuf>,

    /// Write the picture as PNG, whatever the file is called
    #[arg(long, value_name = "OUT")]
    pub(crate) png: Option<PathBuf>,

    /// Write this above the picture
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
}

impl PictureArgs {
    /// The files that are asked for; those of `--output` can have these formats.
    /// Fails with [`UsageError`] when the name of one has no ending that stands for a format.
    pub(crate) fn files(&self, formats: &[(FileFormat, &str)]) -> Result<Vec<(FileFormat, &Path)>, UsageError> {
        let mut files: Vec<(FileFormat, &Path)> = vec![];
        files.extend(self.svg.iter().map(|path| (FileFormat::Svg, path.as_path())));
        files.extend(self.png.iter().map(|path| (FileFormat::Png, path.as_path())));
        for path in &self.output {
            let name = path.to_string_lossy().to_ascii_lowercase();
            let Some((format, _)) = formats.iter().find(|(_, ending)| name.ends_with(ending)) else {
                let endings = formats.iter().map(|&(_, ending)| ending).collect::<Vec<_>>().join(" or ");
                return Err(UsageError(format!("the name of {} has to end in {endings}", file_name(path))));
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

    /// Draw this instead of a table
    #[arg(long, value_enum)]
    pub(crate) policy: Option<KnownPolicy>,

    /// What makes a state of --policy; without it coarse
    #[arg(long, value_enum, value_name = "STATES", requires = "policy")]
    pub(crate) state: Option<Space>,

    /// Compare with the best table of these states; without it with that of the table's own
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

    /// Runs of each way to explore, with seeds one after the other
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = count(1..=MAX_RUNS, 5),
          allow_negative_numbers = true)]
    pub(crate) runs: u32,

    /// A way to decide while learning, may be repeated; without it all three
    #[arg(long, value_enum, value_name = "WAY")]
    pub(crate) explore: Vec<Way>,

    /// Chance of a random decision with --explore epsilon; without it 0.1
    #[arg(long, value_name = "CHANCE", value_parser = epsilon, allow_negative_numbers = true)]
    pub(crate) epsilon: Option<Epsilon>,

    /// What makes a state
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

    /// Write the numbers as CSV, whatever the file is called; --output does so for .csv
    #[arg(long, value_name = "OUT")]
    pub(crate) csv: Option<PathBuf>,

    /// The picture.
    #[command(flatten)]
    pub(crate) picture: PictureArgs,

    /// Show the progress on standard error even if that is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

impl CurveArgs {
    /// The files that are asked for. Fails as [`PictureArgs::files`].
    pub(crate) fn files(&self) -> Result<Vec<(FileFormat, &Path)>, UsageError> {
        let mut files = self.picture.files(&[&PICTURES[..], &[NUMBERS]].concat())?;
        files.extend(self.csv.iter().map(|path| (FileFormat::Csv, path.as_path())));
        Ok(files)
    }

    /// The ways to explore, each once, and the chance that goes with one of them.
    /// Fails with [`UsageError`] when there is a chance for learners that have none.
    pub(crate) fn ways(&self) -> anyhow::Result<(Vec<Way>, Epsilon)> {
        let all = [Way::Random, Way::Epsilon, Way::UntilConfident];
        let asked: Vec<Way> =
            all.into_iter().filter(|way| self.explore.is_empty() || self.explore.contains(way)).collect();
        let epsilon = chance(self.epsilon.as_ref(), &asked)?;
        Ok((asked, epsilon))
    }
}
