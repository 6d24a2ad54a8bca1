use rustix::process::Signal;
use testkit::{TempDir, terminal::Terminal};
use vt100::Screen;

use super::{PUZZLE, path, run_in};

struct Window {
    // The first field, so that the program ends before its data is removed.
    terminal: Terminal,
    data: TempDir,
}

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
    #[track_caller]
    fn press(&mut self, keys: impl AsRef<[u8]>, shown: &str) {
        self.terminal.press(keys.as_ref());
        self.terminal.wait_for(shown);
    }

    fn shows(&self, text: &str) -> bool {
        self.terminal.with_screen(|screen| screen.contents().contains(text))
    }

    /// Returns the directory of the statistics.
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
fn signals_and_the_end_of_input_end_games_with_status_0() {
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
fn the_code_of_a_duel_is_hidden_and_echo_is_restored() {
    let mut window = open(DUEL, 80, 30, "looks away: ");
    window.press("5678\n", "Guess : ");
    assert!(!window.shows("5678"));
    window.press("1234\n", "Guess : 1234");
    drop(window);
    // Leaving during hidden input restores the terminal's echo.
    for end in ["\x03", "\x1c", "\x04"] {
        open(DUEL, 80, 30, "looks away: ").leave(end);
    }
    // So does suspending the program. The code stays hidden after it continues.
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
    assert!(window.terminal.with_screen(|screen| screen.alternate_screen() && screen.hide_cursor()));
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
fn a_person_sees_earlier_guesses_and_may_ask_for_help() {
    let mut window = text_game(80, 60);
    window.terminal.wait_for("Instead of a guess you may type lifeline#1, lifeline#2, hint, help or quit.");
    let explained = |screen: &Screen| screen.contents().matches("Red: digits that are right").count();
    assert_eq!(window.terminal.with_screen(explained), 1, "it is explained once");
    window.press("1234\n", "   1  1234  red 0  white 3");
    window.press("lifeline#2\n", "   2  lifeline#2: place ");
    window.terminal.wait_for("lifeline#1: CLOSED");
    window.terminal.wait_for("lifeline#2: USED UP");
    window.press("HELP\n", "quit ends the game");
    // A hint and an error show the guesses again below them.
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
fn the_mouse_is_captured_and_released() {
    let mut window = panel(90, 26);
    window.terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease);
    assert_eq!(window.terminal.with_screen(Screen::mouse_protocol_encoding), vt100::MouseProtocolEncoding::Sgr);
    window.press("\x1b[<0;45;11M\x1b[<0;45;11m", "Your Guess");
    window.terminal.press(b"\x03");
    window.terminal.wait(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
    window.ended();
}
