//! Messages from a server.

use alloc::{borrow::Cow, string::String, vec::Vec};
use bytes::Bytes;
use core::fmt;
use netcore::{DecodeError, Framing};
use serde::{Deserialize, Serialize};

use super::{
    name::Name,
    words::{answer, frame, invalid, yes_or_no},
};
use crate::{
    code::{Code, MAX_COLOURS, MAX_LENGTH, Peg},
    config::{Mode, Rules},
    feedback::Feedback,
    game::{Availability, TURNS},
    lifeline::{Lifeline, Revealed},
    solver::{Hint, LISTED},
    view::{GameOutcome, GameResult, MaskedCode, TurnRecord},
};

/// The maximum length of a server's message in bytes, without the line terminator.
pub const MAX_TOLD: usize = 256;

/// The mode and the rules of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomRules {
    /// The relation between the players' games.
    pub mode: Mode,
    /// The default rules. A player may request others.
    pub rules: Rules,
    /// The day of a daily room, as in `2026-01-13`.
    pub date: Option<String>,
}

/// A hint for a turn. Its numbers are rounded, so the wire format preserves them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// The turn.
    pub turn: usize,
    /// The number of possible codes.
    pub remaining: u64,
    /// The codebreaker's guess.
    pub guess: Code,
    /// The average information of the answer, in hundredths of a bit.
    pub bits: u32,
    /// The average number of remaining codes, in tenths.
    pub expected: u64,
    /// The number of remaining codes in the worst case.
    pub worst: u64,
    /// Whether the guess may be the code.
    pub may_win: bool,
}

impl Advice {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are at most 16.7 million codes, and at most 24 bits"
    )]
    pub(crate) fn of(turn: usize, hint: &Hint) -> Self {
        Self {
            turn,
            remaining: hint.remaining,
            guess: hint.guess,
            bits: (hint.bits * 100.0 + 0.5) as u32,
            expected: (hint.expected * 10.0 + 0.5) as u64,
            worst: hint.worst,
            may_win: hint.may_win,
        }
    }
}

/// The receiver's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Its number.
    pub turn: usize,
    /// Whether each lifeline is available.
    pub lifelines: [Availability; 2],
    /// Hints received so far.
    pub hints: usize,
}

/// A message to a player or a watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerMessage<'a> {
    /// The mode and rules of the room: `ROOM solo 4 8 yes`, `ROOM race 4 8 yes 2`, `ROOM daily 4 8 yes 2026-01-13`.
    Room(RoomRules),
    /// The client has this seat: `OK 1`.
    Ok(u8),
    /// A player occupies a seat: `SEAT 1 Ann`.
    Seat(u8, Name),
    /// A seat is free again: `LEFT 1`.
    Left(u8),
    /// The number of players missing for the race: `WAIT 1`.
    Wait(u8),
    /// A game begins: `GAME 1 7 4 yes` has the seat, the number of the game, the length and repeats.
    Game {
        /// The seat.
        seat: u8,
        /// The number of the game in this room.
        number: u32,
        /// The rules.
        rules: Rules,
    },
    /// `ROW 1 3 1234 2 1` has the seat, turn, guess, red and white; `LIFELINE 1 4 2 3 5` the seat, turn, kind, place
    /// and colour. Stars replace hidden values.
    Line(u8, TurnRecord),
    /// `TURN 5 used used 0` has the client's next turn, the availability of the lifelines, and the number of hints
    /// received.
    Turn(Turn),
    /// `HINT 5 180 13346 3.19 24.1 36 no` has the turn, the number of possible codes, the guess, its bits, the
    /// remaining codes on average and at worst, and whether the guess may be the code.
    Hint(Advice),
    /// All possible codes, if they are few: `POSSIBLE 1234 5678`.
    Possible(Vec<Code>),
    /// A game is over: `OVER 1 won 5 0 8536` has the seat, the ending, the turns, the hints and the code.
    Over(u8, GameResult),
    /// A request was rejected, with an explanation for the user: `NO ...`.
    No(Cow<'a, str>),
    /// The connection ends, with an explanation for the user: `BYE ...`.
    Bye(Cow<'a, str>),
}

impl ServerMessage<'_> {
    /// Encodes the message with the terminator of the framing.
    pub fn to_frame(&self, framing: Framing) -> Bytes {
        frame(self, framing)
    }
}

const fn availability(word: Availability) -> &'static str {
    match word {
        Availability::Available => "available",
        Availability::Used => "used",
        Availability::Blocked => "blocked",
    }
}

impl fmt::Display for ServerMessage<'_> {
    /// The text without a line terminator.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room(RoomRules { mode, rules, date }) => {
                let word = match mode {
                    Mode::Solo => "solo",
                    Mode::Race(_) => "race",
                    Mode::Daily | Mode::Keyed(_) => "daily",
                };
                write!(f, "ROOM {word} {} {} {}", rules.length(), rules.colours(), answer(rules.repeats()))?;
                match (mode, date) {
                    (Mode::Race(players), _) => write!(f, " {players}"),
                    (_, Some(date)) => write!(f, " {date}"),
                    _ => Ok(()),
                }
            }
            Self::Ok(seat) => write!(f, "OK {seat}"),
            Self::Seat(seat, name) => write!(f, "SEAT {seat} {name}"),
            Self::Left(seat) => write!(f, "LEFT {seat}"),
            Self::Wait(missing) => write!(f, "WAIT {missing}"),
            Self::Game { seat, number, rules } => {
                write!(f, "GAME {seat} {number} {} {}", rules.length(), answer(rules.repeats()))
            }
            Self::Line(seat, TurnRecord::Row { turn, guess, feedback: Feedback { red, white } }) => {
                write!(f, "ROW {seat} {turn} {guess} {red} {white}")
            }
            Self::Line(seat, TurnRecord::Lifeline { turn, lifeline, revealed }) => {
                write!(f, "LIFELINE {seat} {turn} {} ", lifeline.number())?;
                match revealed {
                    None => f.write_str("* *"),
                    Some(Revealed::Colour(peg)) => write!(f, "* {peg}"),
                    Some(Revealed::Place { place, peg }) => write!(f, "{} {peg}", place + 1),
                }
            }
            Self::Turn(Turn { turn, lifelines: [colour, place], hints }) => {
                write!(f, "TURN {turn} {} {} {hints}", availability(*colour), availability(*place))
            }
            Self::Hint(Advice { turn, remaining, guess, bits, expected, worst, may_win }) => {
                let (bits, expected) = ((bits / 100, bits % 100), (expected / 10, expected % 10));
                write!(f, "HINT {turn} {remaining} {guess} {}.{:02} {}.{} ", bits.0, bits.1, expected.0, expected.1)?;
                write!(f, "{worst} {}", answer(*may_win))
            }
            Self::Possible(codes) => {
                f.write_str("POSSIBLE")?;
                codes.iter().try_for_each(|code| write!(f, " {code}"))
            }
            Self::Over(seat, GameResult { how, turns, hints, code }) => {
                write!(f, "OVER {seat} {} {turns} {hints} {code}", how.word())
            }
            Self::No(text) => write!(f, "NO {text}"),
            Self::Bye(text) => write!(f, "BYE {text}"),
        }
    }
}

const NOT_TOLD: DecodeError = invalid("no message of a server", 0);

impl ServerMessage<'static> {
    /// Parses a message without its line terminator.
    pub fn parse(text: &[u8]) -> Result<Self, DecodeError> {
        if text.len() > MAX_TOLD {
            return Err(DecodeError::TooLong { length: text.len(), max: MAX_TOLD });
        }
        if let Some(at) = text.iter().position(|byte| !(b' '..=b'~').contains(byte)) {
            return Err(invalid("a byte that is not printable ASCII", at));
        }
        str::from_utf8(text).ok().and_then(parse).ok_or(NOT_TOLD)
    }
}

fn parse(text: &str) -> Option<ServerMessage<'static>> {
    let (word, rest) = text.split_once(' ')?;
    Some(match (word, &rest.split(' ').collect::<Vec<_>>()[..]) {
        ("ROOM", [mode, length, colours, repeats, rest @ ..]) => {
            let rules = Rules::new(number(length)?, number(colours)?, yes_or_no(repeats.as_bytes())?).ok()?;
            let (mode, date) = match (*mode, rest) {
                ("solo", []) => (Mode::Solo, None),
                ("race", [players]) => (Mode::Race(number(players)?), None),
                ("daily", [date]) => (Mode::Daily, Some((*date).into())),
                _ => return None,
            };
            ServerMessage::Room(RoomRules { mode, rules, date })
        }
        ("OK", [seat]) => ServerMessage::Ok(number(seat)?),
        ("SEAT", [seat, _, ..]) => {
            let name: String = rest.split_once(' ')?.1.into();
            ServerMessage::Seat(number(seat)?, name.try_into().ok()?)
        }
        ("LEFT", [seat]) => ServerMessage::Left(number(seat)?),
        ("WAIT", [missing]) => ServerMessage::Wait(number(missing)?),
        ("GAME", [seat, game, length, repeats]) => {
            let rules = Rules::new(number(length)?, MAX_COLOURS, yes_or_no(repeats.as_bytes())?).ok()?;
            ServerMessage::Game { seat: number(seat)?, number: number(game)?, rules }
        }
        ("ROW", [seat, turn, guess, red, white]) => {
            let feedback = Feedback { red: number(red)?, white: number(white)? };
            let guess: MaskedCode = guess.parse().ok()?;
            if !feedback.is_possible(guess.len()) {
                return None;
            }
            let line = TurnRecord::Row { turn: turn_number(turn)?, guess, feedback };
            ServerMessage::Line(number(seat)?, line)
        }
        ("LIFELINE", [seat, turn, which, place, peg]) => {
            let lifeline = Lifeline::from_number(number(which)?)?;
            let revealed = match (lifeline, *place, *peg) {
                (_, "*", "*") => None,
                (Lifeline::Colour, "*", peg) => Some(Revealed::Colour(one_peg(peg)?)),
                (Lifeline::Place, place, peg) => {
                    let place = number::<usize>(place)?.checked_sub(1).filter(|place| *place < MAX_LENGTH)?;
                    Some(Revealed::Place { place, peg: one_peg(peg)? })
                }
                (Lifeline::Colour, ..) => return None,
            };
            let line = TurnRecord::Lifeline { turn: turn_number(turn)?, lifeline, revealed };
            ServerMessage::Line(number(seat)?, line)
        }
        ("TURN", [turn, colour, place, hints]) => {
            let lifelines = [known_availability(colour)?, known_availability(place)?];
            ServerMessage::Turn(Turn { turn: turn_number(turn)?, lifelines, hints: number(hints)? })
        }
        ("HINT", [turn, remaining, guess, bits, expected, worst, may_win]) => ServerMessage::Hint(Advice {
            turn: turn_number(turn)?,
            remaining: number(remaining)?,
            guess: guess.parse().ok()?,
            bits: fixed(bits, 2)?,
            expected: fixed(expected, 1)?.into(),
            worst: number(worst)?,
            may_win: yes_or_no(may_win.as_bytes())?,
        }),
        ("POSSIBLE", codes) if codes.len() <= LISTED => {
            ServerMessage::Possible(codes.iter().map(|code| code.parse().ok()).collect::<Option<_>>()?)
        }
        ("OVER", [seat, how, turns, hints, code]) => {
            let how = GameOutcome::ALL.into_iter().find(|known| known.word() == *how)?;
            let turns = number::<usize>(turns).filter(|turns| *turns <= TURNS)?;
            let over = GameResult { how, turns, hints: number(hints)?, code: code.parse().ok()? };
            ServerMessage::Over(number(seat)?, over)
        }
        ("NO", _) => ServerMessage::No(Cow::Owned(rest.into())),
        ("BYE", _) => ServerMessage::Bye(Cow::Owned(rest.into())),
        _ => return None,
    })
}

// Canonical form: digits only, no leading zero.
fn number<N: core::str::FromStr>(text: &str) -> Option<N> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

fn turn_number(text: &str) -> Option<usize> {
    number(text).filter(|turn| (1..=TURNS).contains(turn))
}

// Parses a number with this many decimals, and returns it without the point.
fn fixed(text: &str, decimals: usize) -> Option<u32> {
    let (whole, rest) = text.split_once('.')?;
    let whole: u32 = number(whole)?;
    if rest.len() != decimals || !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let shift = if decimals == 1 { 10 } else { 100 };
    whole.checked_mul(shift)?.checked_add(rest.parse().ok()?)
}

fn one_peg(text: &str) -> Option<Peg> {
    text.parse().ok().and_then(Peg::from_digit)
}

fn known_availability(text: &str) -> Option<Availability> {
    [Availability::Available, Availability::Used, Availability::Blocked]
        .into_iter()
        .find(|known| availability(*known) == text)
}
