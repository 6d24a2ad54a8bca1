//! Tests of the program `journal` on matches that are played here.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

/// Each command: its output and its exit code.
mod commands;

/// Matches that are played here and recorded in files.
mod matches;

/// The screen of a replay in a pseudo-terminal.
mod screen;

/// Wrong usage, and the examples of the help.
mod usage;

use std::{path::Path, process::Command};

use testkit::process::{Finished, Process};

fn journal(arguments: &[&str]) -> Finished {
    Process::run(Command::new(env!("CARGO_BIN_EXE_journal")).args(arguments))
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

// Standard output of a command that succeeds.
fn stdout_of(arguments: &[&str]) -> String {
    let Finished { code, stdout, stderr } = journal(arguments);
    // Shown only when the test fails.
    eprintln!("{arguments:?}\n{stdout}");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    stdout
}

// The line on standard error of a command that fails.
fn error_of(arguments: &[&str]) -> String {
    let Finished { code, stdout, stderr } = journal(arguments);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(1), "", 1), "{arguments:?} {stderr}");
    stderr
}
