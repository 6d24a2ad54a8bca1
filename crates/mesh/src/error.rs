//! What can go wrong with what is shared.

use std::fmt;

use thiserror::Error;

/// What kind of trouble it is, for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The broker does not answer. Whether it has done what it was asked for is unknown; asking again is right.
    Away,
    /// A bound is reached.
    Full,
    /// It will not work until somebody changes how this program or the broker is set up.
    Setup,
}

/// What was attempted, where, why it failed, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot {what} at {place}: {why}; {advice}")]
pub struct MeshError {
    trouble: Trouble,
    what: String,
    place: String,
    why: String,
    advice: String,
}

impl MeshError {
    /// An error.
    pub fn new(
        trouble: Trouble,
        what: impl Into<String>,
        place: impl Into<String>,
        why: impl fmt::Display,
        advice: impl Into<String>,
    ) -> Self {
        Self { trouble, what: what.into(), place: place.into(), why: why.to_string(), advice: advice.into() }
    }

    /// What kind of trouble it is.
    pub const fn trouble(&self) -> Trouble {
        self.trouble
    }
}
