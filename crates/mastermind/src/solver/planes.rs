//! One guess against the tails of many codes at once, one byte for each answer.
//!
//! Tails are kept turned round: a row for each place with the colours that they have there, and a row for each colour with
//! how often they have it. For one guess the answers are then a handful of comparisons, minima and additions on whole rows,
//! which compilers turn into vector instructions; the widest that the machine has are chosen at run time.

use alloc::vec::Vec;

use crate::code::{Code, MAX_COLOURS, MAX_LENGTH};

/// Tails that are answered together. With 32 the compiler unrolls the loops over them instead of making vectors of them,
/// which is nine times slower; from 64 on there is little difference.
const LANES: usize = 128;
/// A row of one block: one byte for each of its tails.
type Row = [u8; LANES];

/// Pegs in a tail.
pub(crate) const TAIL: usize = 4;
/// Rows of a block: a place or a colour each.
const ROWS: usize = TAIL + MAX_COLOURS;

/// Tails of codes, laid out to be compared with a guess all together.
#[derive(Debug, Clone)]
pub(crate) struct Planes {
    tails: usize,
    arch: pulp::Arch,
    /// For each block of [`LANES`] tails: [`TAIL`] rows of colours, place by place, then a row for each colour with 16 times
    /// the number of pegs that have it.
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
    /// Lays out these tails, which have [`TAIL`] pegs each.
    pub(crate) fn new(tails: &[Code]) -> Self {
        let mut rows = alloc::vec![[0; LANES]; tails.len().div_ceil(LANES) * ROWS];
        for (block, tails) in rows.chunks_exact_mut(ROWS).zip(tails.chunks(LANES)) {
            let (places, counts) = block.split_at_mut(TAIL);
            for (lane, tail) in tails.iter().enumerate() {
                for (row, peg) in places.iter_mut().zip(tail.pegs()) {
                    row[lane] = peg.digit() as u8 - b'1';
                    counts[peg.index()][lane] += 16;
                }
            }
        }
        Self { tails: tails.len(), arch: pulp::Arch::new(), rows }
    }

    /// Writes to `answers` what each tail answers, in the order of the tails: red in the lower four bits, red and white
    /// together in the upper ones.
    pub(crate) fn answer(&self, wanted: &Wanted, answers: &mut Vec<u8>) {
        answers.resize(self.tails.next_multiple_of(LANES), 0);
        self.arch.dispatch(
            #[inline(always)]
            || self.blocks(wanted, answers),
        );
        answers.truncate(self.tails);
    }

    /// The answers of all blocks.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "vector instructions are only used where it is part of the caller")]
    fn blocks(&self, wanted: &Wanted, answers: &mut [u8]) {
        // Places of the list that are not needed ask for none of the first colour.
        let mut colours = [(0, 0); MAX_COLOURS];
        let asked = wanted.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        for (place, (colour, &count)) in colours.iter_mut().zip(asked) {
            *place = (colour, 16 * count);
        }
        for (rows, answers) in self.rows.chunks_exact(ROWS).zip(answers.as_chunks_mut::<LANES>().0) {
            let (places, counts) = rows.split_at(TAIL);
            let mut sum = [0; LANES];
            for (row, peg) in places.iter().zip(wanted.pegs) {
                for lane in 0..LANES {
                    sum[lane] += u8::from(row[lane] == peg);
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feedback, Rules};

    #[test]
    fn tails_are_answered_as_one_by_one() {
        let codes = Rules::new(TAIL, 6, true).unwrap().all();
        let planes = Planes::new(&codes);
        // What was in there before does not matter.
        let mut answers = alloc::vec![7; 99];
        for guess in &codes {
            planes.answer(&Wanted::of(*guess), &mut answers);
            let one_by_one = codes.iter().map(|code| Feedback::of(*guess, *code));
            let one_by_one: Vec<u8> = one_by_one.map(|answer| (answer.red + answer.white) << 4 | answer.red).collect();
            assert_eq!(answers, one_by_one, "{guess}");
        }
    }
}
