//! The executable: its exit status, and its output that does not depend on a test.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use conformance::{Report, Trouble, Verdict};
use testkit::eventually;

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn program_that_cannot_start_breaks_no_rule() {
    let ended = conformance(&["dealer", "--", "./there-is-no-such-dealer"]);
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(3), "{report}");
    assert!(
        report.starts_with("dealer: cannot start, 0 of ")
            && report.contains("cannot start './there-is-no-such-dealer'")
    );
}

#[test]
fn report_contains_exit_status_and_standard_error() {
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
    for part in [
        "FAIL  joins",
        "FAIL  no-crash",
        "signal 11 (SIGSEGV)",
        "standard error: no table",
        "(starts the program: name tester, ",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn rules_are_listed_and_explained() {
    let listed = text(&conformance(&["dealer", "--list"]).stdout);
    let row = listed.lines().find(|line| line.starts_with("soft-17 ")).unwrap();
    assert!(row.ends_with(" protocol   1  The dealer stands on a soft 17 as on any other 17"), "{listed}");
    let explained = text(&conformance(&["dealer", "--explain", "soft-17"]).stdout);
    for part in ["\nhint      Some casinos", "\nsee       docs/protocols/blackjack.md#cards-and-rules:\n\n", "soft 17"]
    {
        assert!(explained.contains(part), "{part}: {explained}");
    }
    assert_eq!(conformance(&["dealer", "--explain", "nonsense"]).status.code(), Some(2));
}

#[test]
fn output_file_does_not_replace_text_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.xml");
    let file = path.to_str().unwrap();
    let arguments = ["player", "--format", "junit", "--output", file, "--patience", "1", "--", "false", "{host}{port}"];
    let ended = conformance(&arguments);
    assert_eq!(ended.status.code(), Some(1), "{}", text(&ended.stderr));
    assert!(text(&ended.stdout).starts_with("player: failed, 0 of "));
    assert!(fs::read_to_string(&path).unwrap().starts_with("<?xml version=\"1.0\""));
    // An output error is detected before the test.
    let folder = folder.path().to_str().unwrap();
    let ended = conformance(&["player", "--output", folder, "--", "false", "{host}{port}"]);
    assert!(ended.status.code() == Some(4) && ended.stdout.is_empty(), "{}", text(&ended.stdout));
    assert!(text(&ended.stderr).contains("cannot write the report to"), "{}", text(&ended.stderr));
    if Path::new("/dev/full").exists() {
        let ended = conformance(&["player", "--output", "/dev/full", "--patience", "1", "--", "false", "{host}{port}"]);
        assert_eq!(ended.status.code(), Some(4), "{}", text(&ended.stderr));
    }
}

#[test]
fn rejects_contradictory_options() {
    for arguments in [
        &["dealer", "--only", "listens,nonsense", "--", "d"][..],
        &["dealer", "--repeat", "0", "--", "d"],
        &["dealer", "--seed", "0", "--", "d"],
        &["dealer", "--format", "yaml", "--", "d"],
        &["dealer", "--list", "--format", "html"],
    ] {
        let ended = conformance(arguments);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {}", text(&ended.stderr));
    }
}

#[test]
fn stopped_test_reports_results_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("started");
    let script = format!("echo > {}; sleep 1000", note.display());
    let tester = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["player", "--format", "json", "--patience", "1000", "--", "sh", "-c", &script, "{host}{port}"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("it did not start", || note.exists());
    let kill = format!("kill {}", tester.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let ended = tester.wait_with_output().unwrap();
    let report: Report = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), report.trouble.as_ref()), (Some(4), Some(&Trouble::Stopped)));
    assert!(report.rules.iter().all(|rule| rule.verdict == Verdict::NotTested));
}

#[test]
fn rules_are_listed_as_json_and_markdown() {
    let json = text(&conformance(&["player", "--list", "--format", "json"]).stdout);
    let rules: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&rules[0]["rule"], &rules[0]["asked_by"]), (&"joins".into(), &"protocol".into()));
    let page = text(&conformance(&["player", "--list", "--format", "markdown"]).stdout);
    assert_eq!(page.lines().count(), 2 + rules.as_array().unwrap().len());
    assert!(page.lines().nth(2).unwrap().starts_with("| `joins` | protocol | 3 | The player connects"), "{page}");
}
