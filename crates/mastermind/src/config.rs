//! The configuration of a server and the rules of its games.

use alloc::vec::Vec;
use core::{fmt, time::Duration};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::code::{ALL_PEGS, Code, MAX_COLOURS, MAX_LENGTH, MIN_COLOURS, MIN_LENGTH, Peg};

/// The maximum number of players in a race.
pub const MAX_RACERS: u8 = 16;

/// The relation between the games of a room's players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// Each player plays separate games.
    Solo,
    /// This number of players guess the same code at the same time.
    Race(u8),
    /// All players guess the same code of the day.
    Daily,
    /// Like `Daily`, but the codes cannot be computed without this key.
    Keyed([u8; 32]),
}

impl Mode {
    /// Whether there is a puzzle of the day.
    pub const fn is_daily(self) -> bool {
        matches!(self, Self::Daily | Self::Keyed(_))
    }
}

/// The first day of a daily room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstDay {
    /// Days since 1 January 1970.
    pub day: u32,
    /// The time from the start of the room to the end of this day. Later days last 24 hours.
    pub lasts: Duration,
}

/// The configuration of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// The relation between the players' games.
    pub mode: Mode,
    /// Pegs in a code.
    pub length: u8,
    /// Whether a colour may occur twice in a code.
    pub repeats: bool,
    /// The maximum duration of a race.
    pub limit: Duration,
    /// The first day of a daily room.
    pub first_day: Option<FirstDay>,
    /// The seed of the codes.
    pub seed: u64,
}

/// Why rules or a configuration are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// Too few or too many pegs.
    #[error("invalid number of pegs {0}: expected {MIN_LENGTH} to {MAX_LENGTH}")]
    Length(usize),
    /// Too few or too many colours.
    #[error("invalid number of colours {0}: expected {MIN_COLOURS} to {MAX_COLOURS}")]
    Colours(usize),
    /// There are fewer colours than pegs, but colours may not repeat.
    #[error("{length} pegs of {colours} colours must repeat one: allow repeats, or use at most {colours} pegs")]
    TooFewColours {
        /// The number of pegs.
        length: usize,
        /// The number of colours.
        colours: usize,
    },
    /// Too few or too many players for a race.
    #[error("a race has 2 to {MAX_RACERS} players, not {0}")]
    Racers(u8),
    /// The time limit of a race is too short.
    #[error("a race lasts at least a second")]
    Limit,
    /// A daily room lacks its first day, or another room has one.
    #[error("a daily room begins with a day, and no other room does")]
    Day,
}

impl Config {
    /// A room with separate games for each player, and codes of `length` pegs.
    pub const fn new(length: u8, repeats: bool, seed: u64) -> Self {
        Self { mode: Mode::Solo, length, repeats, limit: Duration::from_secs(600), first_day: None, seed }
    }

    pub(crate) fn check(&self) -> Result<Rules, ConfigError> {
        match self.mode {
            Mode::Race(players) if !(2..=MAX_RACERS).contains(&players) => return Err(ConfigError::Racers(players)),
            Mode::Race(_) if self.limit < Duration::from_secs(1) => return Err(ConfigError::Limit),
            _ if self.mode.is_daily() != self.first_day.is_some() => return Err(ConfigError::Day),
            _ => {}
        }
        Rules::new(self.length.into(), MAX_COLOURS, self.repeats)
    }
}

/// The set of possible secret codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rules {
    length: usize,
    colours: usize,
    repeats: bool,
}

impl Rules {
    /// Rules for codes of `length` pegs in `colours` colours, with or without repeats.
    pub const fn new(length: usize, colours: usize, repeats: bool) -> Result<Self, ConfigError> {
        if length < MIN_LENGTH || length > MAX_LENGTH {
            return Err(ConfigError::Length(length));
        }
        if colours < MIN_COLOURS || colours > MAX_COLOURS {
            return Err(ConfigError::Colours(colours));
        }
        if !repeats && colours < length {
            return Err(ConfigError::TooFewColours { length, colours });
        }
        Ok(Self { length, colours, repeats })
    }

    /// Pegs in a code.
    pub const fn length(self) -> usize {
        self.length
    }

    /// The number of colours.
    pub const fn colours(self) -> usize {
        self.colours
    }

    /// Whether a colour may occur twice in the secret code. Guesses may always repeat colours.
    pub const fn repeats(self) -> bool {
        self.repeats
    }

    /// The number of possible secret codes.
    pub fn codes(self) -> u64 {
        let colours = self.colours as u64;
        (0..self.length as u64).map(|taken| if self.repeats { colours } else { colours - taken }).product()
    }

    /// The number of different guesses.
    pub fn guesses(self) -> u64 {
        Self { repeats: true, ..self }.codes()
    }

    /// Whether this code may be guessed: it has the right length and only colours of the game.
    pub fn allows_guess(self, guess: Code) -> bool {
        guess.len() == self.length && guess.pegs().all(|peg| peg.index() < self.colours)
    }

    /// Whether this code may be the secret.
    pub fn allows_secret(self, code: Code) -> bool {
        self.allows_guess(code) && (self.repeats || !code.repeats())
    }

    /// Draws a secret code, each with the same probability.
    pub fn draw<R: Rng + ?Sized>(self, rng: &mut R) -> Code {
        let mut left = ALL_PEGS;
        Code::of((0..self.length).map(|place| {
            if self.repeats {
                left[rng.random_range(0..self.colours)]
            } else {
                // A partial Fisher-Yates shuffle: drawn pegs move to the front.
                left.swap(place, rng.random_range(place..self.colours));
                left[place]
            }
        }))
    }

    /// All possible secret codes, in numeric order.
    pub fn all(self) -> Vec<Code> {
        let mut all = Vec::with_capacity(usize::try_from(self.codes()).unwrap_or(0));
        let mut pegs = Vec::with_capacity(self.length);
        self.extend_all(self.length, &mut pegs, &mut all);
        all
    }

    fn extend_all(self, length: usize, pegs: &mut Vec<Peg>, all: &mut Vec<Code>) {
        if pegs.len() == length {
            all.push(Code::of(pegs.iter().copied()));
            return;
        }
        for peg in (0..self.colours).filter_map(Peg::new) {
            if self.repeats || !pegs.contains(&peg) {
                pegs.push(peg);
                self.extend_all(length, pegs, all);
                pegs.pop();
            }
        }
    }

    /// All rows of `length` pegs, in numeric order. Rows may be shorter than a code.
    pub(crate) fn rows(self, length: usize) -> Vec<Code> {
        let mut all = Vec::new();
        Self { repeats: true, ..self }.extend_all(length, &mut Vec::with_capacity(length), &mut all);
        all
    }
}

impl fmt::Display for Rules {
    /// Formats the rules as `4 pegs, 8 colours, no repeats`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let repeats = if self.repeats { "with repeats" } else { "no repeats" };
        write!(f, "{} pegs, {} colours, {repeats}", self.length, self.colours)
    }
}
