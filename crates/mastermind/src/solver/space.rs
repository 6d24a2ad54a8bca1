use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};
use core::{array, iter};

use rand::{Rng, RngExt};

use super::{
    slices::{Probe, Slices, level_word, place_word},
    symmetry::{PLAIN, Symmetry, renamed},
};
use crate::{
    code::{CLASSES, Code, Feedback, MAX_COLOURS},
    config::Rules,
    knowledge::Knowledge,
};

/// All guesses of a game, in numeric order.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    pub(crate) rules: Rules,
    pub(crate) guesses: Vec<(Code, Probe)>,
    colours: Vec<u8>,
    names: [u8; MAX_COLOURS],
}

#[derive(Debug, Clone)]
pub(crate) struct Pool {
    symmetry: Symmetry,
    /// `None` for all guesses.
    some: Option<Vec<u32>>,
}

impl Space {
    pub(crate) fn new(rules: Rules) -> Self {
        Self::with_names(rules, PLAIN)
    }

    /// Renaming colours only affects the order of the guesses.
    pub(crate) fn with_names(rules: Rules, names: [u8; MAX_COLOURS]) -> Self {
        let mut guesses = rules.rows(rules.length());
        guesses.sort_by_key(|guess| renamed(*guess, names));
        let colours = guesses.iter().map(|guess| guess.colours()).collect();
        let guesses = guesses.into_iter().map(|guess| (guess, Probe::of(guess))).collect();
        Self { rules, guesses, colours, names }
    }

    pub(crate) const fn without_guesses(rules: Rules) -> Self {
        Self { rules, guesses: Vec::new(), colours: Vec::new(), names: PLAIN }
    }

    pub(crate) fn openings(&self) -> Arc<Pool> {
        if self.guesses.is_empty() {
            return Arc::new(Pool { symmetry: Symmetry::none(self.rules), some: None });
        }
        Arc::new(self.pool(Symmetry::new(self.rules, self.names)))
    }

    pub(crate) fn pool_after(&self, pool: &Arc<Pool>, guess: Code) -> Arc<Pool> {
        if pool.some.is_none() { Arc::clone(pool) } else { Arc::new(self.pool(pool.symmetry.after(guess))) }
    }

    fn pool(&self, symmetry: Symmetry) -> Pool {
        if symmetry.is_trivial(self.rules.colours()) {
            return Pool { symmetry, some: None };
        }
        let stands = |(index, (guess, _)): (usize, &(Code, Probe))| {
            symmetry.stands(*guess).then(|| u32::try_from(index).unwrap_or(u32::MAX))
        };
        let some = self.guesses.iter().enumerate().filter_map(stands).collect();
        Pool { symmetry, some: Some(some) }
    }

    pub(crate) fn of_pool<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = (Code, Probe)> + 'a {
        let all = pool.some.is_none().then_some(&self.guesses).into_iter().flatten();
        let some = pool.some.iter().flatten().map(|index| &self.guesses[*index as usize]);
        all.chain(some).copied()
    }

    pub(crate) fn probed(&self, indices: impl IntoIterator<Item = u32>) -> impl Iterator<Item = (u32, Probe)> {
        indices.into_iter().map(|index| (index, self.guesses[index as usize].1))
    }

    /// Omits guesses that differ from others only in colours absent from all codes.
    pub(crate) fn worth_trying(&self, pool: &Pool, codes: &[Code]) -> Vec<u32> {
        let present = codes.iter().fold(0, |present, code| present | code.colours());
        // A guess of the pool represents equivalent ones, maybe with other absent colours.
        if let Some(some) = &pool.some {
            let few = |index: &u32| (self.colours[*index as usize] & !present).count_ones() <= 1;
            return some.iter().copied().filter(few).collect();
        }
        let absent = !present & !(!present & present.wrapping_add(1));
        (0..).zip(&self.colours).filter(|(_, colours)| **colours & absent == 0).map(|(index, _)| index).collect()
    }
}

/// Groups codes by their feedback on a guess, in order; the win is last.
pub(crate) fn split(codes: &[Code], guess: Code) -> Vec<(Feedback, Vec<Code>)> {
    let mut parts: [Vec<Code>; CLASSES] = [const { Vec::new() }; CLASSES];
    for code in codes {
        parts[Feedback::of(guess, *code).class()].push(*code);
    }
    let with_answer =
        |part: Vec<Code>| part.first().map(|code| Feedback::of(guess, *code)).map(|answer| (answer, part));
    parts.into_iter().filter_map(with_answer).collect()
}

pub(crate) fn telling_member(codes: &[Code]) -> Option<Code> {
    if codes.len() > CLASSES {
        return None;
    }
    codes.iter().copied().find(|guess| {
        let mut seen = 0u64;
        codes.iter().all(|code| {
            let bit = 1 << Feedback::of(*guess, *code).class();
            let new = seen & bit == 0;
            seen |= bit;
            new
        })
    })
}

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
