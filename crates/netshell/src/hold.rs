//! Holding outputs back.

use std::{
    task::{Context, Poll},
    time::Duration,
};

/// How long outputs are held back before the host goes on without the hold: as long as people wait for a game that hangs.
pub const MAX_HOLD: Duration = Duration::from_secs(10);

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

    /// The host is about to wait: what brings the newest mark nearer has to begin by now. Until then it may be put off, so that
    /// what the host takes in between two waits is written at once.
    fn flush(&mut self) {}

    /// Nothing was reached for [`MAX_HOLD`](crate::MAX_HOLD): stops waiting, so that all marks are reached from now on.
    fn give_up(&mut self);
}
