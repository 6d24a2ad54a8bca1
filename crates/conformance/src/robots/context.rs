//! What all scenarios need.

use std::sync::OnceLock;

use crate::{
    judge::{Judge, Played},
    launch::{Launcher, Run, Values},
    rule::Rule,
    tester::Options,
};

pub(super) struct Context<'a> {
    pub(super) launcher: &'a dyn Launcher,
    pub(super) options: &'a Options,
    /// What the program is, and the rule that it ends with status 1 when it must end.
    pub(super) who: &'static str,
    pub(super) exit_one: &'static Rule,
    /// The rule for which the scenario is meant alone.
    pub(super) focus: Option<&'static Rule>,
    /// A rule whose known breach leaves `focus` untested.
    pub(super) hidden_by: OnceLock<&'static Rule>,
}

impl Context<'_> {
    pub(super) fn start(&self, judge: &mut Judge, values: Values<'_>) -> Played<Box<dyn Run>> {
        Ok(judge.start(self.launcher, values)?)
    }

    /// The program must end by itself. `why` states the cause. A crash breaks `rule` alone. Returns whether the program refused to run.
    pub(super) fn ends(&self, judge: &mut Judge, rule: &'static Rule, run: &mut dyn Run, why: &str) -> bool {
        let who = format!("the {}, {why},", self.who);
        if !judge.refuses(rule, run, self.options.deadline(), &who) {
            return false;
        }
        let exit = run.exit(self.options.deadline());
        judge.check(self.exit_one, exit.as_ref().is_some_and(|exit| exit.code == Some(1)), || {
            let how = exit.as_ref().map_or_else(String::new, ToString::to_string);
            format!("{who} ended with {how}; exit status 1 would be right")
        });
        true
    }
}
