//! Our own programs pass the tests that we offer for those of others.

use std::thread;

use serde_json::Value;

use crate::programs::program;

/// Has a program of ours tested, with these arguments behind its name, and returns the rules that no scenario observed.
fn untested(kind: &str, arguments: &[&str]) -> Vec<String> {
    let ours = program(kind);
    let mut command = program("conformance");
    // Other tests run at the same time. A turn of robots takes a twentieth of it. A tester ends by itself, after more time than other
    // programs of these tests have.
    command.args([kind, "--format", "json", "--patience", "15", "--"]).arg(ours.get_program()).args(arguments);
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

#[test]
fn our_programs_pass_and_leave_no_rule_untested() {
    let programs = [
        ("dealer", &["{port}", "{rounds}", "--players", "{players}", "--delay-ms", "0"][..]),
        ("player", &["{name}", "{host}", "{port}", "--best"]),
        ("nuggets-server", &[]),
        ("nuggets-client", &[]),
        ("robots-server", &[]),
        ("robots-client", &[]),
    ];
    // Mostly they wait.
    thread::scope(|scope| {
        for (kind, arguments) in programs {
            scope.spawn(move || assert_eq!(untested(kind, arguments), [""; 0], "{kind}"));
        }
    });
}
