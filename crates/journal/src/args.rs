//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use cmdkit::{retention, whole_number};
use journal_core::Retention;

use crate::screen::SPEEDS;

const AFTER_HELP: &str = "\
Examples:
  journal list journals
      list the matches and their lengths
  journal show journals/nuggets-2026-11-22T06-37-51Z.journal
      show the players, the times and the results
  journal replay journals/nuggets-2026-11-22T06-37-51Z.journal
      watch the match in the terminal

A journal contains the addresses and names of the players, and the seed that determines \
the cards. Consider that before you share one.

Exit status: 0 on success, 1 on failure or when a replay diverges, 2 for wrong usage.";

const SHOW_HELP: &str = "\
Examples:
  journal show match.journal
  journal show match.journal --secrets";

const VERIFY_HELP: &str = "\
A journal contains marks with a digest of the state, at intervals of at least 256 arrivals. If the replay diverges, \
the marks before and after the divergence are reported. States of earlier rules are not compared.

Example:
  journal verify match.journal

Exit status: 0 when the replay has the same states, 1 when it diverges or the file is damaged.";

const REPLAY_HELP: &str = "\
If standard output is not a terminal, or with --text, all actions are printed as lines.

Examples:
  journal replay match.journal
  journal replay match.journal --seat Ann
  journal replay dealer.journal --seat 1:2
  journal replay match.journal --text | grep Ann

Space pauses and continues, the arrow keys go step by step, ? shows all keys.";

const EXPORT_HELP: &str = "\
jsonl: a line of JSON for the match, then one for each arrival and each note. docs/journal.md describes the fields.
cast: a recording for asciinema players, of the screen that `journal replay` shows.

Examples:
  journal export match.journal --format jsonl | grep '\"kind\":\"bytes\"'
  journal export match.journal --format cast --speed 4 -o match.cast";

const CUT_HELP: &str = "\
For a report of a bug that `journal verify` found at arrival 1234:

  journal cut match.journal --at 1234 --game -o bug.journal

The result is replayed to check that it ends like the original.";

const PRUNE_HELP: &str = "\
The oldest journals are removed first. The newest journal of each game is kept. Journals that a server is writing \
are skipped.

Examples:
  journal prune journals --keep 30d,100,10G --dry-run
  journal prune journals --keep 8w

Exit status: 0 on success, 1 when a journal cannot be removed, 2 for wrong usage.";

/// Look at the journals of matches: list, show, verify, replay, export, cut and prune them
#[derive(Debug, Parser)]
#[command(name = "journal", version, after_help = AFTER_HELP)]
pub struct Args {
    /// The command.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the journals in a directory
    List(ListArgs),
    /// Show the players, the times and the results
    #[command(after_help = SHOW_HELP)]
    Show(ShowArgs),
    /// Replay a match and compare its states
    #[command(after_help = VERIFY_HELP)]
    Verify(VerifyArgs),
    /// Watch a match in the terminal, on the game's own screen
    #[command(after_help = REPLAY_HELP)]
    Replay(ReplayArgs),
    /// Write a match as lines of JSON, or as a recording for asciinema players
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Write the shortest journal that still shows a state, for a bug report
    #[command(after_help = CUT_HELP)]
    Cut(CutArgs),
    /// Remove the old journals in a directory
    #[command(after_help = PRUNE_HELP)]
    Prune(PruneArgs),
}

/// Arguments of `list`.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// The directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Print the seed of the cards too, which determines every card of a dealer with that seed
    #[arg(long)]
    pub secrets: bool,
}

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// The perspective from which a match is shown.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SeatArgs {
    /// Show what this seat saw, given by its letter, its number, its TABLE:SEAT or its player's name; without it, show
    /// what a spectator sees
    #[arg(long, value_name = "SEAT")]
    pub seat: Option<String>,
}

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The perspective.
    #[command(flatten)]
    pub seat: SeatArgs,

    /// Initial speed: 0.25, 0.5, 1, 2, 4, 8, 16, 32 or 64
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = speed)]
    pub speed: usize,

    /// Print all actions as lines
    #[arg(long)]
    pub text: bool,
}

/// Formats of `export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A line of JSON for each arrival and each note
    Jsonl,
    /// A recording of the screen, asciicast version 2
    Cast,
}

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Format,

    /// The file to write, which must not exist; standard output without it
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// The perspective.
    #[command(flatten)]
    pub seat: SeatArgs,

    /// Columns of the recorded screen
    #[arg(long, default_value_t = 80, value_name = "COLUMNS", value_parser = whole_number(20..=500_u16, 80),
          help_heading = "Recordings")]
    pub width: u16,

    /// Rows of the recorded screen
    #[arg(long, default_value_t = 24, value_name = "ROWS", value_parser = whole_number(8..=300_u16, 24),
          help_heading = "Recordings")]
    pub height: u16,

    /// Speed: 0.25, 0.5, 1, 2, 4, 8, 16, 32 or 64
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = speed, help_heading = "Recordings")]
    pub speed: usize,
}

/// Arguments of `cut`.
#[derive(Debug, clap::Args)]
pub struct CutArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The last arrival to include, counted from 1
    #[arg(long, value_name = "ARRIVAL", value_parser = whole_number(1..=u64::MAX, 1_234))]
    pub at: u64,

    /// Start at the game that includes this arrival, instead of the start of the match
    #[arg(long)]
    pub game: bool,

    /// The file to write, which must not exist
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
}

/// Arguments of `prune`.
#[derive(Debug, clap::Args)]
pub struct PruneArgs {
    /// The directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Journals to keep: an age in hours, days or weeks, a number of journals, a total size, or several of these, as in
    /// 30d,100,10G
    #[arg(long, value_name = "WHAT", value_parser = retention)]
    pub keep: Option<Retention>,

    /// Only print what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

// The index of a speed.
fn speed(typed: &str) -> Result<usize, String> {
    let found = SPEEDS.iter().position(|(name, _)| *name == typed);
    found.ok_or_else(|| "expected 0.25, 0.5, 1, 2, 4, 8, 16, 32 or 64".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn invalid_values_are_rejected_with_valid_ones() {
        for (line, said) in [
            ("journal replay x --speed 3", "expected 0.25, 0.5"),
            ("journal cut x --at 0 -o y", "from 1 to"),
            ("journal export x --format cast --width 5", "from 20 to 500"),
            ("journal export x", "--format"),
            ("journal prune x --keep 0", "expected at least one journal"),
            ("journal prune x --keep old", "as in 30d,100,10G"),
        ] {
            let error = Args::try_parse_from(line.split(' ')).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
