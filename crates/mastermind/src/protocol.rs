//! What goes over the wire: text, one message in a line or a frame.
//!
//! Players say what [`ClientMessage`] has, servers what [`ServerMessage`] has. Over a stream each message ends with a line feed;
//! over a link that keeps messages apart nothing follows it. `docs/protocols/mastermind.md` describes both sides to the byte.

mod client_message;
mod name;
mod server_message;
mod words;

use netcore::{DecodeError, Framing, Protocol, framing::LineDecoder};
use serde::{Deserialize, Serialize};

pub use client_message::{ClientMessage, MAX_MESSAGE};
pub use name::{MAX_NAME, Name};
pub use server_message::{Advice, MAX_TOLD, RoomRules, ServerMessage, Turn};

/// The protocol of players, for rooms.
///
/// A malformed line is a request too: an [`Err`] with the expected syntax. So a person who types by hand can continue after a
/// mistake; only a line that is too long ends a stream.
#[derive(Debug, Clone, Copy)]
pub struct Mastermind;

/// What is remembered of earlier messages, which is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "LineDecoder", into = "LineDecoder")]
pub struct Decoder;

// The state of earlier versions, which remembered how much of a line they had seen.
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

// One more for a carriage return.
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
