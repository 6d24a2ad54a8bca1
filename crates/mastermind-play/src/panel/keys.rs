//! What a key means.

use termkit::{Key, Pad};

use super::state::Press;

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// It is for the game.
    Press(Press),
    Leave,
    Redraw,
    /// Stop until the shell continues the program.
    Suspend,
}

pub(crate) const fn command(typed: Key) -> Command {
    Command::Press(match typed {
        Key::Pad { key: Pad::Left, .. } => Press::Left,
        Key::Pad { key: Pad::Right, .. } | Key::Byte(b'\t') => Press::Right,
        Key::Pad { key: Pad::Up, .. } => Press::Up,
        Key::Pad { key: Pad::Down, .. } => Press::Down,
        Key::Pad { key: Pad::Home, .. } => Press::First,
        Key::Pad { key: Pad::End, .. } => Press::Last,
        Key::Byte(b'\n') => Press::Enter,
        Key::Byte(0x1b) => Press::Escape,
        Key::Byte(0x7f | 0x08) => Press::Back,
        Key::Byte(digit @ b'0'..=b'9') => Press::Digit(digit - b'0'),
        Key::Byte(b'h' | b'H') => Press::Hint,
        Key::Byte(b's' | b'S') => Press::Statistics,
        Key::Byte(b'?') | Key::Function(1) => Press::Help,
        Key::Byte(b'q' | b'Q') => Press::Quit,
        Key::Interrupt | Key::EndOfInput => return Command::Leave,
        Key::Redraw => return Command::Redraw,
        Key::Suspend => return Command::Suspend,
        _ => Press::Other,
    })
}

/// The keys that the help shows.
pub(super) const HELP: &[(&str, &str)] = &[
    ("left right", "move the cursor; Home and End to either end"),
    ("up down", "next or previous digit; the ninth is a letter of LIFELINE"),
    ("1, 2, ..", "this digit, and on to the next position; 9 the ninth sign"),
    ("Enter", "submit the guess"),
    ("Backspace", "move back; from a choice of lifelines back to the guess"),
    ("h", "a hint of the codebreaker; the game then counts as one with hints"),
    ("s", "statistics"),
    ("Esc Esc", "back to the menu"),
    ("Q", "leave, in the menu and after a game; Ctrl-C at any time"),
    ("mouse", "arrows, digits, choices and ENTER; the wheel changes a digit"),
    ("", ""),
    ("", "For a lifeline put all positions on the ninth sign and submit."),
    ("", "RED: right digit, right place. WHITE: right digit, wrong place."),
    ("", ""),
    ("", "Any key or click goes back."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_meanings() {
        for (typed, key) in [
            (Key::Byte(b'\n'), Press::Enter),
            (Key::Byte(b'8'), Press::Digit(8)),
            (Key::Byte(b'0'), Press::Digit(0)),
            (Key::Byte(0x1b), Press::Escape),
            (Key::Pad { key: Pad::Up, shift: true }, Press::Up),
            (Key::Function(1), Press::Help),
        ] {
            assert_eq!(command(typed), Command::Press(key));
        }
        assert_eq!(command(Key::Interrupt), Command::Leave);
        assert_eq!(command(Key::Byte(b'Q')), Command::Press(Press::Quit));
        assert_eq!(command(Key::Byte(b'x')), Command::Press(Press::Other));
    }
}
