//! The next guess that the codebreaker would make, and why.

use alloc::vec::Vec;
use rand::Rng;

use super::{
    knowledge::{Knowledge, Possible},
    space::{split, telling_member},
    strategy::{Criterion, Strategy, log2},
};
use crate::{
    code::{Code, Peg, Rules},
    feedback::{CLASSES, Feedback},
    game::TURNS,
    slices::{Probe, Slices},
};

/// Most possible codes that a hint lists.
pub const LISTED: usize = 20;
/// Most possible codes that guesses are judged by; of more, a sample of so many.
pub const JUDGED: usize = 4096;
/// The same while not all guesses can be tried: trying more of them is worth more than judging them better.
const JUDGED_ROUGHLY: usize = 1024;

/// Most guesses that are tried where not all can be. The best of them are improved step by step, which gains more than
/// trying more would.
const MOST_TRIED: usize = 30_000;

/// How much work a hint is worth where not all guesses can be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// For a person who waits.
    High,
    /// For many games in a row: a tenth of the guesses, which costs a tenth of a turn or so.
    Low,
}

impl Effort {
    /// How many of the guesses tried are improved.
    const fn climbs(self) -> usize {
        match self {
            Self::High => 12,
            Self::Low => 2,
        }
    }

    /// By what the number of guesses tried is divided.
    const fn divisor(self) -> usize {
        match self {
            Self::High => 1,
            Self::Low => 10,
        }
    }
}

/// How many possible codes are tried as the guess after the next, before the best of them is improved.
const NEXT_TRIED: usize = 100;

/// What the codebreaker says at some point of a game.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// How many codes are still possible. Exact.
    pub remaining: u64,
    /// All of them, if there are at most [`LISTED`].
    pub possible: Vec<Code>,
    /// The guess that the codebreaker would make.
    pub guess: Code,
    /// Whether the guess may itself be the code.
    pub may_win: bool,
    /// What the answer to the guess tells on average, in bits. Exact.
    pub bits: f64,
    /// How many codes remain after the answer on average. Exact.
    pub expected: f64,
    /// How many codes remain in the worst case. Exact.
    pub worst: u64,
    /// How many possible codes the guess was chosen by, if not all.
    pub sampled: Option<usize>,
    /// How many guesses were tried.
    pub tried: usize,
}

impl Hint {
    /// The codebreaker's hint with [`Effort::High`]: at most some tenth of a second. `None` if no code fits what is known:
    /// then some answer was wrong.
    pub fn new<R: Rng + ?Sized>(knowledge: &Knowledge, rng: &mut R) -> Option<Self> {
        Self::with_effort(knowledge, Effort::High, rng)
    }

    /// The codebreaker's hint. `None` if no code fits what is known: then some answer was wrong.
    ///
    /// Guesses are chosen by what their answer tells. Of more than [`JUDGED`] possible codes a sample stands for all, and
    /// where there are too many guesses to try, as many as are worth waiting for are: possible codes and random ones, which
    /// `rng` chooses.
    pub fn with_effort<R: Rng + ?Sized>(knowledge: &Knowledge, effort: Effort, rng: &mut R) -> Option<Self> {
        let mut possible = Possible::new(knowledge);
        let remaining = possible.total();
        if remaining == 0 {
            return None;
        }
        let rules = knowledge.rules();
        let all_guesses = usize::try_from(rules.guesses()).unwrap_or(usize::MAX);
        let all_tried = !knowledge.is_empty() && all_guesses <= affordable(rules, JUDGED);
        let judged = if all_tried || knowledge.is_empty() { JUDGED } else { JUDGED_ROUGHLY };
        let few = usize::try_from(remaining).ok().filter(|remaining| *remaining <= judged.max(LISTED));
        let codes = if few.is_some() { possible.all() } else { possible.sample(judged as u64, rng) };
        let scarce = !knowledge.is_empty() && is_scarce(rules, remaining, knowledge.turns_gone());
        let strategy = if scarce { Strategy::Expected } else { Strategy::Entropy };
        let (guess, tried) = match codes[..] {
            [guess] | [guess, _] => (guess, 1),
            _ => telling_member(&codes).filter(|_| few.is_some()).map_or_else(
                || {
                    let mut bench = Bench::new(&codes, strategy);
                    let best = if knowledge.is_empty() {
                        bench.best(&openings(rules), 1)
                    } else if all_tried {
                        bench.best(&rules.all_guesses(), 1)
                    } else {
                        let starts = bench.best(&some_guesses(rules, effort, &codes, rng), effort.climbs());
                        let tops = starts.into_iter().map(|start| bench.climb(rules, start)).collect();
                        two_ahead(rules, &codes, strategy, tops)
                    };
                    (best.into_iter().min().map_or(codes[0], |(_, _, guess)| guess), bench.tried)
                },
                |member| (member, codes.len()),
            ),
        };
        let counts = possible.counts(guess);
        let sum = |of: fn(u64) -> f64| counts.iter().map(|count| of(*count)).sum::<f64>() / as_float(remaining);
        let win = counts[Feedback::from_shared(rules.length(), rules.length()).class()];
        Some(Self {
            remaining,
            guess,
            may_win: win > 0,
            bits: bits(remaining) - sum(|count| as_float(count) * bits(count)),
            // Of the guess that wins nothing remains.
            expected: sum(|count| as_float(count) * as_float(count)) - as_float(win) / as_float(remaining),
            worst: counts.iter().copied().max().unwrap_or(0),
            sampled: few.is_none().then_some(codes.len()),
            possible: if codes.len() <= LISTED { codes } else { Vec::new() },
            tried,
        })
    }
}

/// How many guesses at so many codes may be tried before a person gets impatient.
fn affordable(rules: Rules, codes: usize) -> usize {
    // Blocks of 64 codes that a core of 2020 compares in some 50 ms, beside the rest of a hint.
    let blocks = match rules.length() {
        4 => 3_000_000,
        5 => 2_400_000,
        6 => 1_000_000,
        7 => 700_000,
        _ => 500_000,
    };
    // Making up a guess takes as long as a few blocks.
    blocks / (codes.div_ceil(64) + 4)
}

/// A judged guess: smaller is better, then one that may be the code, then the first.
type Judged = (i64, bool, Code);

/// Judges guesses by what they tell about some codes.
struct Bench {
    slices: Slices,
    criterion: Criterion,
    codes: usize,
    tried: usize,
}

impl Bench {
    fn new(codes: &[Code], strategy: Strategy) -> Self {
        let slices = Slices::new(codes[0].len(), codes);
        Self { slices, criterion: Criterion::new(strategy), codes: codes.len(), tried: 0 }
    }

    /// The `count` best of these guesses, the best first.
    fn best(&mut self, guesses: &[Code], count: usize) -> Vec<Judged> {
        let bonus = self.criterion.member_bonus();
        let mut best: Vec<Judged> = Vec::with_capacity(count + 1);
        let mut rest = guesses.iter();
        let probes = guesses.iter().map(|guess| Probe::of(*guess));
        self.slices.judge(probes, self.criterion.judge(self.codes), |score| {
            let Some(guess) = rest.next() else {
                return;
            };
            let value = score.value - if score.member { bonus } else { 0 };
            let judged = (value, !score.member, *guess);
            if best.len() < count || best.last().is_some_and(|last| judged < *last) {
                let at = best.partition_point(|other| *other <= judged);
                if at == 0 || best[at - 1] != judged {
                    best.insert(at, judged);
                    best.truncate(count);
                }
            }
        });
        self.tried += guesses.len();
        best
    }

    /// Changes a guess peg by peg, and by exchanging two, for as long as it gets better.
    fn climb(&mut self, rules: Rules, mut from: Judged) -> Judged {
        loop {
            match self.best(&neighbours(rules, from.2), 1)[..] {
                [better] if better < from => from = better,
                _ => return from,
            }
        }
    }
}

/// What the guesses come to when the best next guess after each answer is looked at as well. When turns are scarce, that is
/// above all how many codes may be left then.
fn two_ahead(rules: Rules, codes: &[Code], strategy: Strategy, mut guesses: Vec<Judged>) -> Vec<Judged> {
    guesses.sort_unstable();
    guesses.dedup();
    let bonus = Criterion::new(strategy).member_bonus();
    let scarce = strategy == Strategy::Expected;
    for judged in &mut guesses {
        let (mut sum, mut largest) = (0, 0);
        for (answer, part) in split(codes, judged.2) {
            let (value, left) = match part.len() {
                _ if answer.is_win(rules.length()) => (-2 * bonus, 0),
                1 | 2 => (-bonus, 1),
                _ if telling_member(&part).is_some() => (-bonus, 1),
                count => {
                    let mut bench = Bench::new(&part, strategy);
                    let start = bench.best(&part[..count.min(NEXT_TRIED)], 1);
                    let next = start.first().map(|start| bench.climb(rules, *start));
                    let left = next.filter(|_| scarce).map_or(count, |(_, _, next)| {
                        split(&part, next).iter().map(|(_, part)| part.len()).max().unwrap_or(0)
                    });
                    (next.map_or(0, |(value, _, _)| value), left)
                }
            };
            sum += value;
            largest = largest.max(left);
        }
        judged.0 =
            if scarce { i64::try_from(largest).unwrap_or(i64::MAX) << 40 | sum.clamp(0, (1 << 40) - 1) } else { sum };
    }
    guesses
}

/// Whether so many codes with so many turns left ask for care: then large parts are avoided rather than information sought,
/// which is better on average.
///
/// Where all colours of the game are in each code, only red tells anything, and the worst answer leaves almost two fifths
/// of the codes: of 40,320 there is about one after nine guesses. Other games are far from the limit.
fn is_scarce(rules: Rules, codes: u64, turns_gone: usize) -> bool {
    let tenths = if !rules.repeats() && rules.length() == rules.colours() { 33 } else { 60 };
    let left = TURNS.saturating_sub(turns_gone);
    let enough = match left {
        0..=2 => 2,
        _ => (3..left).fold(10, |codes, _| codes * tenths / 10),
    };
    codes > enough
}

/// The guesses that differ in one peg, or in the places of two.
fn neighbours(rules: Rules, guess: Code) -> Vec<Code> {
    let pegs: Vec<Peg> = guess.pegs().collect();
    let mut neighbours = Vec::new();
    for place in 0..pegs.len() {
        for other in (0..rules.colours()).filter_map(Peg::new).filter(|other| *other != pegs[place]) {
            let mut pegs = pegs.clone();
            pegs[place] = other;
            neighbours.push(Code::of(pegs));
        }
        for other in (place + 1..pegs.len()).filter(|other| pegs[*other] != pegs[place]) {
            let mut pegs = pegs.clone();
            pegs.swap(place, other);
            neighbours.push(Code::of(pegs));
        }
    }
    neighbours
}

/// The first guesses that tell different things: only how many pegs have the same colour matters.
fn openings(rules: Rules) -> Vec<Code> {
    let mut openings = Vec::new();
    let mut pegs = Vec::new();
    extend_openings(rules, rules.length(), 0, &mut pegs, &mut openings);
    openings
}

/// Adds the openings that begin with `pegs` and have at most `most` pegs of the colours from `colour` on.
fn extend_openings(rules: Rules, most: usize, colour: usize, pegs: &mut Vec<Peg>, openings: &mut Vec<Code>) {
    let left = rules.length() - pegs.len();
    if left == 0 {
        openings.push(Code::of(pegs.iter().copied()));
        return;
    }
    let Some(peg) = Peg::new(colour).filter(|peg| peg.index() < rules.colours()) else {
        return;
    };
    for count in 1..=most.min(left) {
        pegs.extend(core::iter::repeat_n(peg, count));
        extend_openings(rules, count, colour + 1, pegs, openings);
        pegs.truncate(pegs.len() - count);
    }
}
/// As many guesses as can be tried: possible codes and, at least as many, random ones.
fn some_guesses<R: Rng + ?Sized>(rules: Rules, effort: Effort, codes: &[Code], rng: &mut R) -> Vec<Code> {
    let tried = affordable(rules, codes.len()).min(MOST_TRIED) / effort.divisor();
    let members = codes.len().min(tried / 2);
    let any = Rules::new(rules.length(), rules.colours(), true).unwrap_or(rules);
    let mut guesses = codes[..members].to_vec();
    guesses.extend((members..tried).map(|number| if number % 2 == 0 { rules.draw(rng) } else { any.draw(rng) }));
    guesses
}

/// The binary logarithm.
fn bits(count: u64) -> f64 {
    as_float(log2(count)) / as_float(1 << 32)
}

#[expect(clippy::cast_precision_loss, reason = "counts of at most 16.7 million, and logarithms that stay exact enough")]
const fn as_float(count: u64) -> f64 {
    count as f64
}

const _: () = assert!(CLASSES <= 64, "a set of answers fits a word");
