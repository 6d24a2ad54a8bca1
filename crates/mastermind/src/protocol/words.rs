//! Words of both sides.

use alloc::string::ToString;
use bytes::Bytes;
use netcore::{DecodeError, Framing};

pub(super) fn yes_or_no(word: &[u8]) -> Option<bool> {
    match word {
        b"yes" => Some(true),
        b"no" => Some(false),
        _ => None,
    }
}

pub(super) const fn answer(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

pub(super) const fn invalid(what: &'static str, at: usize) -> DecodeError {
    DecodeError::invalid(what, at)
}

pub(super) fn frame(message: &impl ToString, framing: Framing) -> Bytes {
    let mut bytes = message.to_string().into_bytes();
    if framing == Framing::Stream {
        bytes.push(b'\n');
    }
    bytes.into()
}
