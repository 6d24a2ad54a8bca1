//! What can be asked for on the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use cmdkit::whole_number;

use crate::theatre::SPEEDS;

const AFTER_HELP: &str = "\
Examples:
  journal list journals
      which matches are there, and how long each is
  journal show journals/nuggets-2026-11-22T06-37-51Z.journal
      who played, when, and how it came out
  journal replay journals/nuggets-2026-11-22T06-37-51Z.journal
      look at it in the terminal

A journal holds the addresses and names of those who played, and what the cards \
follow from. Think of that before you hand one on.

Exit status: 0 when it worked, 1 when something failed or a replay came to \
something else, 2 when the usage is wrong.";

const SHOW_HELP: &str = "\
Examples:
  journal show match.journal
  journal show match.journal --secrets";

const VERIFY_HELP: &str = "\
Every arrival has a byte of the state's digest with it, and every 256th all of it. A replay that comes to another state \
says at which arrival.

Example:
  journal verify match.journal

Exit status: 0 when the replay comes to the same, 1 when it does not or the file is damaged.";

const REPLAY_HELP: &str = "\
Where standard output is no terminal, or with --text, what everybody did is printed in lines.

Examples:
  journal replay match.journal
  journal replay match.journal --seat Ann
  journal replay dealer.journal --seat 1:2
  journal replay match.journal --text | grep Ann

Space stops it and lets it go on, the arrow keys go step by step, ? shows all keys.";

const EXPORT_HELP: &str = "\
jsonl: a line of JSON for the match, then one for each arrival and each note. docs/journal.md says what is in them.
cast: a recording for asciinema players, of the screen that `journal replay` shows.

Examples:
  journal export match.journal --format jsonl | grep '\"kind\":\"bytes\"'
  journal export match.journal --format cast --speed 4 -o match.cast";

const CUT_HELP: &str = "\
For a report of a bug that `journal verify` finds at arrival 1234:

  journal cut match.journal --at 1234 --game -o bug.journal

What is written is replayed before the program says that it shows the same.";

/// Look at the journals of matches: list, show, verify, replay, export and cut them
#[derive(Debug, Parser)]
#[command(name = "journal", version, after_help = AFTER_HELP)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the journals in a directory
    List(ListArgs),
    /// Say who played, when, and how it came out
    #[command(after_help = SHOW_HELP)]
    Show(ShowArgs),
    /// Replay a match and compare what it comes to
    #[command(after_help = VERIFY_HELP)]
    Verify(VerifyArgs),
    /// Look at a match in the terminal, with the game's own screen
    #[command(after_help = REPLAY_HELP)]
    Replay(ReplayArgs),
    /// Write a match as lines of JSON, or as a recording for asciinema players
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Write the shortest journal that still shows a state, for a bug report
    #[command(after_help = CUT_HELP)]
    Cut(CutArgs),
}

/// What `list` is told.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// The directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// What `show` is told.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Print the seed of the cards too, from which every card follows that a dealer with it deals
    #[arg(long)]
    pub secrets: bool,
}

/// What `verify` is told.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// From where a match is seen.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SeatArgs {
    /// See what this seat was shown, by its letter, its number, its TABLE:SEAT or its player's name; without it, what
    /// one who looks on is shown
    #[arg(long, value_name = "SEAT")]
    pub seat: Option<String>,
}

/// What `replay` is told.
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// From where it is seen.
    #[command(flatten)]
    pub seat: SeatArgs,

    /// How fast to begin: 0.25, 0.5, 1, 2, 4, 8, 16, 32 or 64
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = speed)]
    pub speed: usize,

    /// Print what everybody did in lines
    #[arg(long)]
    pub text: bool,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A line of JSON for each arrival and each note
    Jsonl,
    /// A recording of the screen, asciicast version 2
    Cast,
}

/// What `export` is told.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Format,

    /// The file to write, which must not be there; standard output without it
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// From where it is seen.
    #[command(flatten)]
    pub seat: SeatArgs,

    /// Columns of the screen that is recorded
    #[arg(long, default_value_t = 80, value_name = "COLUMNS", value_parser = whole_number(20..=500_u16, 80),
          help_heading = "Recordings")]
    pub width: u16,

    /// Rows of the screen that is recorded
    #[arg(long, default_value_t = 24, value_name = "ROWS", value_parser = whole_number(8..=300_u16, 24),
          help_heading = "Recordings")]
    pub height: u16,

    /// How fast: 0.25, 0.5, 1, 2, 4, 8, 16, 32 or 64
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = speed, help_heading = "Recordings")]
    pub speed: usize,
}

/// What `cut` is told.
#[derive(Debug, clap::Args)]
pub struct CutArgs {
    /// The journal
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The last arrival to be in it, counted from 1
    #[arg(long, value_name = "ARRIVAL", value_parser = whole_number(1..=u64::MAX, 1_234))]
    pub at: u64,

    /// Begin with the game in which that is, instead of with the match
    #[arg(long)]
    pub game: bool,

    /// The file to write, which must not be there
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
}

// The place of a speed in the list of them.
fn speed(typed: &str) -> Result<usize, String> {
    let found = SPEEDS.iter().position(|(name, _)| *name == typed);
    found.ok_or_else(|| "give 0.25, 0.5, 1, 2, 4, 8, 16, 32 or 64".to_owned())
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
    fn what_cannot_be_meant_is_refused_with_what_would_be_right() {
        for (line, said) in [
            ("journal replay x --speed 3", "give 0.25, 0.5"),
            ("journal cut x --at 0 -o y", "from 1 to"),
            ("journal export x --format cast --width 5", "from 20 to 500"),
            ("journal export x", "--format"),
        ] {
            let error = Args::try_parse_from(line.split(' ')).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
