//! Decoding of messages from streams and datagrams.

mod server_decoder;

use bytes::{Buf, BytesMut};
use netcore::{
    DecodeError, Framing, Protocol,
    wire::{Encode, Writer, read_datagram, take_message},
};

pub use server_decoder::ServerDecoder;

use crate::messages::{Action, ClientMessage, MAX_CLIENT_MESSAGE};

/// The messages that clients send to a server.
///
/// Only the last action of a player before a turn counts. So a run of complete actions in a stream is decoded as one request,
/// the last of them. A Join is always decoded, and nothing is skipped across a Join, an incomplete message or malformed bytes.
/// For a game the effect is the same as that of `take_message::<ClientMessage>`, which decodes one message after the other, as
/// long as no turn ends in between.
///
/// ```
/// use bytes::BytesMut;
/// use netcore::{Framing, Protocol};
/// use robots::{Action, ClientMessage, Direction, protocol::Robots};
///
/// // PlaceBomb, PlaceBlock, Move Down, and the front of another Move.
/// let mut buffer = BytesMut::from(&[1, 2, 3, 2, 3][..]);
/// let request = Robots::decode(&mut (), &mut buffer, Framing::Stream)?;
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

    fn decode((): &mut (), buffer: &mut BytesMut, framing: Framing) -> Result<Option<ClientMessage>, DecodeError> {
        // No message of a client has a list.
        match framing {
            Framing::Stream => {
                buffer.advance(overridden(buffer));
                take_message(buffer, Self::MAX_MESSAGE, 0)
            }
            Framing::Whole => read_datagram(&buffer.split(), 0).map(Some),
        }
    }

    fn encode_request(request: &ClientMessage, out: &mut BytesMut) {
        encode(request, out);
    }
}

// The number of bytes of the actions at the front that do not count: the whole run but the last one.
fn overridden(buffer: &[u8]) -> usize {
    let (mut last, mut end) = (0, 0);
    while let Some(length) = buffer.get(end..).and_then(Action::length_on_stream) {
        (last, end) = (end, end + length);
    }
    last
}

/// Appends the bytes of a message to `out`.
pub fn encode<T: Encode>(message: &T, out: &mut BytesMut) {
    message.encode(&mut Writer::new(out));
}
