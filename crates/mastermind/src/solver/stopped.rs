//! Why long work has no result.

/// The function that was told of the progress has stopped the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the search was stopped")]
pub struct Stopped;
