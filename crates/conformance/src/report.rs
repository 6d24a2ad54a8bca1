//! The results of a test and their output formats.

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

/// The result for one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The rule was observed and never broken.
    #[serde(rename = "pass")]
    Passed,
    #[serde(rename = "fail")]
    Failed,
    /// The rule was not observed.
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

/// A part of the bytes of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The offset of the first byte in the message.
    pub from: u64,
    /// Two hexadecimal digits for each byte, separated by spaces.
    pub hex: String,
    /// The length of the message in bytes when it was judged.
    pub of: u64,
}

/// The byte at which the decoding of a message stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongByte {
    /// The offset in the message.
    pub offset: u64,
    /// The offset in the bytes that this side has sent over the connection. Datagrams have none.
    pub stream_offset: Option<u64>,
    /// The byte, or `None` if the message ends here.
    pub byte: Option<u8>,
    /// Why the byte is wrong, or which value is correct.
    pub text: String,
}

/// A message or another event on a connection. The text of an event is in brackets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Milliseconds from the start of the scenario.
    pub at_ms: u64,
    /// The connection, such as `seat 1`.
    pub channel: String,
    pub sender: Sender,
    /// The message in the terms of the protocol, without control characters other than line feeds.
    pub text: String,
    /// The bytes, if they are not a valid message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<Excerpt>,
    /// The position of the error, if the message is not valid.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wrong: Option<WrongByte>,
}

/// A place where a rule was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    pub scenario: String,
    /// The observed and the correct behavior.
    pub text: String,
    /// The last messages before the breach, oldest first.
    pub conversation: Vec<Message>,
    /// How the program ended in this scenario, and its last lines on standard error.
    pub program: Vec<String>,
}

/// The result for one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the rule, such as `no-card-twice`.
    #[serde(rename = "rule")]
    pub id: String,
    pub text: String,
    /// Whether it is required or recommended.
    pub asked_by: Basis,
    /// The section of the original task with this requirement. Empty for recommendations.
    #[serde(default)]
    pub task: String,
    pub points: u32,
    /// The section of `docs/` that defines the rule.
    pub page: String,
    /// The usual mistake, if there is one.
    pub hint: String,
    pub verdict: Verdict,
    /// Why the rule was not tested, if the reason is known.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
    /// How often the rule was broken or, if it was never broken, observed.
    pub count: u64,
    /// In how many runs of the test the rule was observed or broken.
    pub tested_in: u32,
    /// In how many runs of the test the rule was broken.
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

    /// The name of the result in reports. A recommended rule does not fail.
    pub(crate) fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Passed => "pass",
            Verdict::Failed if self.is_required() => "FAIL",
            Verdict::Failed => "note",
            Verdict::NotTested => "not tested",
        }
    }

    /// The requirement and, if the rule was not tested, the reason.
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
    /// The name. Several scenarios may have the same name.
    pub name: String,
    /// The rules that the scenario is designed to observe. If it is empty, the scenario may observe any rule.
    pub meant_for: Vec<String>,
    /// The rules that were observed or broken in the scenario.
    pub observed: Vec<String>,
    /// The rule whose breach made it impossible to continue the scenario.
    pub ended_by: Option<String>,
}

impl Scenario {
    /// If the scenario ended early: why it did not test the remaining rules.
    pub(crate) fn why(&self) -> Option<String> {
        self.ended_by.as_ref().map(|rule| format!("'{}' ended early because {rule} failed", self.name))
    }
}

/// Why a test ended before all scenarios were played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", content = "text", rename_all = "lowercase")]
pub enum Trouble {
    /// The system could not start the program under test.
    #[serde(rename = "cannot start")]
    CannotStart(String),
    /// The tester could not continue.
    Tester(String),
    Stopped,
}

impl Trouble {
    /// Why a rule was not tested in this case.
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

/// The overall result for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All required rules were observed and kept.
    Passed,
    /// A required rule was broken.
    Failed,
    /// No required rule was broken, but some could not be tested.
    Incomplete,
    #[serde(rename = "cannot start")]
    CannotStart,
    /// The tester could not do its work, or was stopped.
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

/// The results for all rules of one kind of program, or for the selected rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The kind of program, such as `dealer`.
    pub kind: String,
    /// The seed of the tester's random choices, unless it is secret.
    pub seed: Option<u32>,
    /// How often the whole test was run.
    pub runs: u32,
    /// Whether the test covers all rules. A test of a running server cannot.
    pub whole: bool,
    /// Why the test ended early, if it did.
    #[serde(rename = "error")]
    pub trouble: Option<Trouble>,
    /// The limits of the program and the restrictions of its sandbox, one sentence each.
    #[serde(default)]
    pub limits: Vec<String>,
    /// The rules in the order of the tester.
    pub rules: Vec<Finding>,
    /// The scenarios in the order of the tester.
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
            // This also covers a selection of rules that cannot fail a program.
            None if self.rules.iter().all(|rule| rule.verdict == Verdict::NotTested) => Outcome::Incomplete,
            None => Outcome::Passed,
        }
    }

    /// The points of the rules that passed, and the points of all rules.
    pub fn points(&self) -> (u32, u32) {
        (self.rules.iter().map(Finding::earned).sum(), self.rules.iter().map(|rule| rule.points).sum())
    }

    /// The score in percent. `None` if no rule has points.
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

    /// The names of the failed rules, including recommended ones.
    pub fn failed(&self) -> Vec<&str> {
        let failed = self.rules.iter().filter(|rule| rule.verdict == Verdict::Failed);
        failed.map(|rule| &*rule.id).collect()
    }

    /// The number of rules whose result has this name.
    pub(crate) fn count(&self, word: &str) -> usize {
        self.rules.iter().filter(|rule| rule.word() == word).count()
    }

    /// Adds the results of another run of the same test. Keeps at most `max_breaches` breaches of a rule.
    pub(crate) fn add(&mut self, other: Self, max_breaches: usize) {
        self.runs += other.runs;
        self.trouble = self.trouble.take().or(other.trouble);
        for (own, new) in self.rules.iter_mut().zip(other.rules) {
            own.add(new, max_breaches);
        }
        self.scenarios.extend(other.scenarios);
    }
}

/// Incremented when the meaning of a field changes or a field is removed. New fields may be added at any time.
const FORMAT: u32 = 2;

/// A report with its derived values.
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
    /// The report as one JSON object. docs/conformance.md describes its fields. It can be deserialized as a [`Report`].
    pub fn to_json(&self) -> Value {
        let (points, of) = self.points();
        let (outcome, score) = (self.outcome(), self.score());
        let passed = outcome == Outcome::Passed;
        let document = Document { format: FORMAT, outcome, passed, points, of, score, report: self };
        // Serialization can fail only for a map whose keys are not strings.
        serde_json::to_value(document).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for a terminal.
    #[default]
    Text,
    /// One object, for programs.
    Json,
    /// For CI services.
    Junit,
    /// The Test Anything Protocol, version 14.
    Tap,
    /// For comments and wikis.
    Markdown,
    /// One page without further files.
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
    /// The report in this format, which ends with a line feed. The output of the program under test is escaped, so it
    /// cannot change the structure of the report.
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
        // Writing to a string cannot fail.
        let _ = writer(self, &mut out);
        out
    }
}

/// All rules of one kind of program: name, basis, points, text. Formats for test results do not support lists.
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

/// The maximum length of a line that a report shows, in characters.
const LONGEST: usize = 2000;
/// The number of characters that may be added to it, so that a shortened line is not shortened again.
const MARGIN: usize = 200;

/// Sanitizes text for display: control characters other than line feeds, marks that change the direction of text, and
/// characters that XML forbids are escaped. Each line has a maximum length.
pub fn clean(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The number of characters that [`shortened`] keeps at the start and at the end of a text, where texts state the
/// expected value.
const FRONT: usize = 300;
const END: usize = 200;

/// A text on one line. The middle of a very long text is omitted, such as that of a name of 5,000 bytes.
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

// Control characters of terminals, line separators, and code points that are not characters.
fn is_control(letter: char) -> bool {
    is_steering(letter)
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || u32::from(letter) & 0xfffe == 0xfffe
}

/// Text that is sanitized and escaped for XML and HTML, including attribute values.
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
