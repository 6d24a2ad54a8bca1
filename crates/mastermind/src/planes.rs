//! One guess against many codes at once, one byte for each answer.
//!
//! Codes are kept turned round: a row for each place with the colours that the codes have there, and a row for each
//! colour with how often they have it. For one guess the answers are then a handful of comparisons, minima and additions
//! on whole rows, which compilers turn into vector instructions; the widest that the machine has are chosen at run time.

use alloc::vec::Vec;

use crate::{
    code::{Code, MAX_COLOURS, MAX_LENGTH},
    feedback::Feedback,
};

/// Codes that are answered together. With 32 the compiler unrolls the loops over them instead of making vectors of them,
/// which is nine times slower; from 64 on there is little difference.
const LANES: usize = 128;
/// A row of one block: one byte for each of its codes.
type Row = [u8; LANES];

/// Pegs in the tails of codes that [`Planes::answer_tails`] compares.
pub(crate) const TAIL: usize = 4;

/// Codes laid out to be compared with a guess all together. All have the same length.
#[derive(Debug, Clone)]
pub struct Planes {
    length: usize,
    codes: usize,
    arch: pulp::Arch,
    /// For each block of [`LANES`] codes: `length` rows of colours, place by place, then a row for each colour with 16
    /// times the number of pegs that have it.
    rows: Vec<Row>,
}

/// What a guess asks of a code. The half of a code can be asked for other counts than those of the half guess.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The colour expected at each place.
    pub(crate) pegs: [u8; MAX_LENGTH],
    /// How many pegs of each colour can pay.
    pub(crate) counts: [u8; MAX_COLOURS],
}

impl Wanted {
    pub(crate) fn of(guess: Code) -> Self {
        let mut pegs = [0; MAX_LENGTH];
        for (place, peg) in guess.pegs().enumerate() {
            pegs[place] = peg.digit() as u8 - b'1';
        }
        Self { pegs, counts: guess.counts() }
    }
}

impl Planes {
    /// Lays out these codes, which have `length` pegs each.
    pub fn new(length: usize, codes: &[Code]) -> Self {
        let stride = length + MAX_COLOURS;
        let mut rows = alloc::vec![[0; LANES]; codes.len().div_ceil(LANES) * stride];
        for (block, codes) in rows.chunks_exact_mut(stride).zip(codes.chunks(LANES)) {
            let (places, counts) = block.split_at_mut(length);
            for (lane, code) in codes.iter().enumerate() {
                for (row, peg) in places.iter_mut().zip(code.pegs()) {
                    row[lane] = peg.digit() as u8 - b'1';
                    counts[peg.index()][lane] += 16;
                }
            }
        }
        Self { length, codes: codes.len(), arch: pulp::Arch::new(), rows }
    }

    /// How many codes there are.
    pub fn len(&self) -> usize {
        self.codes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.codes == 0
    }

    /// Writes to `answers` what each code answers to the guess, in the order of the codes, as
    /// [bytes](Feedback::to_byte). A guess of another length than the codes is answered as if it were cut or went on with
    /// `1`s.
    pub fn answer(&self, guess: Code, answers: &mut Vec<u8>) {
        let wanted = Wanted::of(guess);
        answers.resize(self.codes.next_multiple_of(LANES), 0);
        self.arch.dispatch(
            #[inline(always)]
            || match self.length {
                4 => self.blocks::<4, 4>(&wanted, answers),
                5 => self.blocks::<5, 5>(&wanted, answers),
                6 => self.blocks::<6, 6>(&wanted, answers),
                7 => self.blocks::<7, 7>(&wanted, answers),
                _ => self.blocks::<8, 8>(&wanted, answers),
            },
        );
        answers.truncate(self.codes);
    }

    /// As [`Self::answer`], for tails of codes: a guess may want any number of colours in them.
    pub(crate) fn answer_tails(&self, wanted: &Wanted, answers: &mut Vec<u8>) {
        answers.resize(self.codes.next_multiple_of(LANES), 0);
        self.arch.dispatch(
            #[inline(always)]
            || self.blocks::<TAIL, MAX_COLOURS>(wanted, answers),
        );
        answers.truncate(self.codes);
    }

    /// The answers of all blocks of codes that are `L` pegs long, to a guess that has at most `K` colours.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "vector instructions are only used where it is part of the caller")]
    fn blocks<const L: usize, const K: usize>(&self, wanted: &Wanted, answers: &mut [u8]) {
        let mut colours = [(0, 0); K];
        let mut different = 0;
        for (colour, &count) in wanted.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            if different < K {
                colours[different] = (colour, 16 * count);
                different += 1;
            }
        }
        for (rows, answers) in self.rows.chunks_exact(L + MAX_COLOURS).zip(answers.as_chunks_mut::<LANES>().0) {
            let (places, counts) = rows.split_at(L);
            let mut sum = [0; LANES];
            for (row, peg) in places.iter().zip(wanted.pegs).take(L) {
                for lane in 0..LANES {
                    sum[lane] += u8::from(row[lane] == peg);
                }
            }
            // Places of the list that are not needed ask for none of the first colour.
            for (colour, count) in colours {
                let row = &counts[colour % MAX_COLOURS];
                for lane in 0..LANES {
                    sum[lane] += row[lane].min(count);
                }
            }
            *answers = sum;
        }
    }
}

impl Feedback {
    /// The feedback as [`Planes::answer`] writes it: red in the lower four bits, red and white together in the upper
    /// ones.
    pub const fn to_byte(self) -> u8 {
        (self.red + self.white) << 4 | self.red
    }

    /// The feedback that [`Self::to_byte`] made this byte of.
    pub const fn from_byte(byte: u8) -> Self {
        Self { red: byte & 15, white: (byte >> 4).saturating_sub(byte & 15) }
    }
}
