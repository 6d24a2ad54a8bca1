use std::fs;

use rustix::process::Signal;
use testkit::{TempDir, terminal::Terminal};

use super::{PROGRAM, run_in};

/// A game whose code is 7423.
const PUZZLE: [&str; 6] = ["--length", "4", "--repeats", "no", "--seed", "7"];

fn start(data: &TempDir, first: &str, arguments: &[&str], columns: u16, rows: u16) -> Terminal {
    let arguments: Vec<&str> = [first].iter().chain(arguments).copied().collect();
    let environment = [("XDG_DATA_HOME", data.path().to_str().unwrap()), ("COLORTERM", "truecolor")];
    Terminal::start_with(PROGRAM, &arguments, &environment, columns, rows)
}

fn panel(data: &TempDir, columns: u16, rows: u16) -> Terminal {
    let terminal = start(data, "--panel", &PUZZLE, columns, rows);
    terminal.wait_for("MASTERMIND");
    terminal
}

/// Presses keys and waits for what they bring to the screen.
#[track_caller]
fn press(terminal: &mut Terminal, keys: &[u8], shown: &str) {
    terminal.press(keys);
    terminal.wait_for(shown);
}

/// Leaves with these keys.
#[track_caller]
fn leave(mut terminal: Terminal, keys: &[u8]) {
    terminal.press(keys);
    assert_eq!(terminal.end(), 0);
}

#[test]
fn the_text_game_in_a_terminal() {
    let data = TempDir::new();
    let mut terminal = start(&data, PUZZLE[0], &PUZZLE[1..], 120, 40);
    terminal.wait_for("Guess : ");
    press(&mut terminal, b"1234\n", "White: 3");
    press(&mut terminal, b"7423\n", "Another game");
    press(&mut terminal, b"no\n", "As expected");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn the_result_to_paste_keeps_its_lines_in_a_terminal() {
    let data = TempDir::new();
    let mut terminal = start(&data, "--daily", &["--length", "8"], 80, 60);
    for _ in 0..10 {
        terminal.wait_for("Guess : ");
        terminal.wipe();
        terminal.press(b"11111111\n");
    }
    // All rows together are wider than the window. No code of eight pegs is all 1 on more than one day in 16 million.
    terminal.wait(|screen| {
        let contents = screen.contents();
        contents.lines().any(|line| line.trim_end().ends_with("8 pegs, 8 colours, with repeats: X/10"))
    });
    assert_eq!(terminal.end(), 0);
}

#[test]
fn signals_and_the_end_of_input_end_the_text_game_quietly() {
    for end in [&b"\x03"[..], b"\x04"] {
        let data = TempDir::new();
        let terminal = start(&data, PUZZLE[0], &PUZZLE[1..], 80, 24);
        terminal.wait_for("Guess : ");
        leave(terminal, end);
    }
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let data = TempDir::new();
        let terminal = start(&data, "--seed", &["7"], 80, 24);
        terminal.wait_for("How long");
        terminal.signal(signal);
        assert_eq!(terminal.end(), 0, "{signal:?}");
    }
}

#[test]
fn the_code_of_a_duel_is_not_seen_and_the_terminal_sees_again() {
    let data = TempDir::new();
    let mut terminal = start(&data, "--duel", &PUZZLE[..4], 80, 30);
    terminal.wait_for("looks away: ");
    press(&mut terminal, b"5678\n", "Guess : ");
    assert!(!terminal.look(|screen| screen.contents().contains("5678")));
    press(&mut terminal, b"1234\n", "Guess : 1234");
    drop(terminal);
    // Whoever leaves while nothing is seen gets a terminal that shows what is typed.
    for end in [b"\x03", b"\x1c", b"\x04"] {
        let terminal = start(&data, "--duel", &PUZZLE[..4], 80, 30);
        terminal.wait_for("looks away: ");
        leave(terminal, end);
    }
    // So does whoever stops the program, and the code is not seen after that either.
    let directory = format!("XDG_DATA_HOME={}", data.path().display());
    let mut terminal =
        Terminal::start_in_shell("env", &[&[&*directory, PROGRAM, "--duel"], &PUZZLE[..4]].concat(), 80, 30);
    terminal.wait_for("looks away: ");
    press(&mut terminal, b"\x1a", "It stopped.");
    terminal.wait_for_own_screen();
    terminal.press(b"\n");
    terminal.wait(|screen| screen.contents().matches("looks away: ").count() == 2);
    press(&mut terminal, b"5678\n", "Guess : ");
    assert!(!terminal.look(|screen| screen.contents().contains("5678")));
    leave(terminal, b"\x04");
}

#[test]
fn a_whole_panel_game() {
    let data = TempDir::new();
    let mut terminal = panel(&data, 90, 26);
    assert!(terminal.look(|screen| screen.alternate_screen() && screen.hide_cursor()));
    press(&mut terminal, b"\r", "Your Guess");
    press(&mut terminal, b"1234\r", "RED: 0  WHITE: 3  for 1234 in row 1");
    press(&mut terminal, b"\x1b[A\x1b[C\x1b[B", "2▏I 1 1");
    terminal.press(b"7");
    // The Enter of the number pad.
    press(&mut terminal, b"\x1b[H7423\x1bOM", "Congratulations");
    terminal.wait_for("Statistics: 1 played, 1 won, streak 1 (best 1)");
    terminal.wait_for("Q leaves ──");
    press(&mut terminal, b"\x1b", "Play");
    terminal.press(b"\x1b[B\r");
    terminal.wait(|screen| !screen.alternate_screen() && screen.contents().contains("Seed: 7. The same puzzle again:"));
    assert_eq!(terminal.end(), 0);
    assert!(run_in(&data, "statistics", "").stdout.starts_with("Statistics: 1 played, 1 won"));
}

#[test]
fn keys_that_were_meant_for_the_last_guess_do_not_leave_the_result() {
    let data = TempDir::new();
    let mut terminal = panel(&data, 80, 24);
    press(&mut terminal, b"\r", "Your Guess");
    // All of it arrives at once.
    press(&mut terminal, b"7423\r\r\x1bqq", "Congratulations");
    terminal.wait_for("ENTER again  Q leave");
    assert!(terminal.look(vt100::Screen::alternate_screen));
    press(&mut terminal, b"\r", "row 1/10");
    leave(terminal, b"\x03");
}

#[test]
fn a_person_sees_earlier_guesses_and_may_ask_for_help() {
    let data = TempDir::new();
    let mut terminal = start(&data, PUZZLE[0], &PUZZLE[1..], 80, 60);
    terminal.wait_for("Guess : ");
    terminal.wait_for("Instead of a guess you may type lifeline#1, lifeline#2, hint, help or quit.");
    let count =
        |terminal: &Terminal, text: &'static str| terminal.look(move |screen| screen.contents().matches(text).count());
    assert_eq!(count(&terminal, "Red: digits that are right"), 1, "it is explained once");
    press(&mut terminal, b"1234\n", "   1  1234  red 0  white 3");
    press(&mut terminal, b"lifeline#2\n", "   2  lifeline#2: place ");
    terminal.wait_for("lifeline#1: CLOSED");
    terminal.wait_for("lifeline#2: USED UP");
    press(&mut terminal, b"HELP\n", "quit ends the game");
    press(&mut terminal, b"hint\n", "Hint  : ");
    // The guesses are shown again below the hint, and below an error.
    let shows =
        |times| move |screen: &vt100::Screen| screen.contents().matches("1  1234  red 0  white 3").count() == times;
    terminal.wait(shows(3));
    press(&mut terminal, b"abc\n", "'abc' is no guess: type 4 digits from 1 to 8.");
    terminal.wait(shows(4));
    press(&mut terminal, b"quit\n", "Come back when you have grown");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn lines_wrap_at_words_in_a_narrow_window() {
    let data = TempDir::new();
    let terminal = start(&data, PUZZLE[0], &PUZZLE[1..], 50, 40);
    terminal.wait_for("Guess : ");
    let text = terminal.look(vt100::Screen::contents);
    assert!(text.contains("One lifeline a game: lifeline#1 tells a digit of\nthe code"), "{text}");
    leave(terminal, b"\x04");
}

#[test]
fn the_code_of_a_duel_is_shown_as_stars_and_can_be_corrected() {
    let data = TempDir::new();
    let mut terminal = start(&data, "--duel", &PUZZLE[..4], 80, 30);
    terminal.wait_for("looks away:   0/4");
    press(&mut terminal, b"567", "looks away: ***  3/4");
    press(&mut terminal, b"\x7f", "looks away: **  2/4");
    press(&mut terminal, b"78\n", "looks away: ****  4/4");
    terminal.wait_for("Guess : ");
    press(&mut terminal, b"5678\n", "Congratulations");
    // Input before the next prompt is discarded, so the end of input waits for it.
    terminal.wait_for("type a code for player 1");
    leave(terminal, b"\x04");
}

#[test]
fn colours_are_those_of_the_game() {
    let data = TempDir::new();
    let mut terminal = panel(&data, 90, 26);
    press(&mut terminal, b"\r3456\r", "for 3456 in row 1");
    let background = |column| terminal.look(|screen| screen.cell(6, column).unwrap().bgcolor());
    assert_eq!(background(1), vt100::Color::Rgb(255, 0, 0));
    assert_eq!(background(7), vt100::Color::Rgb(0, 255, 0));
    leave(terminal, b"\x03");
}

#[test]
fn without_colour_nothing_is_coloured() {
    let data = TempDir::new();
    let environment = [("XDG_DATA_HOME", data.path().to_str().unwrap()), ("NO_COLOR", "1"), ("COLORTERM", "truecolor")];
    let mut terminal =
        Terminal::start_with(PROGRAM, &["--panel", "--length", "4", "--repeats", "no"], &environment, 90, 26);
    terminal.wait_for("MASTERMIND");
    press(&mut terminal, b"\r3456", "3 4 5 6");
    let coloured = |screen: &vt100::Screen| {
        let cells = (0..26).flat_map(|row| (0..90).map(move |column| (row, column)));
        cells
            .filter_map(|(row, column)| screen.cell(row, column))
            .any(|cell| cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default)
    };
    assert!(!terminal.look(coloured));
    leave(terminal, b"\x04");
}

#[test]
fn the_mouse_is_asked_for_and_given_back() {
    let data = TempDir::new();
    let mut terminal = panel(&data, 90, 26);
    terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease);
    assert_eq!(terminal.look(vt100::Screen::mouse_protocol_encoding), vt100::MouseProtocolEncoding::Sgr);
    // Play, the arrow above the first digit twice, the wheel on the second, ENTER.
    press(&mut terminal, b"\x1b[<0;45;11M\x1b[<0;45;11m", "Your Guess");
    press(&mut terminal, b"\x1b[<0;2;2M\x1b[<0;2;2M\x1b[<65;4;3M\x1b[<65;4;3M", "3 8 1 1");
    press(&mut terminal, b"\x1b[<0;8;5M", "for 3811 in row 1");
    terminal.press(b"\x03");
    terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_stopped_program_gives_the_mouse_back_too() {
    let data = TempDir::new();
    let environment = data.path().to_str().unwrap().to_owned();
    // The shell passes its environment on.
    let arguments = [
        "XDG_DATA_HOME=".to_owned() + &environment,
        PROGRAM.to_owned(),
        "--panel".to_owned(),
        "--length".to_owned(),
        "4".to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut terminal = Terminal::start_in_shell("env", &arguments, 90, 26);
    terminal.wait_for("MASTERMIND");
    press(&mut terminal, b"\x1a", "It stopped.");
    terminal.wait_for_own_screen();
    terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
    press(&mut terminal, b"\n", "MASTERMIND");
    terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease);
    leave(terminal, b"\x1b");
}

#[test]
fn a_window_may_change_in_the_middle_of_a_game() {
    let data = TempDir::new();
    let mut terminal = panel(&data, 90, 26);
    press(&mut terminal, b"\r1234\r56", "5 6 1 1");
    terminal.resize(80, 24);
    terminal.wait_for("1▕2▏3 4 * * * *   RED 0  WHITE 3");
    terminal.resize(60, 24);
    terminal.wait_for("needs 18 rows, 76 columns; has 24 rows, 60");
    // Nobody can play what is not shown. That it is drawn again tells that the keys before were read.
    terminal.wipe();
    press(&mut terminal, b"78\r\x0c", "needs 18 rows, 76 columns");
    terminal.resize(110, 30);
    terminal.wait_for("1▕2▏3 4 * * * *   RED 0  WHITE 3");
    terminal.wait_for("5 6 1 1");
    press(&mut terminal, b"23\r", "for 5623 in row 2");
    leave(terminal, b"\x03");
}

#[test]
fn signals_leave_the_panel_game_in_order() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let data = TempDir::new();
        let mut terminal = panel(&data, 90, 26);
        press(&mut terminal, b"\r", "Your Guess");
        terminal.signal(signal);
        assert_eq!(terminal.end(), 0, "{signal:?}");
    }
}

#[test]
fn what_cannot_be_counted_is_said_on_the_panel() {
    let data = TempDir::new();
    let folder = data.path().join("arcade");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mastermind-record"), "nonsense").unwrap();
    let mut terminal = start(&data, "--panel", &PUZZLE, 120, 30);
    terminal.wait_for("is damaged");
    press(&mut terminal, b"\r7423\r", "The statistics were damaged");
    leave(terminal, b"\x03");
    assert_eq!(fs::read_to_string(folder.join("mastermind-record.damaged-1")).unwrap(), "nonsense");
}

#[test]
fn the_result_of_the_day_can_be_copied_after_the_game() {
    let data = TempDir::new();
    let mut terminal = start(&data, "--panel", &["--daily", "--length", "8"], 90, 26);
    terminal.wait_for("The puzzle of 2");
    press(&mut terminal, b"\r", "Your Guess");
    for row in 1..=10 {
        press(&mut terminal, b"11223344\r", &format!("for 11223344 in row {row}"));
    }
    terminal.wait_for("ENTER plays again, ESC goes back");
    terminal.press(b"\x03");
    terminal.wait(|screen| !screen.alternate_screen() && screen.contents().contains(": X/10"));
    assert_eq!(terminal.end(), 0);
}
