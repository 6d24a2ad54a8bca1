//! The operating mode of a node.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    Serve,
    Drain,
    Leave { told: bool },
}
