//! Each scenario with few rooms; the class has 60 pupils.

use std::process::{Command, Output};

fn load(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_arcade-load")).args(arguments).output().expect("the program runs")
}

#[test]
fn rejects_unknown_attacks_and_lists_the_known_ones() {
    let wrong = load(&["attack", "--only", "zombies"]);
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(!wrong.status.success() && text.contains("zombies") && text.contains("pings"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "builds the hub and plays for two minutes; .ci/run --release runs it"]
fn scenarios_report_their_figures() {
    let hub = testkit::programs::build(&["arcade"]).join("arcade");
    let hub = hub.to_str().expect("a path in UTF-8");
    for (arguments, figures) in [
        ("rooms --rooms 2 --turns 20 --floor --pages 1", &["| bare loops: 80 turns", "| the hub: ", "1 pages"][..]),
        (
            "watchers --watchers 3 --turns 20",
            &["3 browsers watch a match of 20 turns", "| from a turn to its last frame, "],
        ),
        ("class --pupils 60 --lost 60", &["A class of 60 pupils", "All pupils returned to their seats after 60 s."]),
        ("restart --rooms 2 --arrivals 20", &["A hub with 2 rooms, each with a journal of 20 arrivals, was killed."]),
    ] {
        let output = load(&[arguments.split(' ').collect(), vec!["--arcade", hub]].concat());
        let (report, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        for figure in figures {
            assert!(output.status.success() && report.contains(figure), "{arguments}: {figure}\n{report}{errors}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs NATS and PostgreSQL; .ci/run --release runs it"]
fn fleet_compares_streams_and_messages_about_rooms() {
    let hub = testkit::programs::build(&["arcade"]).join("arcade");
    let server = |name| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; see CONTRIBUTING.md"));
    let (nats, database) = (server("ARCADE_TEST_NATS"), server("ARCADE_TEST_POSTGRES"));
    let options = ["fleet", "--rooms", "6", "--only", "records", "--only", "directory", "--nats", &nats, "--database"];
    let output = load(&[&options[..], &[&database, "--arcade", hub.to_str().expect("a path in UTF-8")]].concat());
    let (report, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    for row in ["| 1 | ", "| 16 | ", "| with nodes of this version | ", "| with a node of an earlier version | "] {
        let mut figures = report.lines().filter_map(|line| line.strip_prefix(row)?.split(" | ").next());
        assert!(
            figures.next().is_some_and(|figure| figure.parse().is_ok_and(|rate: f64| rate > 0.0)),
            "{report}{errors}"
        );
    }
}

/// Does not assert the bounds, since the machine may be busy with other tests.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "players play for 18 seconds; .ci/run --release runs it"]
fn attack_reports_how_players_are_served() {
    let hub = testkit::programs::build(&["arcade"]).join("arcade");
    let options = ["attack", "--minutes", "0.1", "--seed", "7", "--only", "rooms", "--only", "quitters", "--arcade"];
    let output = load(&[&options[..], &[hub.to_str().expect("a path in UTF-8")]].concat());
    let (report, broken) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        report.starts_with("8 players are alone for 12 s, and for 6 s beside 2 attacks, each from 10 hosts"),
        "{report}{broken}"
    );
    assert!(report.contains("with --seed 7:"), "{report}");
    assert_eq!(output.status.success(), broken.is_empty(), "{broken}");
    let cells = |start: &str| -> Vec<String> {
        let line = report.lines().find(|line| line.starts_with(&format!("| {start}"))).expect(start);
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    for player in ["NuggetsUdp", "NuggetsPage", "RobotsTcp", "RobotsPage", "BlackjackTcp", "Reader"] {
        let alone = cells(&format!("{player}, alone"));
        let (answered, failed) = (&alone[2], &alone[6]);
        let count: u32 = answered.split(' ').next().unwrap().parse().unwrap();
        assert!(count > 0 && failed == "0", "{player}: {answered}, {failed} failed\n{report}");
    }
    // A host may open a limited number of rooms, and joins the match of nuggets.
    assert!(cells("rooms |")[3].contains("201 "), "{report}");
    assert!(cells("quitters |")[3].contains("OK "), "{report}");
    assert!(cells("under attack |")[2].ends_with(" MB"), "{report}");
}
