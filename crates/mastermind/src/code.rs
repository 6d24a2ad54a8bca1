//! Pegs and codes.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The minimum number of pegs in a code.
pub const MIN_LENGTH: usize = 4;
/// The maximum number of pegs in a code.
pub const MAX_LENGTH: usize = 8;
/// The minimum number of colours in a game.
pub const MIN_COLOURS: usize = 2;
/// The maximum number of colours in a game, and the default.
pub const MAX_COLOURS: usize = 8;

/// A peg: a colour, written `1` to `8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peg(u8);

impl Peg {
    /// The peg of this colour, counted from 0; `None` from [`MAX_COLOURS`] on.
    pub const fn new(index: usize) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "below 8")]
        if index < MAX_COLOURS { Some(Self(index as u8)) } else { None }
    }

    /// The peg with this digit, `1` to `8`.
    pub const fn from_digit(digit: char) -> Option<Self> {
        match digit {
            '1'..='8' => Self::new(digit as usize - '1' as usize),
            _ => None,
        }
    }

    /// The number of the colour, counted from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The digit, `1` to `8`.
    pub const fn digit(self) -> char {
        (b'1' + self.0) as char
    }
}

pub(crate) const ALL_PEGS: [Peg; MAX_COLOURS] = [Peg(0), Peg(1), Peg(2), Peg(3), Peg(4), Peg(5), Peg(6), Peg(7)];

impl fmt::Display for Peg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.digit())
    }
}

/// A secret code or a guess of 4 to 8 pegs, ordered by length, then by number.
///
/// ```
/// let code: mastermind::Code = "8536".parse()?;
/// assert_eq!(code.len(), 4);
/// assert_eq!(code.peg(0).unwrap().digit(), '8');
/// assert_eq!(code.to_string(), "8536");
/// # Ok::<(), mastermind::ParseCodeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Code {
    /// The pegs' digits as hexadecimal digits. The last peg is the lowest; missing ones are 0.
    pub(crate) digits: u32,
}

impl Code {
    /// Creates a code of [`MIN_LENGTH`] to [`MAX_LENGTH`] pegs.
    pub fn new(pegs: &[Peg]) -> Result<Self, ParseCodeError> {
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&pegs.len()) {
            return Err(ParseCodeError::Length(pegs.len()));
        }
        Ok(Self::of(pegs.iter().copied()))
    }

    /// Creates a code of up to [`MAX_LENGTH`] pegs, for halves of codes.
    pub(crate) fn of(pegs: impl IntoIterator<Item = Peg>) -> Self {
        Self { digits: pegs.into_iter().fold(0, |digits, peg| digits << 4 | u32::from(peg.0 + 1)) }
    }

    /// The number of pegs.
    #[expect(clippy::len_without_is_empty, reason = "a code has at least four pegs")]
    pub const fn len(self) -> usize {
        MAX_LENGTH - self.digits.leading_zeros() as usize / 4
    }

    /// The peg at a place, counted from 0; `None` beyond the end.
    pub const fn peg(self, place: usize) -> Option<Peg> {
        if place >= self.len() {
            return None;
        }
        Some(Peg((self.digits >> (4 * (self.len() - 1 - place)) & 0xf) as u8 - 1))
    }

    /// The pegs, first to last.
    pub fn pegs(self) -> impl DoubleEndedIterator<Item = Peg> + Clone {
        (0..self.len()).rev().map(move |place| Peg((self.digits >> (4 * place) & 0xf) as u8 - 1))
    }

    /// The number of pegs of each colour.
    pub fn counts(self) -> [u8; MAX_COLOURS] {
        let mut counts = [0; MAX_COLOURS];
        for peg in self.pegs() {
            counts[peg.index()] += 1;
        }
        counts
    }

    pub(crate) fn colours(self) -> u8 {
        self.pegs().fold(0, |colours, peg| colours | 1 << peg.0)
    }

    /// Whether a colour occurs twice.
    pub fn repeats(self) -> bool {
        self.counts().iter().any(|&count| count > 1)
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.to_string()
    }
}

impl TryFrom<String> for Code {
    type Error = ParseCodeError;

    fn try_from(text: String) -> Result<Self, ParseCodeError> {
        text.parse()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.digits)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code({self})")
    }
}

/// The text is not a valid code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseCodeError {
    /// The number of pegs is out of range.
    #[error("invalid number of pegs {0}: expected {MIN_LENGTH} to {MAX_LENGTH}")]
    Length(usize),
    /// A character is not a colour.
    #[error("{found:?} at place {place} is no colour: colours are the digits 1 to 8")]
    Colour {
        /// The invalid character.
        found: char,
        /// Its place, counted from 1.
        place: usize,
    },
}

impl FromStr for Code {
    type Err = ParseCodeError;

    /// Accepts only ASCII digits, without separators.
    fn from_str(text: &str) -> Result<Self, ParseCodeError> {
        let mut pegs = Vec::with_capacity(MAX_LENGTH);
        for (place, found) in text.chars().enumerate() {
            if place == MAX_LENGTH {
                return Err(ParseCodeError::Length(text.chars().count()));
            }
            pegs.push(Peg::from_digit(found).ok_or(ParseCodeError::Colour { found, place: place + 1 })?);
        }
        Self::new(&pegs)
    }
}

// The feedback on a guess.
//
// Red counts the places at which guess and code agree, white the further pegs that agree in colour only. Each peg of
// the code counts for at most one peg of the guess; exact matches count first.
//
// The [codebreaker](crate::solver) compares many codes faster.

/// The feedback on a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feedback {
    /// Places with equal colours.
    pub red: u8,
    /// Further pegs that agree in colour only.
    pub white: u8,
}

/// The lowest bit of each hexadecimal digit.
const ONES: u32 = 0x1111_1111;

impl Feedback {
    /// Compares a guess with a code, in either order. Excess pegs of the longer one do not match.
    ///
    /// ```
    /// # use mastermind::Feedback;
    /// let feedback = Feedback::of("1222".parse()?, "2111".parse()?);
    /// assert_eq!((feedback.red, feedback.white), (0, 2));
    /// # Ok::<(), mastermind::ParseCodeError>(())
    /// ```
    pub fn of(guess: Code, code: Code) -> Self {
        // A digit of the difference is 0 where the pegs agree, and beyond the end of both codes.
        let difference = guess.digits ^ code.digits;
        let different = (difference | difference >> 1 | difference >> 2 | difference >> 3) & ONES;
        let nowhere = MAX_LENGTH - guess.len().max(code.len());
        let red = 8 - different.count_ones() as usize - nowhere;
        let shared = (levels(guess) & levels(code)).count_ones() as usize;
        Self::from_shared(red, shared)
    }

    #[expect(clippy::cast_possible_truncation, reason = "both are at most 8")]
    pub(crate) const fn from_shared(red: usize, shared: usize) -> Self {
        Self { red: red as u8, white: shared.saturating_sub(red) as u8 }
    }

    /// Whether the guess is the code.
    pub const fn is_win(self, length: usize) -> bool {
        self.red as usize == length
    }

    /// The number of pegs shared in colour, in place or not.
    pub const fn shared(self) -> usize {
        self.red as usize + self.white as usize
    }

    /// Whether a guess of `length` pegs can get this feedback.
    pub const fn is_possible(self, length: usize) -> bool {
        // If all but one peg are in place and the last one has the right colour, it is in place too.
        self.shared() <= length && !(self.red as usize + 1 == length && self.white == 1)
    }

    /// All possible feedback on a guess of `length` pegs: `(length + 1)(length + 2) / 2 - 1` values, the win last.
    pub fn all(length: usize) -> impl Iterator<Item = Self> {
        (0..=length)
            .flat_map(|shared| (0..=shared).map(move |red| Self::from_shared(red, shared)))
            .filter(move |feedback| feedback.is_possible(length))
    }

    /// A unique number below [`CLASSES`], ordered by shared pegs.
    pub(crate) const fn class(self) -> usize {
        let shared = self.shared();
        shared * (shared + 1) / 2 + self.red as usize
    }
}

pub(crate) const CLASSES: usize = (MAX_LENGTH + 1) * (MAX_LENGTH + 2) / 2;

/// One byte per colour, with a low bit set for each peg of it: common bits are shared pegs.
fn levels(code: Code) -> u64 {
    code.pegs().fold(0, |levels, peg| {
        let lane = 8 * peg.index();
        levels | ((levels >> lane & 0x7f) << 1 | 1) << lane
    })
}

impl fmt::Display for Feedback {
    /// Formats the feedback as `2 red, 1 white`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} red, {} white", self.red, self.white)
    }
}
