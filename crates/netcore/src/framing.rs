//! Splits a byte stream into frames, independently of the sizes of its reads.
//!
//! | framing | on the wire | used by |
//! |---------|-------------|---------|
//! | [`NulDecoder`] | the frame's bytes, then `00` | blackjack, text |
//! | [`LineDecoder`] | the frame's bytes, then `0a` | mastermind |
//! | [`LengthDecoder`] | big-endian u32 length, then the frame's bytes | blackjack, binary |
//!
//! The decoders reject a frame above their limit before its end.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::DecodeError;

/// Splits a stream at NUL bytes.
pub type NulDecoder = EndDecoder<0>;

/// Splits a stream at line feeds. A preceding carriage return is part of the frame.
pub type LineDecoder = EndDecoder<b'\n'>;

/// Splits a stream at an end byte.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EndDecoder<const END: u8> {
    max: usize,
    // Bytes at the front of the buffer without an end byte, which are not scanned again.
    scanned: usize,
}

impl<const END: u8> EndDecoder<END> {
    /// A decoder for frames of at most `max` bytes without the end byte.
    pub const fn new(max: usize) -> Self {
        Self { max, scanned: 0 }
    }

    /// The length of the first frame with its end byte; `None` if more bytes are needed.
    pub fn length(&self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        let unseen = bytes.get(self.scanned..).unwrap_or_default();
        let end = unseen.iter().position(|&byte| byte == END).map(|offset| self.scanned + offset);
        let length = end.unwrap_or(bytes.len());
        if length > self.max {
            return Err(DecodeError::TooLong { length, max: self.max });
        }
        Ok(end.map(|end| end + 1))
    }

    /// Decodes exactly one frame, and returns it without its end byte.
    pub fn whole<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let length = self.length(bytes)?.ok_or(DecodeError::Incomplete)?;
        match bytes.len() - length {
            0 => Ok(&bytes[..length - 1]),
            extra => Err(DecodeError::Trailing { at: length, extra }),
        }
    }

    /// Takes one frame from `buffer`, and returns it without its end byte; `None` if more bytes are needed.
    ///
    /// # Errors
    /// [`DecodeError::TooLong`] as soon as more than `max` bytes have arrived without an end byte.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, DecodeError> {
        let Some(length) = self.length(buffer)? else {
            self.scanned = buffer.len();
            return Ok(None);
        };
        self.scanned = 0;
        let frame = buffer.split_to(length - 1).freeze();
        buffer.advance(1);
        Ok(Some(frame))
    }
}

/// Splits a stream by length prefixes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LengthDecoder {
    min: u32,
    max: u32,
}

impl LengthDecoder {
    /// A decoder for frames of `min` to `max` bytes without the prefix.
    pub const fn new(min: u32, max: u32) -> Self {
        Self { min, max }
    }

    /// The length of the first frame with its prefix; `None` if more bytes are needed.
    pub fn length(&self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        let Some(prefix) = bytes.first_chunk::<4>() else { return Ok(None) };
        let announced = u32::from_be_bytes(*prefix);
        let length = usize::try_from(announced).unwrap_or(usize::MAX);
        if announced > self.max {
            return Err(DecodeError::TooLong { length, max: usize::try_from(self.max).unwrap_or(usize::MAX) });
        }
        if announced < self.min {
            return Err(DecodeError::invalid("a length below the smallest frame", 0));
        }
        Ok(Some(length.saturating_add(4)).filter(|&length| length <= bytes.len()))
    }

    /// Decodes exactly one frame, and returns it without its prefix.
    pub fn whole<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let length = self.length(bytes)?.ok_or(DecodeError::Incomplete)?;
        match bytes.len() - length {
            0 => Ok(&bytes[4..]),
            extra => Err(DecodeError::Trailing { at: length, extra }),
        }
    }

    /// Takes one frame from `buffer`, and returns it without its prefix; `None` if more bytes are needed.
    ///
    /// # Errors
    /// As soon as a prefix out of range has arrived.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, DecodeError> {
        let Some(length) = self.length(buffer)? else { return Ok(None) };
        buffer.advance(4);
        Ok(Some(buffer.split_to(length - 4).freeze()))
    }
}

/// Appends `frame` with its length prefix to `out`.
///
/// # Panics
/// If `frame` is 4 GiB or longer, far above all limits.
pub fn put_length_frame(frame: &[u8], out: &mut BytesMut) {
    let length = u32::try_from(frame.len()).expect("frames are bounded far below 4 GiB");
    out.reserve(frame.len() + 4);
    out.put_u32(length);
    out.put_slice(frame);
}

// A received stream of messages and its read position.

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

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_nul_frame_is_a_frame() {
        let mut buffer = BytesMut::from(&b"\0A\0"[..]);
        let mut decoder = NulDecoder::new(4);
        assert_eq!(decoder.decode(&mut buffer), Ok(Some(Bytes::new())));
        assert_eq!(decoder.decode(&mut buffer), Ok(Some(Bytes::from_static(b"A"))));
        assert_eq!(decoder.decode(&mut buffer), Ok(None));
    }

    #[test]
    fn a_line_ends_at_its_line_feed() {
        let mut buffer = BytesMut::from(&b"PLAY Ann\r\nHINT\0\nN"[..]);
        let mut decoder = LineDecoder::new(16);
        assert_eq!(decoder.decode(&mut buffer), Ok(Some(Bytes::from_static(b"PLAY Ann\r"))));
        assert_eq!(decoder.decode(&mut buffer), Ok(Some(Bytes::from_static(b"HINT\0"))));
        assert_eq!(decoder.decode(&mut buffer), Ok(None));
    }

    #[test]
    fn a_frame_that_is_too_long_is_rejected_before_its_end() {
        let mut decoder = NulDecoder::new(4);
        assert_eq!(decoder.decode(&mut BytesMut::from(&b"ABCD"[..])), Ok(None));
        let mut decoder = NulDecoder::new(4);
        let refused = Err(DecodeError::TooLong { length: 5, max: 4 });
        assert_eq!(decoder.decode(&mut BytesMut::from(&b"ABCDE"[..])), refused);
        let mut decoder = NulDecoder::new(4);
        assert_eq!(decoder.decode(&mut BytesMut::from(&b"ABCDE\0"[..])), refused);
    }

    #[test]
    fn a_length_out_of_bounds_is_rejected_from_its_prefix_alone() {
        let decode = |bytes: &[u8]| LengthDecoder::new(1, 256).decode(&mut BytesMut::from(bytes));
        assert_eq!(decode(&[0, 0, 1]), Ok(None));
        assert_eq!(decode(&[0, 0, 1, 1]), Err(DecodeError::TooLong { length: 257, max: 256 }));
        assert!(matches!(decode(&[0, 0, 0, 0]), Err(DecodeError::Invalid { .. })));
        assert_eq!(decode(&[0, 0, 0, 2, 7]), Ok(None));
        assert_eq!(decode(&[0, 0, 0, 1, 7, 9]), Ok(Some(Bytes::from_static(&[7]))));
    }

    proptest! {
        #[test]
        fn frames_survive_any_cuts(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20),
            cuts in prop::collection::vec(0..7usize, 0..60),
        ) {
            let (mut by_nul, mut by_length) = (NulDecoder::new(20), LengthDecoder::new(0, 20));
            let mut streams = [BytesMut::new(), BytesMut::new()];
            let without_nul: Vec<Vec<u8>> =
                frames.iter().map(|frame| frame.iter().map(|&byte| byte.max(1)).collect()).collect();
            for (frame, without_nul) in frames.iter().zip(&without_nul) {
                streams[0].extend_from_slice(&[without_nul, &b"\0"[..]].concat());
                put_length_frame(frame, &mut streams[1]);
            }
            let (mut buffers, mut got) = ([BytesMut::new(), BytesMut::new()], [vec![], vec![]]);
            for cut in cuts.into_iter().chain([usize::MAX]) {
                for (stream, buffer) in streams.iter_mut().zip(&mut buffers) {
                    buffer.extend_from_slice(&stream.split_to(cut.min(stream.len())));
                }
                while let Some(frame) = by_nul.decode(&mut buffers[0]).unwrap() {
                    got[0].push(frame.to_vec());
                }
                while let Some(frame) = by_length.decode(&mut buffers[1]).unwrap() {
                    got[1].push(frame.to_vec());
                }
            }
            prop_assert_eq!(&got, &[without_nul, frames]);
        }
    }
}
