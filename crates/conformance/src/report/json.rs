//! A report as JSON, which programs read.

use serde::Serialize;

use super::model::{Outcome, Report};

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
    pub fn to_json(&self) -> serde_json::Value {
        let (points, of) = self.points();
        let (outcome, score) = (self.outcome(), self.score());
        let passed = outcome == Outcome::Passed;
        let document = Document { format: FORMAT, outcome, passed, points, of, score, report: self };
        // Serialization can fail only for a map whose keys are not strings.
        serde_json::to_value(document).unwrap_or_default()
    }
}
