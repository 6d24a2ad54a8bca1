use std::fmt;

use thiserror::Error;

/// Determines how the caller reacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The broker does not answer. The request may have been executed; retry it.
    Away,
    Full,
    /// A retry cannot succeed until an operator changes this program or the broker.
    Setup,
}

/// The failed operation, its place, the cause, and advice for the operator.
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
