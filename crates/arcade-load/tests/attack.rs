//! A few seconds of attacks by the program itself, on the hub that is built for it.

use std::process::{Command, Output};

fn attack(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_arcade-load")).arg("attack").args(arguments).output().expect("the program runs")
}

#[test]
fn the_list_has_a_line_for_each_attack_and_others_are_refused() {
    let list = attack(&["--list"]);
    let text = String::from_utf8(list.stdout).unwrap();
    assert!(list.status.success() && text.lines().any(|line| line.starts_with("pings ")), "{text}");
    let wrong = attack(&["--only", "zombies"]);
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(!wrong.status.success() && text.contains("zombies") && text.contains("pings"), "{text}");
}

/// Whether the bounds hold is not asserted: this machine may be busy with other tests.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "innocents play for 18 seconds; .ci/run runs it"]
fn innocents_play_beside_attacks_and_everything_is_reported() {
    let hub = testkit::programs::build(&["arcade"]).join("arcade");
    let options = ["--minutes", "0.1", "--seed", "7", "--only", "rooms", "--only", "quitters", "--arcade"];
    let output = attack(&[&options[..], &[hub.to_str().expect("a path in UTF-8")]].concat());
    let (report, broken) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        report.starts_with("8 innocents play alone for 12 s, and for 6 s beside 2 attacks, each from 10 hosts"),
        "{report}{broken}"
    );
    assert!(report.contains("with --seed 7:"), "{report}");
    assert_eq!(output.status.success(), broken.is_empty(), "{broken}");
    let cells = |start: &str| -> Vec<String> {
        let line = report.lines().find(|line| line.starts_with(&format!("| {start}"))).expect(start);
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    for innocent in ["NuggetsUdp", "NuggetsPage", "RobotsTcp", "RobotsPage", "BlackjackTcp", "Reader"] {
        let alone = cells(&format!("{innocent}, alone"));
        let (answered, failed) = (&alone[2], &alone[6]);
        let count: u32 = answered.split(' ').next().unwrap().parse().unwrap();
        assert!(count > 0 && failed == "0", "{innocent}: {answered}, {failed} failed\n{report}");
    }
    // A host may open some rooms and no more, and joins a match for which it is not too late.
    assert!(cells("rooms |")[3].contains("201 "), "{report}");
    assert!(cells("quitters |")[3].contains("OK "), "{report}");
    assert!(cells("attacked |")[2].ends_with(" MB"), "{report}");
}
