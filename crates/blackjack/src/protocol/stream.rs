//! Decoders that split a stream into messages.

use bytes::{Buf, BytesMut};
use netcore::{
    DecodeError,
    framing::{LengthDecoder, NulDecoder},
};
use serde::{Deserialize, Serialize};

use super::{DealerMessage, Dialect, MAX_MESSAGE, PlayerMessage, Request, invalid};

const TEXT: NulDecoder = NulDecoder::new(MAX_MESSAGE as usize);
const BINARY: LengthDecoder = LengthDecoder::new(1, MAX_MESSAGE as u32);

impl Dialect {
    fn length(self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        match self {
            Self::Text => TEXT.length(bytes),
            Self::Binary => BINARY.length(bytes),
        }
    }

    // The content of a message without its length prefix or its optional NUL.
    fn whole(self, bytes: &[u8]) -> Result<&[u8], DecodeError> {
        match self {
            Self::Text if !bytes.contains(&0) => TEXT.length(bytes).map(|_| bytes),
            Self::Text => TEXT.whole(bytes),
            Self::Binary => BINARY.whole(bytes),
        }
    }
}

/// The decoder state of a player's stream: the dialect, selected by the first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "(Option<Dialect>, bool)", into = "(Option<Dialect>, bool)")]
pub struct PlayerDecoder {
    dialect: Option<Dialect>,
}

// Earlier versions also stored whether the player sent bytes too early, now a separate input.
impl From<(Option<Dialect>, bool)> for PlayerDecoder {
    fn from((dialect, _): (Option<Dialect>, bool)) -> Self {
        Self { dialect }
    }
}

impl From<PlayerDecoder> for (Option<Dialect>, bool) {
    fn from(decoder: PlayerDecoder) -> Self {
        (decoder.dialect, false)
    }
}

impl PlayerDecoder {
    fn dialect(self, bytes: &[u8]) -> Result<Dialect, DecodeError> {
        self.dialect.map_or_else(|| chosen_by(*bytes.first().ok_or(DecodeError::Incomplete)?), Ok)
    }

    /// The length of the first message; `None` if more bytes are needed.
    pub fn length(&self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        self.dialect(bytes)?.length(bytes)
    }

    /// Decodes exactly one message; a text may lack its NUL.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes are not a message of a player. The decoder is then unchanged.
    pub fn decode(&mut self, message: &[u8]) -> Result<Request, DecodeError> {
        let dialect = self.dialect(message)?;
        let message = dialect.whole(message)?;
        let message = match dialect {
            Dialect::Text => PlayerMessage::parse_text(message),
            Dialect::Binary => PlayerMessage::parse_binary(message),
        }?;
        self.dialect = Some(dialect);
        Ok(Request { dialect, message })
    }
}

fn chosen_by(first: u8) -> Result<Dialect, DecodeError> {
    Dialect::of_first_byte(first)
        .ok_or_else(|| invalid("a connection begins with 'J' (text) or a zero byte (binary)", 0))
}

/// The decoder for a dealer's stream.
#[derive(Debug, Clone)]
pub struct DealerDecoder(Dialect);

impl DealerDecoder {
    /// Creates a decoder for the dialect of the player.
    pub const fn new(dialect: Dialect) -> Self {
        Self(dialect)
    }

    /// Removes one message from `buffer`; `None` if more bytes are needed.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<DealerMessage>, DecodeError> {
        let Some(length) = self.0.length(buffer)? else { return Ok(None) };
        let message = self.decode_whole(&buffer[..length]);
        buffer.advance(length);
        message.map(Some)
    }

    /// Decodes exactly one message; a text may lack its NUL.
    pub fn decode_whole(&self, bytes: &[u8]) -> Result<DealerMessage, DecodeError> {
        let message = self.0.whole(bytes)?;
        match self.0 {
            Dialect::Text => DealerMessage::parse_text(message),
            Dialect::Binary => DealerMessage::parse_binary(message),
        }
    }
}
