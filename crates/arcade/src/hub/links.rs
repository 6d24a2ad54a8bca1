//! Codes that move a name to another device. The database stores them.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::room::file::{SHORT_CODE, draw_code, read_code};

/// How long a code is valid.
pub(crate) const LINK_LIVES: Duration = Duration::from_mins(10);
/// Letters of each half of a code.
const HALF: usize = SHORT_CODE;

/// Draws a code. It is longer than the code of a room, since a name is worth more.
///
/// # Errors
/// When the system has no random numbers.
pub(crate) fn draw() -> anyhow::Result<String> {
    Ok(draw_code(HALF)? + "-" + &draw_code(HALF)?)
}

/// The hash of a code, which is stored; none if the text is not a code. Case, spaces and hyphens do not matter.
pub(crate) fn hash(typed: &str) -> Option<[u8; 32]> {
    let letters: String = typed.chars().filter(|letter| !matches!(letter, '-' | ' ')).collect();
    let (first, second) = letters.split_at_checked(HALF)?;
    let code = read_code(first)? + "-" + &read_code(second)?;
    Some(Sha256::digest(format!("device\n{code}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_read_as_people_type_it() {
        let code = draw().unwrap();
        assert_eq!(hash(&code.to_uppercase().replace('-', " ")), hash(&code));
        assert!(hash(&code).is_some() && hash(&code) != hash(&draw().unwrap()));
        for wrong in ["", "a", "abcdef", "abcdef-abcde\u{107}", "\u{107}\u{107}\u{107}abcdefabcdef"] {
            assert_eq!(hash(wrong), None, "{wrong}");
        }
    }
}
