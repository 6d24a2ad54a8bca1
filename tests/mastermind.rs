// Transcripts, invalid input, the end of input, duels.
mod pipes;
// Prompts, keys, the mouse, signals.
mod screen;
mod statistics;

use std::process::Command;

use testkit::{
    TempDir,
    process::{Finished, Process},
};

use crate::programs;

fn path() -> String {
    programs::path("mastermind-play")
}

/// A game whose code is 7423.
const PUZZLE: &str = "--length 4 --repeats no --seed 7";

/// Stores statistics in `data`.
fn command(data: &TempDir, arguments: &str) -> Command {
    let mut command = programs::program("mastermind-play");
    command.args(arguments.split_whitespace()).env("XDG_DATA_HOME", data.path());
    command
}

fn run_in(data: &TempDir, arguments: &str, input: impl AsRef<[u8]>) -> Finished {
    let mut process = Process::start_with_stdin(&mut command(data, arguments));
    process.write(input);
    process.wait()
}

fn run(arguments: &str, input: impl AsRef<[u8]>) -> Finished {
    run_in(&TempDir::new(), arguments, input)
}

/// The program must succeed. Returns its standard output.
#[track_caller]
fn said(arguments: &str, input: impl AsRef<[u8]>) -> String {
    let finished = run(arguments, input);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{arguments}");
    finished.stdout
}
