//! The wire protocol: text, one message per line or frame. `docs/protocols/mastermind.md` specifies every byte.
//!
//! Over a stream each message ends with a line feed; other links have message boundaries.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use bytes::Bytes;
use netcore::{DecodeError, Framing, Naming, Protocol, cleaned, framing::LineDecoder};
use serde::{Deserialize, Serialize};

use crate::{
    code::{Code, Feedback, MAX_COLOURS, MAX_LENGTH, MIN_LENGTH, ParseCodeError, Peg},
    config::{Mode, Rules},
    game::{Availability, TURNS},
    lifeline::{Lifeline, Revealed},
    solver::{Hint, LISTED},
    view::{GameOutcome, GameResult, MaskedCode, TurnRecord},
};

/// The protocol of a room.
///
/// A malformed line is also a request: an [`Err`] with the expected syntax, so that a person who types can continue.
/// Only a line that is too long ends a stream.
#[derive(Debug, Clone, Copy)]
pub struct Mastermind;

/// The decoder state between messages, which is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "LineDecoder", into = "LineDecoder")]
pub struct Decoder;

// Earlier versions stored the progress within a line.
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

// One more byte for a carriage return.
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
}

// Messages from players.

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

// Messages from a server.

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

// The names of players.

/// The maximum length of a name in bytes.
pub const MAX_NAME: usize = 24;

/// A player's name: 1 to [`MAX_NAME`] printable ASCII characters, without leading or trailing blanks.
pub type Name = netcore::Name<Trimmed>;

/// The rule of [`Name`]: the input is trimmed and cut to [`MAX_NAME`] bytes, and `_` replaces bytes that are not
/// printable ASCII. Blank input is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trimmed;

impl Naming for Trimmed {
    const MAX: usize = MAX_NAME;
    const SHAPE: &'static str = "a text that is not a name";

    fn name(typed: &[u8]) -> Option<String> {
        let typed = typed.trim_ascii();
        let typed = typed.get(..MAX_NAME).unwrap_or(typed).trim_ascii_end();
        (!typed.is_empty()).then(|| cleaned(typed, b" "))
    }
}

/// Words of both sides.
fn yes_or_no(word: &[u8]) -> Option<bool> {
    match word {
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

fn frame(message: &impl ToString, framing: Framing) -> Bytes {
    let mut bytes = message.to_string().into_bytes();
    if framing == Framing::Stream {
        bytes.push(b'\n');
    }
    bytes.into()
}
