//! What a test found, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

use crate::rule::Rule;

/// What was found about one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was observed this many times and never broken.
    Passed(u64),
    /// It was broken: the first breaches, each with the scenario and the place, and how many there were in all.
    Failed(Vec<String>, u64),
    /// Nothing was observed that it speaks of.
    NotTested,
}

/// Why a test ended before all scenarios were played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The system could not start the program under test.
    CannotStart(String),
    /// The tester could not go on.
    Tester(String),
    /// The user stopped it.
    Stopped,
}

/// What a whole test says of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All required rules were observed and kept.
    Passed,
    /// A required rule was broken.
    Failed,
    /// No required rule was broken, but some could not be tested.
    Incomplete,
    /// The program could not be started.
    CannotStart,
    /// The tester could not do its work, or was stopped.
    Unfinished,
}

impl Outcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
            Self::CannotStart => "cannot start",
            Self::Unfinished => "unfinished",
        }
    }
}

/// What was found about all rules of one kind of program.
#[derive(Clone, Debug)]
pub struct Report {
    /// The kind of program, such as `dealer`.
    pub kind: &'static str,
    /// In the order of the tester.
    pub verdicts: Vec<(&'static Rule, Verdict)>,
    /// Whether the test was to observe all rules. One of a server that runs already cannot.
    pub whole: bool,
    /// Why it ended early, if it did.
    pub trouble: Option<Trouble>,
    /// What the program might take, and what it was kept from, a line for each.
    pub limits: Vec<String>,
}

impl Report {
    /// What is to be said of the program.
    pub fn outcome(&self) -> Outcome {
        let any = |wanted: fn(&Verdict) -> bool| {
            self.verdicts.iter().any(|(rule, verdict)| rule.is_required() && wanted(verdict))
        };
        let untested = any(|verdict| *verdict == Verdict::NotTested);
        match &self.trouble {
            Some(Trouble::CannotStart(_)) => Outcome::CannotStart,
            Some(Trouble::Tester(_) | Trouble::Stopped) => Outcome::Unfinished,
            None if any(|verdict| matches!(verdict, Verdict::Failed(..))) => Outcome::Failed,
            None if untested && self.whole || !any(|verdict| matches!(verdict, Verdict::Passed(_))) => {
                Outcome::Incomplete
            }
            None => Outcome::Passed,
        }
    }

    /// The points of the rules that were kept, and those of all rules.
    pub fn points(&self) -> (u32, u32) {
        let kept = self.verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Passed(_)));
        (kept.map(|(rule, _)| rule.points).sum(), self.verdicts.iter().map(|(rule, _)| rule.points).sum())
    }

    /// What was found about the rule of this name.
    pub fn verdict(&self, id: &str) -> Option<&Verdict> {
        self.verdicts.iter().find(|(rule, _)| rule.id == id).map(|(_, verdict)| verdict)
    }

    /// The names of the rules that failed, also of those that are only noted.
    pub fn failed(&self) -> Vec<&'static str> {
        let failed = self.verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Failed(..)));
        failed.map(|(rule, _)| rule.id).collect()
    }

    /// The report as one JSON object; docs/conformance.md describes its fields.
    pub fn to_json(&self) -> Value {
        let rules = self.verdicts.iter().map(|(rule, verdict)| {
            let (verdict, observed, breaches) = match verdict {
                Verdict::Passed(observed) => ("pass", *observed, &[][..]),
                Verdict::Failed(breaches, count) => ("fail", *count, &**breaches),
                Verdict::NotTested => ("not tested", 0, &[][..]),
            };
            json!({
                "rule": rule.id, "text": rule.text, "asked_by": rule.asker.word(), "required": rule.is_required(),
                "points": rule.points, "page": rule.page, "hint": rule.hint,
                "verdict": verdict, "count": observed, "breaches": breaches,
            })
        });
        let (points, of) = self.points();
        json!({
            "kind": self.kind, "outcome": self.outcome().word(), "passed": self.outcome() == Outcome::Passed,
            "points": points, "of": of, "error": self.trouble.as_ref().map(ToString::to_string), "limits": self.limits,
            "rules": rules.collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotStart(error) => f.write_str(error),
            Self::Tester(error) => write!(f, "the tester could not go on: {error}"),
            Self::Stopped => f.write_str("the test was stopped"),
        }
    }
}

/// Where breaches are indented to.
const INDENT: usize = 12;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.verdicts.iter().map(|(rule, _)| rule.id.len()).max().unwrap_or(0);
        let words = self.verdicts.iter().map(|(rule, verdict)| match verdict {
            Verdict::Passed(_) => "pass",
            Verdict::Failed(..) if rule.is_required() => "FAIL",
            Verdict::Failed(..) => "note",
            Verdict::NotTested => "not tested",
        });
        for ((rule, verdict), word) in self.verdicts.iter().zip(words.clone()) {
            writeln!(f, "{word:<10}  {:<width$}  {}", rule.id, rule.text)?;
            if let Verdict::Failed(breaches, count) = verdict {
                for line in breaches.iter().flat_map(|breach| breach.lines()) {
                    writeln!(f, "{:INDENT$}{line}", "")?;
                }
                let more = count.saturating_sub(breaches.len() as u64);
                if more > 0 {
                    writeln!(f, "{:INDENT$}and {more} more", "")?;
                }
                if !rule.hint.is_empty() {
                    writeln!(f, "{:INDENT$}hint: {}", "", rule.hint)?;
                }
            }
        }
        let count = |counted: &str| words.clone().filter(|word| *word == counted).count();
        write!(f, "{}: {} passed, {} failed", self.kind, count("pass"), count("FAIL"))?;
        for (number, what) in [(count("note"), "noted"), (count("not tested"), "not tested")] {
            if number > 0 {
                write!(f, ", {number} {what}")?;
            }
        }
        let (points, of) = self.points();
        writeln!(f, "; {points} of {of} points")?;
        if let Some(trouble) = &self.trouble {
            writeln!(f, "The report is not complete: {trouble}")?;
        }
        if !self.limits.is_empty() {
            let short = self.limits.iter().filter_map(|line| line.split(" (").next());
            writeln!(f, "Limits: {}", short.collect::<Vec<_>>().join("; "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Asker;

    const fn rule(id: &'static str, asker: Asker, points: u32, hint: &'static str) -> Rule {
        Rule { id, text: "The rule", asker, points, page: "protocols/blackjack.md", hint }
    }

    static ONE: Rule = rule("one", Asker::Course, 3, "");
    static TWO: Rule = rule("two", Asker::Arcade, 0, "Look twice.");

    fn report(one: Verdict, two: Verdict) -> Report {
        Report { kind: "dealer", verdicts: vec![(&ONE, one), (&TWO, two)], whole: true, trouble: None, limits: vec![] }
    }

    fn failed() -> Verdict {
        Verdict::Failed(vec!["round 3: late\nstandard error: why".into()], 2)
    }

    #[test]
    fn what_only_we_ask_for_is_noted() {
        let noted = report(Verdict::Passed(7), failed());
        assert_eq!(noted.outcome(), Outcome::Passed);
        assert_eq!(
            noted.to_string(),
            "pass        one  The rule\n\
             note        two  The rule\n            round 3: late\n            standard error: why\n            and 1 more\n            \
             hint: Look twice.\n\
             dealer: 1 passed, 0 failed, 1 noted; 3 of 3 points\n"
        );
    }

    #[test]
    fn a_rule_that_was_not_tested_is_neither_kept_nor_broken() {
        let broken = report(failed(), Verdict::NotTested);
        assert_eq!((broken.outcome(), broken.failed(), broken.points()), (Outcome::Failed, vec!["one"], (0, 3)));
        assert!(broken.to_string().ends_with("dealer: 0 passed, 1 failed, 1 not tested; 0 of 3 points\n"));
        assert_eq!(broken.to_json()["rules"][0]["asked_by"], "course");
        let mut untested = report(Verdict::NotTested, Verdict::Passed(1));
        assert_eq!(untested.outcome(), Outcome::Incomplete);
        untested.whole = false;
        assert_eq!(untested.outcome(), Outcome::Incomplete, "nothing at all was found");
    }

    #[test]
    fn trouble_of_the_tester_is_no_fault_of_the_program() {
        let mut report = report(failed(), Verdict::NotTested);
        report.trouble = Some(Trouble::Tester("no socket".into()));
        assert_eq!(report.outcome(), Outcome::Unfinished);
        assert!(report.to_string().ends_with("not complete: the tester could not go on: no socket\n"));
        report.trouble = Some(Trouble::CannotStart("cannot start 'x'".into()));
        assert_eq!(report.outcome(), Outcome::CannotStart);
        assert_eq!(report.to_json()["error"], "cannot start 'x'");
    }
}
