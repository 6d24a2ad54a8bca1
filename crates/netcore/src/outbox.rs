//! The outputs of an engine.

use alloc::{string::String, vec::Vec};
use core::task::{Context, Poll};

use bytes::Bytes;

use crate::{GameEvent, History, PeerId};

/// The recipients of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// One peer.
    Peer(PeerId),
    /// Every peer of the room that is connected and not closed.
    Everyone,
}

/// An action of an engine. The shell executes them in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send these bytes.
    Send {
        /// The recipients.
        to: To,
        /// Exactly one message in wire format.
        frame: Bytes,
    },
    /// Send a history before later outputs to this peer.
    ///
    /// It does not count towards the peer's lag. Instead, the peer's stall time is limited.
    Replay {
        /// The recipient.
        to: PeerId,
        /// Concatenated complete messages.
        history: History,
    },
    /// Drop this peer after its queued outputs.
    Close {
        /// The peer.
        peer: PeerId,
    },
    /// Report an event to the observer of the room.
    Event(GameEvent),
}

/// A queue of outputs from an engine to its shell, reused to avoid allocations.
#[derive(Debug, Default)]
pub struct Outbox {
    outputs: Vec<Output>,
    closes: usize,
    recorded: u32,
}

impl Outbox {
    /// An empty outbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends one message to `peer`.
    pub fn send(&mut self, peer: PeerId, frame: Bytes) {
        self.outputs.push(Output::Send { to: To::Peer(peer), frame });
    }

    /// Sends one message to [`To::Everyone`].
    pub fn send_everyone(&mut self, frame: Bytes) {
        self.outputs.push(Output::Send { to: To::Everyone, frame });
    }

    /// Sends `history` to `to`, before later outputs.
    pub fn replay(&mut self, to: PeerId, history: History) {
        self.outputs.push(Output::Replay { to, history });
    }

    /// Drops `peer` after its queued outputs.
    pub fn close(&mut self, peer: PeerId) {
        self.closes += 1;
        self.outputs.push(Output::Close { peer });
    }

    /// Reports `event` to the observer of the room.
    pub fn event(&mut self, event: GameEvent) {
        self.outputs.push(Output::Event(event));
    }

    /// Prints `text` to the server's standard output.
    pub fn summary(&mut self, text: String) {
        self.event(GameEvent::Summary(text));
    }

    /// Reports the size of the recorded input, which the shell charges to its peer.
    pub fn charge_recorded(&mut self, bytes: u32) {
        self.recorded = self.recorded.saturating_add(bytes);
    }

    /// The number of bytes reported since the last call.
    pub fn take_recorded(&mut self) -> u32 {
        core::mem::take(&mut self.recorded)
    }

    /// Removes all outputs, oldest first.
    pub fn drain(&mut self) -> alloc::vec::Drain<'_, Output> {
        self.closes = 0;
        self.outputs.drain(..)
    }

    /// All queued outputs, oldest first.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// The current position, for [`Outbox::closed_since`].
    pub fn position(&self) -> OutboxPosition {
        OutboxPosition { outputs: self.outputs.len(), closes: self.closes }
    }

    /// The outputs queued since `start`, oldest first.
    pub fn since(&self, start: OutboxPosition) -> &[Output] {
        self.outputs.get(start.outputs..).unwrap_or_default()
    }

    /// As [`Outbox::since`], but mutable.
    pub fn since_mut(&mut self, start: OutboxPosition) -> &mut [Output] {
        self.outputs.get_mut(start.outputs..).unwrap_or_default()
    }

    /// The peers closed since `start`.
    pub fn closed_since(&self, start: OutboxPosition) -> impl Iterator<Item = PeerId> {
        // Most inputs close no peer.
        let from = if self.closes == start.closes { self.outputs.len() } else { start.outputs };
        self.outputs.iter().skip(from).filter_map(|output| match output {
            Output::Close { peer } => Some(*peer),
            _ => None,
        })
    }
}

/// A position in an [`Outbox`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxPosition {
    outputs: usize,
    closes: usize,
}

// Outputs that wait until their inputs are durable.

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
