//! What a key means.

use termkit::{Pad, Typed};

use super::state::Key;

/// What is to be done about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// It is for the game.
    Key(Key),
    /// Leave the program.
    Leave,
    /// Draw everything again.
    Redraw,
    /// Stop until the shell goes on with the program.
    Suspend,
}

/// What `typed` means.
pub const fn command(typed: Typed) -> Command {
    Command::Key(match typed {
        Typed::Pad { key: Pad::Left, .. } => Key::Left,
        Typed::Pad { key: Pad::Right, .. } | Typed::Byte(b'\t') => Key::Right,
        Typed::Pad { key: Pad::Up, .. } => Key::Up,
        Typed::Pad { key: Pad::Down, .. } => Key::Down,
        Typed::Pad { key: Pad::Home, .. } => Key::First,
        Typed::Pad { key: Pad::End, .. } => Key::Last,
        Typed::Byte(b'\n') => Key::Enter,
        Typed::Byte(0x1b) => Key::Escape,
        Typed::Byte(0x7f | 0x08) => Key::Back,
        Typed::Byte(digit @ b'0'..=b'9') => Key::Digit(digit - b'0'),
        Typed::Byte(b'h' | b'H') => Key::Hint,
        Typed::Byte(b's' | b'S') => Key::Statistics,
        Typed::Byte(b'?') | Typed::Function(1) => Key::Help,
        Typed::Interrupt | Typed::EndOfInput => return Command::Leave,
        Typed::Redraw => return Command::Redraw,
        Typed::Suspend => return Command::Suspend,
        _ => Key::Other,
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
    ("Ctrl-C", "leave"),
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
            (Typed::Byte(b'\n'), Key::Enter),
            (Typed::Byte(b'8'), Key::Digit(8)),
            (Typed::Byte(b'0'), Key::Digit(0)),
            (Typed::Byte(0x1b), Key::Escape),
            (Typed::Pad { key: Pad::Up, shift: true }, Key::Up),
            (Typed::Function(1), Key::Help),
        ] {
            assert_eq!(command(typed), Command::Key(key));
        }
        assert_eq!(command(Typed::Interrupt), Command::Leave);
        for typed in [b'x', b'q'].map(Typed::Byte) {
            assert_eq!(command(typed), Command::Key(Key::Other));
        }
    }
}
