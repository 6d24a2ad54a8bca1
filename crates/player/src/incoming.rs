//! A dealer's stream, cut into messages; whatever is wrong with it is said with its place.

use blackjack::{DealerMessage, Dialect, protocol::DealerDecoder};
use bytes::BytesMut;
use netcore::DecodeError;
use thiserror::Error;

/// What a dealer has sent and nobody has read yet, however it was cut or put together on the way.
///
/// ```
/// use blackjack::{DealerMessage, Dialect};
/// use player::Incoming;
///
/// let mut incoming = Incoming::new(Dialect::Text);
/// incoming.buffer().extend_from_slice(b"BEGIN\0CARD Ten of Clubs\0CARD Tenn");
/// assert_eq!(incoming.next_message(), Ok(Some(DealerMessage::Begin)));
/// assert!(matches!(incoming.next_message(), Ok(Some(DealerMessage::Card(_)))));
/// assert_eq!(incoming.next_message(), Ok(None));
/// incoming.buffer().extend_from_slice(b" of Clubs\0");
/// let wrong = incoming.next_message().unwrap_err();
/// assert!(wrong.to_string().starts_with("message 3, from byte 24 of the stream: byte 5: no card"));
/// ```
#[derive(Debug)]
pub struct Incoming {
    decoder: DealerDecoder,
    buffer: BytesMut,
    // Whole messages, and the bytes of them.
    whole: u64,
    start: u64,
}

/// Bytes that are no message of a dealer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("message {number}, from byte {start} of the stream: {error}")]
pub struct Malformed {
    /// The number of the message that they should be, from 1.
    pub number: u64,
    /// Where in the stream that begins, from 0; with its length, if it is binary.
    pub start: u64,
    /// What is wrong with it; part of the text, so that it is no source of its own.
    pub error: DecodeError,
}

impl Incoming {
    /// A stream in the dialect that the player has chosen, of which nothing has come.
    pub fn new(dialect: Dialect) -> Self {
        Self { decoder: DealerDecoder::new(dialect), buffer: BytesMut::new(), whole: 0, start: 0 }
    }

    /// Where to put what comes; only its end may be touched.
    pub const fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Whether part of a message has come.
    pub fn is_within_message(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Bytes of whole messages so far.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// The next message; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes are no message. The stream cannot be read on after that.
    pub fn next_message(&mut self) -> Result<Option<DealerMessage>, Malformed> {
        let before = self.buffer.len();
        let decoded = self.decoder.decode(&mut self.buffer);
        let message = decoded.map_err(|error| Malformed { number: self.whole + 1, start: self.start, error })?;
        if message.is_some() {
            self.whole += 1;
            self.start += (before - self.buffer.len()) as u64;
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_means_the_same_however_it_is_cut() {
        let texts = ["BEGIN", "CARD Queen of Diamonds", "DECISION", "RESULT LOSE", "QUIT"];
        let messages = texts.map(|text| DealerMessage::parse_text(text.as_bytes()).unwrap());
        for dialect in [Dialect::Text, Dialect::Binary] {
            let mut bytes = BytesMut::new();
            for message in messages {
                message.encode(dialect, &mut bytes);
            }
            for step in 1..=bytes.len() {
                let mut incoming = Incoming::new(dialect);
                let mut read = vec![];
                for piece in bytes.chunks(step) {
                    incoming.buffer().extend_from_slice(piece);
                    read.extend(std::iter::from_fn(|| incoming.next_message().unwrap()));
                }
                assert_eq!(read, messages, "{dialect:?} in pieces of {step}");
                assert_eq!((incoming.start(), incoming.is_within_message()), (bytes.len() as u64, false));
            }
        }
    }

    #[test]
    fn the_place_of_what_is_wrong_is_told() {
        for (dialect, bytes, told) in [
            (Dialect::Text, &b"BEGIN\0\0"[..], "message 2, from byte 6 of the stream: byte 0: no message"),
            (Dialect::Text, b"QUIT\n\0", "message 1, from byte 0 of the stream: byte 0: no message"),
            (Dialect::Binary, b"\0\0\0\x01\x02\0\0\0\x02\x03\x35", "message 2, from byte 5 of the stream: byte 1"),
            (Dialect::Binary, b"\0\0\0\0", "message 1, from byte 0 of the stream: "),
            (Dialect::Binary, b"\xff\xff\xff\xff", "message 1, from byte 0 of the stream: a message of 4294967295"),
        ] {
            let mut incoming = Incoming::new(dialect);
            incoming.buffer().extend_from_slice(bytes);
            let error = loop {
                match incoming.next_message() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("{bytes:?} was taken for half a message"),
                    Err(error) => break error.to_string(),
                }
            };
            assert!(error.starts_with(told), "{error}");
        }
        let mut endless = Incoming::new(Dialect::Text);
        endless.buffer().extend_from_slice(&[b'A'; 257]);
        assert!(endless.next_message().is_err(), "what has no end is not waited for");
    }
}
