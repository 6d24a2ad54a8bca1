//! Tools for learning the game of 21: trains Q tables in process, evaluates them exactly, adds them up and draws them.
//!
//! The game itself is in `blackjack`; this crate adds the clock, files, threads and the terminal. `commands` uses the
//! other modules, and only `run` uses `commands`.

mod args;
mod chart;
mod commands;
mod curve;
mod judge;
mod tables;
mod train;

use std::process::ExitCode;

pub use args::Args;

/// Runs the given command.
///
/// # Errors
/// [`cmdkit::UsageError`] for wrong usage, other errors for failures; each is one line.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    commands::run(args).map(|()| ExitCode::SUCCESS)
}
