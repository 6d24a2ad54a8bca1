//! The server side of a game.

use alloc::vec::Vec;
use bytes::{Buf, BytesMut};
use core::fmt::Debug;
use serde::{Deserialize, Serialize};

use crate::{DecodeError, Framing, Input, Occupant, Outbox, Status, Time};

/// The messages that peers send to a server, and their wire format.
pub trait Protocol {
    /// A well-formed message from a peer.
    type Request;
    /// The decoding state of a stream, which depends on its earlier messages.
    type Decoder: Default + Clone + PartialEq + Debug;
    /// The longest message from a peer, in bytes: the bound for buffered bytes of an unfinished message.
    const MAX_MESSAGE: usize;
    /// The error for bytes that follow a message, if a peer must wait for the reply first; `None` if it need not.
    const AHEAD: Option<DecodeError> = None;

    /// The length of the message at the front of a stream, from 1 to `bytes.len()`; `None` if more bytes are needed.
    fn length(decoder: &Self::Decoder, bytes: &[u8]) -> Result<Option<usize>, DecodeError>;

    /// Decodes exactly one message. The result depends only on these bytes and the earlier messages.
    ///
    /// # Errors
    /// Missing and trailing bytes are errors too. After an error the decoder is unchanged.
    fn decode(decoder: &mut Self::Decoder, message: &[u8], framing: Framing) -> Result<Self::Request, DecodeError>;

    /// Takes one message off the front of `buffer`, for callers without a room; `None` if more bytes are needed. A
    /// malformed message stays in the buffer.
    fn take(decoder: &mut Self::Decoder, buffer: &mut BytesMut) -> Result<Option<Self::Request>, DecodeError> {
        let Some(length) = Self::length(decoder, buffer)? else { return Ok(None) };
        let request = Self::decode(decoder, &buffer[..length.min(buffer.len())], Framing::Stream)?;
        buffer.advance(length);
        Ok(Some(request))
    }

    /// The permitted effect of a datagram from an unknown address. On other links a peer is connected before its first
    /// message.
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
    /// All players left before the end.
    Deserted,
    /// The server was stopped from outside.
    Stopped,
}

impl Outcome {
    /// The reason as a sentence.
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
/// The same configuration, seed and sequence of timed inputs give the same outputs on every machine. [`Engine::input`]
/// is the only method that changes the state.
pub trait Engine {
    /// The messages that peers send to it.
    type Protocol: Protocol;

    /// Processes one input and appends the resulting outputs to `out`. `now` never goes back.
    fn input(&mut self, now: Time, input: Input<'_, RequestOf<Self>>, out: &mut Outbox);

    /// When [`Input::Elapsed`] is due next. The time is absolute, so timers do not drift.
    fn deadline(&self) -> Option<Time>;

    /// Why the server ended; `None` while it runs. It takes no inputs after its end.
    fn outcome(&self) -> Option<Outcome>;

    /// The summary that a lobby shows.
    fn status(&self) -> Status;

    /// The peers that have a seat or wait for one. A host that resumes a match needs them, because their events were
    /// reported in an earlier run.
    fn roster(&self) -> Vec<Occupant> {
        Vec::new()
    }
}
