//! The codes that are still possible: all of them, some, or only counted.

use alloc::{collections::BTreeMap, vec::Vec};
use core::iter;
use rand::{Rng, RngExt};

use super::planes::{Planes, TAIL, Wanted};
use crate::{
    code::{Code, MAX_COLOURS},
    feedback::{CLASSES, Feedback},
    knowledge::Knowledge,
};

/// The codes that are still possible, in numeric order.
pub(crate) trait Candidates {
    /// How many there are.
    fn total(&self) -> u64;

    /// The codes at these ranks, which are in rising order.
    fn at_ranks(&mut self, ranks: impl Iterator<Item = u64>) -> Vec<Code>;

    /// How many of the codes give each answer to a guess, indexed by [`Feedback::class`].
    fn counts(&mut self, guess: Code) -> [u64; CLASSES];

    /// All of them.
    fn all(&mut self) -> Vec<Code> {
        self.at_ranks(0..self.total())
    }

    /// A stratified sample: the ranks are cut into `codes` equal stretches, and one code is drawn from each.
    fn sample<R: Rng + ?Sized>(&mut self, codes: u64, rng: &mut R) -> Vec<Code> {
        let total = self.total();
        self.at_ranks((0..codes).map(|index| {
            let (from, to) = (index * total / codes, (index + 1) * total / codes);
            rng.random_range(from..to.max(from + 1))
        }))
    }
}

/// Candidates that are found again each time instead of kept in memory. A code is cut into a head and a tail of four pegs, and
/// for each head all tails are compared at once.
pub(crate) struct Possible<'a> {
    knowledge: &'a Knowledge,
    heads: Vec<Code>,
    tails: Vec<Code>,
    planes: Planes,
    /// For each tail a bit for each of its colours.
    colours: Vec<u8>,
    /// 255 for each tail that is possible after some head, else 0.
    sound: Vec<u8>,
    answers: Vec<Halves>,
    /// How many codes each head begins.
    counts: Vec<u32>,
    total: u64,
}

/// A guess cut into head and tail. What the tail scores depends only on how many pegs of each colour the head of the code has
/// not matched, so the answers are cached by these counts.
struct Halves {
    head: Code,
    tail: Wanted,
    counts: [u8; MAX_COLOURS],
    answers: BTreeMap<[u8; MAX_COLOURS], Vec<u8>>,
}

impl Halves {
    fn new(guess: Code, head_length: usize) -> Self {
        let head = Code::of(guess.pegs().take(head_length));
        let tail = Code::of(guess.pegs().skip(head_length));
        Self { head, tail: Wanted::of(tail), counts: guess.counts(), answers: BTreeMap::new() }
    }

    /// The red and the shared pegs of this head alone, and what each tail adds to them.
    fn after(&mut self, head: Code, planes: &Planes) -> (usize, usize, &[u8]) {
        let red = usize::from(Feedback::of(self.head, head).red);
        let of_head = head.counts();
        let left = core::array::from_fn(|colour| self.counts[colour].saturating_sub(of_head[colour]));
        let paid: u8 = self.counts.iter().zip(&left).map(|(all, left)| all - left).sum();
        let tail = Wanted { counts: left, ..self.tail };
        let answers = self.answers.entry(left).or_insert_with(|| {
            let mut answers = Vec::new();
            planes.answer(&tail, &mut answers);
            answers
        });
        (red, usize::from(paid), answers)
    }
}

impl<'a> Possible<'a> {
    pub(crate) fn new(knowledge: &'a Knowledge) -> Self {
        let rules = knowledge.rules();
        let head_length = rules.length() - TAIL;
        let tails = rules.rows(TAIL);
        let place = knowledge.place().and_then(|(place, peg)| Some((place.checked_sub(head_length)?, peg)));
        let sound = tails.iter().map(|tail| {
            let sound =
                (rules.repeats() || !tail.repeats()) && place.is_none_or(|(place, peg)| tail.peg(place) == Some(peg));
            if sound { u8::MAX } else { 0 }
        });
        let mut possible = Self {
            knowledge,
            heads: rules.rows(head_length),
            planes: Planes::new(&tails),
            colours: tails.iter().map(|tail| tail.colours()).collect(),
            sound: sound.collect(),
            answers: knowledge.answers().iter().rev().map(|(guess, _)| Halves::new(*guess, head_length)).collect(),
            counts: Vec::new(),
            total: 0,
            tails,
        };
        let (mut counts, mut total) = (Vec::new(), 0);
        for head in 0..possible.heads.len() {
            let count = possible.tails_after(head).iter().map(|alive| u32::from(*alive != 0)).sum();
            counts.push(count);
            total += u64::from(count);
        }
        possible.counts = counts;
        possible.total = total;
        possible
    }

    /// For each tail 255 if head and tail together are a possible code, else 0; empty if no tail is.
    fn tails_after(&mut self, head: usize) -> Vec<u8> {
        let rules = self.knowledge.rules();
        let head = self.heads[head];
        let of_head = head.colours();
        let wrong_place = self
            .knowledge
            .place()
            .is_some_and(|(place, peg)| place + TAIL < rules.length() && head.peg(place) != Some(peg));
        if wrong_place || !rules.repeats() && head.repeats() {
            return Vec::new();
        }
        let mut alive = self.sound.clone();
        if !rules.repeats() {
            keep(&mut alive, &self.colours, |colours| colours & of_head == 0);
        }
        if let Some(colour) = self.knowledge.colour().map(|peg| 1 << peg.index()).filter(|colour| colour & of_head == 0)
        {
            keep(&mut alive, &self.colours, |colours| colours & colour != 0);
        }
        let feedback = self.knowledge.answers().iter().rev().map(|(_, feedback)| feedback);
        for (halves, feedback) in self.answers.iter_mut().zip(feedback) {
            let (red, shared, answers) = halves.after(head, &self.planes);
            let left = (usize::from(feedback.red).checked_sub(red), feedback.shared().checked_sub(shared));
            let (Some(red), Some(shared)) = left else {
                return Vec::new();
            };
            // A colour that the head has matched can be in place in the tail, so red may exceed the shared pegs left.
            keep(&mut alive, answers, |answer| usize::from(answer) == (shared << 4 | red));
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
            for (tail, _) in self.tails.iter().zip(&alive).filter(|(_, alive)| **alive != 0) {
                if ranks.next_if_eq(&rank).is_some() {
                    found.push(Code::of(self.heads[head].pegs().chain(tail.pegs())));
                }
                rank += 1;
            }
        }
        found
    }

    fn counts(&mut self, guess: Code) -> [u64; CLASSES] {
        let mut halves = Halves::new(guess, self.knowledge.rules().length() - TAIL);
        let mut by_byte = [0u64; 256];
        let mut counts = [0; CLASSES];
        for head in 0..self.heads.len() {
            if self.counts[head] == 0 {
                continue;
            }
            let alive = self.tails_after(head);
            let (red, shared, answers) = halves.after(self.heads[head], &self.planes);
            by_byte.fill(0);
            for (answer, alive) in iter::zip(answers, &alive) {
                by_byte[usize::from(*answer)] += u64::from(*alive & 1);
            }
            for (byte, count) in (0..=u8::MAX).zip(by_byte).filter(|(_, count)| *count > 0) {
                let (tail_red, tail_shared) = (usize::from(byte & 15), usize::from(byte >> 4));
                counts[Feedback::from_shared(red + tail_red, shared + tail_shared).class()] += count;
            }
        }
        counts
    }
}

/// Candidates that are all in memory.
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

/// Clears the lanes of `alive` whose byte does not fit.
fn keep(alive: &mut [u8], bytes: &[u8], fits: impl Fn(u8) -> bool + Copy) {
    for (alive, byte) in iter::zip(alive, bytes) {
        *alive &= if fits(*byte) { u8::MAX } else { 0 };
    }
}
