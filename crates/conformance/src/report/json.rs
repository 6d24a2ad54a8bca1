//! A report as JSON, which programs read.

use serde::Serialize;

use super::model::{Outcome, Report};

/// Raised when a field changes its meaning or goes. New fields may come at any time.
const FORMAT: u32 = 2;

/// A report with what follows from it.
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
    /// The report as one JSON object; docs/conformance.md describes its fields. A [`Report`] can be read from it.
    pub fn to_json(&self) -> serde_json::Value {
        let (points, of) = self.points();
        let (outcome, score) = (self.outcome(), self.score());
        let passed = outcome == Outcome::Passed;
        let document = Document { format: FORMAT, outcome, passed, points, of, score, report: self };
        // A map with keys that are no strings is the only thing that cannot be written.
        serde_json::to_value(document).unwrap_or_default()
    }
}
