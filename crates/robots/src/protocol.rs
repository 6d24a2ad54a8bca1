//! Decoding of messages from streams and datagrams.

mod server_decoder;

use bytes::BytesMut;
use netcore::{
    DecodeError, Framing, Protocol,
    wire::{Encode, Writer, read_datagram, read_message},
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
        // No message of a client has a list.
        read_datagram(&message[overridden..], 0)
    }

    fn encode_request(request: &ClientMessage, out: &mut BytesMut) {
        encode(request, out);
    }
}

// Where the last action of the run at the front begins, and where it ends: 0 and 0 without a run.
fn run(bytes: &[u8]) -> (usize, usize) {
    let (mut last, mut end) = (0, 0);
    while let Some(length) = bytes.get(end..).and_then(Action::length_on_stream) {
        (last, end) = (end, end + length);
    }
    (last, end)
}

/// Appends the bytes of a message to `out`.
pub fn encode<T: Encode>(message: &T, out: &mut BytesMut) {
    message.encode(&mut Writer::new(out));
}
