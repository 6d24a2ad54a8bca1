//! A received stream of messages and its read position.

use bytes::BytesMut;

use crate::DecodeError;

/// Decodes the messages of a stream.
pub trait MessageDecoder {
    /// A message of the stream.
    type Message;

    /// Takes bytes from `buffer`, up to the end of one message; `None` if more bytes are needed.
    ///
    /// After an error, the rest of the stream cannot be decoded.
    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Self::Message>, DecodeError>;
}

/// The undecoded bytes of a stream, and the position of the next message.
#[derive(Debug, Clone, Default)]
pub struct MessageStream<D> {
    decoder: D,
    buffer: BytesMut,
    // The number of complete messages, and the offset of the next one.
    messages: u64,
    start: u64,
    // Bytes taken from the buffer, including those of the incomplete message.
    taken: u64,
}

impl<D> MessageStream<D> {
    /// An empty stream.
    pub fn new(decoder: D) -> Self {
        Self { decoder, buffer: BytesMut::new(), messages: 0, start: 0, taken: 0 }
    }

    /// The decoder.
    pub const fn decoder(&self) -> &D {
        &self.decoder
    }

    /// The received bytes that the decoder has not taken.
    pub const fn unread(&self) -> &BytesMut {
        &self.buffer
    }

    /// The buffer for received bytes. The caller may only append to it.
    pub const fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// The number of received bytes.
    pub fn received(&self) -> u64 {
        self.taken + self.buffer.len() as u64
    }

    /// The number of the next or incomplete message, from 1.
    pub const fn number(&self) -> u64 {
        self.messages + 1
    }

    /// The offset of the next or incomplete message, from 0.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Counts a message of `length` bytes that bypassed the buffer, which must be empty.
    pub fn skip(&mut self, length: usize) {
        debug_assert!(self.buffer.is_empty(), "the bytes in the buffer come first");
        self.taken += length as u64;
        self.start = self.taken;
        self.messages += 1;
    }
}

impl<D: MessageDecoder> MessageStream<D> {
    /// The next message; `None` if more bytes are needed.
    pub fn next_message(&mut self) -> Result<Option<D::Message>, DecodeError> {
        let before = self.buffer.len();
        let decoded = self.decoder.decode(&mut self.buffer);
        self.taken += (before - self.buffer.len()) as u64;
        let message = decoded?;
        if message.is_some() {
            self.messages += 1;
            self.start = self.taken;
        }
        Ok(message)
    }
}
