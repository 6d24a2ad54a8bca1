//! Names of players.

use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest name of a player, in bytes.
pub const MAX_NAME: usize = 64;

/// A player's name: 1 to 64 printable ASCII characters without a space.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// A text that is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a name is 1 to {MAX_NAME} printable ASCII characters without a space")]
pub struct NotAName;

impl Name {
    /// The name of these bytes.
    ///
    /// # Errors
    /// [`NotAName`] if it is empty, longer than [`MAX_NAME`], or has any byte but `!` to `~`.
    pub fn new(bytes: &[u8]) -> Result<Self, NotAName> {
        let possible = (1..=MAX_NAME).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
        if possible { Ok(Self(bytes.iter().copied().map(char::from).collect())) } else { Err(NotAName) }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Name {
    type Error = NotAName;

    fn try_from(name: String) -> Result<Self, NotAName> {
        Self::new(name.as_bytes())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
