use std::{collections::BTreeMap, fmt::Write as _, fs, io, path::Path};

use cmdkit::{csv_cell, printable_json};
use conformance::{Escaped, Report, Rule, Verdict, html_page};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::student::file_stem;

pub(super) struct Table<'a> {
    pub(super) kind: &'static str,
    pub(super) rules: Vec<&'static Rule>,
    pub(super) rows: Vec<(&'a str, Option<&'a Grade>)>,
}

pub(super) const OPEN: &str = "not tested yet";

impl Table<'_> {
    pub(super) fn of(&self) -> u32 {
        self.rules.iter().map(|rule| rule.points).sum()
    }

    /// How many programs keep the rule, break it, and were not tested for it.
    pub(super) fn counts(&self, rule: &Rule) -> [usize; 3] {
        let verdicts = || self.rows.iter().filter_map(|(_, grade)| grade.as_ref()?.marks.rules.get(rule.id));
        [Verdict::Passed, Verdict::Failed, Verdict::NotTested]
            .map(|verdict| verdicts().filter(|mark| mark.verdict == verdict).count())
    }

    /// The cell of a rule has its points, 0 if broken, or a text if not tested.
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

    /// docs/teachers.md describes the fields.
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

// The cells are already escaped.
fn line(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().collect::<Vec<_>>().join(",") + "\r\n"
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Mark {
    pub(super) verdict: Verdict,
    pub(super) points: u32,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Marks {
    pub(super) points: u32,
    pub(super) rules: BTreeMap<String, Mark>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Grade {
    pub(super) student: String,
    /// A hash of the files and the test.
    pub(super) key: String,
    /// The outcome as in a report, `build failed` or `not readable`.
    pub(super) outcome: String,
    /// The end of the compiler's output, or an error. Empty if there are marks.
    pub(super) lines: Vec<String>,
    pub(super) marks: Marks,
    pub(super) before: Option<Marks>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) points: i64,
    pub(super) kept_now: Vec<String>,
    pub(super) broken_now: Vec<String>,
}

impl Grade {
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

const STYLE: &str = "
:root { color-scheme: light dark }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
h1 { font-size: 1.5rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { border-bottom: 1px solid #8884; padding: .25rem .6rem; text-align: left; vertical-align: top }
th { position: sticky; top: 0; background: Canvas }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.mark { text-align: center; padding: .25rem }
.pass { color: #176f3c } .fail { color: #b3261e; font-weight: 600 } .open { color: #777 }
@media (prefers-color-scheme: dark) { .pass { color: #6fcf97 } .fail { color: #ff8a80 } .open { color: #999 } }
th.rule { writing-mode: vertical-rl; font-weight: normal; padding: .4rem .2rem; vertical-align: bottom }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
";

fn escaped(text: &str) -> String {
    Escaped(text).to_string()
}

fn address(name: &str) -> String {
    let mut address = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

pub(super) fn untested_page(student: &str, text: &str) -> String {
    html_page(student, STYLE, &format!("<pre>{}</pre>\n", escaped(text)))
}

/// Links to the reports in `students`, beside the page.
pub(super) fn page(table: &Table<'_>) -> String {
    let tested = table.rows.iter().filter(|(_, grade)| grade.is_some()).count();
    let whole = table.rows.iter().filter(|(_, grade)| grade.is_some_and(|grade| grade.outcome == "passed")).count();
    let mut body = format!("<p>{tested} of {} students tested; {whole} passed all rules.</p>\n", table.rows.len());
    body += &students(table);
    body += &rules(table);
    html_page(&format!("Results: {}", table.kind), STYLE, &body)
}

fn students(table: &Table<'_>) -> String {
    let mut text = String::from("<div class=\"wide\"><table>\n<tr><th>student<th>result<th>points<th>since last time");
    for rule in &table.rules {
        let _ = write!(text, "<th class=\"rule\" title=\"{}\">{}", escaped(rule.text), escaped(rule.id));
    }
    for (student, grade) in &table.rows {
        text += "\n<tr>";
        let name = escaped(student);
        let _ = match grade {
            Some(_) => write!(text, "<td><a href=\"students/{}.html\">{name}</a>", address(&file_stem(student))),
            None => write!(text, "<td>{name}"),
        };
        let outcome = grade.map_or(OPEN, |grade| &grade.outcome);
        let class = match outcome {
            "passed" => "pass",
            OPEN => "open",
            _ => "fail",
        };
        let points = grade.map_or_else(String::new, |grade| format!("{} of {}", grade.marks.points, table.of()));
        let change = grade.and_then(Grade::change).map_or_else(String::new, |change| {
            let kept = change.kept_now.iter().map(|rule| format!("<span class=\"pass\">{}</span>", escaped(rule)));
            let broken = change.broken_now.iter().map(|rule| format!("<span class=\"fail\">{}</span>", escaped(rule)));
            let rules: Vec<String> = kept.chain(broken).collect();
            format!("{:+} {}", change.points, rules.join(" "))
        });
        let _ = write!(text, "<td class=\"{class}\">{outcome}<td class=\"number\">{points}<td>{change}");
        for rule in &table.rules {
            let mark = grade.and_then(|grade| grade.marks.rules.get(rule.id));
            let (class, word) = match mark.map(|mark| mark.verdict) {
                Some(Verdict::Passed) => ("pass", mark.map_or(0, |mark| mark.points).to_string()),
                Some(Verdict::Failed) => ("fail", "0".to_owned()),
                Some(Verdict::NotTested) | None => ("open", "&middot;".to_owned()),
            };
            let _ = write!(text, "<td class=\"mark {class}\" title=\"{}\">{word}", escaped(rule.id));
        }
    }
    text + "\n</table></div>\n"
}

fn rules(table: &Table<'_>) -> String {
    let mut text =
        String::from("<h2>Rules</h2>\n<table>\n<tr><th>rule<th>points<th>passed<th>failed<th>not tested<th>text");
    for rule in &table.rules {
        let [kept, broken, open] = table.counts(rule);
        let _ = write!(
            text,
            "\n<tr><td>{}<td class=\"number\">{}<td class=\"number\">{kept}<td class=\"number\">{broken}<td class=\"number\">{open}<td>{}",
            escaped(rule.id),
            rule.points,
            escaped(rule.text)
        );
    }
    text + "\n</table>\n"
}

#[cfg(test)]
mod tests {
    use Verdict::{Failed, NotTested, Passed};

    use super::*;

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
        let mark = Mark { verdict: Passed, points: rules[0].points };
        let open = Mark { verdict: NotTested, points: 0 };
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

    #[test]
    fn escapes_text_of_students() {
        let page = untested_page("<b>", "build failed\n\n</pre><script>\n");
        assert!(page.contains("<title>&lt;b&gt;</title>") && page.contains("&lt;/pre&gt;&lt;script&gt;"), "{page}");
        assert_eq!(address("Jan Kowalski/ż"), "Jan%20Kowalski%2F%C5%BC");
    }
}
