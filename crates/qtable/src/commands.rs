//! The commands. They read arguments and files and print; what they compute is in the other modules, none of which imports a
//! command.

mod chart;
mod curve;
mod dump;
mod eval;
mod exact;
mod merge;
mod play;
mod train;

use std::{
    io::{self, Write},
    path::Path,
};

use cmdkit::{UsageError, file_name, save_file};
use picture::Picture;

use crate::args::{Args, Command, FileFormat};

/// Runs the command that was asked for.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Some(Command::Train(args)) => train::train(args),
        Some(Command::Eval(args)) => eval::eval(args),
        Some(Command::Exact(args)) => exact::exact(args),
        Some(Command::Merge(args)) => merge::merge(args),
        Some(Command::Dump(args)) => dump::dump(args),
        Some(Command::Chart(args)) => chart::chart(args),
        Some(Command::Curve(args)) => curve::curve(args),
        Some(Command::Play(args)) => play::play(args),
        None => {
            let said = "say what to do: train, eval, exact, merge, dump, chart, curve or play; --help explains them";
            Err(UsageError(said.to_owned()).into())
        }
    }
}

/// Writes a picture to all files that were asked for, and `csv` to those for numbers, and says so.
fn write_files(files: &[(FileFormat, &Path)], picture: &Picture, csv: &str) -> anyhow::Result<()> {
    for (format, path) in files {
        match format {
            FileFormat::Svg => save_file("the picture", path, picture.to_svg().as_bytes())?,
            FileFormat::Png => save_file("the picture", path, &picture.to_png()?)?,
            FileFormat::Csv => save_file("the numbers", path, csv.as_bytes())?,
        }
        // On standard error, since a picture may go to standard output.
        let _ = writeln!(io::stderr(), "wrote {}", file_name(path));
    }
    Ok(())
}
