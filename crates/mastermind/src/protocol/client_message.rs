//! Messages from players.

use bytes::Bytes;
use core::fmt;
use netcore::{DecodeError, Framing};

use super::{
    name::Name,
    words::{answer, frame, invalid, yes_or_no},
};
use crate::{
    code::{Code, MAX_LENGTH, MIN_LENGTH, ParseCodeError},
    lifeline::Lifeline,
};

/// The maximum length of a player's message in bytes, without the line terminator.
pub const MAX_MESSAGE: usize = 64;

const NO_WORD: &str = "no message; say PLAY <name>, GUESS <digits>, LIFELINE 1, LIFELINE 2, HINT, NEW, RESIGN or QUIT";
const NO_NAME: &str = "no name; say PLAY <name>";
const NO_GUESS: &str = "no guess; say GUESS and 4 to 8 digits from 1 to 8";
const NO_LIFELINE: &str = "no lifeline; say LIFELINE 1 or LIFELINE 2";
const NO_RULES: &str = "no rules; say NEW, or NEW with a length from 4 to 8 and yes or no for repeats, as in NEW 5 yes";
const EXTRA: &str = "nothing may follow this word";

/// A message from a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// `PLAY <name>` takes a seat.
    Play(Name),
    /// `GUESS <digits>` guesses the code.
    Guess(Code),
    /// `LIFELINE 1` and `LIFELINE 2` use a lifeline.
    Lifeline(Lifeline),
    /// `HINT` requests the codebreaker's guess.
    Hint,
    /// `NEW` requests another game; `NEW <length> yes` and `NEW <length> no` choose the length and repeats.
    New(Option<(usize, bool)>),
    /// `RESIGN` gives up the game.
    Resign,
    /// `QUIT` leaves the room.
    Quit,
}

impl ClientMessage {
    /// Parses a message without its line terminator. The first word may be in lower case.
    pub fn parse(text: &[u8]) -> Result<Self, DecodeError> {
        let at = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
        let (word, rest) = (&text[..at], text.get(at + 1..));
        let behind = at + 1;
        let bare = |message| if rest.is_none() { Ok(message) } else { Err(invalid(EXTRA, at)) };
        match &word.to_ascii_uppercase()[..] {
            b"PLAY" => rest.and_then(|name| Name::new(name).ok()).map(Self::Play).ok_or_else(|| invalid(NO_NAME, at)),
            b"GUESS" => {
                let code = rest.and_then(|rest| str::from_utf8(rest).ok()).map(str::parse::<Code>);
                match code {
                    Some(Ok(code)) => Ok(Self::Guess(code)),
                    Some(Err(ParseCodeError::Colour { place, .. })) => Err(invalid(NO_GUESS, at + place)),
                    Some(Err(ParseCodeError::Length(_))) | None => Err(invalid(NO_GUESS, behind)),
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
                    let repeats =
                        yes_or_no(&repeats.to_ascii_lowercase()).ok_or_else(|| invalid(NO_RULES, behind + 2))?;
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

    /// Encodes the message with the terminator of the framing.
    pub fn to_frame(&self, framing: Framing) -> Bytes {
        frame(self, framing)
    }
}

impl fmt::Display for ClientMessage {
    /// The text without a line terminator.
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
