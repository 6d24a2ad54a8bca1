//! Collects observations.

use std::collections::BTreeMap;

use crate::{
    launch::Exit,
    report::{Report, Rule, Verdict},
};

/// The breaches of one rule that are told in full; further ones are counted.
const TOLD: usize = 3;

/// Why a scenario ended early.
#[derive(Debug)]
pub(crate) enum Halt {
    /// A rule was broken in a way that leaves nothing to go on with. It is noted.
    Broken,
    /// The tester cannot work: the program does not start, or the system refuses a socket.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

pub(crate) type Played<T = ()> = Result<T, Halt>;

#[derive(Default)]
struct Notes {
    observed: u64,
    breaches: Vec<String>,
    broken: u64,
}

/// Is told of every observation, and gives the [`Report`].
pub(crate) struct Judge {
    kind: &'static str,
    rules: &'static [&'static Rule],
    scenario: &'static str,
    notes: BTreeMap<&'static str, Notes>,
}

impl Judge {
    /// For a kind of program, such as `dealer`, with all its rules in the order in which the report gives them.
    pub(crate) fn new(kind: &'static str, rules: &'static [&'static Rule]) -> Self {
        Self { kind, rules, scenario: "", notes: BTreeMap::new() }
    }

    /// Plays a scenario. Its name begins the text of each breach that is found in it.
    pub(crate) fn play(&mut self, scenario: &'static str, run: impl FnOnce(&mut Self) -> Played) -> anyhow::Result<()> {
        self.scenario = scenario;
        match run(self) {
            Ok(()) | Err(Halt::Broken) => Ok(()),
            Err(Halt::Failed(error)) => Err(error.context(format!("in the scenario '{scenario}'"))),
        }
    }

    /// Notes that a rule was observed, and whether it was kept. `wrong` says what came, where, and what would be right.
    pub(crate) fn check(&mut self, rule: &'static Rule, kept: bool, wrong: impl FnOnce() -> String) -> bool {
        debug_assert!(self.rules.contains(&rule), "{} is not in the list of rules", rule.id);
        let notes = self.notes.entry(rule.id).or_default();
        if kept {
            notes.observed += 1;
        } else {
            notes.broken += 1;
            if notes.breaches.len() < TOLD {
                notes.breaches.push(format!("{}: {}", self.scenario, wrong()));
            }
        }
        kept
    }

    /// As [`Judge::check`], for what the scenario cannot go on without.
    pub(crate) fn require(&mut self, rule: &'static Rule, kept: bool, wrong: impl FnOnce() -> String) -> Played {
        if self.check(rule, kept, wrong) { Ok(()) } else { Err(Halt::Broken) }
    }

    /// As [`Judge::require`], of a value that came, or of what came instead.
    pub(crate) fn expect<T>(&mut self, rule: &'static Rule, value: Result<T, String>) -> Played<T> {
        let value = value.or_else(|wrong| self.broken(rule, || wrong))?;
        self.check(rule, true, String::new);
        Ok(value)
    }

    /// Notes that a rule was broken, and ends the scenario.
    pub(crate) fn broken<T>(&mut self, rule: &'static Rule, wrong: impl FnOnce() -> String) -> Played<T> {
        self.check(rule, false, wrong);
        Err(Halt::Broken)
    }

    /// Notes whether a program that was started with wrong arguments has ended, with a status other than 0. `who` it is begins the text of
    /// a breach.
    pub(crate) fn refused(&mut self, rule: &'static Rule, exit: Option<Exit>, who: &str) {
        let how = match &exit {
            Some(Exit { code: None }) => "was ended by a signal".to_owned(),
            Some(exit) => format!("ended with {exit}"),
            None => "did not end".to_owned(),
        };
        let kept = exit.and_then(|exit| exit.code).is_some_and(|code| code != 0);
        self.check(rule, kept, || format!("{who} {how}; a status other than 0 would be right"));
    }

    pub(crate) fn has_failed(&self, rule: &Rule) -> bool {
        self.notes.get(rule.id).is_some_and(|notes| notes.broken > 0)
    }

    /// Whether no required rule was broken so far.
    pub(crate) fn passes(&self) -> bool {
        !self.rules.iter().any(|rule| rule.required && self.has_failed(rule))
    }

    pub(crate) fn report(self) -> Report {
        let verdict = |rule: &&'static Rule| {
            let verdict = match self.notes.get(rule.id) {
                None => Verdict::NotTested,
                Some(notes) if notes.broken > 0 => Verdict::Failed(notes.breaches.clone(), notes.broken),
                Some(notes) => Verdict::Passed(notes.observed),
            };
            (*rule, verdict)
        };
        Report { kind: self.kind, verdicts: self.rules.iter().map(verdict).collect() }
    }
}
