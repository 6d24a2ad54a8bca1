//! Mastermind text games like those of students: with more or fewer line ends, and with prompts of `input`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use conformance::{Outcome, Verdict};

use crate::{
    references::{nothing, run_with},
    support::plan,
};

/// More time than a program needs on a busy machine, in milliseconds.
const PATIENCE: u64 = 60_000;

#[test]
fn accepts_any_line_ends_around_prompts_and_answers() {
    for fault in [
        "prompt-ends-the-line",
        "empty-line-behind-the-prompt",
        "red-and-white-in-one-line",
        "all-in-one-line",
        "empty-lines",
    ] {
        let report = run_with("mastermind-text", fault, &plan(PATIENCE));
        assert_eq!((report.points().0, report.outcome()), (report.points().1, Outcome::Passed), "{fault}: {report}");
    }
}

#[test]
fn missing_prompt_is_reported_once_with_a_count() {
    let report = run_with("mastermind-text", "no-prompt", &plan(PATIENCE));
    let prompt = report.finding("prompt").unwrap();
    assert_eq!((prompt.verdict, prompt.breaches.len()), (Verdict::Failed, 1), "{report}");
    assert!(prompt.count > 10, "{report}");
    assert_eq!(report.failed(), ["prompt"], "{report}");
}

#[test]
fn crash_after_invalid_length_breaks_one_rule() {
    let report = run_with("mastermind-text", "length-is-not-checked", &plan(PATIENCE));
    assert_eq!(report.failed(), ["lengths"], "{report}");
}

#[test]
fn idle_program_earns_no_points() {
    for kind in ["mastermind-text", "mastermind-server", "mastermind-client"] {
        let report = nothing(kind, 500);
        assert_eq!(report.points().0, 0, "{report}");
    }
}
