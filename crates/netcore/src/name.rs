//! Names of players.

use alloc::string::String;
use core::{fmt, marker::PhantomData};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A game's rules for names.
pub trait Naming: Clone {
    /// The maximum length of a name in bytes.
    const MAX: usize;
    /// A description of valid names, for error messages.
    const SHAPE: &'static str;

    /// Turns typed bytes into a name of printable ASCII and tabs; `None` if they are invalid.
    fn name(typed: &[u8]) -> Option<String>;
}

/// A player's name under the naming rules `N`.
///
/// ```
/// #[derive(Debug, Clone, PartialEq)]
/// struct Initials;
///
/// impl netcore::Naming for Initials {
///     const MAX: usize = 3;
///     const SHAPE: &'static str = "initials are 1 to 3 characters";
///
///     fn name(typed: &[u8]) -> Option<String> {
///         (1..=Self::MAX).contains(&typed.len()).then(|| netcore::cleaned(typed, b""))
///     }
/// }
///
/// let name = netcore::Name::<Initials>::new(b"A L")?;
/// assert_eq!(name.as_str(), "A_L");
/// assert_eq!(netcore::Name::<Initials>::new(b"").unwrap_err().to_string(), "initials are 1 to 3 characters");
/// # Ok::<(), netcore::NotAName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String", bound = "N: Naming")]
pub struct Name<N>(String, PhantomData<N>);

/// The error for an invalid name, with a description of valid ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NotAName(pub &'static str);

impl<N: Naming> Name<N> {
    /// Turns typed bytes into a name.
    pub fn new(typed: &[u8]) -> Result<Self, NotAName> {
        N::name(typed).map(|name| Self(name, PhantomData)).ok_or(NotAName(N::SHAPE))
    }
}

impl<N> Name<N> {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<N> From<Name<N>> for String {
    fn from(name: Name<N>) -> Self {
        name.0
    }
}

/// Accepts only a name that [`Name::new`] returns unchanged.
impl<N: Naming> TryFrom<String> for Name<N> {
    type Error = NotAName;

    fn try_from(name: String) -> Result<Self, NotAName> {
        Self::new(name.as_bytes()).ok().filter(|known| known.0 == name).ok_or(NotAName(N::SHAPE))
    }
}

impl<N> fmt::Display for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The bytes as text, with `_` for each byte that is neither graphic ASCII nor in `also`.
pub fn cleaned(bytes: &[u8], also: &[u8]) -> String {
    let kept = |&byte: &u8| if byte.is_ascii_graphic() || also.contains(&byte) { char::from(byte) } else { '_' };
    bytes.iter().map(kept).collect()
}
