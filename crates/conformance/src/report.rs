//! What a test found, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

/// One rule of a protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// A name that scripts can rely on, such as `no-card-twice`.
    pub id: &'static str,
    /// What the rule requires, in one sentence without a full stop.
    pub text: &'static str,
    /// Whether a program that breaks it fails. Advice is reported only.
    pub required: bool,
}

impl Rule {
    /// A rule that every program must keep.
    pub const fn required(id: &'static str, text: &'static str) -> Self {
        Self { id, text, required: true }
    }

    /// What a good program does, although the protocol does not require it.
    pub const fn advice(id: &'static str, text: &'static str) -> Self {
        Self { id, text, required: false }
    }
}

/// Declares rules, and `RULES`, which has all of them in the order of the report.
macro_rules! rules {
    ($($name:ident: $kind:ident $id:literal $text:literal;)*) => {
        $(pub(super) static $name: $crate::report::Rule = $crate::report::Rule::$kind($id, $text);)*

        pub(super) static RULES: &[&$crate::report::Rule] = &[$(&$name),*];
    };
}
pub(crate) use rules;

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

/// What was found about all rules of one kind of program.
#[derive(Clone, Debug)]
pub struct Report {
    /// The kind of program, such as `dealer`.
    pub kind: &'static str,
    /// In the order of the tester.
    pub verdicts: Vec<(&'static Rule, Verdict)>,
}

impl Report {
    /// Whether no required rule was broken, and at least one was observed.
    pub fn passed(&self) -> bool {
        let mut required = self.verdicts.iter().filter(|(rule, _)| rule.required);
        required.clone().any(|(_, verdict)| matches!(verdict, Verdict::Passed(_)))
            && !required.any(|(_, verdict)| matches!(verdict, Verdict::Failed(..)))
    }

    /// What was found about the rule of this name.
    pub fn verdict(&self, id: &str) -> Option<&Verdict> {
        self.verdicts.iter().find(|(rule, _)| rule.id == id).map(|(_, verdict)| verdict)
    }

    /// The names of the rules that failed.
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
                "rule": rule.id, "text": rule.text, "required": rule.required,
                "verdict": verdict, "count": observed, "breaches": breaches,
            })
        });
        json!({ "kind": self.kind, "passed": self.passed(), "rules": rules.collect::<Vec<_>>() })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.verdicts.iter().map(|(rule, _)| rule.id.len()).max().unwrap_or(0);
        let words = self.verdicts.iter().map(|(rule, verdict)| match verdict {
            Verdict::Passed(_) => "pass",
            Verdict::Failed(..) if rule.required => "FAIL",
            Verdict::Failed(..) => "advice",
            Verdict::NotTested => "not tested",
        });
        for ((rule, verdict), word) in self.verdicts.iter().zip(words.clone()) {
            writeln!(f, "{word:<10}  {:<width$}  {}", rule.id, rule.text)?;
            if let Verdict::Failed(breaches, count) = verdict {
                for breach in breaches {
                    writeln!(f, "{:12}{breach}", "")?;
                }
                let more = count.saturating_sub(breaches.len() as u64);
                if more > 0 {
                    writeln!(f, "{:12}and {more} more", "")?;
                }
            }
        }
        let count = |counted: &str| words.clone().filter(|word| *word == counted).count();
        write!(f, "{}: {} passed, {} failed", self.kind, count("pass"), count("FAIL"))?;
        for (number, what) in [(count("advice"), "with advice"), (count("not tested"), "not tested")] {
            if number > 0 {
                write!(f, ", {number} {what}")?;
            }
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ONE: Rule = Rule::required("one", "The first");
    static TWO: Rule = Rule::advice("two", "The second");

    #[test]
    fn only_a_required_rule_fails_a_program_and_nothing_observed_is_no_pass() {
        let report = |one, two| Report { kind: "dealer", verdicts: vec![(&ONE, one), (&TWO, two)] };
        let failed = || Verdict::Failed(vec!["round 3: late".into()], 2);
        let advised = report(Verdict::Passed(7), failed());
        assert!(advised.passed());
        assert_eq!(
            advised.to_string(),
            "pass        one  The first\n\
             advice      two  The second\n            round 3: late\n            and 1 more\n\
             dealer: 1 passed, 0 failed, 1 with advice\n"
        );
        let broken = report(failed(), Verdict::NotTested);
        assert!(!broken.passed() && broken.failed() == ["one"]);
        assert!(broken.to_string().ends_with("dealer: 0 passed, 1 failed, 1 not tested\n"));
        assert_eq!(broken.to_json()["rules"][0]["breaches"][0], "round 3: late");
        assert!(!report(Verdict::NotTested, Verdict::Passed(1)).passed());
    }
}
