//! A dealer's stream, cut into messages. Errors carry the position in the stream.

use bytes::BytesMut;
use netcore::{DecodeError, MessageDecoder, MessageStream};
use thiserror::Error;

use crate::protocol::{DealerDecoder, DealerMessage, Dialect};

/// The unread bytes of a dealer's stream.
#[derive(Debug, Clone)]
pub(super) struct Incoming(MessageStream<DealerDecoder>);

impl MessageDecoder for DealerDecoder {
    type Message = DealerMessage;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<DealerMessage>, DecodeError> {
        self.decode(buffer)
    }
}

/// Bytes that are no message of a dealer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
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
    /// An empty stream in this dialect.
    pub(super) fn new(dialect: Dialect) -> Self {
        Self(MessageStream::new(DealerDecoder::new(dialect)))
    }

    /// Bytes have come.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.0.buffer().extend_from_slice(bytes);
    }

    /// Whether part of a message has come.
    pub(super) fn is_within_message(&self) -> bool {
        !self.0.unread().is_empty()
    }

    /// Bytes of whole messages so far.
    pub(super) const fn start(&self) -> u64 {
        self.0.start()
    }

    /// The next message; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes are no message. The stream cannot be read on after that.
    pub(super) fn next_message(&mut self) -> Result<Option<DealerMessage>, Malformed> {
        let (number, start) = (self.0.number(), self.0.start());
        self.0.next_message().map_err(|error| Malformed { number, start, error })
    }

    /// Reads bytes that are one message, neither more nor less.
    pub(super) fn whole(&mut self, bytes: &[u8]) -> Result<DealerMessage, Malformed> {
        let malformed = |error| Malformed { number: self.0.number(), start: self.0.start(), error };
        let message = self.0.decoder().decode_whole(bytes).map_err(malformed)?;
        self.0.skip(bytes.len());
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{string::ToString, vec};

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
                    incoming.push(piece);
                    read.extend(core::iter::from_fn(|| incoming.next_message().unwrap()));
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
            incoming.push(bytes);
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
        endless.push(&[b'A'; 257]);
        assert!(endless.next_message().is_err(), "what has no end is not waited for");
    }
}
