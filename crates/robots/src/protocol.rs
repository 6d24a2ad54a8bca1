//! The messages and their bytes: between client and server in a TCP stream, between client and GUI in datagrams.
//!
//! Integers are big-endian; lists, maps and texts are encoded as in [`netcore::wire`]. There is no other framing.
//! `docs/protocols/robots.md` specifies every byte.
//!
//! | from | to | messages |
//! |------|----|----------|
//! | client | server | [`ClientMessage`], at most [`MAX_CLIENT_MESSAGE`] bytes |
//! | server | client | [`ServerMessage`], with the [`Event`]s of a turn |
//! | GUI | client | [`InputMessage`]: as from client to server without `Join`, so each tag is one less |
//! | client | GUI | [`DrawMessage`]: a [`GamePicture`], or the lobby |
//!
//! Source: the task text of robots, "Protocols".

mod incoming;
mod messages;
mod server_decoder;
pub mod shape;
mod wire;

use bytes::BytesMut;
use netcore::{
    DecodeError, Framing, Protocol,
    wire::{Encode, Writer, read_datagram, read_message},
};

pub use incoming::{Incoming, Malformed, MessagePosition};
pub use messages::{
    Action, Bomb, BombId, ClientMessage, DrawMessage, Event, GamePicture, InputMessage, MAX_CLIENT_MESSAGE,
    MAX_DATAGRAM, MAX_PICTURE_ITEMS, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE, Parameters, Player, PlayerId, ServerMessage,
};
pub use server_decoder::ServerDecoder;

/// The messages from clients to a server.
///
/// Only the last action of a player before a turn counts, so a run of complete actions in a stream is decoded as one
/// request, the last of them. A run ends at a Join, an incomplete message or malformed bytes. If no turn ends within a
/// run, the effect is that of decoding message by message.
///
/// ```
/// use bytes::BytesMut;
/// use netcore::Protocol;
/// use robots::{Action, ClientMessage, Direction, protocol::Robots};
///
/// // PlaceBomb, PlaceBlock, Move Down, and the front of another Move.
/// let mut buffer = BytesMut::from(&[1, 2, 3, 2, 3][..]);
/// let request = Robots::take(&mut (), &mut buffer)?;
/// assert_eq!(request, Some(ClientMessage::Action(Action::Move(Direction::Down))));
/// assert_eq!(buffer[..], [3]);
/// # Ok::<(), netcore::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Robots {}

impl Protocol for Robots {
    type Request = ClientMessage;
    type Decoder = ();
    const MAX_MESSAGE: usize = MAX_CLIENT_MESSAGE;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        let (_, end) = run(bytes);
        if end > 0 {
            return Ok(Some(end));
        }
        Ok(read_message::<ClientMessage>(bytes, Self::MAX_MESSAGE, 0)?.map(|(_, length)| length))
    }

    fn decode((): &mut (), message: &[u8], framing: Framing) -> Result<ClientMessage, DecodeError> {
        let overridden = match framing {
            Framing::Stream => run(message).0,
            Framing::Whole => 0,
        };
        read_datagram(&message[overridden..], 0)
    }
}

// The start and end of the last action of the run at the front; 0 and 0 without one.
fn run(bytes: &[u8]) -> (usize, usize) {
    let (mut last, mut end) = (0, 0);
    while let Some(length) = bytes.get(end..).and_then(Action::length_on_stream) {
        (last, end) = (end, end + length);
    }
    (last, end)
}

/// Appends a message to `out`.
pub fn encode<T: Encode>(message: &T, out: &mut BytesMut) {
    message.encode(&mut Writer::new(out));
}
