use std::thread;

use serde_json::Value;
use testkit::TempDir;

use crate::programs::program;

fn untested(kind: &str, name: &str, arguments: &[&str]) -> Vec<String> {
    let ours = program(name);
    let mut command = program("conformance");
    let data = TempDir::new();
    // The patience is generous for parallel tests; a turn of robots takes a twentieth of it. `conformance` exits by
    // itself, but may take longer than these tests wait for other programs.
    command.args([kind, "--format", "json", "--patience", "15"]);
    if name == "nuggets-client" {
        // In a terminal, help and results also take keys.
        command.args(["--terminal", "no"]);
    }
    command.arg("--").arg(ours.get_program()).args(arguments);
    // Keeps games in a terminal out of the user's statistics.
    command.env("XDG_DATA_HOME", data.path());
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
#[ignore = "a whole run of the kit for each of them; .ci/run --release runs it"]
fn our_programs_pass_and_leave_no_rule_untested() {
    let programs = [
        ("dealer", "dealer", &["{port}", "{rounds}", "--players", "{players}", "--delay-ms", "0"][..]),
        ("player", "player", &["{name}", "{host}", "{port}", "--table", "{table}", "{train}"]),
        ("nuggets-server", "nuggets-server", &[]),
        ("nuggets-client", "nuggets-client", &[]),
        ("robots-server", "robots-server", &[]),
        ("robots-client", "robots-client", &[]),
        ("mastermind-text", "mastermind-play", &[]),
    ];
    thread::scope(|scope| {
        for (kind, name, arguments) in programs {
            scope.spawn(move || assert_eq!(untested(kind, name, arguments), [""; 0], "{kind}"));
        }
    });
}
