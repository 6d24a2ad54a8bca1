//! The program as a process of its own.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// Through pipes: transcripts, junk, the end of input anywhere, two people.
mod pipes;
// In a terminal: prompts, keys, the mouse, signals, statistics.
mod screen;
// The codebreaker's lines.
mod solve;

use std::process::Command;

use testkit::{
    TempDir,
    process::{Finished, Process},
};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_mastermind-play");

/// The program with these arguments, whose statistics lie in this directory.
fn command(data: &TempDir, arguments: &str) -> Command {
    let mut command = Command::new(PROGRAM);
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
