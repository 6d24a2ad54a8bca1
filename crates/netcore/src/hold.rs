//! Outputs that wait until their inputs are durable.

use alloc::string::String;
use core::task::{Context, Poll};

/// Decides when the outputs of an input may be sent, for instance once a journal is on disk.
///
/// Positions increase. The outputs of an input are sent once the position after that input is reached.
pub trait Hold {
    /// The position after everything that the room has processed so far.
    fn position(&self) -> u64;

    /// The last reached position.
    fn reached(&self) -> u64;

    /// Ready once a position above `reached` is reached, or can no longer be reached.
    fn poll_reached(&mut self, reached: u64, context: &mut Context<'_>) -> Poll<()>;

    /// Starts the writes that outputs depend on. The host calls it before it waits, so all inputs between two waits are
    /// one batch.
    fn flush(&mut self) {}

    /// Called with `true` when the oldest output has waited for a long time, and with `false` when an output is sent
    /// again.
    fn set_stalled(&mut self, _is_stalled: bool) {}

    /// Whether the backlog is so large that the room must not be given more inputs.
    fn is_full(&self) -> bool {
        false
    }

    /// The reason why no further position can be reached, after which the host must not send more outputs; `None`
    /// otherwise.
    fn failure(&self) -> Option<String> {
        None
    }
}
