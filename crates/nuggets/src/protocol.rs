//! The wire format: one message per datagram, ASCII, no trailing newline, no NUL.
//!
//! | from | message | bytes | when |
//! |------|---------|-------|------|
//! | client | [`ClientMessage::Play`] | `PLAY ` name | once; everything after the one space is the name |
//! | client | [`ClientMessage::Spectate`] | `SPECTATE` | exactly these eight bytes |
//! | client | [`ClientMessage::Key`] | `KEY ` k | exactly one byte k, five in all |
//! | server | [`ServerMessage::Ok`] | `OK ` L | L is the player's letter |
//! | server | [`ServerMessage::Grid`] | `GRID ` rows ` ` columns | the size of the map |
//! | server | [`ServerMessage::Gold`] | `GOLD ` n ` ` p ` ` r | just collected, own purse, still to be found |
//! | server | [`ServerMessage::Display`] | `DISPLAY\n` text | each row of the grid followed by a newline |
//! | server | [`ServerMessage::Quit`] | `QUIT ` text | several lines are possible; the game is over for that client |
//! | server | [`ServerMessage::Error`] | `ERROR ` text | one line for the user |
//!
//! A datagram or a WebSocket frame is one message. On a stream, each message follows its length, a big-endian u32: an
//! extension of this project.
//!
//! The server decodes strictly. The client tolerates newlines and spaces that servers of the course add.
//!
//! Source: the requirements of the course's nuggets project, "Network protocol".

mod client_message;
mod framing;
mod name;
mod server_message;
#[cfg(test)]
mod tests;

use alloc::string::{String, ToString};
use netcore::{Admission, DecodeError, Framing, Protocol};

pub use self::{
    client_message::ClientMessage,
    framing::{LENGTH_PREFIX, MAX_DATAGRAM},
    name::{Letter, MAX_NAME, Name},
    server_message::ServerMessage,
};
pub(crate) use self::{
    client_message::FROM_A_SERVER,
    framing::{DISPLAY_HEADER, stream_decoder},
};

/// The nuggets protocol.
#[derive(Debug, Clone, Copy)]
pub struct Nuggets;

impl Protocol for Nuggets {
    type Request = ClientMessage;
    type Decoder = ();
    const MAX_MESSAGE: usize = LENGTH_PREFIX + MAX_DATAGRAM;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        stream_decoder().length(bytes)
    }

    fn decode((): &mut (), message: &[u8], framing: Framing) -> Result<ClientMessage, DecodeError> {
        match framing {
            Framing::Whole if message.len() > MAX_DATAGRAM => {
                Err(DecodeError::TooLong { length: message.len(), max: MAX_DATAGRAM })
            }
            Framing::Whole => ClientMessage::parse(message),
            Framing::Stream => ClientMessage::parse(stream_decoder().whole(message)?),
        }
    }

    fn admits(message: Result<&ClientMessage, DecodeError>) -> Admission {
        match message {
            Ok(ClientMessage::Play(_) | ClientMessage::Spectate) => Admission::Admitted,
            Ok(ClientMessage::Key(_)) => Admission::Ignored,
            Err(why) if why == FROM_A_SERVER => Admission::Ignored,
            Err(_) => Admission::Answered,
        }
    }
}

/// Escapes text for terminals and logs, except printable ASCII and the bytes in `keep`.
pub fn printable(text: &[u8], keep: &[u8]) -> String {
    let mut out = String::new();
    for &byte in text {
        if keep.contains(&byte) || matches!(byte, b' '..=b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&byte.escape_ascii().to_string());
        }
    }
    out
}
