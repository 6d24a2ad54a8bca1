//! Tests of the program `journal` on matches that are played here.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod commands;

mod matches;

use std::{path::Path, process::Command};

use testkit::process::{Finished, Process};

fn journal(arguments: &[&str]) -> Finished {
    Process::run(Command::new(env!("CARGO_BIN_EXE_journal")).args(arguments))
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stdout_of(arguments: &[&str]) -> String {
    let Finished { code, stdout, stderr } = journal(arguments);
    eprintln!("{arguments:?}\n{stdout}");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    stdout
}

fn error_of(arguments: &[&str]) -> String {
    let Finished { code, stdout, stderr } = journal(arguments);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(1), "", 1), "{arguments:?} {stderr}");
    stderr
}
