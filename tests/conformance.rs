//! Our own programs pass the tests that we offer for those of others.

use serde_json::Value;

use crate::programs::program;

/// Has a program of ours tested, with these arguments behind its name, and returns the rules that no scenario observed.
fn untested(kind: &str, arguments: &[&str]) -> Vec<String> {
    let ours = program(kind);
    let mut command = program("conformance");
    // Other tests run at the same time. A tester ends by itself, after more time than other programs of these tests have.
    command.args([kind, "--json", "--patience", "60", "--"]).arg(ours.get_program()).args(arguments);
    let finished = command.output().unwrap();
    let report: Value =
        serde_json::from_slice(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.stderr.escape_ascii()));
    assert!(finished.status.success() && report["passed"] == true, "{report:#}");
    let rules = report["rules"].as_array().unwrap().iter();
    let verdicts = rules.map(|rule| (rule["rule"].as_str().unwrap(), rule["verdict"].as_str().unwrap()));
    let (untested, tested): (Vec<_>, Vec<_>) = verdicts.partition(|(_, verdict)| *verdict == "not tested");
    assert!(tested.iter().all(|(_, verdict)| *verdict == "pass"), "{report:#}");
    untested.into_iter().map(|(rule, _)| rule.to_owned()).collect()
}

/// All rules passed.
const NONE: &[&str] = &[];

#[test]
fn our_dealer_passes() {
    assert_eq!(untested("dealer", &["{port}", "{rounds}", "--players", "{players}", "--delay-ms", "0"]), NONE);
}

#[test]
fn our_player_passes() {
    assert_eq!(untested("player", &["{name}", "{host}", "{port}", "--best"]), NONE);
}

#[test]
fn our_nuggets_server_passes() {
    assert_eq!(untested("nuggets-server", &[]), NONE);
}

#[test]
fn our_nuggets_client_passes() {
    assert_eq!(untested("nuggets-client", &[]), NONE);
}

#[test]
fn our_robots_server_passes() {
    assert_eq!(untested("robots-server", &[]), NONE);
}

#[test]
fn our_robots_client_passes() {
    assert_eq!(untested("robots-client", &[]), NONE);
}
