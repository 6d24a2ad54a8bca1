//! The result of one student and its file format.

use std::{collections::BTreeMap, fs, io, path::Path};

use conformance::{Report, Verdict};
use serde::{Deserialize, Serialize};

/// The mark for one rule.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Mark {
    /// The verdict on the program.
    pub(super) verdict: Verdict,
    /// The points that the program has earned.
    pub(super) points: u32,
}

/// The marks of a test.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Marks {
    pub(super) points: u32,
    /// The marks by rule name. Empty if no rule was tested.
    pub(super) rules: BTreeMap<String, Mark>,
}

/// The result of one student.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Grade {
    pub(super) student: String,
    /// A hash of the inputs of the result: the files and the test. If the key of a student differs, the student is
    /// tested again.
    pub(super) key: String,
    /// The outcome as in a report, `build failed` or `not readable`.
    pub(super) outcome: String,
    /// The explanation of an outcome without marks: the last lines of the compiler, or an error.
    pub(super) lines: Vec<String>,
    pub(super) marks: Marks,
    /// The marks of the previous result.
    pub(super) before: Option<Marks>,
}

/// A change since the previous result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) points: i64,
    pub(super) kept_now: Vec<String>,
    pub(super) broken_now: Vec<String>,
}

impl Grade {
    /// The result of a program that was tested.
    pub(super) fn tested(student: &str, key: &str, report: &Report) -> Self {
        let required = report.rules.iter().filter(|rule| rule.is_required());
        let marks = required.map(|rule| (rule.id.clone(), Mark { verdict: rule.verdict, points: rule.earned() }));
        let (points, _) = report.points();
        Self {
            student: student.to_owned(),
            key: key.to_owned(),
            outcome: report.outcome().word().to_owned(),
            lines: report.trouble.iter().map(ToString::to_string).collect(),
            marks: Marks { points, rules: marks.collect() },
            before: None,
        }
    }

    /// The result of a program that could not be tested.
    pub(super) fn untested(student: &str, key: &str, outcome: &str, lines: Vec<String>) -> Self {
        let (student, key) = (student.to_owned(), key.to_owned());
        Self { student, key, outcome: outcome.to_owned(), lines, marks: Marks::default(), before: None }
    }

    pub(super) fn load(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        cmdkit::replace_file(path, &serde_json::to_vec_pretty(self).map_err(io::Error::other)?)
    }

    pub(super) fn change(&self) -> Option<Change> {
        let before = self.before.as_ref()?;
        let keeps =
            |marks: &Marks, rule: &str| marks.rules.get(rule).is_some_and(|mark| mark.verdict == Verdict::Passed);
        let mut change =
            Change { points: i64::from(self.marks.points) - i64::from(before.points), ..Change::default() };
        let mut rules: Vec<&String> = self.marks.rules.keys().chain(before.rules.keys()).collect();
        rules.sort_unstable();
        rules.dedup();
        for rule in rules {
            match (keeps(before, rule), keeps(&self.marks, rule)) {
                (false, true) => change.kept_now.push(rule.clone()),
                (true, false) => change.broken_now.push(rule.clone()),
                _ => {}
            }
        }
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Verdict::{Failed, NotTested, Passed};

    fn marks(points: u32, rules: &[(&str, Verdict)]) -> Marks {
        let mark = |verdict| Mark { verdict, points: u32::from(verdict == Passed) };
        Marks { points, rules: rules.iter().map(|(rule, verdict)| ((*rule).to_owned(), mark(*verdict))).collect() }
    }

    #[test]
    fn result_lists_changes_since_the_previous_one() {
        let mut grade = Grade::untested("anna", "k", "failed", vec![]);
        grade.marks = marks(2, &[("a", Passed), ("b", Failed), ("c", Passed)]);
        assert_eq!(grade.change(), None);
        grade.before = Some(marks(1, &[("b", Passed), ("c", NotTested)]));
        let change = Change { points: 1, kept_now: vec!["a".into(), "c".into()], broken_now: vec!["b".into()] };
        assert_eq!(grade.change(), Some(change));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("anna.json");
        assert!(Grade::load(&path).is_none());
        grade.save(&path).unwrap();
        assert_eq!(Grade::load(&path).unwrap().marks, grade.marks);
        fs::write(&path, "{").unwrap();
        assert!(Grade::load(&path).is_none());
    }
}
