//! The error for undecodable bytes from a peer.

use alloc::borrow::Cow;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why bytes from a peer are not a message.
///
/// Offsets (`at`) count from the start of the message. Recordings contain errors, so new variants come last.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DecodeError {
    /// The message is incomplete. On a stream, more bytes are needed.
    #[error("the message ends early")]
    Incomplete,
    /// An unknown tag of an enumeration.
    #[error("byte {at}: {tag} is no tag of {ty}")]
    UnknownTag {
        /// The enumeration.
        ty: Cow<'static, str>,
        /// The tag.
        tag: u8,
        /// Its offset.
        at: usize,
    },
    /// A string that is not UTF-8.
    #[error("byte {at}: the string is not UTF-8")]
    NotUtf8 {
        /// Offset of the first wrong byte.
        at: usize,
    },
    /// A list with too many items.
    #[error("byte {at}: a list of {count} items, at most {max} are allowed")]
    TooMany {
        /// Offset of the count.
        at: usize,
        /// The announced count.
        count: u32,
        /// The largest allowed count.
        max: u32,
    },
    /// A message or frame above its limit.
    #[error("a message of {length} bytes or more, at most {max} are allowed")]
    TooLong {
        /// The received or announced length so far.
        length: usize,
        /// The largest allowed length.
        max: usize,
    },
    /// Trailing bytes after a datagram's message.
    #[error("byte {at}: {extra} bytes too many")]
    Trailing {
        /// Offset of the first trailing byte.
        at: usize,
        /// The number of trailing bytes.
        extra: usize,
    },
    /// Any other error.
    #[error("byte {at}: {what}")]
    Invalid {
        /// A description.
        what: Cow<'static, str>,
        /// Offset of the first wrong byte.
        at: usize,
    },
}

impl DecodeError {
    /// A [`DecodeError::Invalid`].
    pub const fn invalid(what: &'static str, at: usize) -> Self {
        Self::Invalid { what: Cow::Borrowed(what), at }
    }

    /// A [`DecodeError::UnknownTag`].
    pub const fn unknown_tag(ty: &'static str, tag: u8, at: usize) -> Self {
        Self::UnknownTag { ty: Cow::Borrowed(ty), tag, at }
    }
}
