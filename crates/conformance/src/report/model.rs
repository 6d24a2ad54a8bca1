//! What a test found, as data. docs/conformance.md describes its form as JSON.

use serde::{Deserialize, Serialize};

use crate::rule::{Basis, Rule};

/// What was found about one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It was observed and never broken.
    #[serde(rename = "pass")]
    Passed,
    /// It was broken.
    #[serde(rename = "fail")]
    Failed,
    /// Nothing was observed that it speaks of.
    #[serde(rename = "not tested")]
    NotTested,
}

impl Verdict {
    /// The word for it in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed => "fail",
            Self::NotTested => "not tested",
        }
    }
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sender {
    /// The program under test.
    Program,
    /// The tester.
    Tester,
}

impl Sender {
    /// The word for it in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Tester => "tester",
        }
    }
}

/// Some bytes of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The offset of the first of them in the message.
    pub from: u64,
    /// Two hexadecimal digits for each, with spaces in between.
    pub hex: String,
    /// How many bytes the message has, or had when it was judged.
    pub of: u64,
}

/// The byte at which the decoding of a message stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongByte {
    /// Its offset in the message.
    pub offset: u64,
    /// Its offset in all that this side has sent over the connection. Datagrams have none.
    pub stream_offset: Option<u64>,
    /// The byte, or nothing if the message ends there.
    pub byte: Option<u8>,
    /// What is wrong with it, or what would be right.
    pub text: String,
}

/// A message, or something else that happened on a connection, as its text says in brackets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Milliseconds from the start of the scenario.
    pub at_ms: u64,
    /// The connection, such as `seat 1`.
    pub channel: String,
    /// Who sent it.
    pub sender: Sender,
    /// It in the terms of the protocol, without control characters other than line feeds.
    pub text: String,
    /// Its bytes, where they are no message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<Excerpt>,
    /// Where it is wrong, if it is no message of the protocol.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wrong: Option<WrongByte>,
}

/// A place where a rule was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    /// The name of the scenario.
    pub scenario: String,
    /// What came and what would be right.
    pub text: String,
    /// The last messages before it, the latest one last.
    pub conversation: Vec<Message>,
    /// How the program ended in this scenario, and the last lines that it wrote on standard error.
    pub program: Vec<String>,
}

/// What was found about one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its name, such as `no-card-twice`.
    #[serde(rename = "rule")]
    pub id: String,
    /// What it requires.
    pub text: String,
    /// Whether it is required or recommended.
    pub asked_by: Basis,
    /// The section of the original task that demands it. Empty for advice.
    #[serde(default)]
    pub task: String,
    /// What it is worth.
    pub points: u32,
    /// The section of `docs/` that says so.
    pub page: String,
    /// The usual mistake, if there is one.
    pub hint: String,
    /// Whether it was broken.
    pub verdict: Verdict,
    /// Why it was not tested, as far as that is known.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
    /// How often it was broken, or else observed.
    pub count: u64,
    /// In how many runs of the test it was observed or broken.
    pub tested_in: u32,
    /// In how many runs of the test it was broken.
    pub failed_in: u32,
    /// The first places where it was broken.
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

    /// Whether a program that breaks the rule fails.
    pub fn is_required(&self) -> bool {
        self.asked_by == Basis::Protocol
    }

    /// What was earned of its points.
    pub fn earned(&self) -> u32 {
        if self.verdict == Verdict::Passed { self.points } else { 0 }
    }

    /// The word for what was found, in which a rule that is only noted does not fail.
    pub(crate) fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Passed => "pass",
            Verdict::Failed if self.is_required() => "FAIL",
            Verdict::Failed => "note",
            Verdict::NotTested => "not tested",
        }
    }

    /// What it requires and, if it was not tested, why.
    pub(crate) fn told(&self) -> String {
        if self.why.is_empty() { self.text.clone() } else { format!("{} ({})", self.text, self.why) }
    }

    fn add(&mut self, other: Self, told: usize) {
        self.tested_in += other.tested_in;
        self.failed_in += other.failed_in;
        match (self.verdict, other.verdict) {
            (_, Verdict::NotTested) | (Verdict::Failed, Verdict::Passed) => {}
            (own, new) if own == new => self.count += other.count,
            (_, new) => (self.verdict, self.why, self.count) = (new, String::new(), other.count),
        }
        self.breaches.extend(other.breaches);
        self.breaches.truncate(told);
    }
}

/// A scenario that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name. Several may have the same.
    pub name: String,
    /// The rules that it is meant to show. Where it names none, it may show any.
    pub meant_for: Vec<String>,
    /// The rules that were observed or broken in it.
    pub observed: Vec<String>,
    /// The rule whose breach left nothing to go on with, so that it ended early.
    pub ended_by: Option<String>,
}

impl Scenario {
    /// Why rules that it might have shown were not tested, if it ended early.
    pub(crate) fn why(&self) -> Option<String> {
        self.ended_by.as_ref().map(|rule| format!("'{}' ended early, at {rule}", self.name))
    }
}

/// Why a test ended before all scenarios were played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", content = "text", rename_all = "lowercase")]
pub enum Trouble {
    /// The system could not start the program under test.
    #[serde(rename = "cannot start")]
    CannotStart(String),
    /// The tester could not go on.
    Tester(String),
    /// The user stopped it.
    Stopped,
}

impl Trouble {
    /// Why a rule was not tested then.
    pub(crate) const fn in_short(&self) -> &'static str {
        match self {
            Self::CannotStart(_) => "the program cannot be started",
            Self::Tester(_) => "the tester could not go on",
            Self::Stopped => "the test was stopped",
        }
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CannotStart(error) => f.write_str(error),
            Self::Tester(error) => write!(f, "the tester could not go on: {error}"),
            Self::Stopped => f.write_str("the test was stopped"),
        }
    }
}

/// What a whole test says of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All required rules were observed and kept.
    Passed,
    /// A required rule was broken.
    Failed,
    /// No required rule was broken, but some could not be tested.
    Incomplete,
    /// The program could not be started.
    #[serde(rename = "cannot start")]
    CannotStart,
    /// The tester could not do its work, or was stopped.
    Unfinished,
}

impl Outcome {
    /// The word for it in reports.
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

/// What was found about all rules of one kind of program, or about those that were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The kind of program, such as `dealer`.
    pub kind: String,
    /// The seed of the random choices of the tester. There is none if it is secret.
    pub seed: Option<u32>,
    /// How often the whole test was run.
    pub runs: u32,
    /// Whether the test was to observe all rules. One of a server that runs already cannot.
    pub whole: bool,
    /// Why it ended early, if it did.
    #[serde(rename = "error")]
    pub trouble: Option<Trouble>,
    /// What the program might take, and what it was kept from, a sentence for each.
    #[serde(default)]
    pub limits: Vec<String>,
    /// In the order of the tester.
    pub rules: Vec<Finding>,
    /// In the order of the tester.
    pub scenarios: Vec<Scenario>,
}

impl Report {
    /// What is to be said of the program.
    pub fn outcome(&self) -> Outcome {
        let any = |verdict: Verdict| self.rules.iter().any(|rule| rule.is_required() && rule.verdict == verdict);
        match &self.trouble {
            Some(Trouble::CannotStart(_)) => Outcome::CannotStart,
            Some(Trouble::Tester(_) | Trouble::Stopped) => Outcome::Unfinished,
            None if any(Verdict::Failed) => Outcome::Failed,
            None if any(Verdict::NotTested) && self.whole => Outcome::Incomplete,
            // Also where only rules were chosen that cannot fail a program.
            None if self.rules.iter().all(|rule| rule.verdict == Verdict::NotTested) => Outcome::Incomplete,
            None => Outcome::Passed,
        }
    }

    /// The points of the rules that were kept, and those of all rules.
    pub fn points(&self) -> (u32, u32) {
        (self.rules.iter().map(Finding::earned).sum(), self.rules.iter().map(|rule| rule.points).sum())
    }

    /// The points that were reached, of a hundred. There is none where no rule has points.
    pub fn score(&self) -> Option<u32> {
        let (points, of) = self.points();
        (100 * points).checked_div(of)
    }

    /// What was found about the rule of this name.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// Whether the rule of this name was kept.
    pub fn verdict(&self, id: &str) -> Option<Verdict> {
        self.finding(id).map(|finding| finding.verdict)
    }

    /// The names of the rules that failed, also of those that are only noted.
    pub fn failed(&self) -> Vec<&str> {
        let failed = self.rules.iter().filter(|rule| rule.verdict == Verdict::Failed);
        failed.map(|rule| &*rule.id).collect()
    }

    /// How many rules have this word.
    pub(crate) fn count(&self, word: &str) -> usize {
        self.rules.iter().filter(|rule| rule.word() == word).count()
    }

    /// Adds what another run of the same test has found. At most `told` breaches of a rule are kept.
    pub(crate) fn add(&mut self, other: Self, told: usize) {
        self.runs += other.runs;
        self.trouble = self.trouble.take().or(other.trouble);
        for (own, new) in self.rules.iter_mut().zip(other.rules) {
            own.add(new, told);
        }
        self.scenarios.extend(other.scenarios);
    }
}
