//! What all testers have in common.

use std::time::{Duration, Instant};

use crate::{
    launch::Launcher,
    report::{Report, Rule},
};

/// What the user can choose.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long the program under test may take for what it must do.
    pub patience: Duration,
    /// How many players a dealer waits for that runs already.
    pub players: u8,
}

impl Options {
    /// When patience ends that begins now.
    pub fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }
}

/// Tests one kind of program.
#[derive(Debug)]
pub struct Tester {
    /// What it tests, such as `dealer`.
    pub kind: &'static str,
    /// Whether the program waits for connections, so that one that runs already can be tested.
    pub is_server: bool,
    /// The arguments of a command that has no placeholders, with spaces in between.
    pub usual: &'static str,
    /// All placeholders.
    pub known: &'static [&'static str],
    /// Placeholders without which nothing can be tested.
    pub needed: &'static [&'static str],
    /// All rules, in the order of the report.
    pub rules: &'static [&'static Rule],
    /// Plays all scenarios.
    pub test: fn(&dyn Launcher, &Options) -> anyhow::Result<Report>,
}
