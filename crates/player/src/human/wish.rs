//! What a person can ask for, as a key or as a line.

use blackjack::Action;

/// What a person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Do(Action),
    Advice,
    Leave,
}

impl Wish {
    pub(super) fn of_key(key: u8) -> Option<Self> {
        Some(match key.to_ascii_lowercase() {
            b'h' => Self::Do(Action::Hit),
            b's' => Self::Do(Action::Stand),
            b'a' => Self::Advice,
            b'q' => Self::Leave,
            _ => return None,
        })
    }

    pub(super) fn of_line(line: &[u8]) -> Option<Self> {
        let word = line.trim_ascii().to_ascii_lowercase();
        let whole = [&b"hit"[..], b"stand", b"advice", b"quit"].contains(&&*word);
        if whole || word.len() == 1 { Self::of_key(word[0]) } else { None }
    }
}
