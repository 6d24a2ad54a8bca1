//! Decoders that cut a stream into messages.

use bytes::{Bytes, BytesMut};
use netcore::{
    DecodeError,
    framing::{LengthDecoder, NulDecoder},
};
use serde::{Deserialize, Serialize};

use super::{DealerMessage, Dialect, MAX_MESSAGE, PlayerMessage, Request, invalid};

// Cuts a stream of one dialect into messages.
#[derive(Debug, Clone)]
enum Cutter {
    Text(NulDecoder),
    Binary(LengthDecoder),
}

impl Cutter {
    fn new(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Text => Self::Text(NulDecoder::new(usize::from(MAX_MESSAGE))),
            Dialect::Binary => Self::Binary(LengthDecoder::new(1, u32::from(MAX_MESSAGE))),
        }
    }

    const fn dialect(&self) -> Dialect {
        match self {
            Self::Text(_) => Dialect::Text,
            Self::Binary(_) => Dialect::Binary,
        }
    }

    // Where the message begins and ends in a buffer that holds it alone: behind its length, before its zero byte. A text may
    // come without one, since its end is known.
    fn whole(dialect: Dialect, bytes: &[u8]) -> Result<&[u8], DecodeError> {
        let max = usize::from(MAX_MESSAGE);
        let (start, end, next) = match dialect {
            Dialect::Text => match bytes.iter().position(|&byte| byte == 0) {
                Some(end) => (0, end, end + 1),
                None => (0, bytes.len(), bytes.len()),
            },
            Dialect::Binary => {
                let prefix = bytes.first_chunk::<4>().ok_or(DecodeError::Incomplete)?;
                let length = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
                if length == 0 {
                    return Err(invalid("a length below the smallest frame", 0));
                }
                (4, length.saturating_add(4), length.saturating_add(4))
            }
        };
        if end - start > max {
            return Err(DecodeError::TooLong { length: end - start, max });
        }
        let message = bytes.get(start..end).ok_or(DecodeError::Incomplete)?;
        match bytes.len() - next {
            0 => Ok(message),
            extra => Err(DecodeError::Trailing { at: next, extra }),
        }
    }

    fn length(&self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        match self {
            Self::Text(decoder) => decoder.length(bytes),
            Self::Binary(decoder) => decoder.length(bytes),
        }
    }

    fn cut(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, DecodeError> {
        match self {
            Self::Text(decoder) => decoder.decode(buffer),
            Self::Binary(decoder) => decoder.decode(buffer),
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
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are no message of a player, as far as their length says.
    pub fn length(&self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        Cutter::new(self.dialect(bytes)?).length(bytes)
    }

    /// Reads bytes that are one message, neither more nor less. A text may lack its zero byte.
    ///
    /// # Errors
    /// [`DecodeError`] when they are no message of a player; the decoder is unchanged then.
    pub fn decode(&mut self, message: &[u8]) -> Result<Request, DecodeError> {
        let dialect = self.dialect(message)?;
        let request = request(dialect, Cutter::whole(dialect, message)?)?;
        self.dialect = Some(dialect);
        Ok(request)
    }
}

fn chosen_by(first: u8) -> Result<Dialect, DecodeError> {
    Dialect::of_first_byte(first)
        .ok_or_else(|| invalid("a connection begins with 'J' (text) or a zero byte (binary)", 0))
}

fn request(dialect: Dialect, message: &[u8]) -> Result<Request, DecodeError> {
    let message = match dialect {
        Dialect::Text => PlayerMessage::parse_text(message),
        Dialect::Binary => PlayerMessage::parse_binary(message),
    }?;
    Ok(Request { dialect, message })
}

/// What a player remembers of a dealer's stream.
#[derive(Debug, Clone)]
pub struct DealerDecoder(Cutter);

impl DealerDecoder {
    /// A decoder of the dialect that the player has chosen.
    pub fn new(dialect: Dialect) -> Self {
        Self(Cutter::new(dialect))
    }

    /// Takes one message off the front of `buffer`; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are no message of a dealer.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<DealerMessage>, DecodeError> {
        let Some(message) = self.0.cut(buffer)? else { return Ok(None) };
        self.parse(&message).map(Some)
    }

    /// Reads bytes that are one message, neither more nor less. A text may lack its zero byte.
    ///
    /// # Errors
    /// [`DecodeError`] when they are no message of a dealer.
    pub fn decode_whole(&self, bytes: &[u8]) -> Result<DealerMessage, DecodeError> {
        self.parse(Cutter::whole(self.0.dialect(), bytes)?)
    }

    fn parse(&self, message: &[u8]) -> Result<DealerMessage, DecodeError> {
        match self.0.dialect() {
            Dialect::Text => DealerMessage::parse_text(message),
            Dialect::Binary => DealerMessage::parse_binary(message),
        }
    }
}
