//! The reference programs in Python pass all rules, and each of their faults fails exactly the rules that it breaks.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::Command,
    sync::Mutex,
    time::{Duration, Instant},
};

use conformance::{
    DEALER, NUGGETS_CLIENT, NUGGETS_SERVER, Options, Outcome, Plan, Program, Remote, Report, Rule, TESTERS, Tester,
    Verdict,
};
use testkit::{process::Process, programs};

use crate::support::{AT_ONCE, in_parallel, only, plan, side_by_side};

const PROGRAMS: [(&str, &str, &str); 9] = [
    ("dealer", "dealer.py", "--players {players}"),
    ("player", "player.py", "--table {table} {train}"),
    ("nuggets-server", "nuggets_server.py", ""),
    ("nuggets-client", "nuggets_client.py", ""),
    ("robots-server", "robots_server.py", ""),
    ("robots-client", "robots_client.py", ""),
    ("mastermind-text", "mastermind_play.py", ""),
    ("mastermind-server", "mastermind_server.py", ""),
    ("mastermind-client", "mastermind_client.py", "--games {games}"),
];

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference");

/// In milliseconds. Only a missing message takes this long.
pub(crate) const PATIENCE: u64 = 20_000;
/// In milliseconds. Each scenario waits this long for a missing message.
pub(crate) const LESS: u64 = 8_000;

type Faults = Vec<(String, Vec<String>)>;

// Faults that only thousands of rounds show need more time.
fn patience(kind: &str, fault: &str) -> u64 {
    match kind {
        "dealer" if ["hits-soft-17", "pays-against-an-ace"].contains(&fault) => 4 * PATIENCE,
        "dealer" => PATIENCE,
        _ => LESS,
    }
}

fn interpreter() -> String {
    let python = programs::python().expect("these tests need python3, see CONTRIBUTING.md");
    python.to_str().unwrap().to_owned()
}

pub(crate) fn tester(kind: &str) -> &'static Tester {
    TESTERS.into_iter().find(|tester| tester.kind == kind).unwrap()
}

fn command(kind: &str) -> (Vec<String>, Vec<&'static str>) {
    let (_, file, more) = PROGRAMS.into_iter().find(|(other, ..)| *other == kind).unwrap();
    let path = Path::new(FOLDER).join(file);
    let command = vec![interpreter(), programs::PLAIN.to_owned(), path.to_str().unwrap().to_owned()];
    (command, [tester(kind).usual, more].into_iter().flat_map(str::split_whitespace).collect())
}

fn tested<'a>(kind: &str, front: Vec<String>, arguments: impl IntoIterator<Item = &'a str>, plan: &Plan) -> Report {
    let words = front.into_iter().chain(arguments.into_iter().map(str::to_owned)).collect();
    let tester = tester(kind);
    let program = Program::new(words, tester.usual, tester.known, tester.needed).unwrap();
    tester.run(&program, plan).unwrap()
}

pub(crate) fn python(kind: &str, code: &str, plan: &Plan) -> Report {
    tested(kind, vec![interpreter(), "-c".to_owned(), code.to_owned()], command(kind).1, plan)
}

pub(crate) fn run<'a>(kind: &str, arguments: impl IntoIterator<Item = &'a str>, plan: &Plan) -> Report {
    tested(kind, command(kind).0, arguments, plan)
}

pub(crate) fn run_with(kind: &str, fault: &str, plan: &Plan) -> Report {
    run_with_arguments(kind, fault, command(kind).1, plan)
}

pub(crate) fn run_with_arguments<'a>(
    kind: &str,
    fault: &str,
    arguments: impl IntoIterator<Item = &'a str>,
    plan: &Plan,
) -> Report {
    let (words, _) = command(kind);
    let [python, flag, path] = &words[..] else { panic!("{words:?}") };
    let front = [python, flag, &format!("{FOLDER}/faults.py"), kind, fault, path].map(str::to_owned);
    tested(kind, front.into(), arguments, plan)
}

fn faults() -> BTreeMap<String, Faults> {
    let code = "import sys; sys.dont_write_bytecode = True; import faults
for program, of in faults.FAULTS.items():
    for name, (rules, _) in of.items(): print(program, name, *rules)";
    let finished = Command::new(interpreter()).args(["-c", code]).current_dir(FOLDER).output().unwrap();
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stderr));
    let mut faults: BTreeMap<_, Faults> = BTreeMap::new();
    for line in String::from_utf8(finished.stdout).unwrap().lines() {
        let mut words = line.split(' ').map(str::to_owned);
        let (kind, name) = (words.next().unwrap(), words.next().unwrap());
        faults.entry(kind).or_default().push((name, words.collect()));
    }
    faults
}

fn disagreement(kind: &str, name: &str, rules: &[String], report: &Report) -> Option<String> {
    let failed: BTreeSet<&str> = report.failed().into_iter().collect();
    let rules: BTreeSet<&str> = rules.iter().map(String::as_str).collect();
    uses_terms_of_the_protocol(report, name);
    let is_required = |rule: &&str| tester(kind).rules.iter().any(|of| of.id == *rule && of.is_required());
    let fails = rules.iter().any(is_required);
    (failed != rules || (report.outcome() == Outcome::Failed) != fails)
        .then(|| format!("expected failures of {rules:?}, received {failed:?}:\n{report}"))
}

fn uses_terms_of_the_protocol(report: &Report, fault: &str) {
    let breaches = || report.rules.iter().flat_map(|rule| &rule.breaches);
    let messages = breaches().flat_map(|breach| &breach.conversation).map(|message| &message.text);
    for text in breaches().map(|breach| &breach.text).chain(messages) {
        for word in ["Some(", "None", "Ok(", "Err(", "ShortText", "Position {", "PlayerId", "Card {", "Card("] {
            assert!(!text.contains(word), "{fault}: {text}");
        }
    }
}

fn undetected(kind: &str, faults: Faults, at_once: usize, plan: impl Fn(&str, &[String]) -> Plan + Sync) -> Faults {
    let wrong = Mutex::new(Vec::new());
    in_parallel(at_once, faults, |(name, rules)| {
        let began = Instant::now();
        let report = run_with(kind, &name, &plan(&name, &rules));
        let disagreement = disagreement(kind, &name, &rules, &report);
        let verdict = disagreement.as_deref().unwrap_or("is detected");
        eprintln!("{kind} {name} after {:.0} s: {verdict}", began.elapsed().as_secs_f64());
        wrong.lock().unwrap().extend(disagreement.map(|_| (name, rules)));
    });
    wrong.into_inner().unwrap()
}

fn meant_for(kind: &str, rules: &[String]) -> Plan {
    Plan { only: Some(only(tester(kind), rules.iter().map(String::as_str))), ..plan(patience(kind, "")) }
}

#[test]
fn every_family_of_rules_has_a_fault() {
    let faults = faults();
    for (kind, ..) in PROGRAMS {
        let broken = faults[kind].iter().flat_map(|(_, rules)| rules).map(|id| tester(kind).rule(id).expect(id));
        let family = |rule: &Rule| (rule.task, rule.page);
        let tested: BTreeSet<_> = broken.map(family).collect();
        let all: BTreeSet<_> = tester(kind).rules.iter().map(|rule| family(rule)).collect();
        assert_eq!(tested, all, "of a {kind}");
    }
}

/// Detected without a wait for a missing message.
const IMMEDIATE: [(&str, &str); 6] = [
    ("dealer", "writes-lose"),
    ("player", "numbers-only"),
    ("nuggets-server", "newline-behind-gold"),
    ("nuggets-client", "takes-any-arguments"),
    ("robots-server", "numbers-blocks-4"),
    ("robots-client", "sends-a-zero-more"),
];

#[test]
fn selected_scenarios_detect_faults_of_their_rules() {
    let faults = faults();
    side_by_side(IMMEDIATE, |(kind, fault)| {
        let found = faults[kind].iter().filter(|(name, _)| name == fault).cloned().collect();
        assert_eq!(undetected(kind, found, 1, |_, rules| meant_for(kind, rules)), [], "of a {kind}");
    });
}

const DETECTED_ELSEWHERE: &[&str] =
    &["stands-on-16", "aborts-at-a-taken-port", "piles-in-passages", "bombs-leave-too", "turns-in-a-byte"];

// Selects for each rule the fault that breaks the fewest others. `just prove` tests all faults with all scenarios.
fn every_rule_detects_a_fault(kind: &str) {
    let mut faults = faults().remove(kind).unwrap();
    faults.sort_by_key(|(_, rules)| rules.len());
    let mut seen = BTreeSet::new();
    faults.retain(|(_, rules)| {
        let unseen = seen.len();
        seen.extend(rules.iter().cloned());
        seen.len() > unseen
    });
    let plan = |name: &str, rules: &[String]| {
        if DETECTED_ELSEWHERE.contains(&name) { plan(patience(kind, name)) } else { meant_for(kind, rules) }
    };
    // A second attempt without parallel tests, in case the machine was busy.
    let wrong = undetected(kind, undetected(kind, faults, AT_ONCE, plan), 1, plan);
    assert_eq!(wrong, [], "faults of a {kind} that do not fail exactly their rules");
}

fn every_fault_is_detected(kind: &str) {
    let wrong = undetected(kind, faults().remove(kind).unwrap(), AT_ONCE, |name, _| plan(patience(kind, name)));
    assert_eq!(wrong, [], "faults of a {kind} that do not fail exactly their rules");
}

fn passes_whole(kind: &str) {
    let report = run(kind, command(kind).1, &plan(PATIENCE));
    for rule in &report.rules {
        assert_eq!(rule.verdict, Verdict::Passed, "{}\n{report}", rule.id);
    }
    assert_eq!(report.outcome(), Outcome::Passed);
    for rule in &report.rules {
        let shown = report.scenarios.iter().any(|scenario| {
            let is_played = scenario.meant_for.is_empty() || scenario.meant_for.contains(&rule.id);
            is_played && scenario.observed.contains(&rule.id)
        });
        assert!(shown, "no scenario with --only {} observes it", rule.id);
    }
}

macro_rules! references {
    ($($kind:literal: $passes:ident $rules:ident $faults:ident;)*) => {
        $(
            #[test]
            #[ignore = "runs the whole kit; run by .ci/run --release"]
            fn $passes() {
                passes_whole($kind);
            }

            #[test]
            #[ignore = "starts hundreds of Python programs; run by .ci/run --release"]
            fn $rules() {
                every_rule_detects_a_fault($kind);
            }

            #[test]
            #[ignore = "takes many minutes: just prove"]
            fn $faults() {
                every_fault_is_detected($kind);
            }
        )*
    };
}

references! {
    "dealer": the_dealer_passes_whole each_rule_of_the_dealer each_fault_of_the_dealer_is_found;
    "player": the_player_passes_whole each_rule_of_the_player each_fault_of_the_player_is_found;
    "nuggets-server": the_nuggets_server_passes_whole each_rule_of_the_nuggets_server each_fault_of_the_nuggets_server_is_found;
    "nuggets-client": the_nuggets_client_passes_whole each_rule_of_the_nuggets_client each_fault_of_the_nuggets_client_is_found;
    "robots-server": the_robots_server_passes_whole each_rule_of_the_robots_server each_fault_of_the_robots_server_is_found;
    "robots-client": the_robots_client_passes_whole each_rule_of_the_robots_client each_fault_of_the_robots_client_is_found;
    "mastermind-text": the_text_game_passes_whole each_rule_of_the_text_game each_fault_of_the_text_game_is_found;
    "mastermind-server": the_mastermind_server_passes_whole each_rule_of_the_mastermind_server each_fault_of_the_mastermind_server_is_found;
    "mastermind-client": the_mastermind_client_passes_whole each_rule_of_the_mastermind_client each_fault_of_the_mastermind_client_is_found;
}

fn untested(report: &Report) -> (Vec<&str>, Outcome) {
    let untested = report.rules.iter().filter(|rule| rule.verdict == Verdict::NotTested);
    (untested.map(|rule| rule.id.as_str()).collect(), report.outcome())
}

#[test]
#[ignore = "runs the whole kit; run by .ci/run --release"]
fn player_without_table_passes_whole() {
    let report = run("player", ["{name}", "{host}", "{port}"], &plan(PATIENCE));
    let of_tables = tester("player").rules.iter().filter(|rule| rule.page == "blackjack.md#tables");
    let of_tables: Vec<_> = of_tables.map(|rule| rule.id).collect();
    assert!(of_tables.len() == 10 && untested(&report) == (of_tables, Outcome::Passed), "{report}");
}

#[test]
#[ignore = "runs the whole kit; run by .ci/run --release"]
fn nuggets_spectator_passes_whole() {
    let report = run(NUGGETS_CLIENT.kind, ["{host}", "{port}"], &plan(PATIENCE));
    assert_eq!(untested(&report).0, ["short-name", "odd-name"], "{report}");
    assert_eq!(report.failed(), [""; 0], "{report}");
}

#[test]
fn running_dealer_is_tested_with_its_current_game() {
    let (words, _) = command("dealer");
    let dealer = Process::start(Command::new(&words[0]).args(&words[1..]).args(["0", "5", "--players", "2"]));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, dealer.port()));
    let options = Options { patience: Duration::from_millis(PATIENCE), players: 2, ..Options::default() };
    let report = DEALER.test(&Remote(address), &options);
    assert_eq!(report.outcome(), Outcome::Passed, "{report}");
    assert_eq!(report.finding("rounds").map(|rule| (rule.verdict, rule.count)), Some((Verdict::Passed, 1)));
    assert_eq!(report.verdict("offender"), Some(Verdict::NotTested));
}

#[test]
fn running_nuggets_server_is_tested_until_no_letter_is_free() {
    let (words, _) = command("nuggets-server");
    let map = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/main.txt");
    let server = Process::start(Command::new(&words[0]).args(&words[1..]).args([map, "2021"]));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
    let options = Options { patience: Duration::from_millis(PATIENCE), ..Options::default() };
    let test = || NUGGETS_SERVER.test(&Remote(address), &options);
    let report = test();
    assert_eq!(report.failed(), [""; 0], "{report}");
    assert_eq!(report.verdict("any-name"), Some(Verdict::Passed), "{report}");
    let why = |report: &Report, rule: &str| report.finding(rule).map(|rule| (rule.verdict, rule.why.clone()));
    let no_letter = (Verdict::NotTested, "the running server's game has no free letter".to_owned());
    assert_eq!(why(&report, "spectator-keys"), Some(no_letter.clone()), "{report}");
    // The earlier test assigned all letters of this game.
    let report = test();
    assert_eq!(report.failed(), [""; 0], "{report}");
    assert_eq!(why(&report, "any-name"), Some(no_letter), "{report}");
}
