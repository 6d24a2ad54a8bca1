use std::{sync::OnceLock, time::Instant};

use crate::{
    judge::{Judge, ScenarioResult},
    launch::{Launcher, Run, Values},
    rule::Rule,
    tester::Options,
};

pub(super) const NAME_OF_256: &str = concat!(
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef"
);

pub(super) struct Context<'a> {
    pub(super) launcher: &'a dyn Launcher,
    pub(super) options: &'a Options,
    /// What the program is called, and the rule that it must end with exit status 1.
    pub(super) who: &'static str,
    pub(super) exit_one: &'static Rule,
    /// The only rule that the scenario observes by design.
    pub(super) focus: Option<&'static Rule>,
    /// Turns are longer by this factor, since the tester did not keep up with shorter ones.
    pub(super) slowness: u32,
    /// A recorded breach of this rule leaves `focus` untested.
    pub(super) hidden_by: OnceLock<&'static Rule>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        launcher: &'a dyn Launcher,
        options: &'a Options,
        who: &'static str,
        exit_one: &'static Rule,
    ) -> Self {
        Self { launcher, options, who, exit_one, focus: None, slowness: 1, hidden_by: OnceLock::new() }
    }

    /// Each attempt doubles the length of turns.
    pub(super) fn attempt(&self, number: u32, focus: Option<&'static Rule>) -> Self {
        let Self { launcher, options, who, exit_one, .. } = *self;
        Self { focus, slowness: 1 << number, ..Self::new(launcher, options, who, exit_one) }
    }

    pub(super) fn start(&self, judge: &mut Judge, values: Values<'_>) -> ScenarioResult<Box<dyn Run>> {
        Ok(judge.start(self.launcher, values)?)
    }

    /// A crash breaks the rules about crashes and about status 1. Returns whether the program failed without a crash.
    pub(super) fn ends(&self, judge: &mut Judge, rule: &'static Rule, run: &mut dyn Run, why: &str) -> bool {
        let who = format!("the {}, {why}", self.who);
        let refused = judge.refuses(rule, run, self.options.deadline(), &who);
        if let Some(exit) = run.exit(Instant::now()) {
            judge.check(self.exit_one, exit.code == Some(1), || {
                format!("{who}: expected exit status 1, received {exit}")
            });
        }
        refused
    }
}
