use std::fs;

use rustix::process::Signal;
use testkit::{TempDir, terminal::Terminal};
use vt100::Screen;

use super::{PUZZLE, path, run_in};

/// The program in a window, which ends before its statistics are removed.
struct Window {
    terminal: Terminal,
    data: TempDir,
}

/// Opens a window and waits for what it shows.
#[track_caller]
fn open(arguments: &str, columns: u16, rows: u16, shown: &str) -> Window {
    open_with(TempDir::new(), &[("COLORTERM", "truecolor")], arguments, columns, rows, shown)
}

#[track_caller]
fn open_with(
    data: TempDir,
    environment: &[(&str, &str)],
    arguments: &str,
    columns: u16,
    rows: u16,
    shown: &str,
) -> Window {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let environment = [&[("XDG_DATA_HOME", data.path().to_str().unwrap())], environment].concat();
    let terminal = Terminal::start_with(&path(), &arguments, &environment, columns, rows);
    terminal.wait_for(shown);
    Window { terminal, data }
}

/// The same as a job of a shell.
#[track_caller]
fn open_in_shell(arguments: &str, columns: u16, rows: u16, shown: &str) -> Window {
    let data = TempDir::new();
    // The shell passes its environment on.
    let directory = format!("XDG_DATA_HOME={}", data.path().display());
    let program = path();
    let arguments: Vec<&str> = [&*directory, &program].into_iter().chain(arguments.split_whitespace()).collect();
    let terminal = Terminal::start_in_shell("env", &arguments, columns, rows);
    terminal.wait_for(shown);
    Window { terminal, data }
}

#[track_caller]
fn text_game(columns: u16, rows: u16) -> Window {
    open(PUZZLE, columns, rows, "Guess : ")
}

#[track_caller]
fn panel(columns: u16, rows: u16) -> Window {
    open(&format!("--panel {PUZZLE}"), columns, rows, "MASTERMIND")
}

const DUEL: &str = "--duel --length 4 --repeats no";

impl Window {
    /// Presses keys and waits for what they bring to the screen.
    #[track_caller]
    fn press(&mut self, keys: impl AsRef<[u8]>, shown: &str) {
        self.terminal.press(keys.as_ref());
        self.terminal.wait_for(shown);
    }

    /// Whether this is on the screen.
    fn shows(&self, text: &str) -> bool {
        self.terminal.look(|screen| screen.contents().contains(text))
    }

    /// Leaves with these keys, and tells where the statistics are.
    #[track_caller]
    fn leave(mut self, keys: impl AsRef<[u8]>) -> TempDir {
        self.terminal.press(keys.as_ref());
        self.ended()
    }

    #[track_caller]
    fn ended(self) -> TempDir {
        assert_eq!(self.terminal.end(), 0);
        self.data
    }
}

#[test]
fn the_text_game_in_a_terminal() {
    let mut window = text_game(120, 40);
    window.press("1234\n", "White: 3");
    window.press("7423\n", "Another game");
    window.press("no\n", "As expected");
    window.ended();
}

#[test]
fn the_result_to_paste_keeps_its_lines_in_a_terminal() {
    let mut window = open("--daily --length 8", 80, 60, "Guess : ");
    for _ in 0..10 {
        window.terminal.wait_for("Guess : ");
        window.terminal.wipe();
        window.terminal.press(b"11111111\n");
    }
    // All rows together are wider than the window. No code of eight pegs is all 1 on more than one day in 16 million.
    window.terminal.wait(|screen| {
        let contents = screen.contents();
        contents.lines().any(|line| line.trim_end().ends_with("8 pegs, 8 colours, with repeats: X/10"))
    });
    window.ended();
}

#[test]
fn signals_and_the_end_of_input_end_games_quietly() {
    for end in ["\x03", "\x04"] {
        text_game(80, 24).leave(end);
    }
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let window = open("--seed 7", 80, 24, "How long");
        window.terminal.signal(signal);
        window.ended();
    }
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut window = panel(90, 26);
        window.press("\r", "Your Guess");
        window.terminal.signal(signal);
        window.ended();
    }
}

#[test]
fn the_code_of_a_duel_is_not_seen_and_the_terminal_sees_again() {
    let mut window = open(DUEL, 80, 30, "looks away: ");
    window.press("5678\n", "Guess : ");
    assert!(!window.shows("5678"));
    window.press("1234\n", "Guess : 1234");
    drop(window);
    // Whoever leaves while nothing is seen gets a terminal that shows what is typed.
    for end in ["\x03", "\x1c", "\x04"] {
        open(DUEL, 80, 30, "looks away: ").leave(end);
    }
    // So does whoever stops the program, and the code is not seen after that either.
    let mut window = open_in_shell(DUEL, 80, 30, "looks away: ");
    window.press("\x1a", "It stopped.");
    window.terminal.wait_for_own_screen();
    window.terminal.press(b"\n");
    window.terminal.wait(|screen| screen.contents().matches("looks away: ").count() == 2);
    window.press("5678\n", "Guess : ");
    assert!(!window.shows("5678"));
    window.leave("\x04");
}

#[test]
fn a_whole_panel_game() {
    let mut window = panel(90, 26);
    assert!(window.terminal.look(|screen| screen.alternate_screen() && screen.hide_cursor()));
    window.press("\r", "Your Guess");
    window.press("1234\r", "RED: 0  WHITE: 3  for 1234 in row 1");
    window.press("\x1b[A\x1b[C\x1b[B", "2▏I 1 1");
    window.terminal.press(b"7");
    // The Enter of the number pad.
    window.press("\x1b[H7423\x1bOM", "Congratulations");
    window.terminal.wait_for("Statistics: 1 played, 1 won, streak 1 (best 1)");
    window.terminal.wait_for("Q quits ──");
    window.press("\x1b", "Play");
    window.terminal.press(b"\x1b[B\r");
    let told = "Seed: 7. The same puzzle again:";
    window.terminal.wait(|screen| !screen.alternate_screen() && screen.contents().contains(told));
    assert!(run_in(&window.ended(), "statistics", "").stdout.starts_with("Statistics: 1 played, 1 won"));
}

#[test]
fn keys_that_were_meant_for_the_last_guess_do_not_leave_the_result() {
    let mut window = panel(80, 24);
    window.press("\r", "Your Guess");
    // All of it arrives at once.
    window.press("7423\r\r\x1bqq", "Congratulations");
    window.terminal.wait_for("ENTER again  Q quit");
    assert!(window.terminal.look(Screen::alternate_screen));
    window.press("\r", "row 1/10");
    window.leave("\x03");
}

#[test]
fn a_person_sees_earlier_guesses_and_may_ask_for_help() {
    let mut window = text_game(80, 60);
    window.terminal.wait_for("Instead of a guess you may type lifeline#1, lifeline#2, hint, help or quit.");
    let explained = |screen: &Screen| screen.contents().matches("Red: digits that are right").count();
    assert_eq!(window.terminal.look(explained), 1, "it is explained once");
    window.press("1234\n", "   1  1234  red 0  white 3");
    window.press("lifeline#2\n", "   2  lifeline#2: place ");
    window.terminal.wait_for("lifeline#1: CLOSED");
    window.terminal.wait_for("lifeline#2: USED UP");
    window.press("HELP\n", "quit ends the game");
    // The guesses are shown again below the hint, and below an error.
    for (typed, said, times) in
        [("hint\n", "Hint  : ", 3), ("abc\n", "'abc' is not a guess: type 4 digits from 1 to 8.", 4)]
    {
        window.press(typed, said);
        window.terminal.wait(|screen| screen.contents().matches("1  1234  red 0  white 3").count() == times);
    }
    window.press("quit\n", "Come back when you have grown");
    window.ended();
}

#[test]
fn lines_wrap_at_words_in_a_narrow_window() {
    let window = text_game(50, 40);
    assert!(window.shows("One lifeline a game: lifeline#1 reveals a digit of\nthe code"));
    window.leave("\x04");
}

#[test]
fn the_code_of_a_duel_is_shown_as_stars_and_can_be_corrected() {
    let mut window = open(DUEL, 80, 30, "looks away:   0/4");
    window.press("567", "looks away: ***  3/4");
    window.press("\x7f", "looks away: **  2/4");
    window.press("78\n", "looks away: ****  4/4");
    window.terminal.wait_for("Guess : ");
    window.press("5678\n", "Congratulations");
    // Input before the next prompt is discarded, so the end of input waits for it.
    window.terminal.wait_for("type a code for player 1");
    window.leave("\x04");
}

#[test]
fn colours_are_those_of_the_game() {
    let mut window = panel(90, 26);
    window.press("\r3456\r", "for 3456 in row 1");
    let background = |column| window.terminal.look(|screen| screen.cell(6, column).unwrap().bgcolor());
    assert_eq!(background(1), vt100::Color::Rgb(255, 0, 0));
    assert_eq!(background(7), vt100::Color::Rgb(0, 255, 0));
    window.leave("\x03");
}

#[test]
fn without_colour_nothing_is_coloured() {
    let environment = [("NO_COLOR", "1"), ("COLORTERM", "truecolor")];
    let mut window = open_with(TempDir::new(), &environment, &format!("--panel {PUZZLE}"), 90, 26, "MASTERMIND");
    window.press("\r3456", "3│4│5│6");
    let coloured = |screen: &Screen| {
        let mut cells = (0..26).flat_map(|row| (0..90).filter_map(move |column| screen.cell(row, column)));
        cells.any(|cell| (cell.fgcolor(), cell.bgcolor()) != (vt100::Color::Default, vt100::Color::Default))
    };
    assert!(!window.terminal.look(coloured));
    window.leave("\x04");
}

#[test]
fn the_mouse_is_asked_for_and_given_back() {
    let mut window = panel(90, 26);
    window.terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease);
    assert_eq!(window.terminal.look(Screen::mouse_protocol_encoding), vt100::MouseProtocolEncoding::Sgr);
    // Play, the arrow above the first digit twice, the wheel on the second, ENTER.
    window.press("\x1b[<0;45;11M\x1b[<0;45;11m", "Your Guess");
    window.press("\x1b[<0;2;2M\x1b[<0;2;2M\x1b[<65;4;3M\x1b[<65;4;3M", "3 8 1 1");
    window.press("\x1b[<0;8;5M", "for 3811 in row 1");
    window.terminal.press(b"\x03");
    window.terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
    window.ended();
}

#[test]
fn a_stopped_program_gives_the_mouse_back_too() {
    let mut window = open_in_shell("--panel --length 4", 90, 26, "MASTERMIND");
    window.press("\x1a", "It stopped.");
    window.terminal.wait_for_own_screen();
    window.terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
    window.press("\n", "MASTERMIND");
    window.terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease);
    window.leave("\x1b");
}

#[test]
fn a_window_may_change_in_the_middle_of_a_game() {
    let mut window = panel(90, 26);
    window.press("\r1234\r56", "5 6 1 1");
    for (columns, rows, shown) in
        [(80, 24, "1▕2▏3 4 * * * *   RED 0  WHITE 3"), (60, 24, "needs 18 rows, 76 columns; has 24 rows, 60")]
    {
        window.terminal.resize(columns, rows);
        window.terminal.wait_for(shown);
    }
    // Nobody can play what is not shown. That it is drawn again tells that the keys before were read.
    window.terminal.wipe();
    window.press("78\r\x0c", "needs 18 rows, 76 columns");
    window.terminal.resize(110, 30);
    window.terminal.wait_for("1▕2▏3 4 * * * *   RED 0  WHITE 3");
    window.terminal.wait_for("5 6 1 1");
    window.press("23\r", "for 5623 in row 2");
    window.leave("\x03");
}

#[test]
fn what_cannot_be_counted_is_said_on_the_panel() {
    let data = TempDir::new();
    let folder = data.path().join("arcade");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mastermind-record"), "nonsense").unwrap();
    let mut window = open_with(data, &[], &format!("--panel {PUZZLE}"), 120, 30, "is damaged");
    window.press("\r7423\r", "The statistics were damaged");
    let _data = window.leave("\x03");
    assert_eq!(fs::read_to_string(folder.join("mastermind-record.damaged-1")).unwrap(), "nonsense");
}

#[test]
fn the_result_of_the_day_can_be_copied_after_the_game() {
    let mut window = open("--panel --daily --length 8", 90, 26, "The puzzle of 2");
    window.press("\r", "Your Guess");
    for row in 1..=10 {
        window.press("11223344\r", &format!("for 11223344 in row {row}"));
    }
    window.terminal.wait_for("ENTER plays again, ESC opens");
    window.terminal.press(b"\x03");
    window.terminal.wait(|screen| !screen.alternate_screen() && screen.contents().contains(": X/10"));
    window.ended();
}
