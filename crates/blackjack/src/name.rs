//! Names of players.

use alloc::string::String;
use netcore::{Naming, cleaned};

/// The maximum length of a name in bytes.
pub const MAX_NAME: usize = 64;

/// A player's name: 1 to 64 printable ASCII characters without a space.
pub type Name = netcore::Name<Graphic>;

/// The rule of [`Name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Graphic;

impl Naming for Graphic {
    const MAX: usize = MAX_NAME;
    const SHAPE: &'static str = "a name is 1 to 64 printable ASCII characters without a space";

    fn name(typed: &[u8]) -> Option<String> {
        let possible = (1..=MAX_NAME).contains(&typed.len()) && typed.iter().all(u8::is_ascii_graphic);
        possible.then(|| cleaned(typed, b""))
    }
}
