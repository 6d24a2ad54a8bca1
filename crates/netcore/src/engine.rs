//! The shape of a server: a deterministic state machine.

use alloc::boxed::Box;
use bytes::BytesMut;
use core::fmt::Debug;
use serde::{Deserialize, Serialize};

use crate::{DecodeError, Framing, Gone, Link, Outbox, PeerId, Role, Status, Time};

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
    /// Bytes that are no message. On a stream nothing more follows from this peer. `why` follows from the bytes alone, so a
    /// recording needs to keep nothing else.
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
    /// The server is being shut down: take leave of everybody, or of nobody if it will be resumed.
    Stop(Leave),
}

/// How a server takes leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leave {
    /// It is over: everybody is told so.
    Over,
    /// It comes back later with the same state, so nobody is told that it is over, and nobody is closed.
    Resumable,
}

/// The messages that peers send to a server, and how they look on the wire.
pub trait Protocol {
    /// A well-formed message from a peer.
    type Request;
    /// What has to be remembered between two pieces of a stream, for instance the dialect that its first byte chose.
    type Decoder: Default + Clone + Debug;
    /// The longest message from a peer, in bytes. Nobody buffers more than this of an unfinished message.
    const MAX_MESSAGE: usize;

    /// Takes one message off the front of `buffer`; `None` when a stream has to bring more first.
    ///
    /// With [`Framing::Whole`] the buffer is one message, neither more nor less.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are no message. A whole message that ends early is an error too.
    fn decode(
        decoder: &mut Self::Decoder,
        buffer: &mut BytesMut,
        framing: Framing,
    ) -> Result<Option<Self::Request>, DecodeError>;

    /// Appends the wire form of `request` to `out`.
    fn encode_request(request: &Self::Request, out: &mut BytesMut);

    /// What a datagram from an address that is no peer yet may cause, by what it says. Only datagrams ask: on other links
    /// a peer is connected before its first message. A game that is not played over datagrams lets nobody in by one.
    fn admits(message: Result<&Self::Request, DecodeError>) -> Admission {
        let _ = message;
        Admission::Ignored
    }
}

/// What a datagram from an unknown address may cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Nothing at all.
    Ignored,
    /// One answer, for instance about what is wrong with it; the address stays unknown.
    Answered,
    /// The address becomes a peer. The engine closes whom it does not let in.
    Admitted,
}

/// The request type of an engine's protocol.
pub type RequestOf<E> = <<E as Engine>::Protocol as Protocol>::Request;

/// How a server's life ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The game was played to its end.
    Finished,
    /// Everybody left before the end.
    Deserted,
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

    /// A fingerprint of the whole state: two states that can go on differently differ, but for a chance of 2^-64. Cheap: it
    /// is kept as the state changes.
    fn digest(&self) -> u64;

    /// What a lobby shows.
    fn status(&self) -> Status;
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
        }
    )*};
}
// Also for `&mut E`, so that the caller can look at the engine when the shell is done with it.
forward!(&mut E, Box<E>);
