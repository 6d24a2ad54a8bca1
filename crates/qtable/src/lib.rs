//! The learner's bench of the game of 21: trains Q tables in process, judges them exactly, adds them up and draws them.
//!
//! - [`train::Plan`] is training that gives the same table whenever it is repeated, on as many threads as wanted, and that
//!   can be stopped and gone on with; [`train::train`] does so to a file.
//! - [`judge::Judge`] knows what tables are worth and which are best; [`judge::eval`] and [`judge::exact`] print it.
//! - [`tables`] has what is done with table files: loading, saving, adding up, printing.
//! - [`chart`] shows what a policy does, in the terminal and as a picture; [`curve`] how good a table gets in how many
//!   rounds. A [`picture::Picture`] is drawn once and written as SVG and as PNG.
//! - [`play`] lets a table play and says whether that agrees with its exact value.
//!
//! The game itself is in `blackjack`; here is what needs a clock, files, threads and a terminal.

pub mod args;
pub mod chart;
pub mod curve;
pub mod judge;
pub mod picture;
pub mod play;
mod progress;
pub mod tables;
pub mod train;

use std::process::ExitCode;

use cmdkit::UsageError;

pub use args::Args;
use args::Command;

/// Does what was asked for.
///
/// # Errors
/// [`UsageError`] for what makes no sense, anything else for what does not work; one line each.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Some(Command::Train(args)) => train::train(args)?,
        Some(Command::Eval(args)) => judge::eval(args)?,
        Some(Command::Exact(args)) => judge::exact(args)?,
        Some(Command::Merge(args)) => tables::merge(args)?,
        Some(Command::Dump(args)) => tables::dump(args)?,
        Some(Command::Chart(args)) => chart::chart(args)?,
        Some(Command::Curve(args)) => curve::curve(args)?,
        Some(Command::Play(args)) => play::play(args)?,
        None => {
            let said = "say what to do: train, eval, exact, merge, dump, chart, curve or play; --help explains them";
            return Err(UsageError(said.to_owned()).into());
        }
    }
    Ok(ExitCode::SUCCESS)
}
