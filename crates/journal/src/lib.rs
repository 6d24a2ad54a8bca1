//! The program `journal`.
//!
//! A journal contains the setup of a match and everything that arrived at its room. This crate replays it:
//!
//! - `Game` is implemented for each game: the text of its messages, and the display of a match (`GameDisplay`).
//! - `Playback` is a replay that moves forward and back; `ReplayScreen` shows one on a screen.
//!
//! ```text
//! file -> Source -> journal_core::Reader -> Playback: journal_core::Replay, GameDisplay, actions -> ReplayScreen -> terminal, asciicast
//!                                   -> list, show, verify, export, cut
//! ```

mod actions;
mod args;
mod cut;
mod files;
mod format;
mod games;
#[cfg(test)]
mod glass;
mod list;
#[cfg(test)]
#[allow(dead_code, reason = "one of the matches is only for tests of the program")]
#[path = "../tests/program/matches.rs"]
mod matches;
mod panics;
mod playback;
mod prune;
mod screen;
mod show;
mod stream;
mod verify;
mod watch;

use std::process::ExitCode;

pub use args::Args;

use cmdkit::UsageError;

use self::args::Command;

/// Runs the program.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Replay(args)) => watch::run(&args),
        Some(Command::Export(args)) => stream::run(&args),
        Some(Command::Cut(args)) => cut::run(&args),
        Some(Command::Prune(args)) => prune::run(&args),
        None => {
            let said = "missing command: expected list, show, verify, replay, export, cut or prune; see --help";
            Err(UsageError(said.to_owned()).into())
        }
    }
}
