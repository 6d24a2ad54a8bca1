//! Dealers and players like those of students. A deviation in one respect breaks its rule, and all other rules are
//! judged.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

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
#[ignore = "runs the whole kit: just prove"]
fn dealer_without_zero_bytes_breaks_only_grammar() {
    let report = dealer("forgets-the-zero");
    assert_eq!(required(&report, Verdict::Failed), ["grammar"], "{report}");
    assert_eq!(required(&report, Verdict::NotTested), [""; 0], "{report}");
    let breaches = &report.finding("grammar").unwrap().breaches;
    assert_eq!(breaches.len(), 1, "expected one report: {report}");
    assert!(breaches[0].text.ends_with("expected a zero byte after each message, received none"), "{report}");
    assert!(!report.to_string().contains("hint: JOIN"), "{report}");
}

#[test]
#[ignore = "runs the whole kit: just prove"]
fn dealer_with_lines_instead_of_zero_bytes_breaks_only_grammar() {
    let report = dealer("newline-for-zero");
    assert_eq!(required(&report, Verdict::Failed), ["grammar"], "{report}");
    assert_eq!(required(&report, Verdict::NotTested), [""; 0], "{report}");
}

#[test]
#[ignore = "runs the whole kit: just prove"]
fn slow_dealer_seeded_with_the_time_earns_all_points() {
    for fault in ["seeded-by-the-second", "slow-start"] {
        let report = dealer(fault);
        assert_eq!((report.points().0, report.outcome()), (report.points().1, Outcome::Passed), "{fault}: {report}");
    }
}

#[test]
#[ignore = "runs the whole kit: just prove"]
fn player_that_treats_each_read_as_a_message_earns_all_points() {
    let report =
        run("player", ["{name}", "{host}", "{port}", "--fault", "takes-a-read-for-a-message"], &plan(PATIENCE));
    assert_eq!(report.points().0, report.points().1, "{report}");
    for rule in ["pieces", "merged", "straddling"] {
        assert_eq!(report.verdict(rule), Some(Verdict::Failed), "{rule}: {report}");
    }
}

#[test]
#[ignore = "runs the whole kit: just prove"]
fn player_without_zero_bytes_breaks_only_grammar() {
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
#[ignore = "runs the whole kit; run by .ci/run"]
fn deviating_dealers_rank_as_teachers_expect() {
    let mut above = u32::MAX;
    for &faults in RANKING {
        let points: Vec<u32> = faults.iter().map(|fault| dealer(fault).points().0).collect();
        let (least, most) = (points.iter().min().unwrap(), points.iter().max().unwrap());
        assert!(*most <= above, "expected at most {above} points for {faults:?}, received {points:?}");
        above = *least;
    }
    let nothing = crate::references::nothing("dealer", 1_000);
    assert!(nothing.points().0 == 0 && above > 0, "{nothing}");
}

#[test]
fn program_that_is_idle_or_only_joins_earns_no_points() {
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
#[ignore = "runs the whole kit: just prove"]
fn extra_dealer_messages_break_their_own_rule() {
    for (fault, rule) in [("welcomes", "grammar"), ("shows-the-hidden-card", "deal"), ("no-begin", "round-begins")] {
        let report = run_with("dealer", fault, &plan(PATIENCE));
        assert_eq!(required(&report, Verdict::Failed), [rule], "{fault}: {report}");
    }
}
