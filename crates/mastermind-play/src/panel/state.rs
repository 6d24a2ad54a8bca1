//! The current meaning of keys, and the targets of the mouse.

use mastermind::{Lifeline, Peg, Rules, code::MAX_LENGTH, game::Outcome};
use termkit::{Key, Pad, RETURN};

pub(super) const LIFELINE: [char; MAX_LENGTH] = ['L', 'I', 'F', 'E', 'L', 'I', 'N', 'E'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Press {
    Left,
    Right,
    Up,
    Down,
    First,
    Last,
    Enter,
    Escape,
    Back,
    /// From 0, which is no colour, to 9, the ninth symbol.
    Digit(u8),
    Hint,
    Statistics,
    Help,
    Quit,
    /// Has no function, but cancels a request to leave.
    Other,
}

impl Press {
    /// The new place, among `count` in a row that wraps around.
    pub(super) const fn moves(self, at: usize, count: usize) -> Option<usize> {
        match self {
            Self::Left => Some((at + count - 1) % count),
            Self::Right => Some((at + 1) % count),
            Self::First => Some(0),
            Self::Last => Some(count - 1),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Menu(Menu),
    Choice(usize),
    Above(usize),
    Position(usize),
    Below(usize),
    Submit,
    Peg(Peg),
    /// The overlay, or anything below it.
    Cover,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Menu {
    Play,
    Quit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Menu(Menu),
    Length(usize),
    Repeats {
        length: usize,
        repeats: bool,
    },
    /// Setting a code for the other player.
    Set,
    Edit,
    Pick(Lifeline),
    Between,
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlaid {
    Help,
    Statistics,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Request {
    Nothing,
    Leave,
    /// Record the start of the puzzle, and pass the result to [`Table::begun`](super::table::Table::begun).
    Begin,
    /// Count the finished game, and pass the result to [`Table::counted`](super::table::Table::counted).
    Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Peg(Peg),
    Lifeline,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Duel {
    pub(super) rules: Rules,
    /// Of the first and the second player.
    pub(super) outcomes: [Option<Outcome>; 2],
    /// 1 or 2. The other player has set the code.
    pub(super) guesser: usize,
}

impl Duel {
    pub(super) const fn setter(self) -> usize {
        3 - self.guesser
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
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

pub(super) const HELP: &[(&str, &str)] = &[
    ("left right", "move the cursor; Home and End to either end"),
    ("up down", "next or previous digit; the ninth sign is a letter of LIFELINE"),
    ("1, 2, ..", "this digit, then the next position; 9 is the ninth sign"),
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
    RETURN,
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
