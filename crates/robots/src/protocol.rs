//! Messages off streams and out of datagrams.

mod server_decoder;

use bytes::BytesMut;
use netcore::{
    DecodeError, Framing, Protocol,
    wire::{Encode, Writer, read_datagram, take_message},
};

pub use server_decoder::ServerDecoder;

use crate::messages::{ClientMessage, MAX_CLIENT_MESSAGE};

/// The messages that clients send to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Robots {}

impl Protocol for Robots {
    type Request = ClientMessage;
    type Decoder = ();
    const MAX_MESSAGE: usize = MAX_CLIENT_MESSAGE;

    fn decode((): &mut (), buffer: &mut BytesMut, framing: Framing) -> Result<Option<ClientMessage>, DecodeError> {
        // No message of a client has a list.
        match framing {
            Framing::Stream => take_message(buffer, Self::MAX_MESSAGE, 0),
            Framing::Datagram => read_datagram(&buffer.split(), 0).map(Some),
        }
    }

    fn encode_request(request: &ClientMessage, out: &mut BytesMut) {
        encode(request, out);
    }
}

/// Appends the wire form of a message to `out`.
pub fn encode<T: Encode>(message: &T, out: &mut BytesMut) {
    message.encode(&mut Writer::new(out));
}
