//! Reading and writing binary messages.
//!
//! | type | on the wire |
//! |------|-------------|
//! | `u8`, `u16`, `u32` | 1, 2, 4 bytes, big-endian |
//! | [`ShortText`] | u8 length in bytes, then that many bytes of UTF-8 |
//! | `Vec<T>` | u32 count, then the items |
//! | `(A, B)` | `A`, then `B` |
//! | `BTreeMap<K, V>` | u32 count, then key, value, key, value …; written with ascending keys, read in any order |
//!
//! A count from a peer never determines the size of an allocation: memory grows only with received bytes, which the
//! caller bounds. A map has at most one entry for each possible key ([`Decode::MAX_KEYS`]). Values that do not fit the
//! wire format cannot be constructed, so encoding cannot fail.

use alloc::{borrow::ToOwned, collections::BTreeMap, string::String, vec::Vec};
use core::{fmt, ops::Deref, str::FromStr};

use bytes::{Buf, BufMut, BytesMut};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::DecodeError;

/// A value that can be decoded from the front of a message.
pub trait Decode: Sized {
    /// The maximum number of entries of a map with such keys: the number of possible values.
    const MAX_KEYS: u32 = u32::MAX;

    /// Takes one value from `reader`.
    ///
    /// # Errors
    /// [`DecodeError::Incomplete`] if the value is truncated, another [`DecodeError`] if the bytes are invalid.
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// A value that can be encoded.
pub trait Encode {
    /// Appends the value.
    fn encode(&self, writer: &mut Writer<'_>);
}

/// The bytes of one message, read from the front.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    max_items: u32,
}

impl<'a> Reader<'a> {
    /// A reader that rejects lists of more than `max_items` items.
    pub const fn new(bytes: &'a [u8], max_items: u32) -> Self {
        Self { bytes, at: 0, max_items }
    }

    /// The offset of the next byte.
    pub const fn at(&self) -> usize {
        self.at
    }

    /// The number of unread bytes.
    pub const fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Takes the next `length` bytes, or fails with [`DecodeError::Incomplete`].
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let end = self.at.checked_add(length).ok_or(DecodeError::Incomplete)?;
        let bytes = self.bytes.get(self.at..end).ok_or(DecodeError::Incomplete)?;
        self.at = end;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let bytes = self.bytes[self.at..].first_chunk::<N>().ok_or(DecodeError::Incomplete)?;
        self.at += N;
        Ok(*bytes)
    }

    /// Takes the count of a list, or fails with [`DecodeError::TooMany`].
    pub fn items(&mut self) -> Result<u32, DecodeError> {
        self.count(self.max_items)
    }

    /// Takes the count of a map with keys of type `K`, at most [`Decode::MAX_KEYS`].
    pub fn entries<K: Decode>(&mut self) -> Result<u32, DecodeError> {
        self.count(self.max_items.min(K::MAX_KEYS))
    }

    fn count(&mut self, max: u32) -> Result<u32, DecodeError> {
        let at = self.at;
        let count = u32::decode(self)?;
        if count > max { Err(DecodeError::TooMany { at, count, max }) } else { Ok(count) }
    }

    /// Takes one value. If it is truncated, returns `None` and takes no bytes.
    ///
    /// # Errors
    /// Any [`DecodeError`] except [`DecodeError::Incomplete`].
    pub fn whole<T>(
        &mut self,
        decode: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        let mut ahead = self.clone();
        match decode(&mut ahead) {
            Ok(value) => {
                *self = ahead;
                Ok(Some(value))
            }
            Err(DecodeError::Incomplete) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Fails with [`DecodeError::Trailing`] if bytes are left.
    pub fn finish(self) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            extra => Err(DecodeError::Trailing { at: self.at, extra }),
        }
    }
}

/// Appends encoded values to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut BytesMut,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `out`.
    pub const fn new(out: &'a mut BytesMut) -> Self {
        Self { out }
    }

    /// Appends raw bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        self.out.put_slice(bytes);
    }
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl Decode for $int {
            const MAX_KEYS: u32 = (u32::MAX >> (u32::BITS - <$int>::BITS)).saturating_add(1);

            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                reader.array().map(Self::from_be_bytes)
            }
        }

        impl Encode for $int {
            fn encode(&self, writer: &mut Writer<'_>) {
                writer.put(&self.to_be_bytes());
            }
        }
    )*};
}
integers!(u8, u16, u32);

// `max_items` bounds received collections, and the game bounds sent ones.
fn put_count(count: usize, writer: &mut Writer<'_>) {
    debug_assert!(u32::try_from(count).is_ok(), "lists are bounded by their game");
    u32::try_from(count).unwrap_or(u32::MAX).encode(writer);
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        (0..reader.items()?).map(|_| T::decode(reader)).collect()
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, writer: &mut Writer<'_>) {
        put_count(self.len(), writer);
        for item in self {
            item.encode(writer);
        }
    }
}

/// Two values in sequence.
impl<A: Decode, B: Decode> Decode for (A, B) {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((A::decode(reader)?, B::decode(reader)?))
    }
}

impl<K: Decode + Ord, V: Decode> Decode for BTreeMap<K, V> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        (0..reader.entries::<K>()?).map(|_| Decode::decode(reader)).collect()
    }
}

impl<K: Encode, V: Encode> Encode for BTreeMap<K, V> {
    fn encode(&self, writer: &mut Writer<'_>) {
        put_count(self.len(), writer);
        for (key, value) in self {
            key.encode(writer);
            value.encode(writer);
        }
    }
}

/// Decodes the first message of a stream, and returns it with its length; `None` if more bytes are needed.
///
/// # Errors
/// [`DecodeError::TooLong`] if `max` bytes contain no complete message; another [`DecodeError`] if the bytes are
/// invalid.
pub fn read_message<T: Decode>(bytes: &[u8], max: usize, max_items: u32) -> Result<Option<(T, usize)>, DecodeError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut reader = Reader::new(&bytes[..bytes.len().min(max)], max_items);
    match T::decode(&mut reader) {
        Ok(message) => Ok(Some((message, reader.at()))),
        Err(DecodeError::Incomplete) if bytes.len() < max => Ok(None),
        Err(DecodeError::Incomplete) => Err(DecodeError::TooLong { length: bytes.len(), max }),
        Err(error) => Err(error),
    }
}

/// Takes one message from a stream's `buffer`; `None` if more bytes are needed.
pub fn take_message<T: Decode>(buffer: &mut BytesMut, max: usize, max_items: u32) -> Result<Option<T>, DecodeError> {
    let Some((message, length)) = read_message(buffer, max, max_items)? else { return Ok(None) };
    buffer.advance(length);
    Ok(Some(message))
}

/// Decodes a datagram, which is exactly one message: missing and trailing bytes are errors.
pub fn read_datagram<T: Decode>(bytes: &[u8], max_items: u32) -> Result<T, DecodeError> {
    let mut reader = Reader::new(bytes, max_items);
    let message = T::decode(&mut reader)?;
    reader.finish()?;
    Ok(message)
}

// Short texts, such as names.

/// Text of at most 255 bytes of UTF-8, because its length on the wire is one byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ShortText(String);

/// The error for a text of more than 255 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a name has at most 255 bytes, and this one has {length}")]
pub struct TextTooLong {
    /// Its length in bytes.
    pub length: usize,
}

impl TryFrom<String> for ShortText {
    type Error = TextTooLong;

    fn try_from(text: String) -> Result<Self, TextTooLong> {
        if text.len() > usize::from(u8::MAX) { Err(TextTooLong { length: text.len() }) } else { Ok(Self(text)) }
    }
}

impl TryFrom<&str> for ShortText {
    type Error = TextTooLong;

    fn try_from(text: &str) -> Result<Self, TextTooLong> {
        text.to_owned().try_into()
    }
}

impl FromStr for ShortText {
    type Err = TextTooLong;

    fn from_str(text: &str) -> Result<Self, TextTooLong> {
        text.try_into()
    }
}

impl From<ShortText> for String {
    fn from(text: ShortText) -> Self {
        text.0
    }
}

impl Deref for ShortText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Decode for ShortText {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = u8::decode(reader)?;
        let start = reader.at();
        let bytes = reader.take(usize::from(length))?;
        let text =
            core::str::from_utf8(bytes).map_err(|error| DecodeError::NotUtf8 { at: start + error.valid_up_to() })?;
        Ok(Self(text.to_owned()))
    }
}

impl Encode for ShortText {
    fn encode(&self, writer: &mut Writer<'_>) {
        let length = u8::try_from(self.0.len()).unwrap_or(u8::MAX);
        length.encode(writer);
        writer.put(self.0.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use bytes::BytesMut;
    use proptest::prelude::*;

    use super::{read_datagram, *};

    type Sample = Vec<ShortText>;

    fn encoded<T: Encode>(value: &T) -> BytesMut {
        let mut out = BytesMut::new();
        value.encode(&mut Writer::new(&mut out));
        out
    }

    #[test]
    fn integers_are_big_endian() {
        assert_eq!(encoded(&0x0102_0304_u32)[..], [1, 2, 3, 4]);
        assert_eq!(encoded(&0x0102_u16)[..], [1, 2]);
        assert_eq!(read_datagram::<u16>(&[1, 2], 0), Ok(0x0102));
    }

    #[test]
    fn a_count_alone_allocates_nothing_and_is_bounded() {
        let huge = [0xff, 0xff, 0xff, 0xff];
        assert_eq!(read_datagram::<Vec<u8>>(&huge, u32::MAX), Err(DecodeError::Incomplete));
        let refused = DecodeError::TooMany { at: 0, count: u32::MAX, max: 10 };
        assert_eq!(read_datagram::<Vec<u8>>(&huge, 10), Err(refused));
    }

    #[test]
    fn maps_are_read_in_any_order_and_written_ascending() {
        let map: BTreeMap<u8, u8> = read_datagram(&[0, 0, 0, 2, 9, 1, 3, 2], 5).unwrap();
        assert_eq!(encoded(&map)[..], [0, 0, 0, 2, 3, 2, 9, 1]);
    }

    #[test]
    fn a_map_has_no_more_entries_than_there_are_keys() {
        let entries = |count: u32| [&count.to_be_bytes()[..], &vec![7; 2 * count as usize]].concat();
        let read = |count| read_datagram::<BTreeMap<u8, u8>>(&entries(count), 1_000).map(|map| map.len());
        assert_eq!(read(256), Ok(1));
        assert_eq!(read(257), Err(DecodeError::TooMany { at: 0, count: 257, max: 256 }));
        let refused = DecodeError::TooMany { at: 0, count: 11, max: 10 };
        assert_eq!(read_datagram::<BTreeMap<u8, u8>>(&entries(11), 10), Err(refused));
        let refused = DecodeError::TooMany { at: 0, count: u32::MAX, max: 65_536 };
        assert_eq!(read_datagram::<BTreeMap<u16, u8>>(&[0xff; 4], u32::MAX), Err(refused));
        assert_eq!(read_datagram::<BTreeMap<u32, u8>>(&[0xff; 4], u32::MAX), Err(DecodeError::Incomplete));
    }

    #[test]
    fn a_datagram_with_trailing_bytes_is_rejected() {
        assert_eq!(read_datagram::<u8>(&[1, 2, 3], 0), Err(DecodeError::Trailing { at: 1, extra: 2 }));
    }

    #[test]
    fn a_stream_message_above_its_bound_is_rejected() {
        let mut buffer = BytesMut::from(&[200, b'x', b'x'][..]);
        assert_eq!(take_message::<ShortText>(&mut buffer, 4, 0), Ok(None));
        buffer.extend_from_slice(b"xx");
        assert_eq!(take_message::<ShortText>(&mut buffer, 4, 0), Err(DecodeError::TooLong { length: 5, max: 4 }));
    }

    proptest! {
        #[test]
        fn decoding_reverses_encoding(texts in prop::collection::vec("[a-zż]{0,9}", 0..9)) {
            let sample: Sample = texts.iter().map(|text| ShortText::try_from(text.as_str()).unwrap()).collect();
            let bytes = encoded(&sample);
            prop_assert_eq!(read_datagram::<Sample>(&bytes, 9), Ok(sample));
            for cut in 0..bytes.len() {
                prop_assert_eq!(read_datagram::<Sample>(&bytes[..cut], 9), Err(DecodeError::Incomplete));
            }
        }

        #[test]
        fn decoding_any_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = read_datagram::<Sample>(&bytes, 9);
            let _ = read_datagram::<BTreeMap<u16, ShortText>>(&bytes, 9);
        }

        #[test]
        fn streams_decode_the_same_however_they_are_cut(values in prop::collection::vec(any::<u32>(), 0..9), step in 1..9usize) {
            let stream: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
            let (mut buffer, mut got) = (BytesMut::new(), vec![]);
            for piece in stream.chunks(step) {
                buffer.extend_from_slice(piece);
                while let Some(value) = take_message::<u32>(&mut buffer, 64, 0).unwrap() {
                    got.push(value);
                }
            }
            prop_assert_eq!(got, values);
        }
    }

    #[test]
    fn text_has_a_one_byte_length() {
        let mut encoded = BytesMut::new();
        ShortText::try_from("Żółć!").unwrap().encode(&mut Writer::new(&mut encoded));
        assert_eq!(encoded[..], [9, 0xc5, 0xbb, 0xc3, 0xb3, 0xc5, 0x82, 0xc4, 0x87, 0x21]);
        assert!(ShortText::try_from("x".repeat(255)).is_ok());
        assert_eq!(ShortText::try_from("x".repeat(256)), Err(TextTooLong { length: 256 }));
    }

    #[test]
    fn text_that_is_not_utf8_is_rejected_with_its_offset() {
        assert_eq!(read_datagram::<ShortText>(&[3, b'a', b'b', 0xff], 0), Err(DecodeError::NotUtf8 { at: 3 }));
    }
}
