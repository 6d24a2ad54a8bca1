//! Splits a server's stream into messages, and locates malformed bytes.

use core::fmt;

use bytes::BytesMut;
use netcore::{DecodeError, MessageDecoder, MessageStream, wire::read_datagram};
use thiserror::Error;

use super::{
    Event, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE, ServerMessage,
    shape::{Described, PartReader, Shape, Step, Variant},
};

/// The stream of bytes from a server.
///
/// ```
/// use robots::protocol::Incoming;
///
/// let mut incoming = Incoming::default();
/// incoming.buffer().extend_from_slice(&[4, 0, 0, 0, 0, 7]);
/// assert!(matches!(incoming.next_message(), Ok(Some(_))), "a GameEnded without scores");
/// let wrong = incoming.next_message().unwrap_err();
/// assert!(wrong.to_string().starts_with("byte 5 of the stream (byte 0 of message 2): 7 is no tag of ServerMessage"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Incoming {
    stream: MessageStream<ServerDecoder>,
}

impl MessageDecoder for ServerDecoder {
    type Message = ServerMessage;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<ServerMessage>, DecodeError> {
        self.decode(buffer)
    }
}

/// The location of a message in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagePosition {
    /// The number of the message, from 1.
    pub number: u64,
    /// The offset of its first byte, from 0.
    pub start: u64,
    /// Its first byte, once it has arrived.
    pub tag: Option<u8>,
}

/// A malformed message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Malformed {
    /// The location of the message.
    pub place: MessagePosition,
    /// The decoding error.
    pub error: DecodeError,
}

impl Incoming {
    /// The buffer for received bytes. The caller may only append to it.
    pub fn buffer(&mut self) -> &mut BytesMut {
        self.stream.buffer()
    }

    /// The number of received bytes.
    pub fn received(&self) -> u64 {
        self.stream.received()
    }

    /// The location of the next or incomplete message.
    pub fn place(&self) -> MessagePosition {
        let tag = self.stream.unread().first().copied();
        MessagePosition { number: self.stream.number(), start: self.stream.start(), tag }
    }

    /// Whether part of a message has arrived.
    pub fn is_within_message(&self) -> bool {
        !self.stream.unread().is_empty()
    }

    /// The next message; `None` if more bytes are needed.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes are not a valid message. The rest of the stream cannot be decoded.
    pub fn next_message(&mut self) -> Result<Option<ServerMessage>, Malformed> {
        self.stream.next_message().map_err(|error| Malformed { place: self.place(), error })
    }
}

impl MessagePosition {
    fn kind(&self) -> Option<&'static str> {
        variants(&ServerMessage::SHAPE).get(usize::from(self.tag?)).map(|variant| variant.name)
    }
}

/// As in `message 3, a Turn`.
impl fmt::Display for MessagePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}", self.number)?;
        match self.kind() {
            Some(kind @ "AcceptedPlayer") => write!(f, ", an {kind}"),
            Some(kind) => write!(f, ", a {kind}"),
            None => Ok(()),
        }
    }
}

/// The location of the wrong byte, its value, and the accepted values.
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, error } = self;
        let at = match *error {
            DecodeError::UnknownTag { at, .. }
            | DecodeError::NotUtf8 { at }
            | DecodeError::TooMany { at, .. }
            | DecodeError::Trailing { at, .. }
            | DecodeError::Invalid { at, .. } => at,
            _ => 0,
        };
        write!(f, "byte {} of the stream (byte {at} of {place}): ", place.start + at as u64)?;
        match error {
            DecodeError::UnknownTag { ty, tag, .. } => {
                write!(f, "{tag} is no tag of {ty}; expected ")?;
                let variants = variants(if ty == "Event" { &Event::SHAPE } else { &ServerMessage::SHAPE });
                for (tag, variant) in variants.iter().enumerate() {
                    let before = match tag {
                        0 => "",
                        tag if tag + 1 == variants.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{before}{tag} ({})", variant.name)?;
                }
                Ok(())
            }
            DecodeError::NotUtf8 { .. } => write!(f, "the text is not valid UTF-8"),
            DecodeError::TooMany { count, max, .. } => {
                write!(f, "a list of {count} items; at most {max} are taken")
            }
            DecodeError::TooLong { length, max } => {
                write!(f, "the message takes {length} bytes or more; at most {max} are taken")
            }
            DecodeError::Invalid { what, .. } => f.write_str(what),
            error => write!(f, "{error}"),
        }
    }
}

const fn variants(shape: &'static Shape) -> &'static [Variant] {
    match shape {
        Shape::Enum(of) => of.variants,
        _ => &[],
    }
}

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

#[cfg(test)]
mod tests {
    use alloc::{
        format,
        string::{String, ToString},
    };

    use super::*;

    const HELLO: &[u8] = &[0, 1, b's', 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6];

    fn error_text(stream: &[u8]) -> String {
        let error_text = |size: usize| {
            let mut incoming = Incoming::default();
            for piece in stream.chunks(size) {
                incoming.buffer().extend_from_slice(piece);
                loop {
                    match incoming.next_message() {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(wrong) => return wrong.to_string(),
                    }
                }
            }
            panic!("{stream:?} is right so far: {incoming:?}")
        };
        let whole = error_text(stream.len());
        for size in 1..stream.len() {
            assert_eq!(error_text(size), whole, "in pieces of {size} bytes");
        }
        whole
    }

    #[test]
    fn error_names_the_byte_and_the_expected_value() {
        let right = "expected 0 (Hello), 1 (AcceptedPlayer), 2 (GameStarted), 3 (Turn) or 4 (GameEnded)";
        assert_eq!(
            error_text(&[9]),
            format!("byte 0 of the stream (byte 0 of message 1): 9 is no tag of ServerMessage; {right}")
        );
        let second = [HELLO, &[1, 0, 2, b'a', 0xff, 0]].concat();
        let place = "byte 18 of the stream (byte 4 of message 2, an AcceptedPlayer)";
        assert_eq!(error_text(&second), format!("{place}: the text is not valid UTF-8"));
        let event = [3, 0, 7, 0, 0, 0, 2, 3, 0, 1, 0, 1, 4];
        let right = "expected 0 (BombPlaced), 1 (BombExploded), 2 (PlayerMoved) or 3 (BlockPlaced)";
        let place = "byte 26 of the stream (byte 12 of message 2, a Turn)";
        assert_eq!(error_text(&[HELLO, &event].concat()), format!("{place}: 4 is no tag of Event; {right}"));
        let entry = [2, 0, 0, 0, 2, 7, 1, b'a', 1, b'b', 8, 1, b'c', 2, b'd', 0xff];
        let place = "byte 29 of the stream (byte 15 of message 2, a GameStarted)";
        assert_eq!(error_text(&[HELLO, &entry].concat()), format!("{place}: the text is not valid UTF-8"));
        let place = "byte 1 of the stream (byte 1 of message 1, a GameStarted)";
        assert_eq!(error_text(&[2, 0, 0, 1, 1]), format!("{place}: a list of 257 items; at most 256 are taken"));
        let many = "a list of 4294967295 items; at most 1048576 are taken";
        let place = "byte 3 of the stream (byte 3 of message 1, a Turn)";
        assert_eq!(error_text(&[3, 0, 1, 0xff, 0xff, 0xff, 0xff]), format!("{place}: {many}"));
    }

    #[test]
    fn incoming_knows_if_a_message_is_incomplete() {
        let mut incoming = Incoming::default();
        incoming.buffer().extend_from_slice(HELLO);
        assert!(incoming.next_message().unwrap().is_some());
        assert!(!incoming.is_within_message());
        // Part of a turn, some of it already removed from the buffer.
        incoming.buffer().extend_from_slice(&[3, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0]);
        assert_eq!(incoming.next_message(), Ok(None));
        assert!(incoming.is_within_message());
        assert_eq!(
            (incoming.received(), incoming.place()),
            (25, MessagePosition { number: 2, start: 14, tag: Some(3) })
        );
    }

    #[test]
    fn a_message_that_is_too_long_is_refused() {
        let mut incoming = Incoming::default();
        incoming.buffer().extend_from_slice(&[3, 0, 0, 0, 16, 0, 0]);
        incoming.buffer().extend_from_slice(&[3, 0, 0, 0, 0].repeat(1 << 18));
        let error_text = incoming.next_message().unwrap_err().to_string();
        assert!(
            error_text.contains("message 1, a Turn") && error_text.contains("at most 1048576 are taken"),
            "{error_text}"
        );
    }
}
