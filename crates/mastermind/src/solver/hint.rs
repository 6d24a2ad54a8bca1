//! The codebreaker's next guess, and its figures.

#[cfg(test)]
mod proofs;

use alloc::vec::Vec;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::{
    bench::{Bench, Judged, openings},
    space::{Candidates, Possible, split, telling_member},
    strategy::{Strategy, log2},
};
use crate::{
    code::{CLASSES, Code, Feedback},
    config::Rules,
    game::TURNS,
    knowledge::Knowledge,
};

/// The maximum number of possible codes that a hint lists.
pub const LISTED: usize = 20;
/// The maximum number of possible codes by which guesses are judged. Doubling it made no visible difference.
pub const JUDGED: usize = 1024;
/// The same for the first guess, where few guesses are tried.
const JUDGED_FIRST: usize = 4096;

/// The maximum number of guesses tried: half of them possible codes, half random. Ten times as many made no visible
/// difference, because improving the best guesses finds good ones.
const MOST_TRIED: usize = 2000;
/// The number of guesses tried, plus [`TRIED_FOR_EACH`] for each possible code, up to [`MOST_TRIED`].
const TRIED: usize = 200;
const TRIED_FOR_EACH: usize = 4;

/// The number of tried guesses that are improved and judged two steps ahead.
const IMPROVED: usize = 12;
/// The same if turns are scarce. With eight pegs without repeats, 53 of the 40,320 codes then take all ten turns; with
/// 12 it was 294.
const IMPROVED_WITH_CARE: usize = 30;

const SEED: u64 = 1;

/// The number of possible codes tried as the guess after the next. The best of them is improved.
const NEXT_TRIED: usize = 100;
/// In sets up to this size, the best member is good enough as the guess after the next.
const FEW: usize = 16;

/// The codebreaker's suggestion.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// The number of possible codes.
    pub remaining: u64,
    /// All possible codes, if there are at most [`LISTED`].
    pub possible: Vec<Code>,
    /// The suggested guess.
    pub guess: Code,
    /// Whether the guess may be the code.
    pub may_win: bool,
    /// The average information of the answer, in bits.
    pub bits: f64,
    /// The average number of codes that remain after the answer.
    pub expected: f64,
    /// The number of codes that remain in the worst case.
    pub worst: u64,
    /// The number of possible codes by which the guess was judged, if not all.
    pub sampled: Option<usize>,
    /// The number of guesses tried.
    pub tried: usize,
}

impl Hint {
    /// Computes the codebreaker's hint; `None` if no code fits the knowledge because an answer was wrong.
    ///
    /// Equal knowledge yields equal hints: possible and random codes, drawn from a fixed seed, are judged by the
    /// information of their answers. The best are improved step by step, and compared by the information of the next
    /// guess.
    pub fn of(knowledge: &Knowledge) -> Option<Self> {
        Self::among(knowledge, Possible::new(knowledge))
    }

    fn among(knowledge: &Knowledge, mut possible: impl Candidates) -> Option<Self> {
        let remaining = possible.total();
        if remaining == 0 {
            return None;
        }
        let rng = &mut Pcg64::seed_from_u64(SEED);
        let rules = knowledge.rules();
        let judged = if knowledge.is_empty() { JUDGED_FIRST } else { JUDGED };
        let few = usize::try_from(remaining).ok().filter(|remaining| *remaining <= judged);
        let codes = if few.is_some() { possible.all() } else { possible.sample(judged as u64, rng) };
        let scarce = !knowledge.is_empty() && is_scarce(rules, remaining, knowledge.turns_gone());
        let (guess, tried) = match codes[..] {
            [guess] | [guess, _] => (guess, 1),
            _ => match telling_member(&codes).filter(|_| few.is_some()) {
                Some(member) => (member, codes.len()),
                None if knowledge.is_empty() => opening(rules, &codes),
                None => good_guess(rules, &codes, scarce, rng),
            },
        };
        let counts = possible.counts(guess);
        let sum = |of: fn(u64) -> f64| counts.iter().map(|count| of(*count)).sum::<f64>() / as_float(remaining);
        let win = counts[Feedback::from_shared(rules.length(), rules.length()).class()];
        Some(Self {
            remaining,
            guess,
            may_win: win > 0,
            bits: bits(remaining) - sum(|count| as_float(count) * bits(count)),
            expected: sum(|count| as_float(count) * as_float(count)) - as_float(win) / as_float(remaining),
            worst: counts.iter().copied().max().unwrap_or(0),
            sampled: few.is_none().then_some(codes.len()),
            possible: if codes.len() <= LISTED { codes } else { Vec::new() },
            tried,
        })
    }
}

fn opening(rules: Rules, codes: &[Code]) -> (Code, usize) {
    let mut bench = Bench::new(rules, Strategy::Entropy);
    bench.refill(codes);
    let best = bench.best(&openings(rules), 1);
    (best.first().map_or(codes[0], |(_, _, guess)| *guess), bench.judged)
}

fn good_guess<R: Rng + ?Sized>(rules: Rules, codes: &[Code], scarce: bool, rng: &mut R) -> (Code, usize) {
    let (strategy, count) =
        if scarce { (Strategy::Expected, IMPROVED_WITH_CARE) } else { (Strategy::Entropy, IMPROVED) };
    let mut bench = Bench::new(rules, strategy);
    bench.refill(codes);
    let starts = bench.best(&some_guesses(rules, codes, rng), count);
    let improved = improve_all(&mut bench, starts);
    let tried = bench.judged;
    let best = two_ahead(&mut bench, codes, scarce, improved).into_iter().min();
    (best.map_or(codes[0], |(_, _, guess)| guess), tried)
}

/// The value of the best next guess, and the number of codes left in the worst case.
fn next(bench: &mut Bench, codes: &[Code], scarce: bool) -> (i64, usize) {
    bench.refill(codes);
    let [start] = bench.best(&codes[..codes.len().min(NEXT_TRIED)], 1)[..] else {
        return (0, codes.len());
    };
    let (value, _, guess) = if codes.len() > FEW { bench.improve(start) } else { start };
    let left = if scarce { split(codes, guess).iter().map(|(_, part)| part.len()).max() } else { None };
    (value, left.unwrap_or(codes.len()))
}

/// Improves the guesses, up to one that distinguishes all codes.
fn improve_all(bench: &mut Bench, guesses: Vec<Judged>) -> Vec<Judged> {
    let mut improved = Vec::with_capacity(guesses.len());
    for guess in guesses {
        let better = bench.improve(guess);
        if better.0 <= bench.ideal() {
            return alloc::vec![better];
        }
        improved.push(better);
    }
    improved.sort_unstable();
    improved.dedup();
    improved
}

/// Judges by the best next guess after each answer, or by the number of codes left after it if turns are scarce.
fn two_ahead(bench: &mut Bench, codes: &[Code], scarce: bool, mut guesses: Vec<Judged>) -> Vec<Judged> {
    if guesses.len() < 2 {
        return guesses;
    }
    let bonus = bench.criterion.member_bonus();
    for judged in &mut guesses {
        let (mut sum, mut largest) = (0, 0);
        for (answer, part) in split(codes, judged.2) {
            let (value, left) = match part.len() {
                _ if answer.is_win(judged.2.len()) => (-2 * bonus, 0),
                1 | 2 => (-bonus, 1),
                _ if telling_member(&part).is_some() => (-bonus, 1),
                _ => next(bench, &part, scarce),
            };
            sum += value;
            largest = largest.max(left);
        }
        judged.0 =
            if scarce { i64::try_from(largest).unwrap_or(i64::MAX) << 40 | sum.clamp(0, (1 << 40) - 1) } else { sum };
    }
    guesses
}

/// Whether turns are scarce, so that the guess should avoid large parts. Otherwise maximum information is better on
/// average.
///
/// If each code contains all colours of the game, only red carries information, and the worst answer leaves almost two
/// fifths of the codes: of 40,320, about one remains after nine guesses.
fn is_scarce(rules: Rules, codes: u64, turns_gone: usize) -> bool {
    let tenths = if !rules.repeats() && rules.length() == rules.colours() { 33 } else { 60 };
    let left = TURNS.saturating_sub(turns_gone);
    let enough = match left {
        0..=2 => 2,
        _ => (3..left).fold(10, |codes, _| codes * tenths / 10),
    };
    codes > enough
}

/// Possible codes, and at least as many random ones.
fn some_guesses<R: Rng + ?Sized>(rules: Rules, codes: &[Code], rng: &mut R) -> Vec<Code> {
    let tried = (TRIED + TRIED_FOR_EACH * codes.len()).min(MOST_TRIED);
    let members = codes.len().min(tried / 2);
    let any = Rules::new(rules.length(), rules.colours(), true).unwrap_or(rules);
    let mut guesses = codes[..members].to_vec();
    guesses.extend((members..tried).map(|number| if number % 2 == 0 { rules.draw(rng) } else { any.draw(rng) }));
    guesses
}

fn bits(count: u64) -> f64 {
    as_float(log2(count)) / as_float(1 << 32)
}

#[expect(clippy::cast_precision_loss, reason = "counts of at most 16.7 million, and logarithms that stay exact enough")]
const fn as_float(count: u64) -> f64 {
    count as f64
}

const _: () = assert!(CLASSES <= 64, "a set of answers fits a word");
