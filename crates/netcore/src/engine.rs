//! The server side of a game.

use alloc::vec::Vec;
use bytes::{Buf, BytesMut};
use core::fmt::Debug;
use serde::{Deserialize, Serialize};

use crate::{DecodeError, Framing, Input, Occupant, Outbox, Status, Time};

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
