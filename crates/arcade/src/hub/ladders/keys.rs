//! Keys of programs. A program says its name as `NAME#KEY`, because no protocol has a field for a key.
//!
//! A key has 80 random bits in 16 letters and digits, so that name and key fit into the names of all protocols, of which nuggets has the
//! shortest: 50 bytes. The hub keeps a hash of it, like that of a browser's key.

use rand::{TryRng as _, rngs::SysRng};
use sha2::{Digest as _, Sha256};
use store::KEY_HASH_LENGTH;

/// The longest name of a program, in bytes.
pub(crate) const MAX_PROGRAM_NAME: usize = 24;
/// What stands between a name and its key.
pub(crate) const MARK: char = '#';
/// Letters and digits of a key: those that look like no other.
const DIGITS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz123456789";
/// How many of them a key has.
const LENGTH: usize = 16;

/// Draws a key.
///
/// # Errors
/// When the system has no random numbers.
pub(crate) fn draw() -> anyhow::Result<String> {
    let mut drawn = [0_u8; LENGTH];
    SysRng.try_fill_bytes(&mut drawn)?;
    Ok(drawn.iter().map(|byte| char::from(DIGITS[usize::from(byte % 32)])).collect())
}

/// What is kept of a key.
pub(crate) fn hash(key: &str) -> [u8; KEY_HASH_LENGTH] {
    Sha256::digest(format!("ladder\n{key}")).into()
}

/// Why this is no name of a program: one has characters that all protocols have.
///
/// # Errors
/// With what a name is.
pub(crate) fn check(name: &str) -> Result<(), String> {
    let is_known = |letter: u8| letter.is_ascii_alphanumeric() || b"._-".contains(&letter);
    if (1..=MAX_PROGRAM_NAME).contains(&name.len()) && name.bytes().all(is_known) {
        return Ok(());
    }
    Err(format!("the name of a program has 1 to {MAX_PROGRAM_NAME} letters, digits, '.', '_' or '-'"))
}

/// The name and the key in what a program says.
///
/// # Errors
/// With what it should say.
pub(crate) fn split(said: &str) -> Result<(String, String), String> {
    let Some((name, key)) = said.trim_end().split_once(MARK) else {
        return Err("say your name as NAME#KEY; `arcade ladder join NAME` gives a key".into());
    };
    check(name)?;
    Ok((name.to_owned(), key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_fits_behind_a_name_in_the_shortest_name_of_all_protocols() {
        let (one, other) = (draw().unwrap(), draw().unwrap());
        assert_ne!(one, other);
        let said = format!("{}{MARK}{one}", "x".repeat(MAX_PROGRAM_NAME));
        assert!(said.len() <= 50, "the names of nuggets");
        assert_eq!(split(&said), Ok(("x".repeat(MAX_PROGRAM_NAME), one.clone())));
        assert!(hash(&one) != hash(&other) && hash(&one) == hash(&one.clone()));
    }

    #[test]
    fn names_have_the_characters_of_all_protocols() {
        for name in ["A", "my-bot_2.1", &"x".repeat(MAX_PROGRAM_NAME)] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "a#b", "Zoë", "a\0", &"x".repeat(MAX_PROGRAM_NAME + 1)] {
            assert!(check(name).is_err(), "{name}");
        }
        assert!(split("Ann").unwrap_err().contains("NAME#KEY"));
        assert!(split("A n#key").is_err());
    }
}
