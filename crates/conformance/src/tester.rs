use std::{
    fs, io,
    num::NonZero,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use robots::MinStd;
use sha2::{Digest as _, Sha256};

use crate::{
    command::CannotStart,
    group,
    judge::{Choice, Judge, MAX_BREACHES},
    launch::Launcher,
    report::{Report, Trouble, Verdict},
    rule::Rule,
    tape::Transcripts,
};

pub const USUAL_SEED: u32 = 2021;

/// The generators of the games accept seeds from 1 to this number.
const SEEDS: u64 = 2_147_483_646;
/// Multiplies the patience for the start of a program.
const START: u32 = 4;
/// Multiplies the patience on the busiest machine.
const BUSIEST: u32 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// Shown in reports, so that the test can be repeated.
    Number(u32),
    /// A hash of a secret. Reports contain neither the hash nor the seeds of programs, and one random choice reveals no
    /// other.
    Secret([u8; 32]),
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// For a required action. Extended while other programs keep the processors busy.
    pub patience: Duration,
    /// The number of players that a running dealer waits for.
    pub players: u8,
    /// For a server that does not report its port otherwise.
    pub port: Option<u16>,
    pub seed: Seed,
}

impl Default for Options {
    fn default() -> Self {
        Self { patience: Duration::from_secs(5), players: 1, port: None, seed: Seed::Number(USUAL_SEED) }
    }
}

/// Returns 1 to [`BUSIEST`], by the number of running programs per processor. Updated at most once a second.
fn busyness() -> u32 {
    static LAST: Mutex<Option<(Instant, u32)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((read, busyness)) = *last
        && read.elapsed() < Duration::from_secs(1)
    {
        return busyness;
    }
    // Other systems have no such file.
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    let processors = thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX));
    let is_reached = |&times: &u32| load > f64::from(processors.saturating_mul(2 * times));
    let busyness = (2..=BUSIEST).rev().find(is_reached).unwrap_or(1);
    *last = Some((Instant::now(), busyness));
    busyness
}

impl Options {
    pub fn deadline(&self) -> Instant {
        Instant::now() + self.patience * busyness()
    }

    /// Longer, since other programs may slow down the start.
    pub fn start_deadline(&self) -> Instant {
        Instant::now() + START * self.patience * busyness()
    }

    /// From 1 to 2147483646. The usual seed returns `usual`.
    pub(crate) fn drawn(&self, usual: u32) -> u32 {
        match self.seed {
            Seed::Number(USUAL_SEED) => usual,
            Seed::Number(seed) => MinStd::new(MinStd::new(seed).draw() ^ usual).draw().max(1),
            // A game's numbers easily reveal the seed of its generator.
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

#[derive(Clone, Debug)]
pub struct Plan {
    pub options: Options,
    /// `None` for all rules. Otherwise, only scenarios for these are played, and only these are reported.
    pub only: Option<Vec<&'static Rule>>,
    pub runs: NonZero<u32>,
    pub transcripts: Option<PathBuf>,
}

impl From<Options> for Plan {
    fn from(options: Options) -> Self {
        Self { options, only: None, runs: NonZero::<u32>::MIN, transcripts: None }
    }
}

#[derive(Debug)]
pub struct Tester {
    /// Such as `dealer`.
    pub kind: &'static str,
    /// Whether a running server can be tested.
    pub is_server: bool,
    /// Appended to a command without placeholders, separated by spaces.
    pub usual: &'static str,
    pub known: &'static [&'static str],
    pub needed: &'static [&'static str],
    pub rules: &'static [&'static Rule],
    /// Without any of these, a program takes part in no game and earns no points.
    pub(crate) takes_part: &'static [&'static Rule],
    pub(crate) play: fn(&mut Judge, &dyn Launcher, &Options) -> anyhow::Result<()>,
}

impl Tester {
    pub fn rule(&self, id: &str) -> Option<&'static Rule> {
        self.rules.iter().find(|rule| rule.id == id).copied()
    }

    pub fn test(&self, launcher: &dyn Launcher, options: &Options) -> Report {
        self.once(launcher, *options, &Choice { hides_seeds: options.is_secret(), ..Choice::default() })
    }

    /// A test that cannot continue or is stopped is not run again. Fails if the directory for transcripts cannot be
    /// created.
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
                Some(all) => all.add(report, MAX_BREACHES),
            }
            if all.as_ref().is_some_and(|all| all.trouble.is_some()) {
                break;
            }
        }
        all.ok_or_else(|| io::Error::other("no run was made"))
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
    fn seed_changes_drawn_numbers_unless_it_is_the_usual_one() {
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
