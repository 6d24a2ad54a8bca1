//! Runs the scenes, and records the verdict of each rule. The kinds' modules decide which rule a message breaks.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    iter,
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::anyhow;

use crate::{
    group,
    launch::{EXTRA, Exit, Launcher, Run, Values},
    report::{Breach, Finding, Scenario, Sender, Verdict, clean, shortened},
    rule::Rule,
    tape::{Channel, ChannelFormat, TERMINAL, Tape, Transcripts},
    terminal::Terminal,
};

pub(crate) const MAX_BREACHES: usize = 3;
/// Per processor. Scenarios mostly wait, but simultaneous starts delay each other.
const PARALLEL_SCENARIOS: usize = 2;
const REPETITIONS: usize = 2;
/// A breach is sporadic if more than this number of scenarios observe the rule for each one that breaks it.
const SPORADIC: usize = 3;
const NO_CRASH: &str = "no-crash";

const SEED: &str = "seed";

#[derive(Debug)]
pub(crate) enum Halt {
    Broken,
    /// The program does not start, or the system grants no socket.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

pub(crate) type ScenarioResult<T = ()> = Result<T, Halt>;

#[derive(Clone, Default)]
pub(crate) struct Choice {
    pub(crate) only: Option<BTreeSet<&'static str>>,
    pub(crate) transcripts: Option<Transcripts>,
    pub(crate) hides_seeds: bool,
}

#[derive(Default)]
struct Observations {
    observed: u64,
    breaches: Vec<Breach>,
    broken: u64,
}

impl Observations {
    // Keeps the first breaches, each text once.
    fn extend(&mut self, other: Self) {
        self.observed += other.observed;
        self.broken += other.broken;
        for breach in other.breaches {
            if self.is_new(&breach.text) {
                self.breaches.push(breach);
            }
        }
    }

    fn is_new(&self, text: &str) -> bool {
        self.breaches.len() < MAX_BREACHES && self.breaches.iter().all(|breach| breach.text != text)
    }
}

struct Variant {
    rule: &'static Rule,
    notes: BTreeMap<&'static str, Observations>,
    is_complete: bool,
}

#[derive(Default)]
pub(crate) struct Judge {
    rules: &'static [&'static Rule],
    scenario: &'static str,
    notes: BTreeMap<&'static str, Observations>,
    variants: Vec<Variant>,
    // Broken in earlier scenarios.
    before: BTreeSet<&'static str>,
    exits: Vec<SharedExit>,
    tape: Tape,
    // The reaction to wrong arguments has been judged.
    is_refusal: bool,
    last: Option<&'static str>,
    is_behind: bool,
    scenarios: Vec<Scenario>,
    left_out: BTreeMap<&'static str, String>,
    choice: Choice,
}

impl Judge {
    pub(crate) fn new(rules: &'static [&'static Rule], choice: Choice) -> Self {
        Self { rules, choice, ..Self::default() }
    }

    fn child(&self, scenario: &'static str, tape: Tape) -> Self {
        let mut own = Self::new(self.rules, self.choice.clone());
        own.before.clone_from(&self.before);
        own.before.extend(self.broken_rules());
        (own.scenario, own.tape) = (scenario, tape);
        own
    }

    fn child_for(&self, scenario: &'static str) -> Self {
        self.child(scenario, Tape::new(scenario, self.choice.transcripts.as_ref()))
    }

    fn broken_rules(&self) -> impl Iterator<Item = &'static str> {
        let variants = self.variants.iter().filter(|variant| self.breaks(variant)).map(|variant| variant.rule.id);
        self.notes.iter().filter(|(_, notes)| notes.broken > 0).map(|(id, _)| *id).chain(variants)
    }

    fn breaks(&self, variant: &Variant) -> bool {
        variant.notes.iter().any(|(id, notes)| notes.broken > 0 && self.is_required(id))
    }

    fn is_required(&self, id: &str) -> bool {
        self.rules.iter().any(|rule| rule.id == id && rule.is_required())
    }

    pub(crate) fn play(
        &mut self,
        scenario: &'static str,
        run: impl FnOnce(&mut Self) -> ScenarioResult,
    ) -> anyhow::Result<()> {
        let mut own = self.child_for(scenario);
        let played = own.finish(&[], run);
        self.merge(own);
        played
    }

    /// Records results in the given order, without scenarios for unselected rules. Repeats a scenario that a sporadic
    /// breach ended early, so that chance affects the coverage less.
    pub(crate) fn side_by_side(&mut self, mut scenes: Vec<Scene<'_>>) -> anyhow::Result<()> {
        if let Some(only) = &self.choice.only {
            scenes.retain(|scene| scene.meant_for.is_empty() || scene.meant_for.iter().any(|id| only.contains(id)));
        }
        let mut played = self.play_all(&scenes.iter().collect::<Vec<_>>());
        for _ in 0..REPETITIONS {
            let again: Vec<_> = scenes.iter().filter(|scene| scene.is_worth_repeating(&played)).collect();
            let more = self.play_all(&again);
            played.extend(more);
        }
        let mut outcome = Ok(());
        for (own, played) in played {
            self.merge(own);
            outcome = outcome.and(played);
        }
        outcome
    }

    fn play_all(&self, scenes: &[&Scene<'_>]) -> Vec<(Self, anyhow::Result<()>)> {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let count = scenes.len().min(PARALLEL_SCENARIOS * processors);
        let open = Mutex::new(scenes.iter().enumerate());
        let played = Mutex::new(BTreeMap::new());
        thread::scope(|scope| {
            for _ in 0..count {
                scope.spawn(|| {
                    let next = || open.lock().unwrap_or_else(PoisonError::into_inner).next();
                    for (number, Scene { name, meant_for, run }) in iter::from_fn(next) {
                        let mut own = self.child_for(name);
                        let outcome = own.finish(meant_for, run);
                        played.lock().unwrap_or_else(PoisonError::into_inner).insert(number, (own, outcome));
                    }
                });
            }
        });
        played.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    // Drops the observations of a scenario that the user has stopped.
    fn finish(
        &mut self,
        meant_for: &[&'static str],
        run: impl FnOnce(&mut Self) -> ScenarioResult,
    ) -> anyhow::Result<()> {
        // A panic in the tester ends this scenario but not the report.
        let caught = || {
            catch_unwind(AssertUnwindSafe(|| run(self))).unwrap_or_else(|panic| Err(Halt::Failed(panic_error(&*panic))))
        };
        let played = if group::is_stopped() { Ok(()) } else { caught() };
        if group::is_stopped() {
            self.notes.clear();
            self.tape.end(&["the test was stopped".to_owned()]);
            return Err(anyhow!("the test was stopped"));
        }
        let last = self.last;
        self.collect_exits();
        let owned = |ids: &[&'static str]| ids.iter().map(|&id| id.to_owned()).collect();
        let ended_by = matches!(played, Err(Halt::Broken)).then_some(last).flatten();
        self.scenarios.push(Scenario {
            name: self.scenario.to_owned(),
            meant_for: owned(meant_for),
            observed: owned(&self.observed()),
            ended_by: ended_by.map(str::to_owned),
        });
        match played {
            Ok(()) | Err(Halt::Broken) => Ok(()),
            Err(Halt::Failed(error)) => Err(error.context(format!("in the scenario '{}'", self.scenario))),
        }
    }

    /// Plays up to `times` times, until the tester keeps up with the program. Only the last attempt counts. `run`
    /// receives its number, from 0.
    pub(crate) fn repeated(
        &mut self,
        times: u32,
        mut run: impl FnMut(&mut Self, u32) -> ScenarioResult,
    ) -> ScenarioResult {
        for attempt in 1..times {
            let played = run(self, attempt - 1);
            // A crash counts even if the tester is late.
            if !self.is_behind || matches!(played, Err(Halt::Failed(_))) || self.has_crashed() || group::is_stopped() {
                return played;
            }
            self.tape
                .end(&["the scenario is repeated because the tester could not keep up with the program".to_owned()]);
            let mut own = self.child_for(self.scenario);
            own.before.clone_from(&self.before);
            *self = own;
        }
        run(self, times - 1)
    }

    pub(crate) fn fall_behind(&mut self) {
        self.is_behind = true;
    }

    fn crash_rule(&self) -> Option<&'static Rule> {
        self.rules.iter().find(|rule| rule.id == NO_CRASH).copied()
    }

    pub(crate) fn has_crashed(&self) -> bool {
        let crashed = |exit: &SharedExit| exit.lock().unwrap_or_else(PoisonError::into_inner).crash().is_some();
        self.exits.iter().any(crashed)
    }

    /// Discards observations of a rule that the scenario did not finish.
    pub(crate) fn retract(&mut self, rule: &Rule) {
        self.notes.remove(rule.id);
    }

    /// Drops the breach that ended this scenario, since `cause` explains it.
    pub(crate) fn ended_by(&mut self, cause: &'static Rule) {
        if let Some(last) = self.last.replace(cause.id) {
            self.notes.remove(last);
        }
    }

    fn collect_exits(&mut self) {
        let crash = self.crash_rule().filter(|_| !self.is_refusal);
        let (mut evidence, mut all) = (Vec::new(), Vec::new());
        for exit in std::mem::take(&mut self.exits) {
            let exit: ProgramExit = exit.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(rule) = crash {
                let crash = exit.crash();
                self.check(rule, crash.is_none(), || crash.unwrap_or_default());
            }
            evidence.extend(exit.evidence(QUOTED_LINES));
            all.extend(exit.evidence(usize::MAX));
        }
        let variants = self.variants.iter_mut().flat_map(|variant| variant.notes.values_mut());
        for breach in self.notes.values_mut().chain(variants).flat_map(|notes| &mut notes.breaches) {
            let new = evidence.iter().filter(|line| !breach.text.contains(line.as_str())).cloned();
            breach.program.extend(new);
        }
        let variants = self.variants.iter().flat_map(|variant| &variant.notes);
        let broken = self.notes.iter().chain(variants);
        let broken = broken.flat_map(|(id, notes)| notes.breaches.iter().map(move |breach| (id, breach)));
        let lines = broken.map(|(id, breach)| format!("{id} was broken: {}", clean(&breach.text)));
        self.tape.end(&lines.chain(all).collect::<Vec<_>>());
    }

    fn merge(&mut self, own: Self) {
        for (id, notes) in own.notes {
            self.notes.entry(id).or_default().extend(notes);
        }
        self.variants.extend(own.variants);
        self.exits.extend(own.exits);
        self.scenarios.extend(own.scenarios);
        self.left_out.extend(own.left_out);
        self.last = own.last.or(self.last);
    }

    /// The exit of the program is judged at the end of the scenario.
    pub(crate) fn start(&mut self, launcher: &dyn Launcher, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.start_at(Terminal::No, launcher, values)
    }

    /// At a pseudo-terminal unless the user has chosen otherwise.
    pub(crate) fn start_at(
        &mut self,
        kind: Terminal,
        launcher: &dyn Launcher,
        values: Values<'_>,
    ) -> anyhow::Result<Box<dyn Run>> {
        let terminal = self.terminal_of(values);
        let (run, exit) = record_run(launcher.start_at(kind, values)?, terminal);
        self.exits.push(exit);
        Ok(run)
    }

    fn terminal_of(&self, values: Values<'_>) -> Channel {
        let number = self.exits.len() + 1;
        let terminal =
            self.open_channel(&if number > 1 { format!("terminal {number}") } else { "terminal".into() }, &TERMINAL);
        let given = values.iter().map(|(name, value)| match *name {
            SEED if self.choice.hides_seeds => format!("{name} (secret)"),
            EXTRA => value.clone(),
            _ => format!("{name} {value}"),
        });
        terminal.note(Sender::Tester, &format!("starts the program: {}", given.collect::<Vec<_>>().join(", ")));
        terminal
    }

    pub(crate) fn open_channel(&self, name: &str, format: &'static ChannelFormat) -> Channel {
        self.tape.open(name, format)
    }

    /// `wrong` describes what was observed, where, and what is correct.
    pub(crate) fn check(&mut self, rule: &'static Rule, kept: bool, wrong: impl FnOnce() -> String) -> bool {
        debug_assert!(self.rules.contains(&rule), "{} is not in the list of rules", rule.id);
        let notes = self.notes.entry(rule.id).or_default();
        if kept {
            notes.observed += 1;
            return true;
        }
        self.last = Some(rule.id);
        notes.broken += 1;
        let text = shortened(&wrong());
        if notes.is_new(&text) {
            let (scenario, conversation) = (self.scenario.to_owned(), self.tape.tail());
            notes.breaches.push(Breach { scenario, text, conversation, program: Vec::new() });
        }
        false
    }

    pub(crate) fn observe(&mut self, rule: &'static Rule, times: u32) {
        self.notes.entry(rule.id).or_default().observed += u64::from(times);
    }

    /// Like [`Judge::check`], for a rule on which the rest of the scenario depends.
    pub(crate) fn require(
        &mut self,
        rule: &'static Rule,
        kept: bool,
        wrong: impl FnOnce() -> String,
    ) -> ScenarioResult {
        if self.check(rule, kept, wrong) { Ok(()) } else { Err(Halt::Broken) }
    }

    /// Like [`Judge::require`], for a received value or a description of what arrived instead.
    pub(crate) fn expect<T>(&mut self, rule: &'static Rule, value: Result<T, String>) -> ScenarioResult<T> {
        let value = value.or_else(|wrong| self.broken(rule, || wrong))?;
        self.check(rule, true, String::new);
        Ok(value)
    }

    pub(crate) fn broken<T>(&mut self, rule: &'static Rule, wrong: impl FnOnce() -> String) -> ScenarioResult<T> {
        self.check(rule, false, wrong);
        Err(Halt::Broken)
    }

    /// Plays a part in which only `rule` is new. A breach of a required rule that no other scenario breaks counts for
    /// `rule`, which is decided at the end.
    pub(crate) fn under(
        &mut self,
        rule: &'static Rule,
        run: impl FnOnce(&mut Self) -> ScenarioResult,
    ) -> ScenarioResult {
        let mut own = self.child(self.scenario, self.tape.clone());
        let played = run(&mut own);
        self.is_refusal |= own.is_refusal;
        self.last = own.last.or(self.last);
        self.exits.append(&mut own.exits);
        self.variants.append(&mut own.variants);
        self.variants.push(Variant { rule, notes: own.notes, is_complete: played.is_ok() });
        played
    }

    fn observed(&self) -> Vec<&'static str> {
        let of_variant = |variant: &Variant| {
            let kept = variant.notes.iter().filter(|(_, notes)| notes.broken == 0).map(|(id, _)| *id);
            kept.chain([variant.rule.id]).collect::<Vec<_>>()
        };
        let mut ids: Vec<_> = self.notes.keys().copied().chain(self.variants.iter().flat_map(of_variant)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The status must not be 0. The text of a breach starts with `who`.
    pub(crate) fn refused(&mut self, rule: &'static Rule, exit: Option<&Exit>, who: &str) {
        let how = exit.map_or_else(|| "is still running".to_owned(), |exit| format!("ended with {exit}"));
        let kept = exit.and_then(|exit| exit.code).is_some_and(|code| code != 0);
        self.check(rule, kept, || format!("{who}: expected a nonzero exit status, but it {how}"));
    }

    /// Waits for a program that cannot work to exit with a status other than 0. Returns whether it did. A crash breaks
    /// the rule about crashes instead, unless `rule` is advice or there is no such rule. The program gets twice the
    /// time unless `rule` is already broken, since other programs may slow down the start.
    pub(crate) fn refuses(&mut self, rule: &'static Rule, run: &mut dyn Run, by: Instant, who: &str) -> bool {
        self.is_refusal |= !rule.is_required();
        let more = if self.has_failed(rule) { Duration::ZERO } else { by.saturating_duration_since(Instant::now()) };
        let exit = run.exit(by + more);
        if let Some(exit) = exit.as_ref().filter(|exit| exit.is_crash(&run.errors())) {
            let is_apart = !self.is_refusal && self.crash_rule().is_some();
            self.check(rule, is_apart, || format!("{who}: expected a nonzero exit status, but it crashed with {exit}"));
            return false;
        }
        self.refused(rule, exit.as_ref(), who);
        exit.is_some_and(|exit| exit.code != Some(0))
    }

    /// The scenario judges crashes itself, instead of the rule about crashes.
    pub(crate) fn judges_crashes(&mut self) {
        self.is_refusal = true;
    }

    pub(crate) fn has_failed(&self, rule: &Rule) -> bool {
        self.before.contains(rule.id) || self.broken_rules().any(|id| id == rule.id)
    }
}

fn panic_error(panic: &(dyn Any + Send)) -> anyhow::Error {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(|text| &**text));
    anyhow!("internal error: {}", text.unwrap_or("a panic"))
}

type Play<'s> = Box<dyn Fn(&mut Judge) -> ScenarioResult + Send + Sync + 's>;

pub(crate) struct Scene<'s> {
    name: &'static str,
    /// If empty, the scenario may observe any rule.
    meant_for: Vec<&'static str>,
    run: Play<'s>,
}

pub(crate) fn scene<'s>(
    name: &'static str,
    run: impl Fn(&mut Judge) -> ScenarioResult + Send + Sync + 's,
) -> Scene<'s> {
    Scene { name, meant_for: Vec::new(), run: Box::new(run) }
}

impl Scene<'_> {
    /// With `--only`, the scenario is skipped unless one of these is selected.
    pub(crate) fn shows(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        self.meant_for = rules.into_iter().map(|rule| rule.id).collect();
        self
    }

    /// Whether the last attempt ended early because of a rule that most scenarios keep, which left one of its own rules
    /// untested.
    fn is_worth_repeating(&self, played: &[(Judge, anyhow::Result<()>)]) -> bool {
        let judges = || played.iter().map(|(judge, _)| judge);
        let last = judges().flat_map(|judge| &judge.scenarios).rfind(|scenario| scenario.name == self.name);
        let Some(rule) = last.and_then(|scenario| scenario.ended_by.as_deref()) else { return false };
        let notes = || judges().filter_map(|judge| judge.notes.get(rule));
        let broken = notes().filter(|notes| notes.broken > 0).count();
        let is_untested = |id: &&'static str| judges().all(|judge| !judge.observed().contains(id));
        notes().count() > SPORADIC * broken && self.meant_for.iter().any(is_untested)
    }
}

impl Judge {
    pub(crate) fn leave_out(&mut self, rules: impl IntoIterator<Item = &'static Rule>, why: &str) {
        self.left_out.extend(rules.into_iter().map(|rule| (rule.id, why.to_owned())));
    }

    pub(crate) fn leave_out_for(&mut self, rules: impl IntoIterator<Item = &'static Rule>, broken: &Rule) {
        self.leave_out(rules, &format!("because {} failed", broken.id));
    }

    // A complete variant observes `rule`, even if it contains an error that other scenarios also show.
    fn close_variants(&mut self) {
        let known: BTreeSet<_> = self.notes.iter().filter(|(_, notes)| notes.broken > 0).map(|(id, _)| *id).collect();
        let mut kept: BTreeMap<_, u64> = BTreeMap::new();
        for Variant { rule, mut notes, is_complete } in std::mem::take(&mut self.variants) {
            let broken: Vec<_> = notes
                .iter()
                .filter(|(id, notes)| notes.broken > 0 && self.is_required(id))
                .map(|(id, _)| *id)
                .collect();
            let new: Vec<_> = broken.iter().copied().filter(|id| !known.contains(id)).collect();
            if let Some(first) = new.first().and_then(|id| notes.remove(id)) {
                let breaches = first.breaches.into_iter().take(1).collect();
                self.notes.entry(rule.id).or_default().extend(Observations { observed: 0, breaches, broken: 1 });
            } else if is_complete {
                *kept.entry(rule.id).or_default() += 1;
            } else if let Some(id) = broken.first() {
                self.left_out.entry(rule.id).or_insert_with(|| format!("because {id} failed in its scenario"));
            }
            notes.retain(|id, _| !new.contains(id));
            for (id, notes) in notes {
                self.notes.entry(id).or_default().extend(notes);
            }
        }
        for (id, count) in kept {
            self.notes.entry(id).or_default().observed += count;
        }
    }

    /// A program that kept no rule of `takes_part` took part in no game, and no other rule counts as kept.
    pub(crate) fn findings(mut self, takes_part: &[&Rule]) -> (Vec<Finding>, Vec<Scenario>) {
        self.close_variants();
        self.correct_end_reasons();
        // Selected rules may lack a scenario that shows this.
        let is_kept = |rule: &&Rule| self.notes.get(rule.id).map(|notes| notes.broken == 0);
        let signs: Vec<_> = takes_part.iter().filter_map(is_kept).collect();
        let is_idle =
            !takes_part.is_empty() && !signs.contains(&true) && (self.choice.only.is_none() || signs.contains(&false));
        let asked_for = |rule: &&&Rule| self.choice.only.as_ref().is_none_or(|only| only.contains(rule.id));
        let finding = |rule: &&'static Rule| {
            let mut finding = Finding::new(rule);
            let Some(notes) = self.notes.remove(rule.id) else {
                let left_out = self.left_out.remove(rule.id);
                finding.why = left_out.unwrap_or_else(|| untested_reason(&self.scenarios, rule.id));
                return finding;
            };
            (finding.verdict, finding.count) = match notes.broken {
                0 => (Verdict::Passed, notes.observed),
                broken => (Verdict::Failed, broken),
            };
            (finding.tested_in, finding.failed_in) = (1, u32::from(notes.broken > 0));
            finding.breaches = notes.breaches;
            finding
        };
        let mut findings: Vec<_> = self.rules.iter().filter(asked_for).map(finding).collect();
        if is_idle {
            for finding in findings.iter_mut().filter(|finding| finding.verdict == Verdict::Passed) {
                (finding.verdict, finding.count, finding.tested_in) = (Verdict::NotTested, 0, 0);
                "the program joined no game".clone_into(&mut finding.why);
            }
        }
        (findings, self.scenarios)
    }

    // A scenario that ended in a variant ended because of its rule.
    fn correct_end_reasons(&mut self) {
        let is_broken = |id: &String| self.notes.get(id.as_str()).is_some_and(|notes| notes.broken > 0);
        for scenario in &mut self.scenarios {
            if scenario.ended_by.as_ref().is_some_and(|id| !is_broken(id))
                && let Some(id) = scenario.observed.iter().find(|id| is_broken(id))
            {
                scenario.ended_by = Some(id.clone());
            }
        }
    }
}

fn untested_reason(scenarios: &[Scenario], id: &str) -> String {
    let is_meant = |scenario: &&Scenario| scenario.meant_for.iter().any(|rule| rule == id);
    let is_any = |scenario: &&Scenario| scenario.meant_for.is_empty();
    let meant = scenarios.iter().filter(is_meant).find_map(Scenario::why);
    let why = meant.or_else(|| scenarios.iter().filter(is_any).find_map(Scenario::why));
    why.unwrap_or_else(|| "no scenario reached this rule".to_owned())
}

pub(crate) const QUOTED_LINES: usize = 6;

#[derive(Clone, Default)]
pub(crate) struct ProgramExit {
    /// `None` if the tester ended the program.
    pub(crate) exit: Option<Exit>,
    pub(crate) errors: Vec<String>,
    pub(crate) limit: Option<String>,
}

impl ProgramExit {
    pub(crate) fn crash(&self) -> Option<String> {
        if let Some(limit) = &self.limit {
            return Some(limit_exceeded(limit));
        }
        let exit = self.exit.as_ref().filter(|exit| exit.is_crash(&self.errors))?;
        Some(format!("the program ended with {exit}"))
    }

    /// Includes at most `most` lines of standard error.
    pub(crate) fn evidence(&self, most: usize) -> Vec<String> {
        let ended = self.exit.as_ref().filter(|exit| exit.code != Some(0));
        let ended = ended.map(|exit| format!("the program ended with {exit}"));
        let ended = self.limit.as_deref().map(limit_exceeded).or(ended);
        let last = self.errors.len().saturating_sub(most);
        let errors = self.errors.iter().skip(last).map(|line| format!("standard error: {}", clean(line)));
        ended.into_iter().chain(errors).collect()
    }
}

fn limit_exceeded(limit: &str) -> String {
    format!("the tester ended the program because it exceeded the limit {limit}")
}

/// Set when the program is dropped.
pub(crate) type SharedExit = Arc<Mutex<ProgramExit>>;

pub(crate) fn record_run(run: Box<dyn Run>, terminal: Channel) -> (Box<dyn Run>, SharedExit) {
    let exit = SharedExit::default();
    (Box::new(RecordedRun { run, terminal, exit: Arc::clone(&exit) }), exit)
}

struct RecordedRun {
    run: Box<dyn Run>,
    terminal: Channel,
    exit: SharedExit,
}

impl Run for RecordedRun {
    fn line(&mut self, by: Instant) -> Option<String> {
        let line = self.run.line(by)?;
        self.terminal.received(line.as_bytes());
        Some(line)
    }

    fn partial_line(&mut self) -> String {
        self.run.partial_line()
    }

    fn screen(&self) -> Option<Vec<String>> {
        self.run.screen()
    }

    fn type_bytes(&mut self, bytes: &[u8]) {
        self.terminal.sent(bytes);
        self.run.type_bytes(bytes);
    }

    fn end_input(&mut self) -> bool {
        let ended = self.run.end_input();
        if ended {
            self.terminal.note(Sender::Tester, "ends standard input");
        }
        ended
    }

    fn exit(&mut self, by: Instant) -> Option<Exit> {
        self.run.exit(by)
    }

    fn errors(&self) -> Vec<String> {
        self.run.errors()
    }

    fn limit(&self) -> Option<String> {
        self.run.limit()
    }

    fn first_output(&self) -> Option<Instant> {
        self.run.first_output()
    }

    fn udp_ports(&self) -> Option<Vec<u16>> {
        self.run.udp_ports()
    }

    fn id(&self) -> Option<u32> {
        self.run.id()
    }
}

impl Drop for RecordedRun {
    fn drop(&mut self) {
        let exit = self.run.exit(Instant::now());
        let errors = self.run.errors();
        let limit = self.run.limit();
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner) = ProgramExit { exit, errors, limit };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::dealer::TESTER;

    // Plays `keeping` scenarios that keep a rule, and one that breaks it at first. Returns the attempts, and whether
    // its own rule was observed.
    fn attempts(keeping: usize) -> (usize, bool) {
        let [common, own] = [TESTER.rules[0], TESTER.rules[1]];
        let attempts = AtomicUsize::new(0);
        let mut scenes = vec![
            scene("sporadic", |judge| {
                let is_first = attempts.fetch_add(1, Ordering::Relaxed) == 0;
                judge.require(common, !is_first, || "broken".to_owned())?;
                judge.require(own, true, String::new)
            })
            .shows([own]),
        ];
        scenes.extend((0..keeping).map(|_| scene("keeping", |judge| judge.require(common, true, String::new))));
        let mut judge = Judge::new(TESTER.rules, Choice::default());
        assert!(judge.side_by_side(scenes).is_ok());
        assert_eq!(judge.notes[common.id].broken, 1);
        let is_observed = judge.notes.contains_key(own.id);
        (attempts.into_inner(), is_observed)
    }

    #[test]
    fn scenario_that_a_sporadic_breach_ended_is_repeated() {
        assert_eq!(attempts(SPORADIC), (2, true));
        assert_eq!(attempts(SPORADIC - 1), (1, false), "the breach is not sporadic");
    }
}
