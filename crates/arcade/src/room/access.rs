//! Who may enter a room: anybody, whoever has its link, or whoever knows its word.

use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};

/// The letters of codes: none of them is taken for another one or for a digit.
const LETTERS: &[u8; 23] = b"abcdefghjkmnpqrstuvwxyz";
/// Letters of the code of a new room: 36 bits with those of [`LETTERS`].
pub(crate) const CODE: usize = 8;
/// Letters of a code that an earlier version drew: 27 bits. Rooms that are open keep theirs.
pub(crate) const SHORT_CODE: usize = 6;

/// Who may enter a room, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Access {
    /// Everybody, and all lists show it.
    #[default]
    Public,
    /// Whoever has the link with this code. No list shows it.
    Link(String),
    /// Whoever knows the word that this is the authentication code of. Lists show it.
    Word(String),
}

impl Access {
    /// What it is called in answers.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Link(_) => "link",
            Self::Word(_) => "word",
        }
    }

    /// The code of its link, for those who are inside.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Link(code) => Some(code),
            Self::Public | Self::Word(_) => None,
        }
    }

    /// Whether everybody may enter.
    pub(crate) const fn is_public(&self) -> bool {
        matches!(self, Self::Public)
    }

    /// Whether lists show it.
    pub(crate) const fn is_listed(&self) -> bool {
        !matches!(self, Self::Link(_))
    }
}

/// Draws a code of this many letters.
pub(crate) fn draw(letters: usize) -> anyhow::Result<String> {
    let mut code = String::new();
    while code.len() < letters {
        let mut bytes = [0; 16];
        SysRng.try_fill_bytes(&mut bytes)?;
        // Bytes above the last multiple of the number of letters would make the first letters more frequent.
        let fair = bytes.iter().map(|&byte| usize::from(byte)).filter(|byte| *byte < 256 - 256 % LETTERS.len());
        code.extend(fair.map(|byte| char::from(LETTERS[byte % LETTERS.len()])).take(letters - code.len()));
    }
    Ok(code)
}

/// Reads a code of [`CODE`] or [`SHORT_CODE`] letters as it was typed, and returns it in the form of [`draw`].
pub(crate) fn read(typed: &str) -> Option<String> {
    let code = typed.trim().to_ascii_lowercase();
    let has_length = matches!(code.len(), CODE | SHORT_CODE);
    (has_length && code.bytes().all(|letter| LETTERS.contains(&letter))).then_some(code)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn codes_are_random_letters_that_are_read_as_they_are_typed() {
        let mut letters = BTreeMap::<char, u32>::new();
        let codes: BTreeSet<String> = (0..1_500).map(|_| draw(CODE).unwrap()).collect();
        assert!(codes.len() > 1_495, "{}", codes.len());
        for code in &codes {
            assert_eq!(code.len(), 8);
            assert_eq!(read(&format!(" {} ", code.to_uppercase())).as_ref(), Some(code));
            code.chars().for_each(|letter| *letters.entry(letter).or_default() += 1);
        }
        // 522 of each are expected; six deviations are 134.
        assert!(letters.len() == 23 && letters.values().all(|count| (388..656).contains(count)), "{letters:?}");
        let short = draw(SHORT_CODE).unwrap();
        assert_eq!((short.len(), read(&short).as_ref()), (6, Some(&short)), "rooms of earlier versions keep theirs");
        for wrong in ["", "abcde", "abcdefg", "abcdefghj", "abcdel", "abcde1", "ab\u{107}de", "../abc"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
