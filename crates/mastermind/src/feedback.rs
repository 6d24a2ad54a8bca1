//! The feedback on a guess.
//!
//! Red counts the places at which guess and code agree, white the further pegs that agree in colour only. Each peg of
//! the code counts for at most one peg of the guess; exact matches count first.
//!
//! The [codebreaker](crate::solver) compares many codes faster.

use core::fmt;

use crate::code::{Code, MAX_LENGTH};

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
