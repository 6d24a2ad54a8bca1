mod html;
mod junit;
mod markdown;
mod tap;
mod text;

use std::fmt::{self, Write as _};

use cmdkit::{is_steering, printable_json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::rule::{Basis, Rule};

pub use self::{html::page as html_page, text::Style};

pub(crate) use self::text::message_lines;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    #[serde(rename = "pass")]
    Passed,
    #[serde(rename = "fail")]
    Failed,
    #[serde(rename = "not tested")]
    NotTested,
}

impl Verdict {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed => "fail",
            Self::NotTested => "not tested",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sender {
    Program,
    Tester,
}

impl Sender {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Tester => "tester",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The offset of the first byte in the message.
    pub from: u64,
    /// Two hexadecimal digits for each byte, separated by spaces.
    pub hex: String,
    /// In bytes, when it was judged.
    pub of: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongByte {
    /// From the start of the message.
    pub offset: u64,
    /// From the first byte that this side has sent. Datagrams have none.
    pub stream_offset: Option<u64>,
    /// `None` at the end of the message.
    pub byte: Option<u8>,
    pub text: String,
}

/// The text of an event is in brackets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Since the start of the scenario.
    pub at_ms: u64,
    /// Such as `seat 1`.
    pub channel: String,
    pub sender: Sender,
    /// In the terms of the protocol, without control characters except line feeds.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<Excerpt>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wrong: Option<WrongByte>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    pub scenario: String,
    pub text: String,
    /// The last messages before the breach, oldest first.
    pub conversation: Vec<Message>,
    /// How the program ended in this scenario, and the end of its standard error.
    pub program: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    #[serde(rename = "rule")]
    pub id: String,
    pub text: String,
    pub asked_by: Basis,
    /// The section of the original task. Empty for recommendations.
    #[serde(default)]
    pub task: String,
    pub points: u32,
    pub page: String,
    /// The usual mistake, or empty.
    pub hint: String,
    pub verdict: Verdict,
    /// Why the rule was not tested, if known.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
    /// The number of breaches or, without any, of observations.
    pub count: u64,
    /// Runs of the test that observed or broke the rule.
    pub tested_in: u32,
    /// Runs of the test that broke the rule.
    pub failed_in: u32,
    pub breaches: Vec<Breach>,
}

impl Finding {
    pub(crate) fn new(rule: &Rule) -> Self {
        let text = str::to_owned;
        Self {
            id: text(rule.id),
            text: text(rule.text),
            asked_by: rule.basis,
            task: text(rule.task),
            points: rule.points,
            page: text(rule.page),
            hint: text(rule.hint),
            verdict: Verdict::NotTested,
            why: String::new(),
            count: 0,
            tested_in: 0,
            failed_in: 0,
            breaches: Vec::new(),
        }
    }

    pub fn is_required(&self) -> bool {
        self.asked_by == Basis::Protocol
    }

    pub fn earned(&self) -> u32 {
        if self.verdict == Verdict::Passed { self.points } else { 0 }
    }

    /// A recommended rule does not fail.
    pub(crate) fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Passed => "pass",
            Verdict::Failed if self.is_required() => "FAIL",
            Verdict::Failed => "note",
            Verdict::NotTested => "not tested",
        }
    }

    /// With the reason if the rule was not tested.
    pub(crate) fn text_with_reason(&self) -> String {
        if self.why.is_empty() { self.text.clone() } else { format!("{} ({})", self.text, self.why) }
    }

    fn add(&mut self, other: Self, max_breaches: usize) {
        self.tested_in += other.tested_in;
        self.failed_in += other.failed_in;
        match (self.verdict, other.verdict) {
            (_, Verdict::NotTested) | (Verdict::Failed, Verdict::Passed) => {}
            (own, new) if own == new => self.count += other.count,
            (_, new) => (self.verdict, self.why, self.count) = (new, String::new(), other.count),
        }
        self.breaches.extend(other.breaches);
        self.breaches.truncate(max_breaches);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// Not unique.
    pub name: String,
    /// If empty, the scenario may observe any rule.
    pub meant_for: Vec<String>,
    /// Includes the broken rules.
    pub observed: Vec<String>,
    pub ended_by: Option<String>,
}

impl Scenario {
    pub(crate) fn why(&self) -> Option<String> {
        self.ended_by.as_ref().map(|rule| format!("'{}' ended early because {rule} failed", self.name))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", content = "text", rename_all = "lowercase")]
pub enum Trouble {
    #[serde(rename = "cannot start")]
    CannotStart(String),
    Tester(String),
    Stopped,
}

impl Trouble {
    pub(crate) const fn in_short(&self) -> &'static str {
        match self {
            Self::CannotStart(_) => "the program cannot be started",
            Self::Tester(_) => "the tester could not continue",
            Self::Stopped => "the test was stopped",
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotStart(error) => f.write_str(error),
            Self::Tester(error) => write!(f, "the tester could not continue: {error}"),
            Self::Stopped => f.write_str("the test was stopped"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Passed,
    Failed,
    /// No required rule was broken, but some were not tested.
    Incomplete,
    #[serde(rename = "cannot start")]
    CannotStart,
    /// The tester failed or was stopped.
    Unfinished,
}

impl Outcome {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
            Self::CannotStart => "cannot start",
            Self::Unfinished => "unfinished",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Such as `dealer`.
    pub kind: String,
    /// `None` if it is secret.
    pub seed: Option<u32>,
    pub runs: u32,
    /// Covers all rules, which a test of a running server cannot.
    pub whole: bool,
    #[serde(rename = "error")]
    pub trouble: Option<Trouble>,
    /// Includes the restrictions of the sandbox, one sentence each.
    #[serde(default)]
    pub limits: Vec<String>,
    pub rules: Vec<Finding>,
    pub scenarios: Vec<Scenario>,
}

impl Report {
    pub fn outcome(&self) -> Outcome {
        let any = |verdict: Verdict| self.rules.iter().any(|rule| rule.is_required() && rule.verdict == verdict);
        match &self.trouble {
            Some(Trouble::CannotStart(_)) => Outcome::CannotStart,
            Some(Trouble::Tester(_) | Trouble::Stopped) => Outcome::Unfinished,
            None if any(Verdict::Failed) => Outcome::Failed,
            None if any(Verdict::NotTested) && self.whole => Outcome::Incomplete,
            // Also if only recommendations were selected.
            None if self.rules.iter().all(|rule| rule.verdict == Verdict::NotTested) => Outcome::Incomplete,
            None => Outcome::Passed,
        }
    }

    /// Earned and available points.
    pub fn points(&self) -> (u32, u32) {
        (self.rules.iter().map(Finding::earned).sum(), self.rules.iter().map(|rule| rule.points).sum())
    }

    /// In percent. `None` if no rule has points.
    pub fn score(&self) -> Option<u32> {
        let (points, of) = self.points();
        (100 * points).checked_div(of)
    }

    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    pub fn verdict(&self, id: &str) -> Option<Verdict> {
        self.finding(id).map(|finding| finding.verdict)
    }

    /// Includes recommended rules.
    pub fn failed(&self) -> Vec<&str> {
        let failed = self.rules.iter().filter(|rule| rule.verdict == Verdict::Failed);
        failed.map(|rule| &*rule.id).collect()
    }

    pub(crate) fn count(&self, word: &str) -> usize {
        self.rules.iter().filter(|rule| rule.word() == word).count()
    }

    pub(crate) fn add(&mut self, other: Self, max_breaches: usize) {
        self.runs += other.runs;
        self.trouble = self.trouble.take().or(other.trouble);
        for (own, new) in self.rules.iter_mut().zip(other.rules) {
            own.add(new, max_breaches);
        }
        self.scenarios.extend(other.scenarios);
    }
}

/// Incremented when a field is removed or its meaning changes, but not for new fields.
const FORMAT: u32 = 2;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    outcome: Outcome,
    passed: bool,
    points: u32,
    of: u32,
    score: Option<u32>,
    #[serde(flatten)]
    report: &'a Report,
}

impl Report {
    /// docs/conformance.md describes the fields. The object deserializes as a [`Report`].
    pub fn to_json(&self) -> Value {
        let (points, of) = self.points();
        let (outcome, score) = (self.outcome(), self.score());
        let passed = outcome == Outcome::Passed;
        let document = Document { format: FORMAT, outcome, passed, points, of, score, report: self };
        // Fails only for a map whose keys are not strings.
        serde_json::to_value(document).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    Json,
    Junit,
    /// Test Anything Protocol, version 14.
    Tap,
    Markdown,
    Html,
}

impl Format {
    pub const ALL: [Self; 6] = [Self::Text, Self::Json, Self::Junit, Self::Tap, Self::Markdown, Self::Html];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Tap => "tap",
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }
}

impl Report {
    /// Ends with a line feed. The program's output is escaped, so it cannot change the structure of the report.
    pub fn write(&self, format: Format) -> String {
        let writer: fn(&Self, &mut String) -> fmt::Result = match format {
            Format::Text => return self.to_string(),
            Format::Json => return format!("{}\n", printable_json(&self.to_json().to_string())),
            Format::Junit => junit::write,
            Format::Tap => tap::write,
            Format::Markdown => markdown::write,
            Format::Html => html::write,
        };
        let mut out = String::new();
        let _ = writer(self, &mut out);
        out
    }
}

/// `None` for the formats of test results, which do not support lists.
pub fn list(rules: &[&Rule], format: Format) -> Option<String> {
    let rows = rules.iter();
    match format {
        Format::Text => {
            let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
            let row = |rule: &&Rule| {
                format!("{:<width$}  {:<8}  {:>2}  {}\n", rule.id, rule.basis.word(), rule.points, rule.text)
            };
            Some(rows.map(row).collect())
        }
        Format::Json => {
            let row = |rule: &&Rule| {
                let Rule { id, text, basis, task, points, page, hint } = rule;
                json!({"rule": id, "text": text, "asked_by": basis, "task": task, "points": points, "page": page, "hint": hint})
            };
            Some(format!("{}\n", rows.map(row).collect::<Value>()))
        }
        Format::Markdown => {
            let row = |rule: &&Rule| {
                let text = markdown::escaped(rule.text);
                format!("| `{}` | {} | {} | {text} |\n", rule.id, rule.basis.word(), rule.points)
            };
            let head = "| rule | basis | points | text |\n| --- | --- | ---: | --- |\n".to_owned();
            Some(head + &rows.map(row).collect::<String>())
        }
        Format::Junit | Format::Tap | Format::Html => None,
    }
}

/// The longest line in a report, in characters.
const LONGEST: usize = 2000;
/// How many characters a shortened line may gain before it is shortened again.
const MARGIN: usize = 200;

/// Escapes control characters except line feeds, marks that change the direction of text, and characters that XML
/// forbids. Limits the length of lines.
pub fn clean(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// [`shortened`] keeps this many characters at the start and at the end, where texts state the expected value.
const FRONT: usize = 300;
const END: usize = 200;

/// Joins lines, and omits the middle of a very long text.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.replace('\n', "\\n");
    let count = text.chars().count();
    if count <= FRONT + END {
        return text;
    }
    let front: String = text.chars().take(FRONT).collect();
    let end: String = text.chars().skip(count - END).collect();
    format!("{front} ... ({count} characters) ... {end}")
}

fn line(line: &str) -> String {
    let count = line.chars().count();
    let kept = if count > LONGEST + MARGIN { LONGEST } else { count };
    let mut out = String::new();
    for letter in line.chars().take(kept) {
        match letter {
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if letter.is_ascii_control() => out.extend(["\\x", &format!("{:02x}", u32::from(letter))]),
            _ if is_control(letter) => out.extend(["\\u", &format!("{:04x}", u32::from(letter))]),
            _ => out.push(letter),
        }
    }
    if kept < count {
        out.extend(["... (", &count.to_string(), " characters)"]);
    }
    out
}

fn is_control(letter: char) -> bool {
    is_steering(letter)
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || u32::from(letter) & 0xfffe == 0xfffe
}

/// Sanitized and escaped for XML and HTML, including attribute values.
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in clean(self.0).chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                _ => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_and_direction_characters() {
        assert_eq!(clean("a\x1b[2J\r\n\u{202e}Ż\u{85}\u{ffff}"), "a\\x1b[2J\\r\n\\u202eŻ\\u0085\\uffff");
        let cut = clean(&"x".repeat(1 << 20));
        assert!(cut.len() < LONGEST + 40 && cut.ends_with("... (1048576 characters)"));
        assert_eq!(clean(&cut), cut);
    }
}
