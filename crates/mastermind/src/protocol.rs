//! What goes over the wire: text, one message in a line or a frame.
//!
//! | from the player | |
//! |-----------------|-|
//! | `PLAY <name>` | takes a seat |
//! | `GUESS <digits>` | guesses the code |
//! | `LIFELINE 1`, `LIFELINE 2` | asks for a lifeline |
//! | `HINT` | asks what the codebreaker would guess |
//! | `NEW`, `NEW <length> yes`, `NEW <length> no` | asks for another game |
//! | `RESIGN` | gives the game up |
//! | `QUIT` | leaves |
//!
//! The messages of a server are those of [`ServerMessage`]. Over a stream each message ends with a line feed; over a link that
//! keeps messages apart nothing follows it. `docs/protocols/mastermind.md` describes both sides to the byte.

mod told;

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use bytes::{BufMut, Bytes, BytesMut};
use core::fmt;
use netcore::{DecodeError, Framing, Protocol, framing::LineDecoder};
use serde::{Deserialize, Serialize};

pub use told::{Advice, HowOver, Mode, Over, RoomRules, ServerMessage};

use crate::{
    code::{Code, MAX_LENGTH, MIN_LENGTH, ParseCodeError},
    lifeline::Lifeline,
};

/// The longest message of a player in bytes, without the end of its line.
pub const MAX_MESSAGE: usize = 64;
/// The longest message of a server in bytes, without the end of its line.
pub const MAX_TOLD: usize = 256;
/// The longest name in bytes.
pub const MAX_NAME: usize = 24;

const NO_WORD: &str = "no message; say PLAY <name>, GUESS <digits>, LIFELINE 1, LIFELINE 2, HINT, NEW, RESIGN or QUIT";
const NO_NAME: &str = "no name; say PLAY <name>";
const NO_GUESS: &str = "no guess; say GUESS and 4 to 8 digits from 1 to 8";
const NO_LIFELINE: &str = "no lifeline; say LIFELINE 1 or LIFELINE 2";
const NO_RULES: &str = "no rules; say NEW, or NEW with a length from 4 to 8 and yes or no for repeats, as in NEW 5 yes";
const EXTRA: &str = "nothing may follow this word";

/// A player's name: 1 to [`MAX_NAME`] printable ASCII characters, no blank at either end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The name made of these bytes: cut to [`MAX_NAME`], with `_` for each byte that is not printable ASCII, and without the
    /// blanks around it. `None` if nothing is left.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.trim_ascii();
        let bytes = bytes.get(..MAX_NAME).unwrap_or(bytes).trim_ascii_end();
        let shown = |&byte: &u8| if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '_' };
        (!bytes.is_empty()).then(|| Self(bytes.iter().map(shown).collect()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, &'static str> {
        Self::new(name.as_bytes()).filter(|known| known.0 == name).ok_or("a text that is no name")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A message of a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// Takes a seat.
    Play(Name),
    /// Guesses the code.
    Guess(Code),
    /// Asks for a lifeline.
    Lifeline(Lifeline),
    /// Asks what the codebreaker would guess.
    Hint,
    /// Asks for another game: with other rules, if a length and repeats are given.
    New(Option<(usize, bool)>),
    /// Gives the game up.
    Resign,
    /// Leaves.
    Quit,
}

impl ClientMessage {
    /// Reads a message without the end of its line. The first word may be in small letters.
    ///
    /// # Errors
    /// [`DecodeError`] says what would be a message.
    pub fn parse(text: &[u8]) -> Result<Self, DecodeError> {
        let at = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
        let (word, rest) = (&text[..at], text.get(at + 1..));
        let behind = at + 1;
        let bare = |message| if rest.is_none() { Ok(message) } else { Err(invalid(EXTRA, at)) };
        match &word.to_ascii_uppercase()[..] {
            b"PLAY" => rest.and_then(Name::new).map(Self::Play).ok_or_else(|| invalid(NO_NAME, at)),
            b"GUESS" => {
                let code = rest.and_then(|rest| str::from_utf8(rest).ok()).map(str::parse::<Code>);
                match code {
                    Some(Ok(code)) => Ok(Self::Guess(code)),
                    Some(Err(ParseCodeError::Colour { place, .. })) => Err(invalid(NO_GUESS, at + place)),
                    Some(Err(ParseCodeError::Length { .. })) | None => Err(invalid(NO_GUESS, behind)),
                }
            }
            b"LIFELINE" => match rest {
                Some(b"1") => Ok(Self::Lifeline(Lifeline::Colour)),
                Some(b"2") => Ok(Self::Lifeline(Lifeline::Place)),
                _ => Err(invalid(NO_LIFELINE, behind)),
            },
            b"NEW" => match rest {
                None => Ok(Self::New(None)),
                Some([digit, b' ', repeats @ ..]) => {
                    let length = usize::from(digit.wrapping_sub(b'0'));
                    let repeats = yes_or_no(repeats).ok_or_else(|| invalid(NO_RULES, behind + 2))?;
                    if (MIN_LENGTH..=MAX_LENGTH).contains(&length) {
                        Ok(Self::New(Some((length, repeats))))
                    } else {
                        Err(invalid(NO_RULES, behind))
                    }
                }
                Some(_) => Err(invalid(NO_RULES, behind)),
            },
            b"HINT" => bare(Self::Hint),
            b"RESIGN" => bare(Self::Resign),
            b"QUIT" => bare(Self::Quit),
            _ => Err(invalid(NO_WORD, 0)),
        }
    }

    /// The wire form, with the end that messages have on such a link.
    pub fn to_frame(&self, framing: Framing) -> Bytes {
        frame(self, framing)
    }
}

impl fmt::Display for ClientMessage {
    /// The text without the end of its line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Play(name) => write!(f, "PLAY {name}"),
            Self::Guess(code) => write!(f, "GUESS {code}"),
            Self::Lifeline(lifeline) => write!(f, "LIFELINE {}", lifeline.number()),
            Self::Hint => f.write_str("HINT"),
            Self::New(None) => f.write_str("NEW"),
            Self::New(Some((length, repeats))) => write!(f, "NEW {length} {}", answer(*repeats)),
            Self::Resign => f.write_str("RESIGN"),
            Self::Quit => f.write_str("QUIT"),
        }
    }
}

fn yes_or_no(word: &[u8]) -> Option<bool> {
    match &word.to_ascii_lowercase()[..] {
        b"yes" => Some(true),
        b"no" => Some(false),
        _ => None,
    }
}

const fn answer(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

const fn invalid(what: &'static str, at: usize) -> DecodeError {
    DecodeError::invalid(what, at)
}

// A message with the end that it has on such a link.
fn frame(message: &impl ToString, framing: Framing) -> Bytes {
    let mut bytes = message.to_string().into_bytes();
    if framing == Framing::Stream {
        bytes.push(b'\n');
    }
    bytes.into()
}

/// The protocol of players, for rooms.
///
/// A malformed line is a request too: an [`Err`] with the expected syntax. So a person who types by hand can continue after a
/// mistake; only a line that is too long ends a stream.
#[derive(Debug, Clone, Copy)]
pub struct Mastermind;

/// What is remembered of earlier messages, which is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "LineDecoder", into = "LineDecoder")]
pub struct Decoder;

// The state of earlier versions, which remembered how much of a line they had seen.
impl From<LineDecoder> for Decoder {
    fn from(_: LineDecoder) -> Self {
        Self
    }
}

impl From<Decoder> for LineDecoder {
    fn from(Decoder: Decoder) -> Self {
        lines()
    }
}

// One more for a carriage return.
const fn lines() -> LineDecoder {
    LineDecoder::new(MAX_MESSAGE + 1)
}

impl Protocol for Mastermind {
    type Request = Result<ClientMessage, DecodeError>;
    type Decoder = Decoder;
    // With a carriage return and a line feed.
    const MAX_MESSAGE: usize = MAX_MESSAGE + 2;

    fn length(_: &Decoder, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        lines().length(bytes)
    }

    fn decode(_: &mut Decoder, message: &[u8], framing: Framing) -> Result<Self::Request, DecodeError> {
        let text = match framing {
            Framing::Whole => message,
            Framing::Stream => {
                let line = lines().whole(message)?;
                line.strip_suffix(b"\r").unwrap_or(line)
            }
        };
        if text.len() > MAX_MESSAGE {
            return Err(DecodeError::TooLong { length: text.len(), max: MAX_MESSAGE });
        }
        Ok(ClientMessage::parse(text))
    }

    fn encode_request(request: &Self::Request, out: &mut BytesMut) {
        match request {
            Ok(message) => out.put_slice(&message.to_frame(Framing::Stream)),
            // An empty line is no message either.
            Err(_) => out.put_u8(b'\n'),
        }
    }
}

// The words of a line, split at single blanks.
fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}
