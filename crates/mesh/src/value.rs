//! The encoding of values for other nodes.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 1 | needs | the lowest version of a reader that understands it: [`VERSION`] |
//! | 3 | length | of the head, big-endian |
//! | length | head | JSON; a reader ignores fields that it does not know |
//! | rest | body | opaque bytes: an input, an event, a result |
//!
//! A later version adds fields that a reader of this version may ignore, and leaves `needs` unchanged. For any other
//! change it raises `needs`: readers of this version skip and count the value, and do not overwrite its key.

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

pub const VERSION: u8 = 1;
/// In bytes.
pub const MAX_HEAD: usize = 64 << 10;
const FRONT: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Requires a reader of this version or a later one.
    Newer(u8),
    Damaged,
}

/// `None` if the head is longer than [`MAX_HEAD`].
pub fn write(head: &impl Serialize, body: &[u8]) -> Option<Bytes> {
    let head = serde_json::to_vec(head).ok().filter(|head| head.len() <= MAX_HEAD)?;
    let length = u32::try_from(head.len()).ok()?.to_be_bytes();
    let mut bytes = Vec::with_capacity(FRONT + head.len() + body.len());
    bytes.extend([VERSION, length[1], length[2], length[3]]);
    bytes.extend(head);
    bytes.extend(body);
    Some(bytes.into())
}

/// Decodes the output of [`write()`], including that of a later version.
///
/// # Errors
/// If the value cannot be decoded.
pub fn read<H: DeserializeOwned>(bytes: &Bytes) -> Result<(H, Bytes), Unread> {
    let &[needs, high, middle, low, ..] = &bytes[..] else { return Err(Unread::Damaged) };
    if needs > VERSION {
        return Err(Unread::Newer(needs));
    }
    let end = FRONT + u32::from_be_bytes([0, high, middle, low]) as usize;
    if needs == 0 || end > bytes.len() || end > FRONT + MAX_HEAD {
        return Err(Unread::Damaged);
    }
    let head = serde_json::from_slice(&bytes[FRONT..end]).map_err(|_| Unread::Damaged)?;
    Ok((head, bytes.slice(end..)))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Old {
        number: u32,
    }

    #[derive(Serialize)]
    struct New {
        number: u32,
        color: &'static str,
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let bytes = write(&Old { number: 7 }, b"body").unwrap();
        assert_eq!(bytes[..], *b"\x01\x00\x00\x0c{\"number\":7}body");
        assert_eq!(read(&bytes), Ok((Old { number: 7 }, Bytes::from_static(b"body"))));
        let bytes = write(&New { number: 8, color: "red" }, b"").unwrap();
        assert_eq!(read(&bytes), Ok((Old { number: 8 }, Bytes::new())));
    }

    #[test]
    fn later_version_and_damage_are_different_errors() {
        let good = write(&Old { number: 7 }, b"").unwrap();
        let mut newer = good.to_vec();
        newer[0] = 2;
        assert_eq!(read::<Old>(&newer.into()), Err(Unread::Newer(2)));
        for length in 0..good.len() {
            assert_eq!(read::<Old>(&good.slice(..length)), Err(Unread::Damaged), "{length} bytes");
        }
        for bad in [&b"\x00\x00\x00\x0c{\"number\":7}"[..], b"\x01\xff\xff\xff{}", b"\x01\x00\x00\x02{}"] {
            assert_eq!(read::<Old>(&Bytes::copy_from_slice(bad)), Err(Unread::Damaged));
        }
        assert!(write(&"x".repeat(MAX_HEAD), b"").is_none());
    }
}
