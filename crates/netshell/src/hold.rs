//! Holding outputs back until their inputs are durable.

use std::{
    task::{Context, Poll},
    time::Duration,
};

/// How long outputs are held back before the host continues without the hold. About as long as people wait for a game
/// that hangs.
pub const MAX_HOLD: Duration = Duration::from_secs(10);

/// Decides when the outputs of an input may be sent, for instance once a journal is on disk.
///
/// Marks are increasing numbers. The outputs of an input are sent once the mark after that input is reached.
pub trait Hold {
    /// The mark after everything that the room has processed so far.
    fn mark(&self) -> u64;

    /// The mark that has been reached.
    fn reached(&self) -> u64;

    /// Ready when a mark above `reached` has been reached; otherwise the task is woken when that happens.
    fn poll_reached(&mut self, reached: u64, context: &mut Context<'_>) -> Poll<()>;

    /// Called before the host waits: pending writes must start now. Until then they may be delayed, so that everything
    /// the host processes between two waits is written at once.
    fn flush(&mut self) {}

    /// Called when no mark was reached for [`MAX_HOLD`](crate::MAX_HOLD). From now on all marks count as reached.
    fn give_up(&mut self);
}
