//! Short texts, such as names.

use alloc::{borrow::ToOwned, string::String};
use core::{fmt, ops::Deref, str::FromStr};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Decode, Encode, Reader, Writer};
use crate::DecodeError;

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
    use super::{super::read_datagram, *};
    use bytes::BytesMut;

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
