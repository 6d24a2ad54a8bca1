//! The shape of a server: a deterministic state machine.

use alloc::{string::String, vec::Vec};
use bytes::{Bytes, BytesMut};

use crate::{DecodeError, Framing, Gone, Link, Log, PeerId, Role, Time};

/// Everything that can wake an engine.
#[derive(Debug)]
pub enum Input<'a, R> {
    /// A peer is there; its requests follow.
    Connected {
        /// The new peer.
        peer: PeerId,
        /// What it may do.
        role: Role,
        /// How it is connected.
        link: Link,
        /// Its address as `1.2.3.4:5` or `[::1]:5`.
        address: &'a str,
    },
    /// A well-formed message.
    Request {
        /// Its sender.
        peer: PeerId,
        /// The message.
        request: R,
    },
    /// Bytes that are no message. On a stream nothing more follows from this peer.
    Malformed {
        /// Their sender.
        peer: PeerId,
        /// What is wrong with them.
        why: DecodeError,
    },
    /// The peer has lost track (a reconnect, a resumed game): tell it all that it may know.
    Refresh {
        /// Who is to be told.
        peer: PeerId,
    },
    /// A peer is gone. If it [`Left`](Gone::Left), it may still read: what is sent to it goes out until the engine closes
    /// it, which it has to do. Otherwise nothing can be sent to it any more.
    Disconnected {
        /// Who it was.
        peer: PeerId,
        /// Why.
        why: Gone,
    },
    /// The time that [`Engine::deadline`] asked for has come.
    Elapsed,
    /// The server is being shut down: take leave of everybody.
    Stop,
}

/// To whom a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// One peer.
    Peer(PeerId),
    /// Every peer that is connected and not closed.
    Everyone,
}

/// Everything an engine can do. The shell carries outputs out in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send these bytes.
    Send {
        /// To whom.
        to: To,
        /// One message as it goes over the wire.
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
    /// Text for the server's standard output.
    Summary(String),
}

/// Outputs on their way from an engine to its shell; kept between calls so that nothing is allocated anew.
#[derive(Debug, Default)]
pub struct Outbox {
    outputs: Vec<Output>,
}

impl Outbox {
    /// An empty outbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends `frame` to `peer`.
    pub fn send(&mut self, peer: PeerId, frame: Bytes) {
        self.outputs.push(Output::Send { to: To::Peer(peer), frame });
    }

    /// Sends `frame` to every peer that is connected and not closed.
    pub fn send_everyone(&mut self, frame: Bytes) {
        self.outputs.push(Output::Send { to: To::Everyone, frame });
    }

    /// Sends all of `log` to `to`, before anything that is sent to it later.
    pub fn replay(&mut self, to: PeerId, log: Log) {
        self.outputs.push(Output::Replay { to, log });
    }

    /// Forgets `peer` once what was sent to it before is out.
    pub fn close(&mut self, peer: PeerId) {
        self.outputs.push(Output::Close { peer });
    }

    /// Puts `text` on the server's standard output.
    pub fn summary(&mut self, text: String) {
        self.outputs.push(Output::Summary(text));
    }

    /// Takes all outputs out, oldest first.
    pub fn drain(&mut self) -> alloc::vec::Drain<'_, Output> {
        self.outputs.drain(..)
    }

    /// Whether nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }
}

/// The messages that peers send to a server, and how they look on the wire.
pub trait Protocol {
    /// A well-formed message from a peer.
    type Request;
    /// What has to be remembered between two pieces of a stream, for instance the dialect that its first byte chose.
    type Decoder: Default;
    /// The longest message from a peer, in bytes. A shell never buffers more than this of an unfinished message.
    const MAX_MESSAGE: usize;

    /// Takes one message off the front of `buffer`; `None` when a stream has to bring more first.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are no message. A datagram that ends early is an error too.
    fn decode(
        decoder: &mut Self::Decoder,
        buffer: &mut BytesMut,
        framing: Framing,
    ) -> Result<Option<Self::Request>, DecodeError>;

    /// Appends the wire form of `request` to `out`.
    fn encode_request(request: &Self::Request, out: &mut BytesMut);

    /// Whether a peer that is not known yet may be let in by this message. Only datagrams ask: a stream's peer is
    /// connected before its first message.
    fn admits(request: &Self::Request) -> bool {
        let _ = request;
        true
    }
}

/// The request type of an engine's protocol.
pub type RequestOf<E> = <<E as Engine>::Protocol as Protocol>::Request;

/// How a server's life ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The game was played to its end.
    Finished,
    /// It was stopped from outside.
    Stopped,
}

/// A server without its sockets: a deterministic state machine.
///
/// Same configuration, same seed, same inputs at the same times in the same order: same outputs, on every machine.
/// [`Engine::input`] takes in, the [`Outbox`] takes out, the other methods only look.
pub trait Engine {
    /// What peers say to it.
    type Protocol: Protocol;

    /// Takes in one input and puts what follows from it into `out`. `now` never goes back.
    fn input(&mut self, now: Time, input: Input<'_, RequestOf<Self>>, out: &mut Outbox);

    /// When [`Input::Elapsed`] is wanted; the earliest, when several timers run. Absolute, so that nothing drifts.
    fn deadline(&self) -> Option<Time>;

    /// How it ended; `None` while there is something to do. After that no input is wanted.
    fn outcome(&self) -> Option<Outcome>;

    /// A fingerprint of the game: two runs whose fingerprints differ have gone apart. Cheap: it is kept as the game changes.
    fn digest(&self) -> u64;
}

/// Whoever lends an engine to a shell still has it when the shell is done: how it ended may say more than its outcome.
impl<E: Engine> Engine for &mut E {
    type Protocol = E::Protocol;

    fn input(&mut self, now: Time, input: Input<'_, RequestOf<E>>, out: &mut Outbox) {
        (**self).input(now, input, out);
    }

    fn deadline(&self) -> Option<Time> {
        (**self).deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        (**self).outcome()
    }

    fn digest(&self) -> u64 {
        (**self).digest()
    }
}
