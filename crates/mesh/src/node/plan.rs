//! What a node is to do.

/// What a node is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    Serve,
    Drain,
    Leave { told: bool },
}
