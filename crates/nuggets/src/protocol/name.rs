//! How players are called: by a letter on the map, by a name in the table.

use alloc::string::String;
use core::fmt;

/// Bytes of a name that are kept.
pub const MAX_NAME: usize = 50;

/// A player's letter, `A` to `Z`, in order of joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter(u8);

impl Letter {
    /// The letter of the player who joined as number `index`, counted from 0; `None` from 26 on.
    pub fn from_index(index: usize) -> Option<Self> {
        (b'A'..=b'Z').nth(index).map(Self)
    }

    /// The letter that `byte` is, if it is a capital.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        if byte.is_ascii_uppercase() { Some(Self(byte)) } else { None }
    }

    /// The letter as it stands on the wire and on the map.
    pub const fn byte(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Write::write_char(f, char::from(self.0))
    }
}

/// A player's name as the server keeps it: 1 to 50 bytes, each graphic ASCII, a space or a tab.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// The name that a server makes of what a player typed: the first 50 bytes, each one that is neither graphic nor a
    /// blank replaced by `_`. `None` if it was empty or only white space.
    ///
    /// ```
    /// use nuggets::Name;
    /// assert_eq!(Name::new(b"  Zo\xc3\xab\x07").unwrap().as_str(), "  Zo___");
    /// assert_eq!(Name::new(b" \t\n"), None);
    /// ```
    pub fn new(typed: &[u8]) -> Option<Self> {
        // The C library's isspace; ASCII white space in Rust leaves the vertical tab out.
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
        if typed.iter().all(blank) {
            return None;
        }
        let kept = |&byte: &u8| if byte.is_ascii_graphic() || byte == b' ' || byte == b'\t' { byte } else { b'_' };
        Some(Self(typed.iter().take(MAX_NAME).map(kept).map(char::from).collect()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
