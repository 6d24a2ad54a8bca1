//! What all testers have in common.

use std::time::{Duration, Instant};

use crate::{
    command::CannotStart,
    group,
    judge::Judge,
    launch::Launcher,
    report::{Report, Trouble},
    rule::Rule,
};

/// The seed of a test for which none is given.
pub const USUAL_SEED: u32 = 2021;

/// What the user can choose.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long the program under test may take for what it must do.
    pub patience: Duration,
    /// How many players a dealer waits for that runs already.
    pub players: u8,
    /// The port of a server that says nowhere else at which it receives.
    pub port: Option<u16>,
    /// What all random choices of the tester follow from.
    pub seed: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { patience: Duration::from_secs(5), players: 1, port: None, seed: USUAL_SEED }
    }
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
    pub(crate) play: fn(&mut Judge, &dyn Launcher, &Options) -> anyhow::Result<()>,
}

impl Tester {
    /// Plays all scenarios with a program, or as many as can be played.
    pub fn test(&self, launcher: &dyn Launcher, options: &Options) -> Report {
        let mut judge = Judge::new(self.rules);
        let played = (self.play)(&mut judge, launcher, options);
        let trouble = played.err().map(|error| match error.downcast_ref::<CannotStart>() {
            _ if group::is_stopped() => Trouble::Stopped,
            Some(error) => Trouble::CannotStart(error.to_string()),
            None => Trouble::Tester(format!("{error:#}")),
        });
        Report {
            kind: self.kind,
            verdicts: judge.verdicts(),
            whole: launcher.address().is_none(),
            trouble,
            limits: launcher.limits(),
        }
    }
}
