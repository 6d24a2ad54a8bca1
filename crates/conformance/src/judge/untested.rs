//! What is said of each rule in the end, and why some were not tested.

use super::Judge;
use crate::{
    report::{Finding, Scenario, Verdict},
    rule::Rule,
};

impl Judge {
    /// Notes that the scenarios that are meant for these rules are not played, and why.
    pub(crate) fn leave_out(&mut self, rules: impl IntoIterator<Item = &'static Rule>, why: &str) {
        self.left_out.extend(rules.into_iter().map(|rule| (rule.id, why.to_owned())));
    }

    /// As [`Judge::leave_out`], since this rule is broken.
    pub(crate) fn leave_out_for(&mut self, rules: impl IntoIterator<Item = &'static Rule>, broken: &Rule) {
        self.leave_out(rules, &format!("it shows only where {} is kept", broken.id));
    }

    /// What was found, in the order of the rules that were asked for, and the scenarios.
    pub(crate) fn findings(mut self) -> (Vec<Finding>, Vec<Scenario>) {
        let asked_for = |rule: &&&Rule| self.choice.only.as_ref().is_none_or(|only| only.contains(rule.id));
        let finding = |rule: &&'static Rule| {
            let mut finding = Finding::new(rule);
            let Some(notes) = self.notes.remove(rule.id) else {
                let left_out = self.left_out.remove(rule.id);
                finding.why = left_out.unwrap_or_else(|| unseen(&self.scenarios, rule.id));
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
        (self.rules.iter().filter(asked_for).map(finding).collect(), self.scenarios)
    }
}

// Why no scenario has shown a rule.
fn unseen(scenarios: &[Scenario], id: &str) -> String {
    let is_meant = |scenario: &&Scenario| scenario.meant_for.iter().any(|rule| rule == id);
    let is_any = |scenario: &&Scenario| scenario.meant_for.is_empty();
    let meant = scenarios.iter().filter(is_meant).find_map(Scenario::why);
    let why = meant.or_else(|| scenarios.iter().filter(is_any).find_map(Scenario::why));
    why.unwrap_or_else(|| "no scenario came to it".to_owned())
}
