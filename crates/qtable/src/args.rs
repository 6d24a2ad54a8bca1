//! The command line: the commands.

mod learning;
mod pictures;
mod tables;
pub(crate) mod values;

use clap::{Parser, Subcommand};

pub(crate) use learning::{PlayArgs, TrainArgs};
pub(crate) use pictures::{ChartArgs, Colour, CurveArgs, FileFormat, KnownPolicy, PICTURES};
pub(crate) use tables::{DumpArgs, EvalArgs, ExactArgs, Format, MergeArgs};
pub(crate) use values::{Way, seed};

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
    pub(crate) command: Option<Command>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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
