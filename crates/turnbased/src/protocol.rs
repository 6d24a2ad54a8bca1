//! The messages between a table and its clients: lines of text on a stream, or the same texts as WebSocket frames.
//!
//! | from a client | meaning |
//! | --- | --- |
//! | `PLAY name` | takes a seat |
//! | `MOVE move` | makes a move |
//! | `AGAIN` | is ready for another game |
//! | `RESIGN` | gives the game up |
//! | `QUIT` | leaves |
//!
//! | from the table | meaning |
//! | --- | --- |
//! | `ROOM game seats` | the first message; the complete state for the receiver follows |
//! | `OK seat` | the receiver has this seat, counted from 1 |
//! | `SEAT seat name`, `LEFT seat` | a player has taken a seat, or has left it |
//! | `WAIT count` | this many players are missing before a game begins |
//! | `GAME number` | a game begins |
//! | `VIEW json` | the receiver's view of the position |
//! | `MOVED seat move` | a player has made a move; a `VIEW` follows |
//! | `TURN seat`, `TURN seat move move...` | the seat whose turn it is; its player also receives all possible moves |
//! | `OVER how scores...` | the game is over: `played`, `resigned`, `late` or `left`, then the score of each seat |
//! | `NO reason` | the last message had no effect |
//! | `BYE reason` | the table closes the connection |

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use bytes::Bytes;
use core::{fmt, marker::PhantomData};
use netcore::framing::LineDecoder;
use netcore::{DecodeError, Framing, Naming, Protocol, cleaned};
use serde::{Deserialize, Serialize};

use crate::Rules;

/// The maximum length of a client's message in bytes, with the line end.
pub const MAX_MESSAGE: usize = 66;
/// The maximum length of a table's message in bytes, without the line end.
pub const MAX_TOLD: usize = 64 << 10;

/// A player's name of 1 to 32 bytes; `_` replaces bytes that are not printable ASCII.
pub type Name = netcore::Name<Visible>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible;

impl Naming for Visible {
    const MAX: usize = 32;
    const SHAPE: &'static str = "a name has 1 to 32 characters and one that is no blank";

    fn name(typed: &[u8]) -> Option<String> {
        let typed = typed.trim_ascii();
        (1..=Self::MAX).contains(&typed.len()).then(|| cleaned(typed, b" "))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    Play(Name),
    Move(String),
    Again,
    Resign,
    Quit,
}

const NO_MESSAGE: &str = "no message: expected PLAY and a name, MOVE and a move, AGAIN, RESIGN or QUIT";

impl ClientMessage {
    /// Parses a message without its line end.
    pub fn parse(text: &[u8]) -> Result<Self, DecodeError> {
        let wrong = DecodeError::invalid(NO_MESSAGE, 0);
        let text = str::from_utf8(text).map_err(|_| wrong.clone())?;
        match text.split_once(' ') {
            Some(("PLAY", name)) => Name::new(name.as_bytes()).map(Self::Play).map_err(|_| wrong),
            Some(("MOVE", action)) => Ok(Self::Move(action.to_string())),
            Some(_) => Err(wrong),
            None => match text {
                "AGAIN" => Ok(Self::Again),
                "RESIGN" => Ok(Self::Resign),
                "QUIT" => Ok(Self::Quit),
                _ => Err(wrong),
            },
        }
    }
}

impl fmt::Display for ClientMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Play(name) => write!(f, "PLAY {name}"),
            Self::Move(action) => write!(f, "MOVE {action}"),
            Self::Again => f.write_str("AGAIN"),
            Self::Resign => f.write_str("RESIGN"),
            Self::Quit => f.write_str("QUIT"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndReason {
    Played,
    Resigned,
    /// A player exceeded the time limit of a move.
    Late,
    Left,
}

impl EndReason {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Played, "played"), (Self::Resigned, "resigned"), (Self::Late, "late"), (Self::Left, "left")];
}

/// Seats are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table of the module describes them")]
pub enum ServerMessage {
    Room {
        game: String,
        seats: u8,
    },
    Ok(u8),
    Seat(u8, String),
    Left(u8),
    Wait(u8),
    Game(u32),
    /// The view as JSON.
    View(String),
    Moved(u8, String),
    Turn(u8, Vec<String>),
    Over(EndReason, Vec<i64>),
    No(String),
    Bye(String),
}

impl ServerMessage {
    /// Parses a message without its line end.
    pub fn parse(text: &[u8]) -> Result<Self, DecodeError> {
        let text = str::from_utf8(text).ok();
        text.and_then(Self::read).ok_or_else(|| DecodeError::invalid("no message of a table", 0))
    }

    fn read(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(' ')?;
        let mut words = rest.split(' ');
        Some(match word {
            "ROOM" => Self::Room { game: words.next()?.to_string(), seats: words.next()?.parse().ok()? },
            "OK" => Self::Ok(rest.parse().ok()?),
            "SEAT" => Self::Seat(words.next()?.parse().ok()?, rest.split_once(' ')?.1.to_string()),
            "LEFT" => Self::Left(rest.parse().ok()?),
            "WAIT" => Self::Wait(rest.parse().ok()?),
            "GAME" => Self::Game(rest.parse().ok()?),
            "VIEW" => Self::View(rest.to_string()),
            "MOVED" => Self::Moved(words.next()?.parse().ok()?, rest.split_once(' ')?.1.to_string()),
            "TURN" => Self::Turn(words.next()?.parse().ok()?, words.map(ToString::to_string).collect()),
            "OVER" => {
                let how = words.next()?;
                let (ending, _) = EndReason::ALL.into_iter().find(|(_, word)| *word == how)?;
                Self::Over(ending, words.map(|score| score.parse().ok()).collect::<Option<_>>()?)
            }
            "NO" => Self::No(rest.to_string()),
            "BYE" => Self::Bye(rest.to_string()),
            _ => return None,
        })
    }

    /// Encodes the message, with the line end on a stream.
    pub fn to_frame(&self, framing: Framing) -> Bytes {
        frame(self, framing)
    }
}

impl fmt::Display for ServerMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room { game, seats } => write!(f, "ROOM {game} {seats}"),
            Self::Ok(seat) => write!(f, "OK {seat}"),
            Self::Seat(seat, name) => write!(f, "SEAT {seat} {name}"),
            Self::Left(seat) => write!(f, "LEFT {seat}"),
            Self::Wait(missing) => write!(f, "WAIT {missing}"),
            Self::Game(number) => write!(f, "GAME {number}"),
            Self::View(json) => write!(f, "VIEW {json}"),
            Self::Moved(seat, action) => write!(f, "MOVED {seat} {action}"),
            Self::Turn(seat, moves) => {
                write!(f, "TURN {seat}")?;
                moves.iter().try_for_each(|action| write!(f, " {action}"))
            }
            Self::Over(ending, scores) => {
                let word = EndReason::ALL.iter().find(|(other, _)| other == ending).map_or("played", |(_, word)| word);
                write!(f, "OVER {word}")?;
                scores.iter().try_for_each(|score| write!(f, " {score}"))
            }
            Self::No(why) => write!(f, "NO {why}"),
            Self::Bye(why) => write!(f, "BYE {why}"),
        }
    }
}

pub(crate) fn frame(message: &impl fmt::Display, framing: Framing) -> Bytes {
    match framing {
        Framing::Stream => format!("{message}\n").into(),
        Framing::Whole => message.to_string().into(),
    }
}

#[derive(Debug)]
pub struct Lines<R>(PhantomData<R>);

impl<R: Rules> Protocol for Lines<R> {
    type Request = Result<ClientMessage, DecodeError>;
    type Decoder = ();
    const MAX_MESSAGE: usize = MAX_MESSAGE;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        LineDecoder::new(MAX_MESSAGE - 1).length(bytes)
    }

    // A malformed line has no effect.
    fn decode((): &mut (), message: &[u8], framing: Framing) -> Result<Self::Request, DecodeError> {
        let line = match framing {
            Framing::Stream => LineDecoder::new(MAX_MESSAGE - 1).whole(message)?,
            Framing::Whole => message,
        };
        Ok(ClientMessage::parse(line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn parsing_reverses_formatting() {
        let name = || Name::new(b"Ann O").unwrap();
        for message in [ClientMessage::Play(name()), ClientMessage::Move("c 4".into()), ClientMessage::Again] {
            assert_eq!(ClientMessage::parse(message.to_string().as_bytes()), Ok(message));
        }
        for message in [
            ServerMessage::Room { game: "sticks".into(), seats: 2 },
            ServerMessage::Seat(1, "Ann O".into()),
            ServerMessage::View("{\"left\":[1, 2]}".into()),
            ServerMessage::Moved(2, "c 4".into()),
            ServerMessage::Turn(1, vec!["a".into(), "b".into()]),
            ServerMessage::Turn(2, vec![]),
            ServerMessage::Over(EndReason::Late, vec![-1, 7]),
            ServerMessage::Bye("thanks for playing".into()),
        ] {
            assert_eq!(ServerMessage::parse(message.to_string().as_bytes()), Ok(message));
        }
        for wrong in ["", "PLAY", "PLAY  ", "MOVES a", "AGAIN x", "quit"] {
            assert!(ClientMessage::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
        for wrong in ["", "OK", "OK x", "TURN", "OVER won 1", "OVER played x", "GOLD 1"] {
            assert!(ServerMessage::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
