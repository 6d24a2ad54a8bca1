//! The names of players.

use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Serialize};

/// The longest name in bytes.
pub const MAX_NAME: usize = 24;

/// A player's name: 1 to [`MAX_NAME`] printable ASCII characters, no blank at either end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The name made of these bytes: cut to [`MAX_NAME`], with `_` for each byte that is not printable ASCII, and without the
    /// blanks around it. `None` if nothing is left.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.trim_ascii();
        let bytes = bytes.get(..MAX_NAME).unwrap_or(bytes).trim_ascii_end();
        let shown = |&byte: &u8| if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '_' };
        (!bytes.is_empty()).then(|| Self(bytes.iter().map(shown).collect()))
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
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, &'static str> {
        Self::new(name.as_bytes()).filter(|known| known.0 == name).ok_or("a text that is no name")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
