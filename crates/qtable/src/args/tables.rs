//! The options of the commands that read tables: `eval`, `exact`, `merge` and `dump`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::values::DEFAULT_TABLE;

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
    /// Tables of the same states
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Where their sum goes; what is there is replaced
    #[arg(short, long, value_name = "OUT", required = true)]
    pub(crate) output: PathBuf,
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines of `total [soft] dealer hit_mean hit_n stand_mean stand_n`, `-` for a mean that is not known
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
