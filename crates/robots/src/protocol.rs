//! Messages off streams and out of datagrams.

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
/// Of a player's actions only the last before a turn counts. So off a stream a run of actions is read as one request, the
/// last that is whole: an action that stands in the buffer directly before another whole one is left out. A Join is
/// always read, and nothing is left out across a Join, an unfinished message or bytes that are none. To a game it is the
/// same as reading the messages one by one, as long as no turn ends in between; `take_message::<ClientMessage>` does that.
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

// How many bytes at the front are actions that do not count: all of the run but the last.
fn overridden(buffer: &[u8]) -> usize {
    let (mut last, mut end) = (0, 0);
    while let Some(length) = buffer.get(end..).and_then(Action::length_on_stream) {
        (last, end) = (end, end + length);
    }
    last
}

/// Appends the wire form of a message to `out`.
pub fn encode<T: Encode>(message: &T, out: &mut BytesMut) {
    message.encode(&mut Writer::new(out));
}
