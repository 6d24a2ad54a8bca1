//! The server side of a game: a deterministic state machine.

use alloc::{boxed::Box, vec::Vec};
use bytes::BytesMut;
use core::fmt::Debug;
use serde::{Deserialize, Serialize};

use crate::{DecodeError, Framing, Gone, Link, Occupant, Outbox, PeerId, Role, Status, Time};

/// Everything that can wake an engine.
#[derive(Debug)]
pub enum Input<'a, R> {
    /// A peer connected. Its requests follow.
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
    /// Bytes that are not a message. On a stream, this peer sends no further input. `why` depends on the bytes alone,
    /// so a recording does not need to store it.
    Malformed {
        /// Their sender.
        peer: PeerId,
        /// What is wrong with them.
        why: DecodeError,
    },
    /// The peer lost its state (it reconnected, or the server was resumed): send it everything that it may know.
    Refresh {
        /// The peer to update.
        peer: PeerId,
    },
    /// A peer disconnected. If it [`Left`](Gone::Left), it may still read: the engine can send to it until it closes
    /// the peer, which it must do. For any other reason nothing can be sent to it any more.
    Disconnected {
        /// The peer.
        peer: PeerId,
        /// Why.
        why: Gone,
    },
    /// The time returned by [`Engine::deadline`] has come.
    Elapsed,
    /// The server is being shut down. The [`Leave`] says whether players are told that the game is over.
    Stop(Leave),
}

/// How a server shuts down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leave {
    /// The game is over, and everybody is told so.
    Over,
    /// The server will be resumed with the same state: nobody is told that it is over, and no peer is closed.
    Resumable,
}

/// The messages that peers send to a server, and their wire format.
pub trait Protocol {
    /// A well-formed message from a peer.
    type Request;
    /// Decoder state that is kept between two reads of a stream, for instance the dialect that the first byte selected.
    type Decoder: Default + Clone + Debug;
    /// The longest message from a peer, in bytes. At most this much of an unfinished message is buffered.
    const MAX_MESSAGE: usize;

    /// Takes one message off the front of `buffer`. `None` means that a stream must deliver more bytes first.
    ///
    /// With [`Framing::Whole`], the buffer is exactly one message.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are not a message. A whole message that is truncated is an error too.
    fn decode(
        decoder: &mut Self::Decoder,
        buffer: &mut BytesMut,
        framing: Framing,
    ) -> Result<Option<Self::Request>, DecodeError>;

    /// Appends the wire form of `request` to `out`.
    fn encode_request(request: &Self::Request, out: &mut BytesMut);

    /// Decides from its content what a datagram from an unknown address may cause. This applies to datagrams only: on
    /// other links a peer is connected before its first message. The default ignores all of them.
    fn admits(message: Result<&Self::Request, DecodeError>) -> Admission {
        let _ = message;
        Admission::Ignored
    }
}

/// What a datagram from an unknown address may cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Nothing.
    Ignored,
    /// One reply, for instance an error message. The address stays unknown.
    Answered,
    /// The address becomes a peer. An engine that does not admit the peer closes it.
    Admitted,
}

/// The request type of the protocol of an engine.
pub type RequestOf<E> = <<E as Engine>::Protocol as Protocol>::Request;

/// Why a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The game was played to its end.
    Finished,
    /// Everybody left before the end.
    Deserted,
    /// The server was stopped from outside.
    Stopped,
}

/// A game server without sockets: a deterministic state machine.
///
/// The same configuration, seed and sequence of timed inputs give the same outputs on every machine. [`Engine::input`]
/// is the only method that changes the state; outputs are appended to the [`Outbox`].
pub trait Engine {
    /// The messages that peers send to it.
    type Protocol: Protocol;

    /// Processes one input and appends the resulting outputs to `out`. `now` never goes back.
    fn input(&mut self, now: Time, input: Input<'_, RequestOf<Self>>, out: &mut Outbox);

    /// When [`Input::Elapsed`] is due next: the earliest of all timers. The time is absolute, so timers do not drift.
    fn deadline(&self) -> Option<Time>;

    /// Why the server ended; `None` while it runs. After that it must not be given any more inputs.
    fn outcome(&self) -> Option<Outcome>;

    /// A 64-bit hash of the whole state. States that could behave differently have different digests, except with
    /// probability 2^-64. The call is cheap, because the digest is updated as the state changes.
    fn digest(&self) -> u64;

    /// The summary that a lobby shows.
    fn status(&self) -> Status;

    /// Who has a seat or waits for one. A host that resumes a match needs it, because the events that told of them were those of
    /// an earlier run. The default is nobody.
    fn roster(&self) -> Vec<Occupant> {
        Vec::new()
    }
}

macro_rules! forward {
    ($($holder:ty),*) => {$(
        impl<E: Engine + ?Sized> Engine for $holder {
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

            fn status(&self) -> Status {
                (**self).status()
            }

            fn roster(&self) -> Vec<Occupant> {
                (**self).roster()
            }
        }
    )*};
}
// Also for `&mut E`, so that the caller can inspect the engine after the shell has finished.
forward!(&mut E, Box<E>);
