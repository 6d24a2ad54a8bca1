//! The wire protocol: text, one message per line or frame. `docs/protocols/mastermind.md` specifies every byte.
//!
//! Over a stream each message ends with a line feed; other links have message boundaries.

mod client_message;
mod name;
mod server_message;
mod words;

use netcore::{DecodeError, Framing, Protocol, framing::LineDecoder};
use serde::{Deserialize, Serialize};

pub use client_message::{ClientMessage, MAX_MESSAGE};
pub use name::{MAX_NAME, Name};
pub use server_message::{Advice, MAX_TOLD, RoomRules, ServerMessage, Turn};

/// The protocol of a room.
///
/// A malformed line is also a request: an [`Err`] with the expected syntax, so that a person who types can continue.
/// Only a line that is too long ends a stream.
#[derive(Debug, Clone, Copy)]
pub struct Mastermind;

/// The decoder state between messages, which is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "LineDecoder", into = "LineDecoder")]
pub struct Decoder;

// Earlier versions stored the progress within a line.
impl From<LineDecoder> for Decoder {
    fn from(_: LineDecoder) -> Self {
        Self
    }
}

impl From<Decoder> for LineDecoder {
    fn from(Decoder: Decoder) -> Self {
        lines()
    }
}

// One more byte for a carriage return.
const fn lines() -> LineDecoder {
    LineDecoder::new(MAX_MESSAGE + 1)
}

impl Protocol for Mastermind {
    type Request = Result<ClientMessage, DecodeError>;
    type Decoder = Decoder;
    // With a carriage return and a line feed.
    const MAX_MESSAGE: usize = MAX_MESSAGE + 2;

    fn length(_: &Decoder, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        lines().length(bytes)
    }

    fn decode(_: &mut Decoder, message: &[u8], framing: Framing) -> Result<Self::Request, DecodeError> {
        let text = match framing {
            Framing::Whole => message,
            Framing::Stream => {
                let line = lines().whole(message)?;
                line.strip_suffix(b"\r").unwrap_or(line)
            }
        };
        if text.len() > MAX_MESSAGE {
            return Err(DecodeError::TooLong { length: text.len(), max: MAX_MESSAGE });
        }
        Ok(ClientMessage::parse(text))
    }
}
