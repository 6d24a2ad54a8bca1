use std::fmt;

use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The broker does not respond. The request may have been executed; retry it.
    Away,
    Full,
    /// A retry cannot succeed until an operator changes this program or the broker.
    Setup,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot {what} at {place}: {why}; {advice}")]
pub struct MeshError {
    kind: ErrorKind,
    what: String,
    place: String,
    why: String,
    advice: String,
}

impl MeshError {
    pub fn new(
        kind: ErrorKind,
        what: impl Into<String>,
        place: impl Into<String>,
        why: impl fmt::Display,
        advice: impl Into<String>,
    ) -> Self {
        Self { kind, what: what.into(), place: place.into(), why: why.to_string(), advice: advice.into() }
    }

    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}
