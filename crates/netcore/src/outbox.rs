//! What an engine does, on its way to the shell.

use alloc::{string::String, vec::Vec};
use bytes::Bytes;

use crate::{GameEvent, Log, PeerId};

/// To whom a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// One peer.
    Peer(PeerId),
    /// Every peer of the room that is connected and not closed, however it is connected.
    Everyone,
}

/// Everything an engine can do. The shell carries outputs out in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send these bytes.
    Send {
        /// To whom.
        to: To,
        /// Exactly one message as it goes over the wire.
        frame: Bytes,
    },
    /// Send a history: all segments of `log` in order, before anything that is sent to this peer later.
    ///
    /// A history may be long and is shared with others who catch up, so it does not count as what a peer lags behind:
    /// it is bounded by how long the peer may take nothing of it.
    Replay {
        /// To whom.
        to: PeerId,
        /// Whole messages, one behind the other.
        log: Log,
    },
    /// Send what is queued for this peer, then forget it.
    Close {
        /// Whom.
        peer: PeerId,
    },
    /// Tell whoever observes the room.
    Event(GameEvent),
}

/// Outputs on their way from an engine to its shell; kept between calls so that nothing is allocated anew.
#[derive(Debug, Default)]
pub struct Outbox {
    outputs: Vec<Output>,
    closes: usize,
}

impl Outbox {
    /// An empty outbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends `frame`, which is one message, to `peer`.
    pub fn send(&mut self, peer: PeerId, frame: Bytes) {
        self.outputs.push(Output::Send { to: To::Peer(peer), frame });
    }

    /// Sends `frame`, which is one message, to every peer that is connected and not closed.
    pub fn send_everyone(&mut self, frame: Bytes) {
        self.outputs.push(Output::Send { to: To::Everyone, frame });
    }

    /// Sends all of `log` to `to`, before anything that is sent to it later.
    pub fn replay(&mut self, to: PeerId, log: Log) {
        self.outputs.push(Output::Replay { to, log });
    }

    /// Forgets `peer` once what was sent to it before is out.
    pub fn close(&mut self, peer: PeerId) {
        self.closes += 1;
        self.outputs.push(Output::Close { peer });
    }

    /// Tells whoever observes the room that `event` happened.
    pub fn event(&mut self, event: GameEvent) {
        self.outputs.push(Output::Event(event));
    }

    /// Puts `text` on the server's standard output.
    pub fn summary(&mut self, text: String) {
        self.event(GameEvent::Summary(text));
    }

    /// Takes all outputs out, oldest first.
    pub fn drain(&mut self) -> alloc::vec::Drain<'_, Output> {
        self.closes = 0;
        self.outputs.drain(..)
    }

    /// All outputs that wait, oldest first.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Whether nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// How much there is by now; to find later what has been added.
    pub fn mark(&self) -> OutboxMark {
        OutboxMark { outputs: self.outputs.len(), closes: self.closes }
    }

    /// The peers that were closed since `mark`.
    pub fn closed_since(&self, mark: OutboxMark) -> impl Iterator<Item = PeerId> {
        // Most inputs close nobody, and then nothing is looked at.
        let from = if self.closes == mark.closes { self.outputs.len() } else { mark.outputs };
        self.outputs.iter().skip(from).filter_map(|output| match output {
            Output::Close { peer } => Some(*peer),
            _ => None,
        })
    }
}

/// A place in an [`Outbox`].
#[derive(Debug, Clone, Copy)]
pub struct OutboxMark {
    outputs: usize,
    closes: usize,
}
