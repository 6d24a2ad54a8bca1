use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// In characters.
pub const MAX_NAME: usize = 64;

/// A name that can be part of any key: 1 to [`MAX_NAME`] ASCII letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the name {0:?} is not of 1 to {MAX_NAME} letters, digits, '-' and '_'")]
pub struct NameError(String);

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(fits) {
            Ok(Self(text))
        } else {
            // The text may come from an unauthenticated client, so only its start is quoted.
            Err(NameError(text.chars().take(MAX_NAME + 1).collect()))
        }
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        text.to_owned().try_into()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_one_token_of_any_key() {
        for good in ["a", "robots-1", "AB_9", &"x".repeat(MAX_NAME)] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        for bad in ["", "a.b", "a b", "*", ">", "ä", &"x".repeat(MAX_NAME + 1)] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
        assert!(serde_json::from_str::<Name>("\"a.b\"").is_err(), "also when it is read");
    }
}
