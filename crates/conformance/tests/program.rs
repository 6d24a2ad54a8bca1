//! The program itself: its exit status, and what it prints in any case.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::process::{Command, Output};

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_program_that_cannot_be_started_is_no_rule_that_was_broken() {
    let ended = conformance(&["dealer", "--", "./there-is-no-such-dealer"]);
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(3), "{report}");
    assert!(
        report.contains("dealer: 0 passed, 0 failed") && report.contains("cannot start './there-is-no-such-dealer'")
    );
}

#[test]
fn how_a_program_ended_and_what_it_said_stands_in_the_report() {
    let ended = conformance(&[
        "player",
        "--patience",
        "1",
        "--",
        "sh",
        "-c",
        "echo no table >&2; kill -SEGV $$",
        "{host}{port}",
    ]);
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(1), "{report}");
    for part in ["FAIL        joins", "FAIL        no-crash", "signal 11 (SIGSEGV)", "standard error: no table"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn rules_are_listed_and_explained() {
    let listed = text(&conformance(&["dealer", "--list"]).stdout);
    let row = listed.lines().find(|line| line.starts_with("soft-17 ")).unwrap();
    assert!(row.ends_with(" course     1  The dealer stands on a soft 17 as on any other"), "{listed}");
    let explained = text(&conformance(&["dealer", "--explain", "soft-17"]).stdout);
    let see = "see       docs/protocols/blackjack.md#cards-and-rules\nhint      Some casinos";
    assert!(explained.contains(see), "{explained}");
    assert_eq!(conformance(&["dealer", "--explain", "nonsense"]).status.code(), Some(2));
}
