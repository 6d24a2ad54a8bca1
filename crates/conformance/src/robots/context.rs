//! What all scenarios need.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{
    judge::{Halt, Judge, Played},
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
    /// The program does not even connect or say Hello, so that no scenario need wait for it again.
    pub(super) hopeless: AtomicBool,
}

impl Context<'_> {
    pub(super) fn start(&self, judge: &mut Judge, values: Values<'_>) -> Played<Box<dyn Run>> {
        if self.hopeless.load(Ordering::Relaxed) {
            return Err(Halt::Broken);
        }
        Ok(judge.start(self.launcher, values)?)
    }

    /// The program must end by itself. `why` says what makes it.
    pub(super) fn ends(&self, judge: &mut Judge, rule: &'static Rule, run: &mut dyn Run, why: &str) -> Played {
        let exit = run.exit(self.options.deadline());
        let how = exit.as_ref().map_or_else(|| "still runs".to_owned(), |exit| format!("ended with {exit}"));
        let wrong = || format!("the {} {how} {why}", self.who);
        let code = exit.and_then(|exit| exit.code);
        judge.require(rule, code.is_some_and(|code| code != 0), wrong)?;
        judge.check(self.exit_one, code == Some(1), wrong);
        Ok(())
    }
}
