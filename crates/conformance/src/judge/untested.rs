//! The verdict on each rule, and the reasons why rules were not tested.

use std::collections::{BTreeMap, BTreeSet};

use super::{Judge, Notes, Variant};
use crate::{
    report::{Finding, Scenario, Verdict},
    rule::Rule,
};

impl Judge {
    /// Records that the scenarios for these rules are skipped, with the reason.
    pub(crate) fn leave_out(&mut self, rules: impl IntoIterator<Item = &'static Rule>, why: &str) {
        self.left_out.extend(rules.into_iter().map(|rule| (rule.id, why.to_owned())));
    }

    /// Like [`Judge::leave_out`], because this rule is broken.
    pub(crate) fn leave_out_for(&mut self, rules: impl IntoIterator<Item = &'static Rule>, broken: &Rule) {
        self.leave_out(rules, &format!("because {} failed", broken.id));
    }

    // Decides the results of the variants. A variant that was played to its end is an observation of `rule`, even if it
    // contains an error that other scenarios also show.
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
                self.notes.entry(rule.id).or_default().extend(Notes { observed: 0, breaches, broken: 1 });
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

    /// The findings in the order of the selected rules, and the scenarios. If no rule of `takes_part` was kept, the
    /// program took part in no game, and no other rule counts as kept.
    pub(crate) fn findings(mut self, takes_part: &[&Rule]) -> (Vec<Finding>, Vec<Scenario>) {
        self.close_variants();
        self.name_ends();
        // If rules were selected, there may be no scenario that shows whether the program takes part.
        let is_kept = |rule: &&Rule| self.notes.get(rule.id).map(|notes| notes.broken == 0);
        let signs: Vec<_> = takes_part.iter().filter_map(is_kept).collect();
        let is_idle =
            !takes_part.is_empty() && !signs.contains(&true) && (self.choice.only.is_none() || signs.contains(&false));
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
        let mut findings: Vec<_> = self.rules.iter().filter(asked_for).map(finding).collect();
        if is_idle {
            for finding in findings.iter_mut().filter(|finding| finding.verdict == Verdict::Passed) {
                (finding.verdict, finding.count, finding.tested_in) = (Verdict::NotTested, 0, 0);
                "the program joined no game".clone_into(&mut finding.why);
            }
        }
        (findings, self.scenarios)
    }

    // A scenario that ended in a variant ended because of the rule that the variant has broken.
    fn name_ends(&mut self) {
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

// Why no scenario observed a rule.
fn unseen(scenarios: &[Scenario], id: &str) -> String {
    let is_meant = |scenario: &&Scenario| scenario.meant_for.iter().any(|rule| rule == id);
    let is_any = |scenario: &&Scenario| scenario.meant_for.is_empty();
    let meant = scenarios.iter().filter(is_meant).find_map(Scenario::why);
    let why = meant.or_else(|| scenarios.iter().filter(is_any).find_map(Scenario::why));
    why.unwrap_or_else(|| "no scenario reached this rule".to_owned())
}
