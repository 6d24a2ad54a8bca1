//! Collects observations.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
    num::NonZero,
    sync::{Mutex, PoisonError},
    thread,
};

use anyhow::anyhow;

use crate::{
    group,
    launch::{Exit, Launcher, Run, Values},
    report::Verdict,
    rule::Rule,
    terminal::Terminal,
    witness::{Remains, Witness, watched},
};

/// The breaches of one rule that are told in full; further ones are counted.
const TOLD: usize = 3;
/// Scenarios that are played at the same time for each processor. Mostly they wait, but programs that start all at once keep each other
/// from being in time.
const AT_ONCE: usize = 2;
/// The rule of each kind of program that it does not crash.
const NO_CRASH: &str = "no-crash";

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

/// A scenario that is played beside others, and its name.
pub(crate) type Scene<'s> = (&'static str, Box<dyn FnOnce(&mut Judge) -> Played + Send + 's>);

/// A scenario that is played beside others.
pub(crate) fn scene<'s>(name: &'static str, run: impl FnOnce(&mut Judge) -> Played + Send + 's) -> Scene<'s> {
    (name, Box::new(run))
}

#[derive(Default)]
struct Notes {
    observed: u64,
    // Each with the scenario in which it was found.
    breaches: Vec<(&'static str, String)>,
    broken: u64,
}

/// Is told of every observation.
pub(crate) struct Judge {
    rules: &'static [&'static Rule],
    scenario: &'static str,
    notes: BTreeMap<&'static str, Notes>,
    // What was broken in scenarios before this one.
    before: BTreeSet<&'static str>,
    // The programs of this scenario.
    witnesses: Vec<Witness>,
}

impl Judge {
    /// For a kind of program with these rules.
    pub(crate) fn new(rules: &'static [&'static Rule]) -> Self {
        Self { rules, scenario: "", notes: BTreeMap::new(), before: BTreeSet::new(), witnesses: Vec::new() }
    }

    // Notes of its own, for a scenario or a part of one.
    fn apprentice(&self, scenario: &'static str) -> Self {
        let mut before = self.before.clone();
        before.extend(self.broken_rules());
        Self { rules: self.rules, scenario, notes: BTreeMap::new(), before, witnesses: Vec::new() }
    }

    fn broken_rules(&self) -> impl Iterator<Item = &'static str> {
        self.notes.iter().filter(|(_, notes)| notes.broken > 0).map(|(id, _)| *id)
    }

    /// Plays a scenario. Its name begins the text of each breach that is found in it.
    pub(crate) fn play(&mut self, scenario: &'static str, run: impl FnOnce(&mut Self) -> Played) -> anyhow::Result<()> {
        let mut own = self.apprentice(scenario);
        let played = own.finish(run);
        self.merge(own);
        played
    }

    /// Plays scenarios at the same time, and notes what is found in their order.
    pub(crate) fn side_by_side(&mut self, scenes: Vec<Scene<'_>>) -> anyhow::Result<()> {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let count = scenes.len().min(AT_ONCE * processors);
        let open = Mutex::new(scenes.into_iter().enumerate());
        let played = Mutex::new(BTreeMap::new());
        thread::scope(|scope| {
            for _ in 0..count {
                scope.spawn(|| {
                    let next = || open.lock().unwrap_or_else(PoisonError::into_inner).next();
                    for (number, (scenario, run)) in iter::from_fn(next) {
                        let mut own = self.apprentice(scenario);
                        let outcome = own.finish(run);
                        played.lock().unwrap_or_else(PoisonError::into_inner).insert(number, (own, outcome));
                    }
                });
            }
        });
        let mut outcome = Ok(());
        for (own, played) in played.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
            self.merge(own);
            outcome = outcome.and(played);
        }
        outcome
    }

    // Plays this judge's scenario. Nothing counts that was seen while the user ended it.
    fn finish(&mut self, run: impl FnOnce(&mut Self) -> Played) -> anyhow::Result<()> {
        let played = if group::is_stopped() { Ok(()) } else { run(self) };
        if group::is_stopped() {
            self.notes.clear();
            return Err(anyhow!("the test was stopped"));
        }
        self.bury();
        match played {
            Ok(()) | Err(Halt::Broken) => Ok(()),
            Err(Halt::Failed(error)) => Err(error.context(format!("in the scenario '{}'", self.scenario))),
        }
    }

    // Looks at the programs of the scenario, which are all gone.
    fn bury(&mut self) {
        let crash = self.rules.iter().find(|rule| rule.id == NO_CRASH);
        let mut told = Vec::new();
        for witness in std::mem::take(&mut self.witnesses) {
            let remains: Remains = witness.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(rule) = crash {
                let crash = remains.crash();
                self.check(rule, crash.is_none(), || crash.unwrap_or_default());
            }
            told.extend(remains.told());
        }
        if told.is_empty() {
            return;
        }
        for (_, breach) in self.notes.values_mut().flat_map(|notes| &mut notes.breaches) {
            let new = told.iter().filter(|line| !breach.contains(line.as_str())).cloned();
            *breach = iter::once(breach.clone()).chain(new).collect::<Vec<_>>().join("\n");
        }
    }

    fn merge(&mut self, own: Self) {
        for (id, notes) in own.notes {
            let all = self.notes.entry(id).or_default();
            all.observed += notes.observed;
            all.broken += notes.broken;
            let room = TOLD.saturating_sub(all.breaches.len());
            all.breaches.extend(notes.breaches.into_iter().take(room));
        }
        self.witnesses.extend(own.witnesses);
    }

    /// Starts the program under test. What becomes of it is looked at when the scenario is over.
    pub(crate) fn start(&mut self, launcher: &dyn Launcher, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.start_at(Terminal::No, launcher, values)
    }

    /// As [`Judge::start`], with this at a pseudo-terminal unless the user has chosen.
    pub(crate) fn start_at(
        &mut self,
        terminal: Terminal,
        launcher: &dyn Launcher,
        values: Values<'_>,
    ) -> anyhow::Result<Box<dyn Run>> {
        let (run, witness) = watched(launcher.start_at(terminal, values)?);
        self.witnesses.push(witness);
        Ok(run)
    }

    /// Notes that a rule was observed, and whether it was kept. `wrong` says what came, where, and what would be right.
    pub(crate) fn check(&mut self, rule: &'static Rule, kept: bool, wrong: impl FnOnce() -> String) -> bool {
        debug_assert!(self.rules.contains(&rule), "{} is not in the list of rules", rule.id);
        let scenario = self.scenario;
        let notes = self.notes.entry(rule.id).or_default();
        if kept {
            notes.observed += 1;
        } else {
            notes.broken += 1;
            if notes.breaches.len() < TOLD {
                notes.breaches.push((scenario, wrong()));
            }
        }
        kept
    }

    /// Notes that a rule was observed and kept so many more times.
    pub(crate) fn observe(&mut self, rule: &'static Rule, times: u32) {
        self.notes.entry(rule.id).or_default().observed += u64::from(times);
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

    /// Plays a part of a scenario in which everything depends on `rule`, so that a fault fails one rule and not several. When anything is
    /// broken in it that was not broken before, that is a breach of `rule` alone; a fault that is known already says nothing about `rule`.
    pub(crate) fn under(&mut self, rule: &'static Rule, run: impl FnOnce(&mut Self) -> Played) -> Played {
        let mut own = self.apprentice(self.scenario);
        let played = run(&mut own);
        let required = |id: &&str| self.rules.iter().any(|rule| rule.id == *id && rule.is_required());
        let broken: Vec<_> = own.broken_rules().filter(required).collect();
        let known = broken.iter().any(|id| own.before.contains(id));
        if broken.is_empty() || known {
            self.merge(own);
            if broken.is_empty() && played.is_ok() {
                self.check(rule, true, String::new);
            }
            return played;
        }
        self.witnesses.append(&mut own.witnesses);
        let first = broken.first().and_then(|id| own.notes.remove(id)?.breaches.into_iter().next());
        self.check(rule, false, || first.map_or_else(String::new, |(_, text)| text));
        played
    }

    /// Notes whether a program that was started with wrong arguments has ended, with a status other than 0. `who` it is begins the text of
    /// a breach.
    pub(crate) fn refused(&mut self, rule: &'static Rule, exit: Option<&Exit>, who: &str) {
        let how = exit.map_or_else(|| "did not end".to_owned(), |exit| format!("ended with {exit}"));
        let kept = exit.and_then(|exit| exit.code).is_some_and(|code| code != 0);
        self.check(rule, kept, || format!("{who} {how}; a status other than 0 would be right"));
    }

    pub(crate) fn has_failed(&self, rule: &Rule) -> bool {
        self.before.contains(rule.id) || self.notes.get(rule.id).is_some_and(|notes| notes.broken > 0)
    }

    /// Whether no required rule was broken so far.
    pub(crate) fn passes(&self) -> bool {
        !self.rules.iter().any(|rule| rule.is_required() && self.has_failed(rule))
    }

    /// What was found, in the order of the rules.
    pub(crate) fn verdicts(self) -> Vec<(&'static Rule, Verdict)> {
        let told = |(scenario, breach): &(&str, String)| format!("{scenario}: {breach}");
        let verdict = |rule: &&'static Rule| {
            let verdict = match self.notes.get(rule.id) {
                None => Verdict::NotTested,
                Some(notes) if notes.broken > 0 => {
                    Verdict::Failed(notes.breaches.iter().map(told).collect(), notes.broken)
                }
                Some(notes) => Verdict::Passed(notes.observed),
            };
            (*rule, verdict)
        };
        self.rules.iter().map(verdict).collect()
    }
}
