//! How messages are marked off, and how long they may be.

use bytes::{Bytes, BytesMut};
use netcore::{
    Framing,
    framing::{LengthDecoder, put_length_frame},
};

/// The largest UDP payload over IPv4, in bytes: no message is longer.
pub const MAX_DATAGRAM: usize = 65_507;
/// Bytes of the length that stands before each message on a stream.
pub const LENGTH_PREFIX: usize = 4;
/// What a DISPLAY begins with.
pub(crate) const DISPLAY_HEADER: &[u8] = b"DISPLAY\n";
/// Cuts a stream into messages. It remembers nothing, so each message may have one of its own.
pub(crate) fn stream_decoder() -> LengthDecoder {
    LengthDecoder::new(0, u32::try_from(MAX_DATAGRAM).unwrap_or(u32::MAX))
}

/// A message as it stands on a link whose messages are marked off like that.
pub(super) fn in_frame(message: Bytes, framing: Framing) -> Bytes {
    match framing {
        Framing::Whole => message,
        Framing::Stream => {
            let mut out = BytesMut::new();
            put_length_frame(&message, &mut out);
            out.freeze()
        }
    }
}
