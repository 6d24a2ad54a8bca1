//! The names of players.

use alloc::string::String;
use netcore::{Naming, cleaned};

/// The maximum length of a name in bytes.
pub const MAX_NAME: usize = 24;

/// A player's name: 1 to [`MAX_NAME`] printable ASCII characters, without leading or trailing blanks.
pub type Name = netcore::Name<Trimmed>;

/// The rule of [`Name`]: the input is trimmed and cut to [`MAX_NAME`] bytes, and `_` replaces bytes that are not
/// printable ASCII. Blank input is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trimmed;

impl Naming for Trimmed {
    const MAX: usize = MAX_NAME;
    const SHAPE: &'static str = "a text that is not a name";

    fn name(typed: &[u8]) -> Option<String> {
        let typed = typed.trim_ascii();
        let typed = typed.get(..MAX_NAME).unwrap_or(typed).trim_ascii_end();
        (!typed.is_empty()).then(|| cleaned(typed, b" "))
    }
}
