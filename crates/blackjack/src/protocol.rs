//! The wire protocol, as text and as binary.
//!
//! | message | text, each ended by a NUL | binary: u32 length, then | from |
//! |---------|---------------------------|--------------------------|------|
//! | [`PlayerMessage::Join`] | `JOIN <name>` | `01`, version `01`, the name | player |
//! | [`DealerMessage::Begin`] | `BEGIN` | `02` | dealer |
//! | [`DealerMessage::Card`] | `CARD <card>` | `03`, card 1 to 52 | dealer |
//! | [`DealerMessage::Upcard`] | `DEALER <card>` | `04`, card 1 to 52 | dealer |
//! | [`DealerMessage::Decision`] | `DECISION` | `05` | dealer |
//! | [`PlayerMessage::Hit`] | `HIT` | `06` | player |
//! | [`PlayerMessage::Stand`] | `STAND` | `07` | player |
//! | [`DealerMessage::Result`] | `RESULT WIN`, `LOOSE`, `BUST` or `PUSH` | `08`, 1 to 4 in this order | dealer |
//! | [`DealerMessage::Quit`] | `QUIT` | `09` | dealer |
//!
//! A text is at most 256 bytes of ASCII from space to `~`, with one space between words and none around them. The
//! length of a binary message is big-endian, excludes itself, and is 1 to 256. `LOSE` is accepted as `LOOSE`.
//!
//! The first byte of a connection permanently selects its dialect: `J` text, `00` binary (as in every length up to 256,
//! and in no text). Offsets in errors count from the start of the text, or from the kind byte of a binary message.
//!
//! Sources: the requirements of the course's project, "Network protocol", for the text; the binary form is our own.

use alloc::format;
use core::fmt;

use bytes::{Buf, Bytes, BytesMut};
use netcore::{
    DecodeError, Framing, Protocol,
    framing::{LengthDecoder, NulDecoder, put_length_frame},
    wire::{Decode, Reader},
};
use serde::{Deserialize, Serialize};

use crate::{
    cards::{Card, DECK, names},
    game::Action,
    name::Name,
    verdict::Verdict,
};

/// The maximum length of a message in bytes, without NUL or length.
pub const MAX_MESSAGE: u16 = 256;
pub(crate) const VERSION: u8 = 1;

const JOIN: u8 = 1;
const BEGIN: u8 = 2;
const CARD: u8 = 3;
const UPCARD: u8 = 4;
const DECISION: u8 = 5;
const HIT: u8 = 6;
const STAND: u8 = 7;
const RESULT: u8 = 8;
const QUIT: u8 = 9;

const NO_CARD: &str = "no card; a card is '<Rank> of <Suit>' as in 'Queen of Diamonds'";
const NO_PLAYER_WORD: &str = "no message of a player, which are 'JOIN <name>', 'HIT' and 'STAND'";
const NO_DEALER_WORD: &str = "no message of a dealer, which are 'BEGIN', 'CARD <card>', 'DEALER <card>', 'DECISION', \
                              'RESULT WIN|LOOSE|BUST|PUSH' and 'QUIT'";
const NO_NAME: &str = "no name; a name is 1 to 64 printable ASCII characters without a space";
const NO_VERDICT: &str = "no result; results are WIN, LOOSE, BUST and PUSH";

/// The encoding of a connection's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Dialect {
    /// Words terminated by NUL, as in the course's protocol.
    Text,
    /// Length-prefixed bytes.
    Binary,
}

impl Dialect {
    /// The dialect of a client with this first byte.
    pub const fn of_first_byte(byte: u8) -> Option<Self> {
        match byte {
            b'J' => Some(Self::Text),
            0 => Some(Self::Binary),
            _ => None,
        }
    }
}

/// A message to the dealer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerMessage {
    /// Requests a seat.
    Join(Name),
    /// Takes a card.
    Hit,
    /// Takes no card.
    Stand,
}

impl From<Action> for PlayerMessage {
    fn from(action: Action) -> Self {
        match action {
            Action::Hit => Self::Hit,
            Action::Stand => Self::Stand,
        }
    }
}

impl PlayerMessage {
    /// Parses a text without its NUL.
    pub fn parse_text(text: &[u8]) -> Result<Self, DecodeError> {
        match text {
            b"HIT" => Ok(Self::Hit),
            b"STAND" => Ok(Self::Stand),
            _ => match text.strip_prefix(b"JOIN ") {
                Some(name) => Name::new(name).map(Self::Join).map_err(|_| invalid(NO_NAME, 5)),
                None => Err(invalid(NO_PLAYER_WORD, 0)),
            },
        }
    }

    /// Parses a binary message without its length.
    pub fn parse_binary(message: &[u8]) -> Result<Self, DecodeError> {
        whole(message, |reader| match u8::decode(reader)? {
            JOIN => match u8::decode(reader)? {
                VERSION => {
                    let name = reader.take(reader.remaining())?;
                    Name::new(name).map(Self::Join).map_err(|_| invalid(NO_NAME, 2))
                }
                _ => Err(invalid("a version of the protocol that is not 1", 1)),
            },
            HIT => Ok(Self::Hit),
            STAND => Ok(Self::Stand),
            tag => Err(DecodeError::unknown_tag("the messages of a player (1, 6, 7)", tag, 0)),
        })
    }

    /// The wire form.
    pub fn to_bytes(&self, dialect: Dialect) -> Bytes {
        match (dialect, self) {
            (Dialect::Text, Self::Join(_)) => Bytes::from(format!("{self}\0")),
            (Dialect::Text, Self::Hit) => Bytes::from_static(b"HIT\0"),
            (Dialect::Text, Self::Stand) => Bytes::from_static(b"STAND\0"),
            (Dialect::Binary, Self::Join(name)) => {
                let mut out = BytesMut::new();
                put_length_frame(&[&[JOIN, VERSION], name.as_str().as_bytes()].concat(), &mut out);
                out.freeze()
            }
            (Dialect::Binary, Self::Hit) => Bytes::from_static(&[0, 0, 0, 1, HIT]),
            (Dialect::Binary, Self::Stand) => Bytes::from_static(&[0, 0, 0, 1, STAND]),
        }
    }
}

impl fmt::Display for PlayerMessage {
    /// The text without its NUL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join(name) => write!(f, "JOIN {name}"),
            Self::Hit => f.write_str("HIT"),
            Self::Stand => f.write_str("STAND"),
        }
    }
}

/// A message to a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DealerMessage {
    /// A round begins.
    Begin,
    /// A card of the player's own hand.
    Card(Card),
    /// The dealer's upcard.
    Upcard(Card),
    /// The player's decision is due: HIT or STAND.
    Decision,
    /// The result of the round.
    Result(Verdict),
    /// The game is over.
    Quit,
}

impl DealerMessage {
    /// Parses a text without its NUL.
    pub fn parse_text(text: &[u8]) -> Result<Self, DecodeError> {
        let card = |name: &[u8], at| Card::from_name(name).ok_or_else(|| invalid(NO_CARD, at));
        match text {
            b"BEGIN" => return Ok(Self::Begin),
            b"DECISION" => return Ok(Self::Decision),
            b"QUIT" => return Ok(Self::Quit),
            _ => {}
        }
        if let Some(name) = text.strip_prefix(b"CARD ") {
            return card(name, 5).map(Self::Card);
        }
        if let Some(name) = text.strip_prefix(b"DEALER ") {
            return card(name, 7).map(Self::Upcard);
        }
        match text.strip_prefix(b"RESULT ") {
            Some(b"WIN") => Ok(Self::Result(Verdict::Win)),
            Some(b"LOOSE" | b"LOSE") => Ok(Self::Result(Verdict::Lose)),
            Some(b"BUST") => Ok(Self::Result(Verdict::Bust)),
            Some(b"PUSH") => Ok(Self::Result(Verdict::Push)),
            Some(_) => Err(invalid(NO_VERDICT, 7)),
            None => Err(invalid(NO_DEALER_WORD, 0)),
        }
    }

    /// Parses a binary message without its length.
    pub fn parse_binary(message: &[u8]) -> Result<Self, DecodeError> {
        let card = |reader: &mut Reader<'_>| {
            Card::new(u8::decode(reader)?).ok_or_else(|| invalid("a card is a number from 1 to 52", 1))
        };
        whole(message, |reader| match u8::decode(reader)? {
            BEGIN => Ok(Self::Begin),
            CARD => card(reader).map(Self::Card),
            UPCARD => card(reader).map(Self::Upcard),
            DECISION => Ok(Self::Decision),
            RESULT => match u8::decode(reader)? {
                1 => Ok(Self::Result(Verdict::Win)),
                2 => Ok(Self::Result(Verdict::Lose)),
                3 => Ok(Self::Result(Verdict::Bust)),
                4 => Ok(Self::Result(Verdict::Push)),
                _ => Err(invalid("a result is 1 (WIN), 2 (LOOSE), 3 (BUST) or 4 (PUSH)", 1)),
            },
            QUIT => Ok(Self::Quit),
            tag => Err(DecodeError::unknown_tag("the messages of a dealer (2 to 5, 8, 9)", tag, 0)),
        })
    }

    /// The wire form, which is static: there are about a hundred messages.
    pub fn to_bytes(self, dialect: Dialect) -> Bytes {
        Bytes::from_static(of(self, dialect))
    }
}

impl fmt::Display for DealerMessage {
    /// The text without its NUL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(text(*self).trim_end_matches('\0'))
    }
}

const fn invalid(what: &'static str, at: usize) -> DecodeError {
    DecodeError::invalid(what, at)
}

// The message is complete, so running out of bytes is an error.
fn whole<T>(message: &[u8], read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>) -> Result<T, DecodeError> {
    let mut reader = Reader::new(message, 0);
    match read(&mut reader) {
        Ok(read) => reader.finish().map(|()| read),
        Err(DecodeError::Incomplete) => Err(invalid("the message is too short for its kind", message.len())),
        Err(error) => Err(error),
    }
}

/// A player's message, with the dialect for the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The dialect of the connection.
    pub dialect: Dialect,
    /// The message.
    pub message: PlayerMessage,
}

/// The protocol of the game of 21, for engines.
#[derive(Debug, Clone, Copy)]
pub struct Blackjack;

impl Protocol for Blackjack {
    type Request = Request;
    type Decoder = PlayerDecoder;
    // Includes the length of a binary message, which is longer than a NUL.
    const MAX_MESSAGE: usize = MAX_MESSAGE as usize + 4;

    const AHEAD: Option<DecodeError> = Some(invalid("a message that was sent before it was asked for", 0));

    fn length(decoder: &PlayerDecoder, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        decoder.length(bytes)
    }

    fn decode(decoder: &mut PlayerDecoder, message: &[u8], _: Framing) -> Result<Request, DecodeError> {
        decoder.decode(message)
    }
}

// All messages of a dealer in their wire form.

static CARD_TEXTS: [&str; DECK] = names!("CARD ", "\0");
static UPCARD_TEXTS: [&str; DECK] = names!("DEALER ", "\0");
static CARD_BYTES: [[u8; 6]; DECK] = pairs(CARD);
static UPCARD_BYTES: [[u8; 6]; DECK] = pairs(UPCARD);

const fn pairs(kind: u8) -> [[u8; 6]; DECK] {
    let mut pairs = [[0, 0, 0, 2, kind, 0]; DECK];
    let mut number: u8 = 1;
    while number as usize <= DECK {
        pairs[number as usize - 1][5] = number;
        number += 1;
    }
    pairs
}

const fn text(message: DealerMessage) -> &'static str {
    match message {
        DealerMessage::Begin => "BEGIN\0",
        DealerMessage::Card(card) => CARD_TEXTS[card.number() as usize - 1],
        DealerMessage::Upcard(card) => UPCARD_TEXTS[card.number() as usize - 1],
        DealerMessage::Decision => "DECISION\0",
        DealerMessage::Result(Verdict::Win) => "RESULT WIN\0",
        DealerMessage::Result(Verdict::Lose) => "RESULT LOOSE\0",
        DealerMessage::Result(Verdict::Bust) => "RESULT BUST\0",
        DealerMessage::Result(Verdict::Push) => "RESULT PUSH\0",
        DealerMessage::Quit => "QUIT\0",
    }
}

const fn of(message: DealerMessage, dialect: Dialect) -> &'static [u8] {
    match (dialect, message) {
        (Dialect::Text, _) => text(message).as_bytes(),
        (Dialect::Binary, DealerMessage::Begin) => &[0, 0, 0, 1, BEGIN],
        (Dialect::Binary, DealerMessage::Card(card)) => &CARD_BYTES[card.number() as usize - 1],
        (Dialect::Binary, DealerMessage::Upcard(card)) => &UPCARD_BYTES[card.number() as usize - 1],
        (Dialect::Binary, DealerMessage::Decision) => &[0, 0, 0, 1, DECISION],
        (Dialect::Binary, DealerMessage::Result(Verdict::Win)) => &[0, 0, 0, 2, RESULT, 1],
        (Dialect::Binary, DealerMessage::Result(Verdict::Lose)) => &[0, 0, 0, 2, RESULT, 2],
        (Dialect::Binary, DealerMessage::Result(Verdict::Bust)) => &[0, 0, 0, 2, RESULT, 3],
        (Dialect::Binary, DealerMessage::Result(Verdict::Push)) => &[0, 0, 0, 2, RESULT, 4],
        (Dialect::Binary, DealerMessage::Quit) => &[0, 0, 0, 1, QUIT],
    }
}

// Decoders that split a stream into messages.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cards::Card;

    #[test]
    fn card_number_is_its_index() {
        for card in Card::all() {
            for message in [DealerMessage::Card(card), DealerMessage::Upcard(card)] {
                assert_eq!(DealerMessage::parse_text(std::format!("{message}").as_bytes()), Ok(message));
                assert_eq!(DealerMessage::parse_binary(&of(message, Dialect::Binary)[4..]), Ok(message));
            }
        }
    }
}
