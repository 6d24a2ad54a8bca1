//! The text game and the panel game of mastermind.

// Through pipes: transcripts, junk, the end of input anywhere, two people.
mod pipes;
// In a terminal: prompts, keys, the mouse, signals.
mod screen;
// The codebreaker's lines.
mod solve;
// What is counted of games that a person has typed, and what is not.
mod statistics;

use std::process::Command;

use testkit::{
    TempDir,
    process::{Finished, Process},
};

use crate::programs;

/// The path of the program.
fn path() -> String {
    programs::path("mastermind-play")
}

/// A game whose code is 7423.
const PUZZLE: &str = "--length 4 --repeats no --seed 7";

/// The program with these arguments, whose statistics lie in this directory.
fn command(data: &TempDir, arguments: &str) -> Command {
    let mut command = programs::program("mastermind-play");
    command.args(arguments.split_whitespace()).env("XDG_DATA_HOME", data.path());
    command
}

/// Runs the program to its end with this input.
fn run_in(data: &TempDir, arguments: &str, input: impl AsRef<[u8]>) -> Finished {
    let mut process = Process::start_with_stdin(&mut command(data, arguments));
    process.write(input);
    process.wait()
}

fn run(arguments: &str, input: impl AsRef<[u8]>) -> Finished {
    run_in(&TempDir::new(), arguments, input)
}

/// The same, where nothing fails: what it says.
#[track_caller]
fn said(arguments: &str, input: impl AsRef<[u8]>) -> String {
    let finished = run(arguments, input);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{arguments}");
    finished.stdout
}
