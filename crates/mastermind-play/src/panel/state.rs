//! The state of the panel game: the current meaning of keys, and the targets of the mouse.

use mastermind::{Lifeline, Peg, Rules, code::MAX_LENGTH, game::Outcome};
use termkit::{Key, Pad};

/// The letters of the ninth symbol, by position.
pub(super) const LIFELINE: [char; MAX_LENGTH] = ['L', 'I', 'F', 'E', 'L', 'I', 'N', 'E'];

/// A key of the game.
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
    /// A digit from 0 to 9; there is no colour 0, and 9 is the ninth symbol.
    Digit(u8),
    Hint,
    Statistics,
    Help,
    /// Leaves the program from the menu, or when a game is over.
    Quit,
    /// A key without a function. It only cancels a request to leave.
    Other,
}

impl Press {
    /// The place that the key moves to, among `count` places in a row that wraps around.
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

/// Something on the screen that the mouse can point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Menu(Menu),
    /// A choice of the set-up, by its number.
    Choice(usize),
    /// The arrow above a position.
    Above(usize),
    /// A position of the guess.
    Position(usize),
    /// The arrow below a position.
    Below(usize),
    /// The word that submits the guess.
    Submit,
    /// One of the selectable pegs.
    Peg(Peg),
    /// The overlay, or anything underneath it.
    Cover,
}

/// A choice of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Menu {
    Play,
    Quit,
}

/// The current mode, which determines the meaning of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Menu(Menu),
    /// Choosing the length of the code.
    Length(usize),
    /// Choosing whether colours may repeat, after the length.
    Repeats {
        length: usize,
        repeats: bool,
    },
    /// Setting a code for the other player, in a duel.
    Set,
    Edit,
    Pick(Lifeline),
    /// The first game of a duel is over.
    Between,
    Over,
}

/// An overlay on the panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlaid {
    Help,
    Statistics,
}

/// A request from the table to the program after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Request {
    Nothing,
    Leave,
    /// Record that the puzzle was started, and pass the result to [`Table::begun`](super::table::Table::begun).
    Begin,
    /// Count the finished game, and pass the result to [`Table::counted`](super::table::Table::counted).
    Count,
}

/// The symbol at a position of the guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Peg(Peg),
    /// A letter of LIFELINE, the ninth symbol.
    Lifeline,
}

/// Two players and their codes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Duel {
    pub(super) rules: Rules,
    /// Of the first and the second player.
    pub(super) outcomes: [Option<Outcome>; 2],
    /// The guessing player, 1 or 2; the other one has set the code.
    pub(super) guesser: usize,
}

impl Duel {
    pub(super) const fn setter(self) -> usize {
        3 - self.guesser
    }
}

/// The action of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// A key for the game.
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
    ("", "Press any key or click to return."),
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
