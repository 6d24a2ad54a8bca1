//! Peers with a seat.

use crate::format::plain;

/// A peer with a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guest {
    /// Its name; empty for a spectator.
    pub name: String,
    /// The seat, in the game's own terms.
    pub seat: String,
}

impl Guest {
    pub(crate) fn called(&self) -> String {
        plain(if self.name.is_empty() { &self.seat } else { &self.name })
    }
}
