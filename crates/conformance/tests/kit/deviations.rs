//! Variants of the reference programs with typical deviations of students get the verdicts that a teacher would give.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::collections::BTreeSet;

use conformance::{Outcome, Plan, Report, Seed, TESTERS, Tester, Verdict};

use crate::{
    references::{LESS, PATIENCE, python, run_with, run_with_arguments, tester},
    support::{only, plan, side_by_side},
};

const DEALER: &str = "dealer";
const NUGGETS_SERVER: &str = "nuggets-server";
const NUGGETS_CLIENT: &str = "nuggets-client";
const ROBOTS_SERVER: &str = "robots-server";
const ROBOTS_CLIENT: &str = "robots-client";
const TEXT_GAME: &str = "mastermind-text";

fn with_rules(kind: &str, rules: &str, patience: u64) -> Plan {
    Plan { only: Some(only(tester(kind), rules.split(' '))), ..plan(patience) }
}

fn with_verdict(report: &Report, verdict: Verdict) -> BTreeSet<&str> {
    report.rules.iter().filter(|rule| rule.verdict == verdict).map(|rule| &*rule.id).collect()
}

/// The fault, the tested rules, and the rules that it breaks.
type Case = (&'static str, &'static str, &'static str);

fn break_only_their_rules(kind: &str, cases: &[Case]) {
    side_by_side(cases, |(fault, rules, broken)| {
        let patience = if broken.is_empty() { PATIENCE } else { LESS };
        let report = run_with(kind, fault, &with_rules(kind, rules, patience));
        assert_eq!(with_verdict(&report, Verdict::Failed), broken.split_whitespace().collect(), "{fault}: {report}");
        assert_eq!(with_verdict(&report, Verdict::NotTested), BTreeSet::new(), "{fault}: {report}");
    });
}

// Each fault breaks the first of its rules. The others pass or are not tested because of it.
fn break_only_the_first_rule(kind: &str, cases: &[(&str, &str)]) {
    side_by_side(cases, |(fault, rules)| {
        let report = run_with(kind, fault, &with_rules(kind, rules, LESS));
        assert_eq!(report.failed(), rules.split(' ').take(1).collect::<Vec<_>>(), "{fault}: {report}");
    });
}

const GAME: &str = "hello accepted game-started turn-0 draws turn-numbers move place-bomb place-block own-events \
    played-once bomb-timer blast rebirth game-ended scores equal-names empty-name longest-name over-bombs \
    no-shelter";
const BYTES: &str = "hello accepted game-started turn-0 move half-more coalesced own-buffers pieces before-bad-bytes";

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn robots_servers_break_only_their_own_rules() {
    let cases: &[Case] = &[
        ("accepts-twice", GAME, "accepted"),
        ("keeps-events", GAME, "own-events"),
        ("swaps-timer-and-radius", GAME, "hello"),
        ("skips-the-third-hello", GAME, "hello"),
        ("no-empty-names", GAME, "empty-name"),
        ("slow-start", GAME, ""),
        ("aborts-at-a-taken-port", "taken-port exit-status-1 no-crash hello", "no-crash"),
        (
            "aborts-at-wrong-arguments",
            "wrong-arguments too-large no-arguments exit-status-1 no-crash",
            "exit-status-1 no-crash",
        ),
        ("turns-by-the-clock", "turn-duration turn-numbers next-game", "turn-duration"),
        ("seeds-by-time", "no-seed", ""),
        ("one-seed-for-all", "draws no-seed", "draws no-seed"),
        // The tester repeats the scenario, since it cannot keep up with this server.
        ("bombs-are-walls-and-turns-late", "over-bombs shared-field", "over-bombs"),
        // The server sends Hello and reads in two threads.
        ("misses-joins-while-it-greets", GAME, ""),
        ("misses-joins-while-it-greets", BYTES, ""),
        ("ends-when-a-client-leaves-before-hello", "ipv6 many-clients crowd visitors", ""),
    ];
    break_only_their_rules(ROBOTS_SERVER, cases);
}

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn faults_of_later_lobbies_cost_one_rule() {
    let rules = "next-game hello turn-numbers next-board next-scores never-reads";
    let faults = [
        "begins-again-at-turn-1",
        "greets-again-after-a-game",
        "accepts-the-last-of-the-first-lobby-only",
        "counts-ids-over-games",
        "one-game-has-turns",
    ];
    break_only_the_first_rule(ROBOTS_SERVER, &faults.map(|fault| (fault, rules)));
}

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn untested_rules_name_the_rule_that_prevented_the_test() {
    let expected: [(_, _, &str, _); 3] = [
        (
            ROBOTS_SERVER,
            "starts-with-its-first-player",
            "game-started accepted newcomer-in-lobby equal-names comes-back own-buffers",
            ("equal-names", "'equal names' ended early because game-started failed"),
        ),
        (
            ROBOTS_SERVER,
            "counts-no-scores",
            "well-formed scores score-once score-zeros",
            ("scores", "because well-formed failed"),
        ),
        (NUGGETS_SERVER, "walks-through-players", "swap pushed-player", ("pushed-player", "because swap failed")),
    ];
    side_by_side(expected, |(kind, fault, rules, (untested, why))| {
        let report = run_with(kind, fault, &with_rules(kind, rules, LESS));
        assert_eq!(report.failed(), rules.split(' ').take(1).collect::<Vec<_>>(), "{fault}: {report}");
        assert_eq!(report.finding(untested).unwrap().why, why, "{fault}: {report}");
    });
}

const PLAY: &str = "connects join forwarded move-up lobby-picture game-picture positions explosions observes \
    observer-forwards any-address rejoins zero-bytes longest-name server-names hello-picture";

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn robots_clients_break_only_their_own_rules() {
    let cases: &[Case] = &[
        (
            "aborts-when-it-ends",
            "malformed bad-event cut-off reset connection-lost no-crash exit-status-1",
            "no-crash exit-status-1",
        ),
        // A client may forward inputs only as a player of its own name.
        ("forwards-as-a-player", PLAY, "observer-forwards"),
        ("c-strings", PLAY, "zero-bytes"),
        ("draws-no-hello", PLAY, "hello-picture"),
        // IPv6 addresses may be written with and without brackets.
        ("wants-brackets", "server-ipv6 gui-address-ipv6 no-crash join", ""),
        ("refuses-brackets", "server-ipv6 gui-address-ipv6 no-crash join", ""),
    ];
    break_only_their_rules(ROBOTS_CLIENT, cases);
    assert!(!tester(ROBOTS_CLIENT).rule("zero-bytes").unwrap().is_required());
}

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn nuggets_servers_break_only_their_own_rules() {
    let cases: &[Case] = &[
        ("prints-no-port", "announces-port name-required small-q", "announces-port"),
        ("prints-42", "announces-port name-required small-q", "announces-port"),
        ("port-on-standard-error", "announces-port name-required small-q", "announces-port"),
        ("forgets-to-bind", "announces-port", "announces-port"),
        ("port-without-line-feed", "announces-port name-required", ""),
        ("port-after-other-numbers", "announces-port name-required", ""),
        ("seeds-by-pid", "no-seed", ""),
        ("seeds-by-time", "no-seed", ""),
        ("no-seed-is-1", "no-seed", "no-seed"),
        ("needs-letters", "any-name end-of-input", "any-name"),
        ("ends-with-its-input", "any-name end-of-input", "end-of-input"),
        (
            "untidy",
            "names name-length small-q strangers-ignored spectator-keys spectator-quits lost-client \
             empty-datagram zero-bytes longest-datagram no-return pushed-player grid-size \
             welcome-player welcome-spectator message-form silent-to-servers",
            "grid-size welcome-player welcome-spectator message-form silent-to-servers",
        ),
        // The tester adopts the state that the server shows, so these rules are not affected.
        ("pays-for-swaps", "game-over final-table quitter-row gold-collected", ""),
        ("piles-share-a-spot", "game-over final-table gold-total gold-collected", ""),
        ("capitals-step-once", "game-over final-table gold-total names name-length", ""),
        ("pays-twice-for-a-quitter", "gold-taken game-over gold-collected", ""),
        ("joins-on-players", "sight own-place full-game spectator-sees-all", ""),
        ("joins-on-gold", "game-over any-name names name-length end-of-input piles-in-rooms", ""),
        ("q-is-unknown", "step display-to-all run-over-gold diagonal-run", ""),
    ];
    break_only_their_rules(NUGGETS_SERVER, cases);
    let crashes = &[
        ("dies-of-unknown-senders", "keeps-running strangers-ignored"),
        ("loops-for-spectators", "keeps-running spectator-keys"),
    ];
    break_only_the_first_rule(NUGGETS_SERVER, crashes);
}

#[test]
fn announced_port_without_socket_is_reported() {
    let code = "import time; print('waiting at port 4242', flush=True); time.sleep(100)";
    let report = python(NUGGETS_SERVER, code, &with_rules(NUGGETS_SERVER, "announces-port", 3_000));
    assert_eq!(report.verdict("announces-port"), Some(Verdict::Failed), "{report}");
    assert!(report.to_string().contains("received 4242, but the server listens on no UDP port"), "{report}");
}

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn sight_through_passages_breaks_the_passage_rule() {
    let mut plan = with_rules(NUGGETS_SERVER, "sight passage-sight full-game", PATIENCE);
    // With this seed, the player that sees too much is in a room.
    plan.options.seed = Seed::Number(2);
    let report = run_with(NUGGETS_SERVER, "players-let-sight-through", &plan);
    assert_eq!(report.failed(), ["passage-sight"], "{report}");
}

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn nuggets_clients_break_only_their_own_rules() {
    let cases: &[Case] = &[
        // The text of QUIT counts if it is visible at exit.
        ("jumps-over-blanks", "quit-text exact-text refused", ""),
        ("shows-the-text-for-a-while", "quit-text exact-text refused", ""),
        // The client reads keys only after it has drawn its screen, in a terminal that fits the largest map.
        ("forgets-early-keys", "keys-as-typed any-key quit-text", ""),
        ("measures-its-window", "big-map", ""),
        // A spectator need not send keys other than Q.
        ("spectators-type-only-q", "spectates watches", ""),
        ("waits-for-ok", "spectates watches", "watches"),
        ("always-plays", "spectates", "spectates"),
    ];
    break_only_their_rules(NUGGETS_CLIENT, cases);
    break_only_the_first_rule(NUGGETS_CLIENT, &[("wipes-the-text", "quit-text exact-text refused")]);
}

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn text_games_break_only_their_own_rules() {
    let expected = [
        ("prompt-ends-the-line", None),
        ("empty-line-behind-the-prompt", None),
        ("red-and-white-in-one-line", None),
        ("all-in-one-line", None),
        ("empty-lines", None),
        ("length-is-not-checked", Some("lengths")),
        ("no-prompt", Some("prompt")),
    ];
    side_by_side(expected, |(fault, broken)| {
        let report = run_with(TEXT_GAME, fault, &plan(3 * PATIENCE));
        let failed = report.rules.iter().filter(|rule| rule.points > 0 && rule.verdict == Verdict::Failed);
        assert_eq!(failed.map(|rule| &*rule.id).collect::<Vec<_>>(), Vec::from_iter(broken), "{fault}: {report}");
        assert!(broken.is_some() || report.outcome() == Outcome::Passed, "{fault}: {report}");
        if fault == "no-prompt" {
            let prompt = report.finding("prompt").unwrap();
            assert!(prompt.breaches.len() == 1 && prompt.count > 10, "expected one report with a count: {report}");
            let mut messages = prompt.breaches[0].conversation.iter();
            assert!(messages.any(|message| message.text.starts_with("prints '")), "{report}");
        }
    });
}

#[test]
#[ignore = "runs the whole kit: just prove"]
fn dealers_and_players_break_only_their_own_rules() {
    let one_player: &[&str] = &["{port}", "{rounds}"];
    let player: &[&str] = &["{name}", "{host}", "{port}"];
    let cases = [
        (DEALER, one_player, "forgets-the-zero", Some("grammar")),
        (DEALER, one_player, "newline-for-zero", Some("grammar")),
        (DEALER, one_player, "welcomes", Some("grammar")),
        (DEALER, one_player, "shows-the-hidden-card", Some("deal")),
        (DEALER, one_player, "no-begin", Some("round-begins")),
        (DEALER, one_player, "seeded-by-the-second", None),
        (DEALER, one_player, "slow-start", None),
        ("player", player, "forgets-the-zero", Some("grammar")),
        ("player", player, "takes-a-read-for-a-message", None),
    ];
    for (kind, arguments, fault, broken) in cases {
        let report = run_with_arguments(kind, fault, arguments.iter().copied(), &plan(PATIENCE));
        let required = |verdict| {
            let rules = report.rules.iter().filter(move |rule| rule.points > 0 && rule.verdict == verdict);
            rules.map(|rule| &*rule.id).collect::<Vec<_>>()
        };
        assert_eq!(required(Verdict::Failed), Vec::from_iter(broken), "{fault}: {report}");
        assert!(fault == "no-begin" || required(Verdict::NotTested).is_empty(), "{fault}: {report}");
        if (kind, fault) == (DEALER, "forgets-the-zero") {
            let breaches = &report.finding("grammar").unwrap().breaches;
            assert_eq!(breaches.len(), 1, "expected one report: {report}");
            assert!(breaches[0].text.ends_with("expected a zero byte after each message, received none"), "{report}");
            assert!(!report.to_string().contains("hint: JOIN"), "{report}");
        }
        if fault == "takes-a-read-for-a-message" {
            assert_eq!(report.failed(), ["pieces", "merged", "straddling"], "{report}");
        }
    }
}

#[test]
#[ignore = "starts dozens of Python programs; run by .ci/run"]
fn idle_programs_earn_no_points() {
    let programs = TESTERS.iter().flat_map(|tester| ["", "import time; time.sleep(1000)"].map(|code| (*tester, code)));
    side_by_side(programs, |(tester, code): (&Tester, _)| {
        let report = python(tester.kind, code, &plan(500));
        assert_eq!(report.points().0, 0, "{code}: {report}");
    });
    let joins = "import socket, sys, time
connection = socket.create_connection((sys.argv[2], int(sys.argv[3])))
connection.sendall(b'JOIN ' + sys.argv[1].encode() + b'\\0')
time.sleep(1000)";
    let report = python("player", joins, &plan(500));
    assert_eq!(report.points().0, 0, "{report}");
}

#[test]
fn points_of_robots_follow_from_playing_whole_matches() {
    for kind in [ROBOTS_SERVER, ROBOTS_CLIENT] {
        let points = || tester(kind).rules.iter().map(|rule| rule.points);
        let (all, heavy): (u32, u32) = (points().sum(), points().filter(|points| *points >= 2).sum());
        assert!(heavy * 100 / all >= 60, "{kind} {heavy} of {all}");
    }
}

/// In a teacher's ranking. Those in the first row are accepted, since the task does not exclude them.
const RANKINGS: [(&str, &[&str]); 3] = [
    (
        ROBOTS_SERVER,
        &[
            "seeds-by-time slow-start",
            "ipv4-only",
            "keeps-events",
            "swaps-timer-and-radius",
            "accepts-twice",
            "ends-with-its-game",
            "serves-one-client",
        ],
    ),
    (
        NUGGETS_SERVER,
        &[
            "seeds-by-pid seeds-by-time prints-when-it-is-a-line starts-after-3-seconds answers-all",
            "grid-of-one-row-more greets-with-two-golds port-on-standard-error zeros-behind-messages ends-with-its-input",
            "ends-with-a-quitter",
            "one-client-only",
        ],
    ),
    (
        DEALER,
        &[
            "slow-start seeded-by-the-second",
            "bust-loses no-begin",
            "writes-lose newline-before-zero forgets-the-zero",
            "ends-after-two-rounds",
        ],
    ),
];

#[test]
#[ignore = "runs the whole kit for each fault: just prove"]
fn deviating_servers_rank_as_teachers_expect() {
    for (kind, rows) in RANKINGS {
        let points = |fault: &str| {
            let report = if kind == DEALER {
                run_with_arguments(kind, fault, ["{port}", "{rounds}"], &plan(PATIENCE))
            } else {
                run_with(kind, fault, &plan(PATIENCE))
            };
            eprintln!("{fault}: {report}");
            report.points()
        };
        let points: Vec<Vec<(u32, u32)>> = rows.iter().map(|row| row.split(' ').map(points).collect()).collect();
        assert!(points[0].iter().all(|(points, of)| points == of), "{kind}: {points:?}");
        let is_sorted = points.windows(2).all(|rows| rows[0].iter().min() > rows[1].iter().max());
        let is_positive = points.iter().flatten().all(|(points, _)| *points > 0);
        assert!(is_sorted && is_positive, "{kind}: {points:?}");
    }
}
