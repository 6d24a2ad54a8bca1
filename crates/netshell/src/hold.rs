//! Holding outputs back.

use std::task::{Context, Poll};

/// Decides when what follows from an input may leave the host: a journal that has to be on disk first.
///
/// Marks count upwards. What follows from an input leaves once the mark after that input is reached.
pub trait Hold {
    /// The mark after everything that the room has taken in so far.
    fn mark(&self) -> u64;

    /// The mark that is reached.
    fn reached(&self) -> u64;

    /// Ready when a mark above `reached` is reached; otherwise the task is woken once it is.
    fn poll_reached(&mut self, reached: u64, context: &mut Context<'_>) -> Poll<()>;
}
