use mastermind::Lifeline;
use ratatui::layout::Size;
use termkit::{Gesture, Mouse};

use crate::panel::{
    state::{Menu, Overlaid, State, Target},
    tests::*,
};

fn keys() -> impl Iterator<Item = Press> {
    "<>^v[]\n!b0123456789hs?q.".chars().map(key)
}

type StatePath = (&'static str, fn() -> Table);

fn paths() -> [StatePath; 11] {
    [
        ("menu, play", asking),
        ("menu, quit", || after(asking(), "v")),
        ("length", || after(asking(), "\n")),
        ("repeats", || after(asking(), "\n>\n")),
        ("edit", || after(table(), "\n1234\n")),
        ("pick", || after(table(), "\n9999\n")),
        ("won", || after(table(), "\n7423\n")),
        ("lost", || after(table(), &format!("\n{}", "1234\n".repeat(10)))),
        ("set", || after(duel(), "\n\n\n")),
        ("between", || after(duel(), "\n\n\n1234\n1234\n")),
        ("duel over", || after(duel(), "\n\n\n1234\n1234\n\n1234\n1234\n")),
    ]
}

#[expect(clippy::match_same_arms, reason = "a table, state by state")]
fn expected(name: &str, key: Press) -> Option<(State, Request)> {
    use Press::{Back, Digit, Down, Enter, Escape, First, Last, Left, Quit, Right, Up};
    let (play, quit) = (State::Menu(Menu::Play), State::Menu(Menu::Quit));
    let repeats = |repeats| State::Repeats { length: 5, repeats };
    let state = match (name, key) {
        ("menu, play" | "menu, quit", Escape) | ("menu, quit", Enter) => {
            return Some((if name == "menu, play" { play } else { quit }, Request::Leave));
        }
        ("menu, play", Quit) => return Some((play, Request::Leave)),
        ("menu, quit", Quit) => return Some((quit, Request::Leave)),
        ("menu, play", Enter) => State::Length(4),
        ("menu, play" | "menu, quit", Up | First) => play,
        ("menu, play" | "menu, quit", Down | Last) => quit,
        ("menu, play", _) => play,
        ("menu, quit", _) => quit,
        ("length", Left | Last | Digit(8)) => State::Length(8),
        ("length", Right | Digit(5)) => State::Length(5),
        ("length", Digit(6)) => State::Length(6),
        ("length", Digit(7)) => State::Length(7),
        ("length", Enter) => State::Repeats { length: 4, repeats: true },
        ("length", _) => State::Length(4),
        ("repeats", Left | Right | Last) => repeats(false),
        ("repeats", Back) => State::Length(5),
        ("repeats", Enter) => State::Edit,
        ("repeats", _) => repeats(true),
        ("pick", Enter) => return Some((State::Edit, Request::Begin)),
        // The guess 1111 is wrong.
        ("edit", _) => State::Edit,
        ("pick", Up | Down | Digit(2)) => State::Pick(Lifeline::Place),
        ("pick", Back) => State::Edit,
        ("pick", _) => State::Pick(Lifeline::Colour),
        ("won" | "lost" | "duel over", Escape) => play,
        ("won" | "lost" | "duel over", Quit) => return Some((State::Over, Request::Leave)),
        ("won" | "lost", Enter) => State::Edit,
        ("duel over", Enter) => State::Length(4),
        ("won" | "lost" | "duel over", _) => State::Over,
        // 1111 is a valid code.
        ("set", Enter) => State::Edit,
        ("set", _) | ("between", Enter) => State::Set,
        ("between", _) => State::Between,
        _ => return None,
    };
    Some((state, Request::Nothing))
}

#[test]
fn every_key_in_every_state() {
    for (name, path) in paths() {
        for key in keys() {
            let mut table = path();
            let request = table.press(key);
            assert_eq!(Some((table.state, request)), expected(name, key), "{name}, {key:?}");
            let overlaid = match key {
                Press::Help => Some(Overlaid::Help),
                Press::Statistics => Some(Overlaid::Statistics),
                _ => None,
            };
            assert_eq!(table.overlaid, overlaid, "{name}, {key:?}");
            for depth in [Depth::None, Depth::Sixteen, Depth::True] {
                for (width, height) in [(90, 26), (107, 26), (108, 30), (200, 60), (80, 24), (9, 3)] {
                    drawn(&table, depth, width, height);
                }
            }
        }
    }
}

fn is_so_already(name: &str, key: Press) -> bool {
    match name {
        "menu, play" => matches!(key, Press::Up | Press::First),
        "menu, quit" => matches!(key, Press::Down | Press::Last),
        "length" => matches!(key, Press::First | Press::Digit(4)),
        "repeats" | "edit" | "set" => key == Press::First,
        "pick" => key == Press::Digit(1),
        _ => false,
    }
}

#[test]
fn every_key_and_every_refusal_changes_the_screen() {
    for (name, path) in paths() {
        for key in keys() {
            // During a game, Q has no function.
            if matches!(key, Press::Other | Press::Quit) || is_so_already(name, key) {
                continue;
            }
            let mut table = path();
            let before = drawn(&table, Depth::None, 90, 26);
            let request = table.press(key);
            let after = drawn(&table, Depth::None, 90, 26);
            assert!(request == Request::Leave || before != after, "{name}, {key:?}");
            let refused = request == Request::Nothing && table.state == path().state && table.overlaid.is_none();
            if refused && matches!(table.state, State::Menu(_) | State::Between | State::Over | State::Pick(_)) {
                let _ = table.press(key);
                assert_ne!(drawn(&table, Depth::None, 90, 26), after, "{name}, {key:?} again");
            }
        }
    }
    let [_, _, (_, length), (_, repeats), (_, edit), (_, pick), (_, won), _, (_, set), (_, between), _] = paths();
    for (path, keys, said) in [
        (length, "hh", "No hint before there is a code to find. (2 times)"),
        (repeats, "h", "No hint before there is a code to find."),
        (length, "9", "A code has 4 to 8 digits."),
        (length, "^", "LEFT and RIGHT choose, ENTER confirms."),
        (repeats, "v1", "LEFT and RIGHT choose, ENTER confirms. (2 times)"),
        (edit, "00", "There is no 0 in this game: its digits are 1 to 8. (2 times)"),
        (pick, "3", "There is no lifeline 3, only 1 and 2."),
        (pick, "<", "UP and DOWN choose, ENTER confirms, BACKSPACE returns."),
        (set, "9", "There is no 9 in this game: its digits are 1 to 8."),
        (set, "h", "No hint before there is a code to find."),
        (between, "<1", "ENTER starts the second game. (3 times)"),
        (won, "h1", "It is over: ENTER plays again, ESC opens the menu, Q quits. (2 times)"),
    ] {
        assert_eq!(last(&after(path(), keys)), said);
    }
    for path in [length, repeats, edit, pick, set, between] {
        assert_eq!(last(&after(path(), "q")), "Esc twice opens the menu, Ctrl-C quits.");
    }
    for (keys, said) in
        [("hh", "No hint before there is a code to find. (2 times)"), ("hh<", "UP and DOWN choose, ENTER opens.")]
    {
        assert_eq!(screen(&after(asking(), keys), 90, 26)[18].trim(), said);
    }
}

#[test]
fn any_two_keys_leave_a_drawable_game() {
    for (name, path) in paths() {
        for first in keys() {
            for second in keys() {
                let mut table = path();
                let _ = table.press(first);
                let _ = table.press(second);
                assert!(table.rows().len() <= 10, "{name}, {first:?}, {second:?}");
                assert!(table.cursor < table.length(), "{name}, {first:?}, {second:?}");
                drawn(&table, Depth::None, 90, 26);
            }
        }
    }
}

#[test]
fn any_key_closes_an_overlay() {
    for key in keys() {
        let mut table = after(table(), "\n12");
        let before = log(&table);
        press(&mut table, "?");
        assert_eq!(table.press(key), Request::Nothing);
        assert_eq!((table.overlaid, table.state, table.cursor), (None, State::Edit, 2), "{key:?}");
        assert_eq!(log(&table), before, "{key:?}");
    }
}

#[test]
fn leaving_takes_esc_twice() {
    let alone = ["\n", "\n\n", "\n\n\n", "\n\n\n9999\n"].map(|keys| (asking(), keys));
    let two = ["\n\n\n", "\n\n\n1\n", "\n\n\n1\n1\n", "\n\n\n1\n1\n\n"].map(|keys| (duel(), keys));
    for (mut table, keys) in alone.into_iter().chain(two) {
        press(&mut table, keys);
        let state = table.state;
        press(&mut table, "!");
        assert_eq!(table.state, state, "{keys:?}");
        press(&mut table, "!");
        assert_eq!(table.state, State::Menu(Menu::Play), "{keys:?}");
        assert!(table.round.is_none());
    }
}

#[test]
fn other_key_withdraws_the_leave_request_and_acts() {
    for (key, cursor) in [(Press::Digit(5), 1), (Press::Other, 0)] {
        let mut table = after(table(), "\n!");
        let _ = table.press(key);
        assert_eq!((table.state, table.cursor), (State::Edit, cursor));
        assert!(last(&table).contains("You stay"));
        press(&mut table, "!");
        assert_eq!(table.state, State::Edit, "the first request does not count any more");
        press(&mut table, "!");
        assert_eq!(table.state, State::Menu(Menu::Play));
    }
}

#[test]
fn cursors_and_symbols_wrap() {
    for (keys, length) in [("\n<", 8), ("\n<>", 4)] {
        assert_eq!(after(asking(), keys).state, State::Length(length));
    }
    for (keys, cursor) in [("<", 3), ("<>", 0)] {
        assert_eq!(after(table(), &format!("\n{keys}")).cursor, cursor);
    }
    let mut table = after(table(), "\n");
    let symbol = |table: &Table| left(table)[2].chars().nth(1).unwrap();
    let mut seen = String::new();
    for _ in 0..10 {
        press(&mut table, "^");
        seen.push(symbol(&table));
    }
    assert_eq!(seen, "2345678L12");
    press(&mut table, "vvv");
    assert_eq!(symbol(&table), '8');
}

#[test]
fn a_game_of_fewer_colours_has_fewer_symbols() {
    let mut table = after(with(Some(4), Some(true), Some(3), Setter::Seed, 1), "\n^^^");
    assert_eq!(left(&table)[2], "│L▕1│1│1▏* * * *│");
    press(&mut table, "^4");
    assert!(last(&table).contains("There is no 4 in this game"));
    assert_eq!(left(&table)[2], "│1│1│1│1▏* * * *│");
    let table = after(with(None, None, Some(4), Setter::Seed, 1), "\n>\n>\n");
    assert!(last(&table).contains("at most 4 pegs"), "{:#?}", log(&table));
    assert_eq!(table.state, State::Repeats { length: 5, repeats: false });
}

fn target(table: &Table, window: (u16, u16), column: u16, row: u16, gesture: Gesture) -> Option<Target> {
    View::new(table, Depth::None).target(Size::from(window), Mouse { gesture, column, row })
}

fn point(table: &mut Table, window: (u16, u16), column: u16, row: u16, gesture: Gesture) -> Request {
    target(table, window, column, row, gesture).map_or(Request::Nothing, |target| table.point(target, gesture))
}

#[test]
fn choices_can_be_clicked_where_they_are_drawn() {
    for window in [(60, 18), (76, 18), (80, 24), (90, 26), (200, 60)] {
        let mut table = after(asking(), "\n");
        for (text, state) in [("4 5 6 7 8", State::Repeats { length: 4, repeats: true }), ("Yes  No", State::Edit)] {
            let rows = screen(&table, window.0, window.1);
            let place = |(row, line): (u16, &String)| line.find(text).map(|at| (line[..at].chars().count(), row));
            let (column, row) = (0..).zip(&rows).find_map(place).unwrap_or_else(|| panic!("{text}: {rows:#?}"));
            let _ = point(&mut table, window, u16::try_from(column).unwrap(), row, Gesture::Press);
            assert_eq!(table.state, state, "{window:?}");
        }
    }
}

#[test]
fn the_mouse_does_what_keys_do() {
    let mut table = asking();
    let (small, large) = ((90, 26), (120, 40));
    assert_eq!(point(&mut table, small, 0, 0, Gesture::Press), Request::Nothing);
    assert_eq!(point(&mut table, (59, 24), 44, 10, Gesture::Press), Request::Nothing);
    assert!(matches!(table.state, State::Menu(_)));
    assert_eq!(point(&mut asking(), small, 44, 12, Gesture::Press), Request::Leave);
    for (window, column, row, state) in [
        (large, 44 + 15, 10 + 7, State::Length(4)),
        (small, 19, 9, State::Length(4)),
        (small, 20, 9, State::Repeats { length: 5, repeats: true }),
        (small, 24, 8, State::Edit),
    ] {
        let _ = point(&mut table, window, column, row, Gesture::Press);
        assert_eq!(table.state, state);
    }
    assert!(!table.round.as_ref().unwrap().game().rules().repeats());
    for (column, row, gesture) in [
        (3, 1, Gesture::Press),
        (5, 3, Gesture::Press),
        (7, 2, Gesture::WheelUp),
        (9, 2, Gesture::Press),
        (15, 1, Gesture::Press),
    ] {
        let _ = point(&mut table, small, column, row, gesture);
    }
    assert_eq!(left(&table)[2], "│1│2▏F▕2│1▏* * *│");
    assert_eq!(table.cursor, 4);
    for (column, row) in [(0, 0), (8, 4)] {
        press(&mut table, "?");
        let _ = point(&mut table, small, column, row, Gesture::Press);
        assert_eq!((table.overlaid, table.rows().len()), (None, 0));
    }
    press(&mut table, "[12345");
    assert_eq!(target(&table, small, 8, 4, Gesture::Press), Some(Target::Submit));
    let _ = point(&mut table, small, 8, 4, Gesture::Press);
    assert_eq!(table.rows().len(), 1);
}

#[test]
fn a_peg_beside_the_board_can_be_clicked() {
    for window in [(60, 18), (80, 24), (90, 26), (120, 40), (200, 60)] {
        let mut table = after(table(), "\n");
        for name in ["purple", "yellow", "black"] {
            let rows = screen(&table, window.0, window.1);
            let place = |(row, line): (u16, &String)| line.find(name).map(|at| (line[..at].chars().count(), row));
            let (column, row) = (0..).zip(&rows).find_map(place).unwrap_or_else(|| panic!("{name}: {rows:#?}"));
            let _ = point(&mut table, window, u16::try_from(column).unwrap(), row, Gesture::Press);
        }
        assert_eq!((left(&table)[2].as_str(), table.cursor), ("│7│4│2│1▏* * * *│", 3), "{window:?}");
    }
    // No colour outside the rules, and no choice of lifelines.
    let mut few = after(with(Some(4), Some(true), Some(3), Setter::Seed, 1), "\n");
    let window = (90, 26);
    assert!(!screen(&few, 90, 26).concat().contains("yellow"));
    assert_eq!(target(&few, window, 75, 1, Gesture::Press), None);
    press(&mut few, "9999\n");
    assert_eq!(point(&mut few, window, 25, 1, Gesture::Press), Request::Nothing);
    assert!(matches!(few.state, State::Pick(_)));
}
