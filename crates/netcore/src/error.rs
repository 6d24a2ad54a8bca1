//! The one way in which bytes from a peer can be wrong.

use thiserror::Error;

/// Why bytes from a peer are not a message.
///
/// Offsets (`at`) count bytes from the start of the message. [`DecodeError::Incomplete`] is a state rather than a fault
/// on a stream (read more); in a datagram, where nothing can follow, it is a fault like the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end before the message does.
    #[error("the message ends early")]
    Incomplete,
    /// A tag that names no variant of `ty`.
    #[error("byte {at}: {tag} is no tag of {ty}")]
    UnknownTag {
        /// The enumeration that was expected.
        ty: &'static str,
        /// The tag that came.
        tag: u8,
        /// Its offset.
        at: usize,
    },
    /// A string that is not UTF-8.
    #[error("byte {at}: the string is not UTF-8")]
    NotUtf8 {
        /// Offset of the first byte that is wrong.
        at: usize,
    },
    /// A list that announces more items than are allowed.
    #[error("byte {at}: a list of {count} items, at most {max} are allowed")]
    TooMany {
        /// Offset of the count.
        at: usize,
        /// The announced count.
        count: u32,
        /// The bound.
        max: u32,
    },
    /// A message or frame longer than its bound.
    #[error("a message of {length} bytes or more, at most {max} are allowed")]
    TooLong {
        /// Bytes seen or announced so far.
        length: usize,
        /// The bound.
        max: usize,
    },
    /// Bytes left over behind a datagram's message.
    #[error("byte {at}: {extra} bytes too many")]
    Trailing {
        /// Offset of the first byte that is too many.
        at: usize,
        /// How many there are.
        extra: usize,
    },
    /// Anything else; `what` says what was expected.
    #[error("byte {at}: {what}")]
    Invalid {
        /// What was expected there.
        what: &'static str,
        /// Offset of the first byte that is wrong.
        at: usize,
    },
}
