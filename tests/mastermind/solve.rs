use testkit::{TempDir, terminal::Terminal};

use super::{path, said};

#[test]
fn a_report_has_the_distribution_the_method_and_what_is_proven() {
    let parts = said("solve --length 4 --colours 6 --strategy parts --all --threads 3", "");
    let lines: Vec<&str> = parts.lines().collect();
    assert_eq!((lines[1], lines[4]), ("   1 █ 1", &*format!("   4 {} 635", "█".repeat(40))));
    assert_eq!(lines[7], "4 pegs, 6 colours, with repeats; parts; 3 threads");
    let proven = said("solve --length 4 --colours 5 --strategy optimal --all", "");
    assert!(proven.contains("nodes searched, proven to be the least total\n"), "{proven}");
    let good = said("solve --length 5 --colours 6 --strategy optimal --all", "");
    assert!(good.contains("guesses limited to ") && good.contains("not proven"), "{good}");
}

// In a terminal, a progress bar shows that long work has begun.
#[test]
fn ctrl_c_ends_long_work_in_order() {
    for (length, strategy, threads, bar) in [
        ("5", "entropy", "2", " codes, "),
        ("8", "minimax", "1", " codes, "),
        ("8", "optimal", "1", " codes, "),
        ("4", "optimal", "1", "] first guess "),
    ] {
        let data = TempDir::new();
        let arguments =
            ["solve", "--length", length, "--colours", "8", "--strategy", strategy, "--threads", threads, "--all"];
        let environment = [("XDG_DATA_HOME", data.path().to_str().unwrap())];
        let mut terminal = Terminal::start_with(&path(), &arguments, &environment, 100, 10);
        terminal.wait_for(bar);
        terminal.press(b"\x03");
        terminal.wait_for("mastermind-play: stopped before");
        assert_eq!(terminal.end(), 1, "{length} {strategy}");
    }
}

#[test]
fn one_code_is_played_with_reasons() {
    let said = |repeats| said(&format!("solve --length 4 --colours 8 {repeats} --code 8536"), "");
    let text = said("--repeats no");
    assert_eq!(text, said("--no-repeats"), "as the option was called before");
    let [first, .., found, last] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(first.starts_with("Turn 1: 1680 codes are possible. I would guess ") && first.ends_with('.'), "{text}");
    assert!(first.contains(" guesses compared against every possible code) Guess "), "{text}");
    assert!(found.ends_with(" Guess 8536: red 4, white 0."), "{text}");
    assert!(last.starts_with("8536 is found in "), "{text}");
}
