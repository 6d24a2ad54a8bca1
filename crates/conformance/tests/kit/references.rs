//! The reference programs in Python pass whole, and each of their faults fails exactly the rules that it breaks.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use conformance::{Options, Outcome, Plan, Program, Report, TESTERS, Tester};
use testkit::programs;

use crate::support;

/// What the command of each reference program gets behind its name.
const PROGRAMS: &[(&str, &str, &[&str])] = &[
    ("dealer", "dealer.py", &["{port}", "{rounds}", "--players", "{players}"]),
    ("player", "player.py", &["{name}", "{host}", "{port}", "--table", "{table}", "{train}"]),
    ("nuggets-server", "nuggets_server.py", &["{map}", "{seed}"]),
    ("nuggets-client", "nuggets_client.py", &["{host}", "{port}", "{name}"]),
    ("robots-server", "robots_server.py", ROBOTS_SERVER),
    ("robots-client", "robots_client.py", &["-d", "{gui}", "-n", "{name}", "-p", "{port}", "-s", "{server}"]),
    ("mastermind-text", "mastermind_play.py", &[]),
    ("mastermind-server", "mastermind_server.py", &["{port}"]),
    ("mastermind-client", "mastermind_client.py", &["{name}", "{host}", "{port}", "--games", "{games}"]),
];

const ROBOTS_SERVER: &[&str] = &[
    "-b",
    "{bomb-timer}",
    "-c",
    "{players}",
    "-d",
    "{turn}",
    "-e",
    "{radius}",
    "-k",
    "{blocks}",
    "-l",
    "{length}",
    "-n",
    "{name}",
    "-p",
    "{port}",
    "-s",
    "{seed}",
    "-x",
    "{x}",
    "-y",
    "{y}",
];

/// More than a program needs on a busy machine, except where it waits for what does not come.
const PATIENCE: Duration = Duration::from_secs(20);
/// For the tests of all faults: those that never do something are waited for in each scenario.
const LESS: Duration = Duration::from_secs(8);
/// Faults that are tested at the same time. Mostly they are waited for.
const AT_ONCE: usize = 6;

// What only thousands of rounds show takes its time.
fn patience(kind: &str, fault: &str) -> Duration {
    match kind {
        "dealer" if ["hits-soft-17", "pays-against-an-ace"].contains(&fault) => 4 * PATIENCE,
        "dealer" => PATIENCE,
        _ => LESS,
    }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/reference"))
}

fn interpreter() -> String {
    let python =
        programs::python().expect("these tests need python3, as CONTRIBUTING.md says; it could not be started");
    python.to_str().unwrap().to_owned()
}

// Runs a few lines of Python beside the reference programs.
fn python(code: &str) -> String {
    let finished = Command::new(interpreter()).args(["-c", code]).current_dir(folder()).output().unwrap();
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stderr));
    String::from_utf8(finished.stdout).unwrap()
}

fn tester(kind: &str) -> &'static Tester {
    TESTERS.into_iter().find(|tester| tester.kind == kind).unwrap()
}

fn tested(kind: &str, fault: Option<&str>, plan: &Plan) -> Report {
    let (_, file, arguments) = PROGRAMS.iter().find(|(other, _, _)| *other == kind).unwrap();
    let path = folder().join(file).to_str().unwrap().to_owned();
    let mut words = vec![interpreter(), "-B".to_owned(), path];
    words.extend(arguments.iter().map(|&word| word.to_owned()));
    words.extend(fault.iter().flat_map(|&name| ["--fault".to_owned(), name.to_owned()]));
    let tester = tester(kind);
    let program = Program::new(words, tester.usual, tester.known, tester.needed).unwrap();
    tester.run(&program, plan).unwrap()
}

fn plan(patience: Duration) -> Plan {
    Plan::from(Options { patience, ..Options::default() })
}

// Each fault of a kind with the rules that it breaks.
fn faults(kind: &str) -> Vec<(String, Vec<String>)> {
    let code = "import faults, sys\nfor program, of in faults.FAULTS.items():\n for name, (rules, _) in of.items(): print(program, name, *rules)";
    let lines = python(&format!("import sys; sys.dont_write_bytecode = True\n{code}"));
    let mut faults = Vec::new();
    for line in lines.lines() {
        let mut words = line.split(' ').map(str::to_owned);
        if words.next().as_deref() == Some(kind) {
            faults.push((words.next().unwrap(), words.collect()));
        }
    }
    assert!(!faults.is_empty(), "no fault of a {kind} is known");
    faults
}

// The rules that programs of the other tests break, which are threads: each stands behind its crime.
const CRIMES: &[(&str, &str)] = &[
    ("dealer", include_str!("dealer.rs")),
    ("player", include_str!("player.rs")),
    ("nuggets-server", include_str!("nuggets_server.rs")),
    ("nuggets-client", include_str!("nuggets_client.rs")),
    ("robots-server", include_str!("robots_server.rs")),
    ("robots-client", include_str!("robots_client.rs")),
];

#[test]
fn each_rule_is_broken_by_a_program() {
    for (kind, _, _) in PROGRAMS {
        let faults = faults(kind);
        let broken: BTreeSet<&str> = faults.iter().flat_map(|(_, rules)| rules).map(String::as_str).collect();
        let crimes = CRIMES.iter().filter(|(of, _)| of == kind).map(|(_, source)| *source).collect::<String>();
        for rule in tester(kind).rules {
            let is_broken = broken.contains(rule.id) || crimes.contains(&format!("=> \"{}\"", rule.id));
            assert!(is_broken, "no program breaks the rule {} of a {kind}", rule.id);
        }
        for rule in broken {
            assert!(tester(kind).rule(rule).is_some(), "a {kind} has no rule {rule}");
        }
    }
}

fn passes_whole(kind: &str) {
    python("");
    let report = tested(kind, None, &plan(PATIENCE));
    support::assert_all_pass(&report);
}

// What is wrong with the report about a program with this fault, which breaks these rules.
fn disagreement(kind: &str, name: &str, rules: &[String], report: &Report) -> Option<String> {
    let failed: BTreeSet<&str> = report.failed().into_iter().collect();
    let rules: BTreeSet<&str> = rules.iter().map(String::as_str).collect();
    support::speaks_the_language_of_the_protocol(report, name);
    let is_required = |rule: &&str| tester(kind).rules.iter().any(|of| of.id == *rule && of.is_required());
    let fails = rules.iter().any(is_required);
    (failed != rules || (report.outcome() == Outcome::Failed) != fails)
        .then(|| format!("{failed:?} failed instead of {rules:?}:\n{report}"))
}

fn each_fault_is_found(kind: &str) {
    let open = Mutex::new(faults(kind).into_iter());
    let next = || open.lock().unwrap().next();
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((name, rules)) = next() {
                    let began = Instant::now();
                    let report = tested(kind, Some(&name), &plan(patience(kind, &name)));
                    let disagreement = disagreement(kind, &name, &rules, &report);
                    let verdict = disagreement.as_deref().unwrap_or("is found");
                    eprintln!("{kind} {name} after {:.0} s: {verdict}", began.elapsed().as_secs_f64());
                    wrong.lock().unwrap().extend(disagreement.map(|_| name));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "these faults of a {kind} are not found as they should be: {}", wrong.join(", "));
}

// Faults that are found soon, of each kind whose faults are many, and of each sort of scenario.
const SOME: &[(&str, &[&str])] = &[
    ("dealer", &["no-long-names", "ends-at-a-reset", "unsigned-rounds"]),
    ("player", &["drops-half-messages", "needs-a-round", "numbers-only"]),
    ("nuggets-server", &["any-seed", "letters-come-back"]),
    ("nuggets-client", &["trusts-displays", "uses-formats", "atoi"]),
    ("robots-server", &["wraps-below-zero", "one-buffer", "lenient-utf-8", "dead-act"]),
    ("robots-client", &["up-is-down", "a-set-of-bombs", "signed-bytes"]),
];

// The rest of the kit is not played with them, which `just prove` does.
#[test]
#[ignore = "they start a hundred programs in Python; .ci/run runs it"]
fn some_faults_are_found_by_the_scenarios_that_are_meant_for_their_rules() {
    let known: BTreeMap<&str, _> = SOME.iter().map(|(kind, _)| (*kind, faults(kind))).collect();
    let open = Mutex::new(SOME.iter().flat_map(|(kind, some)| some.iter().map(move |name| (*kind, *name))));
    let next = || open.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((kind, name)) = next() {
                    let (_, rules) = known[kind].iter().find(|(of, _)| of == name).unwrap();
                    let only = rules.iter().map(|id| tester(kind).rule(id).unwrap()).collect();
                    let report = tested(kind, Some(name), &Plan { only: Some(only), ..plan(PATIENCE) });
                    let mut failed = report.failed();
                    failed.sort_unstable();
                    let mut rules: Vec<&str> = rules.iter().map(String::as_str).collect();
                    rules.sort_unstable();
                    assert_eq!(failed, rules, "{kind} {name}: {report}");
                }
            });
        }
    });
}

macro_rules! references {
    ($($kind:literal: $passes:ident $faults:ident;)*) => {
        $(
            #[test]
            #[ignore = "each is a whole run of the kit; .ci/run runs them"]
            fn $passes() {
                passes_whole($kind);
            }

            #[test]
            #[ignore = "they take many minutes: just prove"]
            fn $faults() {
                each_fault_is_found($kind);
            }
        )*
    };
}

references! {
    "dealer": the_dealer_passes_whole each_fault_of_the_dealer_is_found;
    "player": the_player_passes_whole each_fault_of_the_player_is_found;
    "nuggets-server": the_nuggets_server_passes_whole each_fault_of_the_nuggets_server_is_found;
    "nuggets-client": the_nuggets_client_passes_whole each_fault_of_the_nuggets_client_is_found;
    "robots-server": the_robots_server_passes_whole each_fault_of_the_robots_server_is_found;
    "robots-client": the_robots_client_passes_whole each_fault_of_the_robots_client_is_found;
    "mastermind-text": the_text_game_passes_whole each_fault_of_the_text_game_is_found;
    "mastermind-server": the_mastermind_server_passes_whole each_fault_of_the_mastermind_server_is_found;
    "mastermind-client": the_mastermind_client_passes_whole each_fault_of_the_mastermind_client_is_found;
}
