use robots::{Direction, InputMessage};
use termkit::{Key, Pad};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Send(InputMessage),
    Leave,
    ToggleHelp,
    Scroll(Direction),
    FollowNext,
    /// The fields that the bombs of the next turn will reach.
    ToggleDanger,
    ToggleTable,
    /// Close the result of a game and join the next one, if the user plays.
    Again,
    Proceed,
    Redraw,
    /// Stop until the shell continues the program.
    Suspend,
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Or the notice that there is no picture yet.
    Game,
    Result,
    Help,
    TooSmall,
}

/// Leaving and redrawing always work. Keys at the help, at a result or in a small window are not sent, since a user
/// cannot steer an invisible game. In a game, only a capital `Q` leaves, since `q` is between the steering keys.
pub(crate) const fn action(key: Key, shown: Content) -> Action {
    match (key, shown) {
        (Key::Interrupt | Key::EndOfInput | Key::Byte(b'Q'), _) => Action::Leave,
        (Key::Redraw, _) => Action::Redraw,
        (Key::Suspend, _) => Action::Suspend,
        (_, Content::TooSmall) => Action::Ignore,
        (_, Content::Help) | (Key::Function(1) | Key::Byte(b'?'), _) => Action::ToggleHelp,
        (Key::Byte(byte), Content::Result) => match byte {
            b'\n' => Action::Again,
            b'l' | b'L' => Action::Proceed,
            b'\t' => Action::ToggleTable,
            b'q' => Action::Leave,
            _ => Action::Ignore,
        },
        (Key::Byte(byte), Content::Game) => match byte.to_ascii_lowercase() {
            b'w' => step(Direction::Up),
            b's' => step(Direction::Down),
            b'a' => step(Direction::Left),
            b'd' => step(Direction::Right),
            b' ' | b'j' | b'z' => Action::Send(InputMessage::PlaceBomb),
            b'k' | b'x' => Action::Send(InputMessage::PlaceBlock),
            b'b' => Action::ToggleDanger,
            b'\t' => Action::FollowNext,
            _ => Action::Ignore,
        },
        (Key::Pad { key, shift }, Content::Game) => match (key, shift) {
            (Pad::Up, false) => step(Direction::Up),
            (Pad::Down, false) => step(Direction::Down),
            (Pad::Left, false) => step(Direction::Left),
            (Pad::Right, false) => step(Direction::Right),
            _ => scroll(key),
        },
        // The final board may be larger than the window.
        (Key::Pad { key, .. }, Content::Result) => scroll(key),
        (Key::Function(_), Content::Game | Content::Result) => Action::Ignore,
    }
}

const fn step(direction: Direction) -> Action {
    Action::Send(InputMessage::Move(direction))
}

const fn scroll(key: Pad) -> Action {
    Action::Scroll(match key {
        Pad::Up | Pad::PageUp => Direction::Up,
        Pad::Down | Pad::PageDown => Direction::Down,
        Pad::Left | Pad::Home => Direction::Left,
        Pad::Right | Pad::End => Direction::Right,
    })
}

const PLAYING: [(&str, &str); 5] = [
    ("W A S D", "up, left, down, right; or the arrow keys"),
    ("Space J Z", "place a bomb"),
    ("K X", "place a block"),
    ("", "In the lobby, each of these joins."),
    ("", ""),
];
const LOOKING: [(&str, &str); 14] = [
    ("Tab", "follow the next robot"),
    ("Shift+arrow", "look around; or Home, End, PgUp, PgDn"),
    ("B", "show what explodes next turn (!)"),
    ("F1 ?", "show these keys"),
    ("Ctrl-L", "redraw the screen"),
    ("Q", "leave"),
    ("", ""),
    ("A b C2", "robots; reversed: the one in view"),
    ("A&", "several robots"),
    ("5 12 9+", "a bomb and its remaining turns"),
    ("A5 A+", "a robot on a bomb; on one with more than 9 turns"),
    ("█", "a block"),
    ("* ▒ ░", "an explosion, and its smoke"),
    ("", "The game continues. Press any key to return."),
];

pub(crate) fn help(plays: bool) -> Vec<(&'static str, &'static str)> {
    let playing = if plays { &PLAYING[..] } else { &[] };
    playing.iter().chain(&LOOKING).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_the_game() {
        let arrow = |key| Key::Pad { key, shift: false };
        let table = [
            (&b"wW"[..], Some(Pad::Up), InputMessage::Move(Direction::Up)),
            (b"sS", Some(Pad::Down), InputMessage::Move(Direction::Down)),
            (b"aA", Some(Pad::Left), InputMessage::Move(Direction::Left)),
            (b"dD", Some(Pad::Right), InputMessage::Move(Direction::Right)),
            (b" jJzZ", None, InputMessage::PlaceBomb),
            (b"kKxX", None, InputMessage::PlaceBlock),
        ];
        let mut sent = vec![];
        for (bytes, pad, message) in table {
            let keys = bytes.iter().copied().map(Key::Byte).chain(pad.map(arrow));
            for typed in keys {
                assert_eq!(action(typed, Content::Game), Action::Send(message), "{typed:?}");
            }
            sent.extend_from_slice(bytes);
        }
        for byte in (0..=0x7f).filter(|byte| !sent.contains(byte)) {
            assert!(!matches!(action(Key::Byte(byte), Content::Game), Action::Send(_)), "{byte:#x}");
        }
    }

    #[test]
    fn view_keys_scroll_follow_and_show_danger() {
        let pad = |key, shift| action(Key::Pad { key, shift }, Content::Game);
        assert_eq!(pad(Pad::Up, true), Action::Scroll(Direction::Up));
        assert_eq!(pad(Pad::Right, true), Action::Scroll(Direction::Right));
        assert_eq!(pad(Pad::Home, false), Action::Scroll(Direction::Left));
        assert_eq!(pad(Pad::PageDown, false), Action::Scroll(Direction::Down));
        assert_eq!(action(Key::Byte(b'\t'), Content::Game), Action::FollowNext);
        assert_eq!(action(Key::Byte(b'b'), Content::Game), Action::ToggleDanger);
    }

    #[test]
    fn leave_works_on_every_screen_and_moves_only_on_the_board() {
        for shown in [Content::Game, Content::Result, Content::Help, Content::TooSmall] {
            for typed in [Key::Byte(b'Q'), Key::Interrupt, Key::EndOfInput] {
                assert_eq!(action(typed, shown), Action::Leave);
            }
            assert_eq!(action(Key::Redraw, shown), Action::Redraw);
            assert_eq!(action(Key::Suspend, shown), Action::Suspend);
        }
        assert_eq!(action(Key::Byte(b'w'), Content::Help), Action::ToggleHelp);
        assert_eq!(action(Key::Byte(b'w'), Content::TooSmall), Action::Ignore);
        assert_eq!(action(Key::Function(1), Content::Game), Action::ToggleHelp);
        assert_eq!(action(Key::Byte(b'?'), Content::Game), Action::ToggleHelp);
    }

    #[test]
    fn a_result_has_few_keys_and_none_of_them_steers() {
        let shown = |byte| action(Key::Byte(byte), Content::Result);
        assert_eq!(
            [b'\n', b'l', b'\t', b'q'].map(shown),
            [Action::Again, Action::Proceed, Action::ToggleTable, Action::Leave]
        );
        for key in b"wasd jzkxWASDJZKX".iter().map(|&byte| Key::Byte(byte)) {
            assert_eq!(action(key, Content::Result), Action::Ignore);
        }
        let arrow = Key::Pad { key: Pad::Up, shift: false };
        assert_eq!(action(arrow, Content::Result), Action::Scroll(Direction::Up));
    }

    #[test]
    fn the_help_fits_the_usual_terminal() {
        assert!(help(true).len() + 2 <= 24);
        assert!(help(false).iter().all(|(_, text)| !text.contains("place a") && !text.contains("joins")));
    }
}
