//! Mastermind text games like those of students: with more or fewer line ends, and with prompts of `input`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

use conformance::{Outcome, Verdict};

use crate::{
    references::{nothing, run_with},
    support::plan,
};

/// More time than a program needs on a busy machine, in milliseconds.
const PATIENCE: u64 = 20_000;

#[test]
fn prompts_and_answers_are_understood_with_any_ends_of_lines() {
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
fn crash_at_a_wrong_length_breaks_one_rule() {
    let report = run_with("mastermind-text", "length-is-not-checked", &plan(PATIENCE));
    assert_eq!(report.failed(), ["lengths"], "{report}");
}

#[test]
fn program_that_does_nothing_earns_nothing() {
    for kind in ["mastermind-text", "mastermind-server", "mastermind-client"] {
        let report = nothing(kind, 500);
        assert_eq!(report.points().0, 0, "{report}");
    }
}
