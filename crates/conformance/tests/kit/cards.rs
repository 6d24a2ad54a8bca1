//! Dealers and players like those of students. A deviation in one respect breaks its rule, and all other rules are
//! judged.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

use conformance::{Outcome, Report, Verdict};

use crate::{
    references::{run, run_with},
    support::plan,
};

/// More time than a program needs on a busy machine, in milliseconds.
const PATIENCE: u64 = 20_000;
/// The arguments of a dealer for one player, as in the course.
const ONE_PLAYER: [&str; 2] = ["{port}", "{rounds}"];

fn dealer(fault: &str) -> Report {
    run("dealer", ONE_PLAYER.into_iter().chain(["--fault", fault]), &plan(PATIENCE))
}

fn required(report: &Report, verdict: Verdict) -> Vec<&str> {
    let of = report.rules.iter().filter(|rule| rule.points > 0 && rule.verdict == verdict);
    of.map(|rule| rule.id.as_str()).collect()
}

#[test]
#[ignore = "it is a whole run of the kit: just prove"]
fn dealer_without_zero_bytes_breaks_grammar_alone() {
    let report = dealer("forgets-the-zero");
    assert_eq!(required(&report, Verdict::Failed), ["grammar"], "{report}");
    assert_eq!(required(&report, Verdict::NotTested), [""; 0], "{report}");
    let breaches = &report.finding("grammar").unwrap().breaches;
    assert_eq!(breaches.len(), 1, "it is reported once: {report}");
    assert!(breaches[0].text.ends_with("messages are not terminated by a zero byte"), "{report}");
    assert!(!report.to_string().contains("hint: JOIN"), "{report}");
}

#[test]
#[ignore = "it is a whole run of the kit: just prove"]
fn dealer_with_lines_instead_of_zero_bytes_breaks_grammar_alone() {
    let report = dealer("newline-for-zero");
    assert_eq!(required(&report, Verdict::Failed), ["grammar"], "{report}");
    assert_eq!(required(&report, Verdict::NotTested), [""; 0], "{report}");
}

#[test]
#[ignore = "it is a whole run of the kit: just prove"]
fn dealer_for_one_player_that_is_seeded_by_the_second_and_starts_slowly_has_all_points() {
    for fault in ["seeded-by-the-second", "slow-start"] {
        let report = dealer(fault);
        assert_eq!((report.points().0, report.outcome()), (report.points().1, Outcome::Passed), "{fault}: {report}");
    }
}

#[test]
#[ignore = "it is a whole run of the kit: just prove"]
fn player_that_takes_a_read_for_a_message_has_all_points() {
    let report =
        run("player", ["{name}", "{host}", "{port}", "--fault", "takes-a-read-for-a-message"], &plan(PATIENCE));
    assert_eq!(report.points().0, report.points().1, "{report}");
    for rule in ["pieces", "merged", "straddling"] {
        assert_eq!(report.verdict(rule), Some(Verdict::Failed), "{rule}: {report}");
    }
}

#[test]
#[ignore = "it is a whole run of the kit: just prove"]
fn player_without_zero_bytes_breaks_grammar_alone() {
    let report = run("player", ["{name}", "{host}", "{port}", "--fault", "forgets-the-zero"], &plan(PATIENCE));
    assert_eq!(required(&report, Verdict::Failed), ["grammar"], "{report}");
    assert_eq!(required(&report, Verdict::NotTested), [""; 0], "{report}");
}

/// The faults of a dealer in the order of a teacher's ranking. Those in one row may have different points.
const RANKING: &[&[&str]] = &[
    &["slow-start", "seeded-by-the-second"],
    &["bust-loses", "no-begin"],
    &["writes-lose", "newline-before-zero", "forgets-the-zero"],
    &["ends-after-two-rounds"],
];

#[test]
#[ignore = "each is a whole run of the kit; .ci/run runs them"]
fn deviating_dealers_are_ranked_as_a_teacher_would() {
    let mut above = u32::MAX;
    for &faults in RANKING {
        let points: Vec<u32> = faults.iter().map(|fault| dealer(fault).points().0).collect();
        let (least, most) = (points.iter().min().unwrap(), points.iter().max().unwrap());
        assert!(*most <= above, "{faults:?} have {points:?} points; those before have at least {above}");
        above = *least;
    }
    let nothing = crate::references::nothing("dealer", 1_000);
    assert!(nothing.points().0 == 0 && above > 0, "{nothing}");
}

#[test]
fn program_that_does_nothing_or_only_joins_earns_nothing() {
    for kind in ["dealer", "player"] {
        let report = crate::references::nothing(kind, 500);
        assert_eq!(report.points().0, 0, "{report}");
    }
    let joins = "import socket, sys, time
connection = socket.create_connection((sys.argv[2], int(sys.argv[3])))
connection.sendall(b'JOIN ' + sys.argv[1].encode() + b'\\0')
time.sleep(1000)";
    let report = crate::references::python("player", joins, &["{name}", "{host}", "{port}"], 500);
    assert_eq!(report.points().0, 0, "{report}");
}

#[test]
#[ignore = "it is a whole run of the kit: just prove"]
fn extra_messages_of_a_dealer_break_their_own_rule() {
    for (fault, rule) in [("welcomes", "grammar"), ("shows-the-hidden-card", "deal"), ("no-begin", "round-begins")] {
        let report = run_with("dealer", fault, &plan(PATIENCE));
        assert_eq!(required(&report, Verdict::Failed), [rule], "{fault}: {report}");
    }
}
