use alloc::{collections::BTreeMap, vec::Vec};
use core::{array, iter};
use rand::{Rng, RngExt};

use super::slices::{Slices, level_word, place_word};
use crate::{
    code::{Code, MAX_COLOURS},
    feedback::{CLASSES, Feedback},
    knowledge::Knowledge,
};

/// The possible codes, in numeric order.
pub(crate) trait Candidates {
    fn total(&self) -> u64;

    /// The ranks must be ascending.
    fn at_ranks(&mut self, ranks: impl Iterator<Item = u64>) -> Vec<Code>;

    fn counts(&mut self, guess: Code) -> [u64; CLASSES];

    fn all(&mut self) -> Vec<Code> {
        self.at_ranks(0..self.total())
    }

    /// A stratified sample: one code from each of `codes` equal ranges of ranks.
    fn sample<R: Rng + ?Sized>(&mut self, codes: u64, rng: &mut R) -> Vec<Code> {
        let total = self.total();
        self.at_ranks((0..codes).map(|index| {
            let (from, to) = (index * total / codes, (index + 1) * total / codes);
            rng.random_range(from..to.max(from + 1))
        }))
    }
}

const TAIL: usize = 4;

/// For each number of pegs, the tails with exactly this number, one bit for each of 64 tails.
type Exactly = [u64; TAIL + 1];

/// Candidates that are enumerated on demand.
///
/// A code is split into a head and a tail of four pegs. For each head, 64 tails are compared in parallel, one bit each.
pub(crate) struct Possible<'a> {
    knowledge: &'a Knowledge,
    heads: Vec<Code>,
    tails: Vec<Code>,
    slices: Slices,
    /// The tails that are possible after any head.
    sound: Vec<u64>,
    answers: Vec<Halves>,
    counts: Vec<u32>,
    total: u64,
}

struct Halves {
    head: Code,
    counts: [u8; MAX_COLOURS],
    /// By number of red pegs of the tail.
    red: Vec<Exactly>,
    /// By number of pegs of each colour that the head leaves unmatched, then by number of pegs that the tail shares.
    shared: BTreeMap<[u8; MAX_COLOURS], Vec<Exactly>>,
}

impl Halves {
    fn new(guess: Code, head_length: usize, tails: &Slices) -> Self {
        let picked = guess.pegs().skip(head_length).enumerate();
        let picked: Vec<u8> = picked.map(|(place, peg)| place_word(place, peg.index())).collect();
        let head = Code::of(guess.pegs().take(head_length));
        Self { head, counts: guess.counts(), red: tails.exactly(&picked), shared: BTreeMap::new() }
    }

    fn after(&mut self, head: Code, tails: &Slices) -> (usize, usize, impl Iterator<Item = (&Exactly, &Exactly)>) {
        let red = usize::from(Feedback::of(self.head, head).red);
        let of_head = head.counts();
        let left: [u8; MAX_COLOURS] = array::from_fn(|colour| self.counts[colour].saturating_sub(of_head[colour]));
        let paid: u8 = self.counts.iter().zip(&left).map(|(all, left)| all - left).sum();
        let shared = self.shared.entry(left).or_insert_with(|| {
            let levels = |(colour, left): (usize, &u8)| {
                (0..TAIL.min(usize::from(*left))).map(move |level| level_word(TAIL, colour, level))
            };
            tails.exactly(&left.iter().enumerate().flat_map(levels).collect::<Vec<u8>>())
        });
        (red, usize::from(paid), iter::zip(&self.red, &*shared))
    }
}

impl<'a> Possible<'a> {
    pub(crate) fn new(knowledge: &'a Knowledge) -> Self {
        let rules = knowledge.rules();
        let head_length = rules.length() - TAIL;
        let tails = rules.rows(TAIL);
        let slices = Slices::new(TAIL, &tails);
        let place = knowledge.place.and_then(|(place, peg)| Some((place.checked_sub(head_length)?, peg)));
        let is_sound = |tail: &Code| {
            (rules.repeats() || !tail.repeats()) && place.is_none_or(|(place, peg)| tail.peg(place) == Some(peg))
        };
        let bits = |tails: &[Code]| tails.iter().rev().fold(0, |bits, tail| bits << 1 | u64::from(is_sound(tail)));
        let halves = |(guess, _): &(Code, Feedback)| Halves::new(*guess, head_length, &slices);
        let mut possible = Self {
            knowledge,
            heads: rules.rows(head_length),
            sound: tails.chunks(64).map(bits).collect(),
            answers: knowledge.answers().iter().rev().map(halves).collect(),
            counts: Vec::new(),
            total: 0,
            tails,
            slices,
        };
        let heads = 0..possible.heads.len();
        possible.counts =
            heads.map(|head| possible.tails_after(head).iter().map(|alive| alive.count_ones()).sum()).collect();
        possible.total = possible.counts.iter().map(|count| u64::from(*count)).sum();
        possible
    }

    fn tails_after(&mut self, head: usize) -> Vec<u64> {
        let (knowledge, head) = (self.knowledge, self.heads[head]);
        let rules = knowledge.rules();
        let wrong_place =
            knowledge.place.is_some_and(|(place, peg)| place + TAIL < rules.length() && head.peg(place) != Some(peg));
        if wrong_place || !rules.repeats() && head.repeats() {
            return Vec::new();
        }
        let mut alive = self.sound.clone();
        if !rules.repeats() {
            for peg in head.pegs() {
                iter::zip(&mut alive, self.slices.having(peg.index())).for_each(|(alive, having)| *alive &= !having);
            }
        }
        if let Some(peg) = knowledge.colour.filter(|peg| head.pegs().all(|other| other != *peg)) {
            iter::zip(&mut alive, self.slices.having(peg.index())).for_each(|(alive, having)| *alive &= having);
        }
        let feedback = knowledge.answers().iter().rev().map(|(_, feedback)| feedback);
        for (halves, feedback) in self.answers.iter_mut().zip(feedback) {
            let (red, shared, answers) = halves.after(head, &self.slices);
            let left = (usize::from(feedback.red).checked_sub(red), feedback.shared().checked_sub(shared));
            // A colour that the head has matched can be in place in the tail, so red may exceed the rest.
            let (Some(red @ ..=TAIL), Some(shared @ ..=TAIL)) = left else {
                return Vec::new();
            };
            for (alive, (reds, shares)) in alive.iter_mut().zip(answers) {
                *alive &= reds[red] & shares[shared];
            }
        }
        alive
    }
}

impl Candidates for Possible<'_> {
    fn total(&self) -> u64 {
        self.total
    }

    fn at_ranks(&mut self, ranks: impl Iterator<Item = u64>) -> Vec<Code> {
        let mut ranks = ranks.peekable();
        let mut found = Vec::new();
        let mut rank = 0;
        for head in 0..self.heads.len() {
            let end = rank + u64::from(self.counts[head]);
            if ranks.peek().is_none_or(|next| *next >= end) {
                rank = end;
                continue;
            }
            let alive = self.tails_after(head);
            let is_alive = |number: &usize| alive[number / 64] >> (number % 64) & 1 == 1;
            for number in (0..self.tails.len()).filter(is_alive) {
                if ranks.next_if_eq(&rank).is_some() {
                    found.push(Code::of(self.heads[head].pegs().chain(self.tails[number].pegs())));
                }
                rank += 1;
            }
        }
        found
    }

    fn counts(&mut self, guess: Code) -> [u64; CLASSES] {
        let mut halves = Halves::new(guess, self.knowledge.rules().length() - TAIL, &self.slices);
        let mut counts = [0; CLASSES];
        for head in 0..self.heads.len() {
            if self.counts[head] == 0 {
                continue;
            }
            let alive = self.tails_after(head);
            let (red, shared, answers) = halves.after(self.heads[head], &self.slices);
            let mut sums = [[0; TAIL + 1]; TAIL + 1];
            for (alive, (reds, shares)) in iter::zip(alive, answers).filter(|(alive, _)| *alive != 0) {
                for (sums, reds) in sums.iter_mut().zip(reds) {
                    for (sum, shares) in sums.iter_mut().zip(shares) {
                        *sum += u64::from((alive & reds & shares).count_ones());
                    }
                }
            }
            for (tail_red, sums) in sums.iter().enumerate() {
                for (tail_shared, sum) in sums.iter().enumerate() {
                    counts[Feedback::from_shared(red + tail_red, shared + tail_shared).class()] += sum;
                }
            }
        }
        counts
    }
}

impl Candidates for &[Code] {
    fn total(&self) -> u64 {
        self.len() as u64
    }

    fn at_ranks(&mut self, ranks: impl Iterator<Item = u64>) -> Vec<Code> {
        ranks.filter_map(|rank| self.get(usize::try_from(rank).ok()?)).copied().collect()
    }

    fn counts(&mut self, guess: Code) -> [u64; CLASSES] {
        let mut counts = [0; CLASSES];
        for code in *self {
            counts[Feedback::of(guess, *code).class()] += 1;
        }
        counts
    }
}
