//! What all testers have in common.

use std::{
    io,
    num::NonZero,
    path::PathBuf,
    time::{Duration, Instant},
};

use robots::MinStd;
use sha2::{Digest as _, Sha256};

use crate::{
    command::CannotStart,
    group,
    judge::{Choice, Judge, TOLD},
    launch::Launcher,
    report::{Report, Trouble, Verdict},
    rule::Rule,
    tape::Transcripts,
};

/// The seed of a test for which none is given.
pub const USUAL_SEED: u32 = 2021;

/// The number of different seeds that the generators of the games take, which begin at 1.
const SEEDS: u64 = 2_147_483_646;

/// The source of all random choices of the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// A number. Reports state it, so that the test can be repeated.
    Number(u32),
    /// A hash of something secret. Reports contain neither the hash nor what the tester gives to programs as a seed, and one random
    /// choice reveals no other.
    Secret([u8; 32]),
}

/// What scenarios depend on.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long the program under test may take for what it must do.
    pub patience: Duration,
    /// How many players a dealer waits for that runs already.
    pub players: u8,
    /// The port of a server that says nowhere else at which it receives.
    pub port: Option<u16>,
    /// The source of all random choices of the tester.
    pub seed: Seed,
}

impl Default for Options {
    fn default() -> Self {
        Self { patience: Duration::from_secs(5), players: 1, port: None, seed: Seed::Number(USUAL_SEED) }
    }
}

impl Options {
    /// When patience ends that begins now.
    pub fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }

    /// A number from 1 to 2147483646 in the place of `usual`, which it is with the usual seed.
    pub(crate) fn drawn(&self, usual: u32) -> u32 {
        match self.seed {
            Seed::Number(USUAL_SEED) => usual,
            Seed::Number(seed) => MinStd::new(MinStd::new(seed).draw() ^ usual).draw().max(1),
            // No generator of the games could be used here: from its numbers its seed is computed easily.
            Seed::Secret(hash) => {
                let drawn = Sha256::new().chain_update(hash).chain_update(usual.to_be_bytes()).finalize();
                let number = drawn.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
                u32::try_from(number % SEEDS + 1).unwrap_or(1)
            }
        }
    }

    fn is_secret(&self) -> bool {
        matches!(self.seed, Seed::Secret(_))
    }
}

/// A test as the user wants it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What scenarios depend on.
    pub options: Options,
    /// The rules that are asked for, or none if all are. Scenarios that are meant for others are left out, and so are all other rules in
    /// the report.
    pub only: Option<Vec<&'static Rule>>,
    /// How often the whole test is run.
    pub runs: NonZero<u32>,
    /// The directory for a transcript of each scenario.
    pub transcripts: Option<PathBuf>,
}

impl From<Options> for Plan {
    /// One run in which all rules are tested.
    fn from(options: Options) -> Self {
        Self { options, only: None, runs: NonZero::<u32>::MIN, transcripts: None }
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
    /// A program that keeps none of these rules takes part in no game, and earns nothing.
    pub(crate) takes_part: &'static [&'static Rule],
    /// Plays all scenarios.
    pub(crate) play: fn(&mut Judge, &dyn Launcher, &Options) -> anyhow::Result<()>,
}

impl Tester {
    /// The rule of this name.
    pub fn rule(&self, id: &str) -> Option<&'static Rule> {
        self.rules.iter().find(|rule| rule.id == id).copied()
    }

    /// Plays all scenarios with a program, or as many as can be played.
    pub fn test(&self, launcher: &dyn Launcher, options: &Options) -> Report {
        self.once(launcher, *options, &Choice { hides_seeds: options.is_secret(), ..Choice::default() })
    }

    /// Plays what the plan says. A test that cannot go on, or is stopped, is not run again.
    ///
    /// # Errors
    /// When the directory for transcripts cannot be made.
    pub fn run(&self, launcher: &dyn Launcher, plan: &Plan) -> io::Result<Report> {
        let only = plan.only.as_ref().map(|rules| rules.iter().map(|rule| rule.id).collect());
        let mut all: Option<Report> = None;
        for run in 1..=plan.runs.get() {
            let folder = plan.transcripts.as_ref().map(|folder| match plan.runs.get() {
                1 => folder.clone(),
                _ => folder.join(format!("run-{run}")),
            });
            let transcripts = folder.map(|folder| Transcripts::new(&folder)).transpose()?;
            let choice = Choice { only: only.clone(), transcripts, hides_seeds: plan.options.is_secret() };
            let report = self.once(launcher, plan.options, &choice);
            match &mut all {
                None => all = Some(report),
                Some(all) => all.add(report, TOLD),
            }
            if all.as_ref().is_some_and(|all| all.trouble.is_some()) {
                break;
            }
        }
        all.ok_or_else(|| io::Error::other("there is no run"))
    }

    fn once(&self, launcher: &dyn Launcher, options: Options, choice: &Choice) -> Report {
        let mut judge = Judge::new(self.rules, choice.clone());
        let played = (self.play)(&mut judge, launcher, &options);
        let trouble = played.err().map(|error| match error.downcast_ref::<CannotStart>() {
            _ if group::is_stopped() => Trouble::Stopped,
            Some(error) if !error.is_temporary() => Trouble::CannotStart(error.to_string()),
            _ => Trouble::Tester(format!("{error:#}")),
        });
        let unwritten = || choice.transcripts.as_ref().and_then(Transcripts::error).map(Trouble::Tester);
        let (mut rules, scenarios) = judge.findings(self.takes_part);
        for finding in &mut rules {
            if let Some(rule) = self.rule(&finding.id) {
                rule.hint_for(launcher.is_at_terminal()).clone_into(&mut finding.hint);
            }
        }
        let trouble = trouble.or_else(unwritten);
        if let Some(trouble) = &trouble {
            for rule in rules.iter_mut().filter(|rule| rule.verdict == Verdict::NotTested) {
                trouble.in_short().clone_into(&mut rule.why);
            }
        }
        Report {
            kind: self.kind.to_owned(),
            seed: match options.seed {
                Seed::Number(seed) => Some(seed),
                Seed::Secret(_) => None,
            },
            runs: 1,
            whole: launcher.address().is_none(),
            trouble,
            limits: launcher.limits(),
            rules,
            scenarios,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_seed_draws_other_numbers_and_the_usual_one_draws_the_usual() {
        let usual = Options::default();
        assert_eq!([1234, 77].map(|number| usual.drawn(number)), [1234, 77]);
        for seed in [Seed::Number(0), Seed::Secret([7; 32])] {
            let other = Options { seed, ..usual };
            let drawn = [1234, 77].map(|number| other.drawn(number));
            assert!(drawn[0] != drawn[1] && drawn[0] != 1234 && drawn == [1234, 77].map(|number| other.drawn(number)));
            assert!((1..2_147_483_647).contains(&drawn[0]));
        }
    }
}
