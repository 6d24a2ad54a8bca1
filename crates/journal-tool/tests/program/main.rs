//! The program `journal` as people run it, on matches that are played here.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what helps a test fails as a test does")]

/// Each command, what it says, and its exit code.
mod commands;

/// Matches that are played here and journalled into files.
mod matches;

/// The screen of a replay, in a terminal.
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

// Standard output of a command that works.
fn told(arguments: &[&str]) -> String {
    let Finished { code, stdout, stderr } = journal(arguments);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?} {stdout}");
    stdout
}

// The one line on standard error of a command that fails.
fn refused(arguments: &[&str]) -> String {
    let Finished { code, stdout, stderr } = journal(arguments);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(1), "", 1), "{arguments:?} {stderr}");
    stderr
}
