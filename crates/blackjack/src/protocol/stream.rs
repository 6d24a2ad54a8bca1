//! Decoders that cut a stream into messages.

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
    // The length of the message at the front of a stream; none when more bytes are needed.
    fn length(self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        match self {
            Self::Text => TEXT.length(bytes),
            Self::Binary => BINARY.length(bytes),
        }
    }

    // The message in bytes that are nothing else: behind its length, before its zero byte. A text may come without one, since its
    // end is known.
    fn whole(self, bytes: &[u8]) -> Result<&[u8], DecodeError> {
        match self {
            Self::Text if !bytes.contains(&0) => TEXT.length(bytes).map(|_| bytes),
            Self::Text => TEXT.whole(bytes),
            Self::Binary => BINARY.whole(bytes),
        }
    }
}

/// What a dealer remembers of a player's stream: its dialect, once the first message has chosen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "(Option<Dialect>, bool)", into = "(Option<Dialect>, bool)")]
pub struct PlayerDecoder {
    dialect: Option<Dialect>,
}

// States of earlier versions also contain whether the player had sent bytes too early. That is an input of its own now.
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

    /// The length of the message at the front of a stream; `None` when more bytes are needed.
    pub fn length(&self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        self.dialect(bytes)?.length(bytes)
    }

    /// Reads bytes that are one message, neither more nor less. A text may lack its zero byte.
    ///
    /// # Errors
    /// [`DecodeError`] when they are no message of a player; the decoder is unchanged then.
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

/// How a player reads a dealer's stream.
#[derive(Debug, Clone)]
pub struct DealerDecoder(Dialect);

impl DealerDecoder {
    /// A decoder of the dialect that the player has chosen.
    pub const fn new(dialect: Dialect) -> Self {
        Self(dialect)
    }

    /// Takes one message off the front of `buffer`; `None` when more bytes are needed.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<DealerMessage>, DecodeError> {
        let Some(length) = self.0.length(buffer)? else { return Ok(None) };
        let message = self.decode_whole(&buffer[..length]);
        buffer.advance(length);
        message.map(Some)
    }

    /// Reads bytes that are one message, neither more nor less. A text may lack its zero byte.
    pub fn decode_whole(&self, bytes: &[u8]) -> Result<DealerMessage, DecodeError> {
        let message = self.0.whole(bytes)?;
        match self.0 {
            Dialect::Text => DealerMessage::parse_text(message),
            Dialect::Binary => DealerMessage::parse_binary(message),
        }
    }
}
