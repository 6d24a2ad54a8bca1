//! The programs from which students start, in Python and Rust, earn a minimum score.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use conformance::{Options, Outcome, Program, Report, TESTERS};

/// Only a missing message takes this long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Each scenario of the robots client waits for missing pictures, and it must not be slow to draw.
const LESS: Duration = Duration::from_secs(5);
fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
}

fn built() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_conformance"));
    program.parent().unwrap().join("examples")
}

// The arguments of the course, unless a full test of the kind needs more.
fn tested(kind: &str, mut command: Vec<String>) -> Report {
    let tester = TESTERS.into_iter().find(|tester| tester.kind == kind).unwrap();
    if kind == "mastermind-client" {
        command.extend(["{name}", "{host}", "{port}", "{games}"].map(str::to_owned));
    }
    let program = Program::new(command, tester.usual, tester.known, tester.needed).unwrap();
    let patience = if kind == "robots-client" { LESS } else { PATIENCE };
    let report = tester.test(&program, &Options { patience, ..Options::default() });
    assert!(!matches!(report.outcome(), Outcome::CannotStart | Outcome::Unfinished), "{report}");
    report
}

fn reaches(kind: &str, file: &str, in_python: u32, in_rust: u32) {
    let python = testkit::programs::python().expect("these tests need python3");
    let python =
        vec![python.to_str().unwrap().to_owned(), "-B".to_owned(), format!("{}/{file}.py", folder().display())];
    let rust = built().join(file);
    assert!(rust.exists(), "{} is not built; `cargo build -p conformance --examples` builds it", rust.display());
    let rust = vec![rust.to_str().unwrap().to_owned()];
    for (command, least) in [(python, in_python), (rust, in_rust)] {
        let what = command.last().unwrap().clone();
        let report = tested(kind, command);
        assert!(report.points().0 >= least, "expected at least {least} points for {what}: {report}");
    }
}

macro_rules! examples {
    ($($test:ident: $kind:literal $file:literal $python:literal $rust:literal;)*) => {
        $(
            #[test]
            #[ignore = "runs the whole kit twice for each kind; run by .ci/run --release"]
            fn $test() {
                reaches($kind, $file, $python, $rust);
            }
        )*
    };
}

// Excludes points that a busy machine may cost.
examples! {
    the_dealer: "dealer" "dealer" 56 56;
    the_player: "player" "player" 30 30;
    the_nuggets_server: "nuggets-server" "nuggets_server" 30 30;
    the_nuggets_client: "nuggets-client" "nuggets_client" 13 13;
    the_robots_server: "robots-server" "robots_server" 30 30;
    the_robots_client: "robots-client" "robots_client" 9 9;
    the_text_game: "mastermind-text" "mastermind_text" 34 34;
    the_mastermind_server: "mastermind-server" "mastermind_server" 56 56;
    the_mastermind_client: "mastermind-client" "mastermind_client" 42 42;
}
