//! The program `journal`, as a library so that its screens can be drawn by others.
//!
//! A journal holds what a match was set up with and everything that arrived at its room. This crate replays that:
//!
//! - [`Game`] is what each game adds: its words, and how a match of it is looked at ([`Eye`]).
//! - [`Film`] is a replay that can be wound forward and back; [`Theatre`] shows one on a screen.
//! - [`Args`] and [`run`] are the program.
//!
//! ```text
//! file -> Source -> journal::Reader -> Film: journal::Replay, Eye, deeds -> Theatre -> terminal, asciinema
//!                                   -> list, show, verify, export, cut
//! ```

mod args;
mod cast;
mod cut;
mod deeds;
mod film;
mod games;
#[cfg(test)]
mod glass;
mod list;
#[cfg(test)]
#[path = "../tests/program/matches.rs"]
mod matches;
mod out;
mod panics;
mod show;
mod source;
mod stream;
mod text;
mod theatre;
mod verify;
mod watch;
mod words;

use std::process::ExitCode;

pub use args::Args;
pub use deeds::{Deed, Guest};
pub use film::{Film, Goal};
pub use games::{Eye, Game, Said, Step};
pub use source::{Opened, Source, open};
pub use theatre::{Reaction, Theatre};

use cmdkit::UsageError;

use crate::args::Command;

/// Runs the program.
///
/// # Errors
/// When a journal cannot be read or replayed, or what is made of it cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Replay(args)) => watch::run(&args),
        Some(Command::Export(args)) => stream::run(&args),
        Some(Command::Cut(args)) => cut::run(&args),
        None => {
            let said = "say what to do: list, show, verify, replay, export or cut; --help explains them";
            Err(UsageError(said.to_owned()).into())
        }
    }
}
