use bytes::BytesMut;
use netcore::{DecodeError, wire::read_datagram};

use super::{
    messages::{MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE, ServerMessage},
    shape::{Described, PartReader, Step},
};

/// Decodes a server's stream.
///
/// Long messages cost no more in small pieces than in one.
///
/// ```
/// use bytes::BytesMut;
/// use robots::{ServerMessage, protocol::ServerDecoder};
///
/// let mut decoder = ServerDecoder::default();
/// let mut buffer = BytesMut::from(&[3, 0xff][..]);
/// assert_eq!(decoder.decode(&mut buffer), Ok(None));
/// buffer.extend_from_slice(&[0xff, 0, 0, 0, 0]);
/// assert_eq!(decoder.decode(&mut buffer), Ok(Some(ServerMessage::Turn { turn: 65_535, events: vec![] })));
/// ```
#[derive(Debug, Clone)]
pub struct ServerDecoder {
    parts: PartReader,
}

impl Default for ServerDecoder {
    fn default() -> Self {
        Self { parts: PartReader::new(&ServerMessage::SHAPE, MAX_SERVER_MESSAGE, MAX_SERVER_ITEMS) }
    }
}

impl ServerDecoder {
    /// Takes one message from the front of `buffer`; `None` if more bytes are needed. Between calls, the caller may
    /// only append to the buffer.
    ///
    /// # Errors
    /// [`DecodeError`] if the message is invalid or longer than [`MAX_SERVER_MESSAGE`] bytes. The rest of the stream
    /// cannot be decoded.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<ServerMessage>, DecodeError> {
        loop {
            let length = self.parts.length();
            match self.parts.next(&buffer[length..])? {
                Step::Part(_) | Step::ListEnd { .. } => {}
                Step::Incomplete(_) => return Ok(None),
                Step::MessageEnd => return read_datagram(&buffer.split_to(length), MAX_SERVER_ITEMS).map(Some),
            }
        }
    }
}
