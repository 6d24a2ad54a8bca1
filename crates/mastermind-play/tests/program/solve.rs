use rustix::process::Signal;
use testkit::{TempDir, terminal::Terminal};

use super::{PROGRAM, run};

#[test]
fn the_lines_of_small_games() {
    for (arguments, line) in [
        ("--length 4 --colours 6 --strategy minimax", "total 5801 / 1296 = 4.4761, longest 5"),
        ("--length 4 --colours 6 --strategy expected --threads 1", "total 5696 / 1296 = 4.3951, longest 6"),
        ("--length 4 --colours 6 --strategy entropy --threads 5", "total 5719 / 1296 = 4.4128, longest 6"),
        ("--length 4 --colours 6 --strategy parts", "total 5668 / 1296 = 4.3735, longest 6"),
        ("--length 4 --colours 6 --strategy optimal", "total 5625 / 1296 = 4.3403, longest 6"),
        ("--length 4 --colours 6 --strategy optimal --seed 3", "total 5625 / 1296 = 4.3403, longest 6"),
    ] {
        let finished = run(&format!("solve {arguments} --all"), "");
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{arguments}");
        let lines: Vec<&str> = finished.stdout.lines().collect();
        assert_eq!(lines[0], line, "{arguments}");
        let found: u64 = lines[1..]
            .iter()
            .filter(|line| line.starts_with("   "))
            .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum();
        assert_eq!(found, 1296, "{arguments}");
        assert!(lines.last().unwrap().ends_with(" s"), "{arguments}");
    }
}

#[test]
fn what_was_proven_is_said() {
    let proven = run("solve --length 4 --colours 5 --strategy optimal --all", "");
    assert!(proven.stdout.contains("nodes searched, proven to be the least total\n"), "{}", proven.stdout);
    let good = run("solve --length 5 --colours 6 --strategy optimal --all", "");
    assert!(good.stdout.contains("guesses limited to ") && good.stdout.contains("not proven"), "{}", good.stdout);
}

// In a terminal there is a bar once the work takes long, so that a test knows that it has begun.
#[test]
fn ctrl_c_ends_long_work_in_order() {
    for (length, strategy, bar) in [
        ("5", "entropy", " codes, "),
        ("8", "minimax", " codes, "),
        ("8", "optimal", " codes, "),
        ("4", "optimal", "] first guess "),
    ] {
        let data = TempDir::new();
        let arguments = ["solve", "--length", length, "--colours", "8", "--strategy", strategy, "--all"];
        let environment = [("XDG_DATA_HOME", data.path().to_str().unwrap())];
        let mut terminal = Terminal::start_with(PROGRAM, &arguments, &environment, 100, 10);
        terminal.wait_for(bar);
        terminal.press(b"\x03");
        terminal.wait_for("mastermind-play: stopped before");
        assert_eq!(terminal.end(), 1, "{length} {strategy}");
    }
}

#[test]
fn a_closed_terminal_does_not_end_work_that_was_started_with_nohup() {
    let script = "trap '' HUP; exec \"$0\" solve --length 8 --colours 8 --strategy minimax --all";
    let mut terminal = Terminal::start("sh", &["-c", script, PROGRAM], 100, 10);
    // The bar ends with the seconds that it took so far.
    let seconds = |screen: &str| -> Option<u64> {
        let (_, behind) = screen.split_once(" codes, ")?;
        behind.split(' ').next()?.parse().ok()
    };
    terminal.wait(|screen| seconds(&screen.contents()).is_some());
    let before = terminal.look(|screen| seconds(&screen.contents())).unwrap();
    terminal.signal(Signal::HUP);
    terminal.wait(|screen| seconds(&screen.contents()) > Some(before + 1));
    terminal.press(b"\x03");
    terminal.wait_for("mastermind-play: stopped before");
    assert_eq!(terminal.end(), 1);
}

#[test]
fn one_code_is_played_with_reasons() {
    let finished = run("solve --length 4 --colours 8 --repeats no --code 8536", "");
    let before = run("solve --length 4 --colours 8 --no-repeats --code 8536", "").stdout;
    assert_eq!(finished.stdout, before, "as the option was called before");
    assert!(
        finished.stdout.starts_with("Turn 1: 1680 codes are possible. ")
            && finished.stdout.contains("8536 is found in "),
        "{}",
        finished.stdout
    );
}
