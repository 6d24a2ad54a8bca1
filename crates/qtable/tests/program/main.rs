//! Runs the program like a user, with real processes and files.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod usage;

mod pictures;

mod tables;

mod training;

use std::{path::Path, process::Command};

use blackjack::{
    QTable, StateSpace,
    learn::{Chance, Explore, Trainer},
};
use testkit::{
    TempDir,
    process::{Finished, Process},
};

fn qtable(folder: &TempDir, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qtable"));
    command.current_dir(folder.path()).args(arguments.split_whitespace());
    command
}

#[track_caller]
fn works(folder: &TempDir, arguments: &str) -> String {
    let finished = Process::run(&mut qtable(folder, arguments));
    assert_eq!(finished.code, Some(0), "{arguments}: {}", finished.stderr);
    finished.stdout
}

#[track_caller]
fn fails(folder: &TempDir, arguments: &str, code: i32) -> String {
    check_failure(Process::run(&mut qtable(folder, arguments)), code)
}

#[track_caller]
fn check_failure(finished: Finished, code: i32) -> String {
    assert_eq!((finished.code, &*finished.stdout), (Some(code), ""), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    finished.stderr
}

/// After a short training.
fn trained(space: StateSpace, seed: u64, rounds: u64) -> QTable {
    let explore = Explore::Epsilon(Chance::new(0.1).unwrap());
    let mut trainer = Trainer::seeded(QTable::new(space), explore, seed, 0);
    trainer.play(rounds).unwrap();
    trainer.into_table()
}

fn read(path: &Path) -> QTable {
    QTable::from_file(&std::fs::read(path).unwrap()).unwrap()
}

fn names(folder: &TempDir) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = names.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
