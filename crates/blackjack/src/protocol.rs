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

mod frames;
mod stream;

use alloc::format;
use bytes::{Bytes, BytesMut};
use core::fmt;
use netcore::{
    DecodeError, Framing, Protocol,
    framing::put_length_frame,
    wire::{Decode, Reader},
};
use serde::{Deserialize, Serialize};

pub use stream::{DealerDecoder, PlayerDecoder};

use crate::{cards::Card, game::Action, name::Name, verdict::Verdict};

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
        Bytes::from_static(frames::of(self, dialect))
    }
}

impl fmt::Display for DealerMessage {
    /// The text without its NUL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(frames::text(*self).trim_end_matches('\0'))
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
