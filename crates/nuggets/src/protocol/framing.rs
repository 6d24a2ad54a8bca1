use bytes::{Bytes, BytesMut};
use netcore::{
    Framing,
    framing::{LengthDecoder, put_length_frame},
};

/// The largest message, in bytes: the largest UDP payload over IPv4.
pub const MAX_DATAGRAM: usize = 65_507;
/// The length prefix of each message on a stream, in bytes.
pub const LENGTH_PREFIX: usize = 4;
pub(crate) const DISPLAY_HEADER: &[u8] = b"DISPLAY\n";
/// A decoder for streams. It is stateless.
pub(crate) fn stream_decoder() -> LengthDecoder {
    LengthDecoder::new(0, u32::try_from(MAX_DATAGRAM).unwrap_or(u32::MAX))
}

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
