//! The search for the codebreaker with the fewest turns over all codes, by branch and bound.
//!
//! The least total of a set is its size plus the least totals of the parts into which the best guess splits it. The
//! sizes of the parts give a lower bound for each guess. The search tries guesses in the order of their bounds, drops a
//! guess as soon as it cannot beat the best total, tries one of several equivalent guesses, and caches the results of
//! sets. A first search of only the most promising guesses bounds the full one.

use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};
use core::ops::ControlFlow;

use rand::{Rng, RngExt};

use super::{
    Stopped,
    slices::{Judge, Score, Slices},
    space::{Pool, Space, split},
    strategy::{Criterion, Strategy},
    symmetry::PLAIN,
    tally::Tally,
};
use crate::{
    code::{CLASSES, Code, Feedback},
    config::Rules,
};

/// The progress of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Sets with all guesses judged.
    pub nodes: u64,
    /// First guesses that are decided.
    pub openings_done: usize,
    /// First guesses. Equivalent ones count once.
    pub openings: usize,
    /// The best total so far.
    pub best: Option<u32>,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// The first guess.
    pub opening: Code,
    /// The turns of all codes.
    pub tally: Tally,
    /// Sets with all guesses judged.
    pub nodes: u64,
    /// Whether no codebreaker has a lower total.
    pub proven: bool,
}

/// The search, with cached results for sets of codes.
pub struct Search {
    space: Space,
    /// The number of guesses tried on sets of more than [`Self::EXACT`] codes; `None` for all that may be the best.
    width: Option<usize>,
    bounds: Vec<i64>,
    known: BTreeMap<Vec<Code>, Bound>,
    slices: Slices,
    criterion: Criterion,
    progress: Progress,
}

type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

impl Search {
    const EXACT: usize = 40;
    const FIRST: usize = 20;

    /// Creates a search that proves its result.
    pub fn exhaustive(rules: Rules) -> Self {
        Self::new(Space::new(rules), None)
    }

    /// Reorders the colours, which must not change the total of an exhaustive search.
    #[must_use]
    pub fn relabelled<R: Rng + ?Sized>(self, rng: &mut R) -> Self {
        let mut names = PLAIN;
        for left in (1..self.space.rules.colours()).rev() {
            names.swap(left, rng.random_range(0..=left));
        }
        Self::new(Space::with_names(self.space.rules, names), self.width)
    }

    fn new(space: Space, width: Option<usize>) -> Self {
        let length = space.rules.length();
        let codes = usize::try_from(space.rules.codes()).unwrap_or(usize::MAX);
        let bounds = bounds(codes, Feedback::all(length).count());
        Self {
            space,
            width,
            bounds,
            known: BTreeMap::new(),
            slices: Slices::new(length, &[]),
            criterion: Criterion::new(Strategy::Entropy),
            progress: Progress::default(),
        }
    }

    /// Runs the search. `watch` periodically receives its progress, and may stop it.
    pub fn run(&mut self, mut watch: impl FnMut(Progress) -> ControlFlow<()>) -> Result<SearchResult, Stopped> {
        let watch: &mut Watch<'_> = &mut watch;
        let codes = self.space.rules.all();
        let pool = self.space.openings();
        let mut openings = self.rank(&codes, &pool, u32::MAX);
        self.narrow_down(&codes, &mut openings);
        self.progress.openings = openings.len();
        let first = if self.width.is_none() { Some(self.first(watch)?) } else { None };
        let limit = first.as_ref().map_or(u32::MAX, |first| u32::try_from(first.tally.total()).unwrap_or(u32::MAX));
        let mut best = None;
        for (bound, index) in openings {
            let opening = self.space.guesses[index as usize].0;
            let budget = best.map_or(limit, |(total, _)| total);
            if bound < budget {
                let total = self.solve_guess(&codes, opening, bound, &pool, budget, watch)?;
                if total < budget {
                    best = Some((total, opening));
                    self.progress.best = Some(total);
                }
            }
            self.progress.openings_done += 1;
        }
        let nodes = self.progress.nodes;
        if let (Some(first), None) = (first, best) {
            return Ok(SearchResult { nodes, proven: true, ..first });
        }
        let opening = best.map_or(codes[0], |(_, opening)| opening);
        let mut tally = Tally::default();
        self.play(opening, &codes, &pool, 1, &mut tally, watch)?;
        Ok(SearchResult { opening, tally, nodes: self.progress.nodes, proven: self.width.is_none() })
    }

    fn first(&mut self, watch: &mut Watch<'_>) -> Result<SearchResult, Stopped> {
        let mut narrow = Self::new(self.space.clone(), Some(Self::FIRST));
        let openings = self.progress.openings;
        let found = narrow.run(|progress| watch(Progress { openings_done: 0, openings, ..progress }))?;
        self.progress = Progress { nodes: found.nodes, best: u32::try_from(found.tally.total()).ok(), ..self.progress };
        Ok(found)
    }

    /// The least total of a set if it is below `budget`; otherwise a value between `budget` and the least total.
    fn solve(&mut self, codes: &[Code], pool: &Arc<Pool>, budget: u32, watch: &mut Watch<'_>) -> Result<u32, Stopped> {
        let count = codes.len();
        if count <= 2 {
            return Ok([0, 1, 3][count]);
        }
        let bound = self.bound(count);
        if bound >= budget {
            return Ok(bound);
        }
        match self.known.get(codes) {
            Some(Bound::Exactly(total, _)) => return Ok(*total),
            Some(Bound::AtLeast(least)) if *least >= budget => return Ok(*least),
            _ => {}
        }
        match self.easy(codes) {
            Bound::Exactly(total, _) => Ok(total),
            Bound::AtLeast(least) if least >= budget => Ok(least),
            Bound::AtLeast(_) => self.solve_hard(codes, pool, budget, watch),
        }
    }

    fn easy(&mut self, codes: &[Code]) -> Bound {
        let known = easy(codes);
        if matches!(known, Bound::Exactly(..)) {
            self.known.insert(codes.to_vec(), known);
        }
        known
    }

    fn solve_hard(
        &mut self,
        codes: &[Code],
        pool: &Arc<Pool>,
        budget: u32,
        watch: &mut Watch<'_>,
    ) -> Result<u32, Stopped> {
        let mut ranked = self.rank(codes, pool, budget);
        if watch(self.progress).is_break() {
            return Err(Stopped);
        }
        self.narrow_down(codes, &mut ranked);
        let (mut best, mut guess) = (budget, None);
        for (bound, index) in ranked {
            if bound >= best {
                break;
            }
            let candidate = self.space.guesses[index as usize].0;
            let total = self.solve_guess(codes, candidate, bound, pool, best, watch)?;
            if total < best {
                (best, guess) = (total, Some(candidate));
            }
        }
        let known = guess.map_or(Bound::AtLeast(best), |guess| Bound::Exactly(best, guess));
        self.known.insert(codes.to_vec(), known);
        Ok(best)
    }

    /// The least total with this guess if it is below `budget`; otherwise a value of at least `budget`.
    fn solve_guess(
        &mut self,
        codes: &[Code],
        guess: Code,
        bound: u32,
        pool: &Arc<Pool>,
        budget: u32,
        watch: &mut Watch<'_>,
    ) -> Result<u32, Stopped> {
        let mut parts: Vec<(u32, Vec<Code>)> = Vec::new();
        for (answer, part) in split(codes, guess) {
            if !answer.is_win(guess.len()) && part.len() > 2 {
                parts.push((self.bound(part.len()), part));
            }
        }
        if parts.is_empty() {
            return Ok(bound);
        }
        let mut after = None;
        let mut total = bound;
        // First a cheap bound: often the last part rules the guess out.
        for (bound, part) in &mut parts {
            let least = self.least(part, &mut after, (pool, guess), budget - (total - *bound));
            total += least - *bound;
            *bound = least;
            if total >= budget {
                return Ok(total);
            }
        }
        let after = after.unwrap_or_else(|| self.space.pool_after(pool, guess));
        parts.sort_by_key(|(_, part)| part.len());
        for (bound, part) in &parts {
            let exact = self.solve(part, &after, budget - (total - *bound), watch)?;
            total += exact - *bound;
            if total >= budget {
                return Ok(total);
            }
        }
        Ok(total)
    }

    /// A bound from one step of look-ahead. `after` caches the pool after a guess.
    fn least(
        &mut self,
        codes: &[Code],
        after: &mut Option<Arc<Pool>>,
        (pool, guess): (&Arc<Pool>, Code),
        budget: u32,
    ) -> u32 {
        if let Some(Bound::Exactly(least, _) | Bound::AtLeast(least)) = self.known.get(codes) {
            return *least;
        }
        match self.easy(codes) {
            Bound::Exactly(total, _) => return total,
            Bound::AtLeast(least) if least >= budget => return least,
            Bound::AtLeast(_) => {}
        }
        let after = after.get_or_insert_with(|| self.space.pool_after(pool, guess));
        let known = self.look_ahead(codes, after);
        self.known.insert(codes.to_vec(), known);
        let (Bound::Exactly(least, _) | Bound::AtLeast(least)) = known;
        least
    }

    /// The least bound of all guesses, for a set that no member splits well.
    fn look_ahead(&mut self, codes: &[Code], pool: &Pool) -> Bound {
        self.progress.nodes += 1;
        self.slices.refill(codes);
        let (mut least, mut telling) = (u32::MAX, None);
        let guesses = self.space.probed(self.space.worth_trying(pool, codes));
        self.slices.judge_until(guesses, Judge::Sum(&self.bounds), |index, score| {
            least = least.min(bound_of(codes, score));
            // The guess distinguishes all codes, so no other is better.
            if least == 2 * number_of(codes) {
                telling = Some(index);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        telling.map_or(Bound::AtLeast(least), |index| Bound::Exactly(least, self.space.guesses[index as usize].0))
    }

    fn bound(&self, count: usize) -> u32 {
        u32::try_from(self.bounds[count]).unwrap_or(u32::MAX)
    }

    fn rank(&mut self, codes: &[Code], pool: &Pool, budget: u32) -> Vec<(u32, u32)> {
        self.progress.nodes += 1;
        self.slices.refill(codes);
        let mut ranked = Vec::new();
        let guesses = self.space.probed(self.space.worth_trying(pool, codes));
        self.slices.judge(guesses, Judge::Sum(&self.bounds), |index, score| {
            let bound = bound_of(codes, score);
            // A guess with the same answer from all codes gains no information.
            if bound < budget && score.value < self.bounds[codes.len()] {
                ranked.push((bound, index));
            }
        });
        ranked.sort_unstable();
        ranked
    }

    /// Keeps the most promising guesses. Bounds are weak for large sets, so entropy decides there.
    fn narrow_down(&mut self, codes: &[Code], ranked: &mut Vec<(u32, u32)>) {
        let Some(width) = self.width.filter(|_| codes.len() > Self::EXACT) else {
            return;
        };
        let bonus = self.criterion.member_bonus();
        let mut by_value = Vec::with_capacity(ranked.len());
        let guesses = ranked.drain(..).map(|(bound, index)| ((index, bound), self.space.guesses[index as usize].1));
        self.slices.judge(guesses, self.criterion.judge(codes.len()), |guess, score| {
            by_value.push((score.key(bonus), guess));
        });
        by_value.sort_unstable();
        ranked.extend(by_value.into_iter().take(width).map(|(_, (index, bound))| (bound, index)));
        ranked.sort_unstable();
    }

    fn play(
        &mut self,
        guess: Code,
        codes: &[Code],
        pool: &Arc<Pool>,
        turn: usize,
        tally: &mut Tally,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        tally.guesses += 1;
        let after = self.space.pool_after(pool, guess);
        for (answer, part) in split(codes, guess) {
            if answer.is_win(guess.len()) {
                tally.found(turn, 1);
                continue;
            }
            let next = match part[..] {
                [next] | [next, _] => next,
                _ => {
                    // If only a bound is cached, this computes the least total and its guess.
                    self.solve(&part, &after, u32::MAX, watch)?;
                    match self.known.get(&part) {
                        Some(Bound::Exactly(_, next)) => *next,
                        _ => part[0],
                    }
                }
            };
            self.play(next, &part, &after, turn + 1, tally, watch)?;
        }
        Ok(())
    }
}

/// `score.value` is the sum of the bounds of the parts.
fn bound_of(codes: &[Code], score: Score) -> u32 {
    number_of(codes) + u32::try_from(score.value).unwrap_or(u32::MAX / 2) - u32::from(score.member)
}

/// Bounds of the least total of a set that need no search.
#[derive(Debug, Clone, Copy)]
enum Bound {
    /// The total, and a guess that achieves it.
    Exactly(u32, Code),
    AtLeast(u32),
}

fn easy(codes: &[Code]) -> Bound {
    let count = number_of(codes);
    match most_telling_member(codes) {
        // Each code is found by the second turn, one of them by the first.
        Some((parts, guess)) if parts == count => Bound::Exactly(2 * count - 1, guess),
        // One code takes one turn, one takes three, all others two. A guess from outside the set does no better.
        Some((parts, guess)) if parts + 1 == count => Bound::Exactly(2 * count, guess),
        _ => Bound::AtLeast(2 * count),
    }
}

fn most_telling_member(codes: &[Code]) -> Option<(u32, Code)> {
    if codes.len() > CLASSES {
        return None;
    }
    let parts =
        |guess: Code| codes.iter().fold(0u64, |seen, code| seen | 1 << Feedback::of(guess, *code).class()).count_ones();
    let mut best = None;
    for guess in codes {
        let parts = parts(*guess);
        if best.is_none_or(|(most, _)| parts > most) {
            best = Some((parts, *guess));
            if parts as usize == codes.len() {
                break;
            }
        }
    }
    best
}

/// At most 2^24.
pub(crate) fn number_of(codes: &[Code]) -> u32 {
    u32::try_from(codes.len()).unwrap_or(u32::MAX / 2)
}

/// By number of codes, the least total if every guess could distinguish all `answers` answers.
fn bounds(codes: usize, answers: usize) -> Vec<i64> {
    let mut bounds = alloc::vec![0];
    let (mut turn, mut room) = (1, 1);
    let mut left = room;
    for _ in 0..codes {
        if left == 0 {
            turn += 1;
            room *= answers - 1;
            left = room;
        }
        left -= 1;
        bounds.push(bounds[bounds.len() - 1] + turn);
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_search_beats_the_strategies() {
        let rules = Rules::new(4, 6, true).unwrap();
        let found = Search::new(Space::new(rules), Some(5)).run(|_| ControlFlow::Continue(())).unwrap();
        assert!((5625..5668).contains(&found.tally.total()) && !found.proven, "{found:?}");
    }
}
