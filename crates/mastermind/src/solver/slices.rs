//! Counts the answers of many codes to a guess, with 64 codes per machine word.
//!
//! A word for each place and colour marks the codes with that colour there; a word for each colour and number marks the
//! codes with at least that many pegs of the colour. A guess of `L` pegs selects `L` words of each kind: the number of
//! bits set in the first is red, in the second that of the shared pegs. Both sums are computed by moving bits up a
//! ladder; a population count on each pair of steps gives the counts.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::code::{CLASSES, Code, MAX_COLOURS, MAX_LENGTH};

/// The words that a guess selects from a block: those of places, then those of shared colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probe([u8; 2 * MAX_LENGTH]);

impl Probe {
    pub(crate) fn of(guess: Code) -> Self {
        let length = guess.len();
        let mut probe = [0; 2 * MAX_LENGTH];
        let mut counts = [0; MAX_COLOURS];
        for (place, peg) in guess.pegs().enumerate() {
            let colour = peg.index();
            probe[place] = place_word(place, colour);
            probe[length + place] = level_word(length, colour, counts[colour]);
            counts[colour] += 1;
        }
        Self(probe)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a block has 128 words at most")]
pub(crate) const fn place_word(place: usize, colour: usize) -> u8 {
    (place * MAX_COLOURS + colour) as u8
}

#[expect(clippy::cast_possible_truncation, reason = "a block has 128 words at most")]
pub(crate) const fn level_word(length: usize, colour: usize, level: usize) -> u8 {
    (length * MAX_COLOURS + colour * length + level) as u8
}

/// Indexed by [`crate::Feedback::class`].
pub(crate) type Counts = [u32; CLASSES];

#[derive(Debug, Clone)]
pub(crate) struct Slices {
    length: usize,
    pub(crate) codes: usize,
    arch: pulp::Arch,
    /// Blocks of `16 * length` words.
    words: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Judge<'a> {
    /// Sums these values, indexed by the counts. The slice must cover the largest count.
    Sum(&'a [i64]),
    Largest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Score {
    pub(crate) value: i64,
    pub(crate) member: bool,
}

impl Score {
    /// Smaller is better; ties prefer a guess that may be the code, from which `bonus` is subtracted.
    pub(crate) const fn key(self, bonus: i64) -> (i64, bool) {
        (self.value - if self.member { bonus } else { 0 }, !self.member)
    }
}

impl Slices {
    pub(crate) fn new(length: usize, codes: &[Code]) -> Self {
        let mut slices = Self { length, codes: 0, arch: pulp::Arch::new(), words: Vec::new() };
        slices.refill(codes);
        slices
    }

    pub(crate) fn refill(&mut self, codes: &[Code]) {
        let stride = self.stride();
        self.codes = codes.len();
        self.words.clear();
        self.words.resize(codes.len().div_ceil(64) * stride, 0);
        for (block, codes) in self.words.chunks_exact_mut(stride).zip(codes.chunks(64)) {
            for (lane, code) in codes.iter().enumerate() {
                let probe = Probe::of(*code);
                for word in &probe.0[..2 * self.length] {
                    block[usize::from(*word)] |= 1 << lane;
                }
            }
        }
    }

    const fn stride(&self) -> usize {
        2 * MAX_COLOURS * self.length
    }

    /// The codes with the colour, 64 to a word.
    pub(crate) fn having(&self, colour: usize) -> impl Iterator<Item = u64> {
        self.words.chunks_exact(self.stride()).map(move |block| block[usize::from(level_word(self.length, colour, 0))])
    }

    /// For each 64 codes and each number below `N`, marks the codes with exactly that number of the selected words.
    pub(crate) fn exactly<const N: usize>(&self, picked: &[u8]) -> Vec<[u64; N]> {
        let exactly = |block| {
            let steps = ladder(block, picked, u64::MAX);
            core::array::from_fn(|number| steps[number] & !steps[number + 1])
        };
        self.words.chunks_exact(self.stride()).map(exactly).collect()
    }

    pub(crate) fn judge<G>(
        &self,
        guesses: impl Iterator<Item = (G, Probe)>,
        judge: Judge<'_>,
        mut each: impl FnMut(G, Score),
    ) {
        self.judge_until(guesses, judge, |guess, score| {
            each(guess, score);
            ControlFlow::Continue(())
        });
    }

    pub(crate) fn judge_until<G>(
        &self,
        guesses: impl Iterator<Item = (G, Probe)>,
        judge: Judge<'_>,
        mut each: impl FnMut(G, Score) -> ControlFlow<()>,
    ) {
        self.arch.dispatch(
            #[inline(always)]
            || match self.length {
                4 => self.judge_all::<4, G>(guesses, judge, &mut each),
                5 => self.judge_all::<5, G>(guesses, judge, &mut each),
                6 => self.judge_all::<6, G>(guesses, judge, &mut each),
                7 => self.judge_all::<7, G>(guesses, judge, &mut each),
                _ => self.judge_all::<8, G>(guesses, judge, &mut each),
            },
        );
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the machine's instructions are only used where it is part of the caller")]
    fn judge_all<const L: usize, G>(
        &self,
        guesses: impl Iterator<Item = (G, Probe)>,
        judge: Judge<'_>,
        each: &mut impl FnMut(G, Score) -> ControlFlow<()>,
    ) {
        let win = L * (L + 1) / 2 + L;
        for (guess, probe) in guesses {
            let mut counts = [0; CLASSES];
            self.count::<L>(&probe, &mut counts);
            let classes = counts[..=win].iter();
            let value = match judge {
                Judge::Sum(table) => {
                    let last = table.len() - 1;
                    classes.map(|count| table[last.min(*count as usize)]).sum()
                }
                Judge::Largest => i64::from(classes.copied().max().unwrap_or(0)),
            };
            if each(guess, Score { value, member: counts[win] > 0 }).is_break() {
                return;
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the machine's instructions are only used where it is part of the caller")]
    fn count<const L: usize>(&self, probe: &Probe, counts: &mut Counts) {
        let stride = 2 * MAX_COLOURS * L;
        let mut left = self.codes;
        for block in self.words.chunks_exact(stride) {
            let valid = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            left = left.saturating_sub(64);
            let red = ladder(block, &probe.0[..L], valid);
            let shared = ladder(block, &probe.0[L..2 * L], valid);
            // Constant bounds let the compiler unroll the loops.
            let answers = L + 1;
            for sum in 0..answers {
                let with_sum = shared[sum] & !shared[sum + 1];
                for exact in 0..answers {
                    if exact <= sum {
                        let with_red = red[exact] & !red[exact + 1];
                        counts[sum * (sum + 1) / 2 + exact] += (with_sum & with_red).count_ones();
                    }
                }
            }
        }
    }
}

/// Marks, for each number, the codes with at least that many of the selected words.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the machine's instructions are only used where it is part of the caller")]
fn ladder(block: &[u64], picked: &[u8], valid: u64) -> [u64; MAX_LENGTH + 2] {
    let mut steps = [0; MAX_LENGTH + 2];
    steps[0] = valid;
    for (index, word) in picked.iter().enumerate() {
        let word = block[usize::from(*word)];
        for step in (0..=index).rev() {
            steps[step + 1] |= steps[step] & word;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::{Feedback, Peg};

    #[test]
    fn counts_match_those_of_single_codes() {
        let mut rng = Pcg64::seed_from_u64(1);
        for length in 4..=MAX_LENGTH {
            let mut any = || Code::of((0..length).filter_map(|_| Peg::new(rng.random_range(0..MAX_COLOURS))));
            for codes in [0, 1, 63, 64, 65, 300] {
                let codes: Vec<Code> = (0..codes).map(|_| any()).collect();
                let slices = Slices::new(length, &codes);
                for guess in (0..20).map(|_| any()).chain(codes.first().copied()) {
                    let mut one_by_one = [0; CLASSES];
                    for code in &codes {
                        one_by_one[Feedback::of(guess, *code).class()] += 1;
                    }
                    let (probe, mut counts) = (Probe::of(guess), [0; CLASSES]);
                    match length {
                        4 => slices.count::<4>(&probe, &mut counts),
                        5 => slices.count::<5>(&probe, &mut counts),
                        6 => slices.count::<6>(&probe, &mut counts),
                        7 => slices.count::<7>(&probe, &mut counts),
                        _ => slices.count::<8>(&probe, &mut counts),
                    }
                    assert_eq!(counts, one_by_one, "{guess}");
                    let largest = one_by_one.into_iter().max().map(i64::from);
                    slices.judge([((), probe)].into_iter(), Judge::Largest, |(), score| {
                        assert_eq!((Some(score.value), score.member), (largest, codes.contains(&guess)), "{guess}");
                    });
                }
            }
        }
    }
}
