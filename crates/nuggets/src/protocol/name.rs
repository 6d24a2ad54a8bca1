use alloc::string::String;
use core::fmt;
use netcore::{Naming, cleaned};

/// The maximum length of a name in bytes; longer names are cut.
pub const MAX_NAME: usize = 50;

/// A player's letter, `A` to `Z`, in order of joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter(u8);

impl Letter {
    /// The letter of player `index`, counted from 0; `None` from 26 on.
    pub fn from_index(index: usize) -> Option<Self> {
        (b'A'..=b'Z').nth(index).map(Self)
    }

    /// The letter for this byte; `None` unless it is an uppercase letter.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        if byte.is_ascii_uppercase() { Some(Self(byte)) } else { None }
    }

    /// The byte on the wire and on the map.
    pub const fn byte(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Write::write_char(f, char::from(self.0))
    }
}

/// A player's sanitized name: 1 to 50 bytes, each graphic ASCII, a space or a tab.
///
/// ```
/// use nuggets::Name;
/// assert_eq!(Name::new(b"  Zo\xc3\xab\x07").unwrap().as_str(), "  Zo___");
/// assert!(Name::new(b" \t\n").is_err());
/// ```
pub type Name = netcore::Name<Sanitized>;

/// The rule of [`Name`]: the first 50 bytes of the input, with `_` for each that is neither graphic nor a blank. Blank
/// input is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sanitized;

impl Naming for Sanitized {
    const MAX: usize = MAX_NAME;
    const SHAPE: &'static str = "a name needs at least one character that is not blank";

    fn name(typed: &[u8]) -> Option<String> {
        // As C's `isspace`; Rust's ASCII white space excludes the vertical tab.
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
        let start = typed.get(..MAX_NAME).unwrap_or(typed);
        (!typed.iter().all(blank)).then(|| cleaned(start, b" \t"))
    }
}
