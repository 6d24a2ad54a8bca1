//! The server side of a game.

use alloc::{borrow::Cow, vec::Vec};
use core::fmt::Debug;

use bytes::{Buf, BytesMut};
use serde::{Deserialize, Serialize};

use crate::{DecodeError, DisconnectReason, Framing, Link, Occupant, Outbox, PeerId, Role, Status, Time};

/// The messages from peers to a server, and their wire format.
pub trait Protocol {
    /// A well-formed message from a peer.
    type Request;
    /// The decoding state of a stream, which depends on earlier messages.
    type Decoder: Default + Clone + PartialEq + Debug;
    /// The maximum length of a message from a peer in bytes, which also bounds the buffer.
    const MAX_MESSAGE: usize;
    /// The error for bytes behind a message, if a peer must wait for the reply.
    const AHEAD: Option<DecodeError> = None;

    /// The length of the first message of a stream, from 1 to `bytes.len()`; `None` if more bytes are needed.
    fn length(decoder: &Self::Decoder, bytes: &[u8]) -> Result<Option<usize>, DecodeError>;

    /// Decodes exactly one message. The result depends only on these bytes and the earlier messages.
    ///
    /// # Errors
    /// Missing and trailing bytes are errors too. On error, the decoder is unchanged.
    fn decode(decoder: &mut Self::Decoder, message: &[u8], framing: Framing) -> Result<Self::Request, DecodeError>;

    /// Takes one message from `buffer`, for callers without a room; `None` if more bytes are needed. A malformed
    /// message stays in the buffer.
    fn take(decoder: &mut Self::Decoder, buffer: &mut BytesMut) -> Result<Option<Self::Request>, DecodeError> {
        let Some(length) = Self::length(decoder, buffer)? else { return Ok(None) };
        let request = Self::decode(decoder, &buffer[..length.min(buffer.len())], Framing::Stream)?;
        buffer.advance(length);
        Ok(Some(request))
    }

    /// The permitted effect of a datagram from an unknown address. On other links, peers connect first.
    fn admits(message: Result<&Self::Request, DecodeError>) -> Admission {
        let _ = message;
        Admission::Ignored
    }
}

/// The permitted effect of a datagram from an unknown address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// The datagram has no effect.
    Ignored,
    /// One reply, for instance an error. The address remains unknown.
    Answered,
    /// The address becomes a peer. An engine that does not admit it closes it.
    Admitted,
}

/// The request type of an engine's protocol.
pub type RequestOf<E> = <<E as Engine>::Protocol as Protocol>::Request;

/// Why a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The game was completed.
    Finished,
    /// All players left before the end.
    Deserted,
    /// The server was stopped.
    Stopped,
}

impl Outcome {
    /// The reason as a clause.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Finished => "it was completed",
            Self::Deserted => "all players have left",
            Self::Stopped => "it was stopped",
        }
    }
}

/// A game server without sockets: a deterministic state machine.
///
/// The same configuration, seed and timed inputs give the same outputs on every machine. Only [`Engine::input`] changes
/// the state.
pub trait Engine {
    /// Its protocol.
    type Protocol: Protocol;

    /// Processes one input and appends the outputs to `out`. `now` never decreases.
    fn input(&mut self, now: Time, input: Input<'_, RequestOf<Self>>, out: &mut Outbox);

    /// When [`Input::Elapsed`] is due. The time is absolute, so timers do not drift.
    fn deadline(&self) -> Option<Time>;

    /// Why the server ended; `None` while it runs. After its end it takes no inputs.
    fn outcome(&self) -> Option<Outcome>;

    /// The summary for a lobby.
    fn status(&self) -> Status;

    /// The peers with a seat or waiting for one. A host that resumes a match needs them, because their events were
    /// reported in an earlier run.
    fn roster(&self) -> Vec<Occupant> {
        Vec::new()
    }
}

// The inputs of a server.

/// An input of a server: everything that can wake it.
///
/// `M` is a message: decoded for an [`Engine`](crate::Engine), the bytes of exactly one message for a
/// [`Room`](crate::Room), and owned bytes in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input<'a, M> {
    /// A peer connected. Its messages follow.
    Connected {
        /// A number that was never used before.
        peer: PeerId,
        /// Its permissions.
        role: Role,
        /// The kind of its connection.
        link: Link,
        /// Its address as `1.2.3.4:5` or `[::1]:5`.
        address: Cow<'a, str>,
    },
    /// A message from a peer.
    Message {
        /// Its sender.
        peer: PeerId,
        /// The message.
        message: M,
    },
    /// Bytes that are not a message. On a stream, the peer sends no further input.
    Malformed {
        /// Their sender.
        peer: PeerId,
        /// The error.
        why: DecodeError,
    },
    /// The peer may have lost its state, because it reconnected or the server was resumed. The engine must send the
    /// full state that the peer may see.
    Refresh {
        /// The peer.
        peer: PeerId,
    },
    /// A peer disconnected. If it [`Left`](DisconnectReason::Left), the engine can still send to it, and must close it.
    Disconnected {
        /// The peer.
        peer: PeerId,
        /// The reason.
        why: DisconnectReason,
    },
    /// The deadline of [`Engine::deadline`](crate::Engine::deadline) has passed.
    Elapsed,
    /// The server shuts down. [`Leave`] determines whether players are notified.
    Stop(Leave),
}

/// How a server shuts down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leave {
    /// The game is over, and all players are notified.
    Over,
    /// The server will be resumed with the same state: players are not notified, and peers not closed.
    Resumable,
}

impl<'a, M> Input<'a, M> {
    /// The peer concerned, if any.
    pub const fn peer(&self) -> Option<PeerId> {
        match self {
            Self::Connected { peer, .. }
            | Self::Message { peer, .. }
            | Self::Malformed { peer, .. }
            | Self::Refresh { peer }
            | Self::Disconnected { peer, .. } => Some(*peer),
            Self::Elapsed | Self::Stop(_) => None,
        }
    }

    /// The same input with another message.
    pub fn map<N>(self, message: impl FnOnce(M) -> N) -> Input<'a, N> {
        match self {
            Self::Connected { peer, role, link, address } => Input::Connected { peer, role, link, address },
            Self::Message { peer, message: whole } => Input::Message { peer, message: message(whole) },
            Self::Malformed { peer, why } => Input::Malformed { peer, why },
            Self::Refresh { peer } => Input::Refresh { peer },
            Self::Disconnected { peer, why } => Input::Disconnected { peer, why },
            Self::Elapsed => Input::Elapsed,
            Self::Stop(leave) => Input::Stop(leave),
        }
    }
}

impl<M: AsRef<[u8]>> Input<'_, M> {
    /// The same input with a borrowed message, for a room.
    pub fn borrowed(&self) -> Input<'_, &[u8]> {
        match self {
            Self::Connected { peer, role, link, address } => {
                Input::Connected { peer: *peer, role: *role, link: *link, address: Cow::Borrowed(address) }
            }
            Self::Message { peer, message } => Input::Message { peer: *peer, message: message.as_ref() },
            Self::Malformed { peer, why } => Input::Malformed { peer: *peer, why: why.clone() },
            Self::Refresh { peer } => Input::Refresh { peer: *peer },
            Self::Disconnected { peer, why } => Input::Disconnected { peer: *peer, why: *why },
            Self::Elapsed => Input::Elapsed,
            Self::Stop(leave) => Input::Stop(*leave),
        }
    }
}
