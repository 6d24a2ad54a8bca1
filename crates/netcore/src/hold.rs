//! Outputs that wait until their inputs are durable.

use alloc::string::String;
use core::task::{Context, Poll};

/// Decides when the outputs of an input may be sent, for instance once a journal is on disk: when the position after
/// the input is reached. Positions increase.
pub trait Hold {
    /// The position after all inputs that the room has processed.
    fn position(&self) -> u64;

    /// The last reached position.
    fn reached(&self) -> u64;

    /// Ready once a position above `reached` is reached, or can no longer be reached.
    fn poll_reached(&mut self, reached: u64, context: &mut Context<'_>) -> Poll<()>;

    /// Starts the writes that outputs depend on. The host calls it before it waits, so all inputs in between are one
    /// batch.
    fn flush(&mut self) {}

    /// Called with `true` if the oldest output has waited for a long time, and with `false` when outputs are sent
    /// again.
    fn set_stalled(&mut self, _is_stalled: bool) {}

    /// Whether the backlog is too large for more inputs.
    fn is_full(&self) -> bool {
        false
    }

    /// Why no further position can be reached, and so no further output sent.
    fn failure(&self) -> Option<String> {
        None
    }
}
