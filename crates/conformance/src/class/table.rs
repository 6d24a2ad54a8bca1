//! The table of a class, as CSV and as JSON.

use cmdkit::{csv_cell, printable_json};
use conformance::{Rule, Verdict};
use serde_json::{Value, json};

use super::grade::{Grade, Mark};

/// The results of a class, in the order of the students. A student without a result was not tested yet.
pub(super) struct Table<'a> {
    pub(super) kind: &'static str,
    /// The rules that count.
    pub(super) rules: Vec<&'static Rule>,
    pub(super) rows: Vec<(&'a str, Option<&'a Grade>)>,
}

/// The outcome of a student that was not tested yet.
pub(super) const OPEN: &str = "not tested yet";

impl Table<'_> {
    /// The maximum number of points.
    pub(super) fn of(&self) -> u32 {
        self.rules.iter().map(|rule| rule.points).sum()
    }

    /// The number of programs that keep a rule, that break it, and that were not tested for it.
    pub(super) fn counts(&self, rule: &Rule) -> [usize; 3] {
        let verdicts = || self.rows.iter().filter_map(|(_, grade)| grade.as_ref()?.marks.rules.get(rule.id));
        [Verdict::Passed, Verdict::Failed, Verdict::NotTested]
            .map(|verdict| verdicts().filter(|mark| mark.verdict == verdict).count())
    }

    /// A row for each student. The column of a rule contains its points, 0 if it is broken, or a text if it was not
    /// tested.
    pub(super) fn csv(&self) -> String {
        let front = ["student", "outcome", "points", "of", "change", "kept now", "broken now"];
        let rules = self.rules.iter().map(|rule| rule.id);
        let mut text = line(front.into_iter().chain(rules).map(csv_cell));
        for (student, grade) in &self.rows {
            let change = grade.and_then(Grade::change);
            let marks = grade.map(|grade| &grade.marks);
            let mut cells = vec![
                csv_cell(student),
                csv_cell(grade.map_or(OPEN, |grade| &grade.outcome)),
                marks.map_or_else(String::new, |marks| marks.points.to_string()),
                self.of().to_string(),
            ];
            match change {
                Some(change) => {
                    let [kept, broken] = [&change.kept_now, &change.broken_now].map(|rules| csv_cell(&rules.join(" ")));
                    cells.extend([change.points.to_string(), kept, broken]);
                }
                None => cells.extend([const { String::new() }; 3]),
            }
            let points = |rule: &&Rule| match marks?.rules.get(rule.id)? {
                Mark { verdict: Verdict::NotTested, .. } => Some(Verdict::NotTested.word().to_owned()),
                mark => Some(mark.points.to_string()),
            };
            cells.extend(self.rules.iter().map(|rule| points(rule).unwrap_or_default()));
            text += &line(cells);
        }
        text
    }

    /// One object; docs/teachers.md describes its fields.
    pub(super) fn json(&self) -> String {
        let rules = self.rules.iter().map(|rule| {
            let [kept, broken, open] = self.counts(rule);
            json!({
                "rule": rule.id, "text": rule.text, "points": rule.points,
                "kept_by": kept, "broken_by": broken, "not_tested_by": open,
            })
        });
        let students = self.rows.iter().map(|(student, grade)| {
            let Some(grade) = grade else { return json!({"student": student, "outcome": OPEN}) };
            let change = grade.change().map_or(
                Value::Null,
                |change| json!({"points": change.points, "kept_now": change.kept_now, "broken_now": change.broken_now}),
            );
            json!({
                "student": student, "outcome": grade.outcome, "points": grade.marks.points, "lines": grade.lines,
                "change": change, "rules": grade.marks.rules,
            })
        });
        let (rules, students): (Vec<_>, Vec<_>) = (rules.collect(), students.collect());
        let whole = json!({"kind": self.kind, "of": self.of(), "rules": rules, "students": students});
        format!("{}\n", printable_json(&format!("{whole:#}")))
    }
}

// `csv_cell` has escaped cells with text.
fn line(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::grade::Marks;

    #[test]
    fn names_are_not_formulas_and_lost_points_are_numbers() {
        let mut anna = Grade::untested("=HYPERLINK(1)", "k", "failed", vec![]);
        anna.before = Some(Marks { points: 3, ..Marks::default() });
        let table =
            Table { kind: "player", rules: vec![], rows: vec![("=HYPERLINK(1)", Some(&anna)), ("\u{202e}", None)] };
        assert!(table.csv().contains("\r\n'=HYPERLINK(1),failed,0,0,-3,,\r\n"), "{}", table.csv());
        assert!(table.json().contains(r#""student": "\u202e""#), "{}", table.json());
    }

    #[test]
    fn table_has_a_row_for_each_student() {
        let rules: Vec<_> =
            conformance::PLAYER.rules.iter().copied().filter(|rule| rule.is_required()).take(2).collect();
        let mark = Mark { verdict: Verdict::Passed, points: rules[0].points };
        let open = Mark { verdict: Verdict::NotTested, points: 0 };
        let marks = [(rules[0].id.to_owned(), mark), (rules[1].id.to_owned(), open)].into();
        let marks = Marks { points: rules[0].points, rules: marks };
        let mut anna = Grade::untested("anna", "k", "failed", vec![]);
        anna.marks = marks;
        anna.before = Some(Marks::default());
        let table =
            Table { kind: "player", rules: rules.clone(), rows: vec![("anna", Some(&anna)), ("Bob, the \"B\"", None)] };
        let (points, of) = (rules[0].points, table.of());
        let csv = table.csv();
        let lines: Vec<&str> = csv.split("\r\n").collect();
        let [first, second] = [rules[0].id, rules[1].id];
        assert_eq!(lines[0], format!("student,outcome,points,of,change,kept now,broken now,{first},{second}"));
        assert_eq!(lines[1], format!("anna,failed,{points},{of},{points},{first},,{points},not tested"));
        assert_eq!(lines[2], format!("\"Bob, the \"\"B\"\"\",{OPEN},,{of},,,,,"));
        let json: Value = serde_json::from_str(&table.json()).unwrap();
        assert_eq!((&json["rules"][0]["kept_by"], &json["rules"][1]["not_tested_by"]), (&1.into(), &1.into()));
        assert_eq!(json["students"][0]["change"]["kept_now"][0], first);
        assert_eq!(json["students"][1]["outcome"], OPEN);
    }
}
