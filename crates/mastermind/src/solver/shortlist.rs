//! Chooses guesses in games with too many to judge them all.
//!
//! A sample of the possible codes is improved by hill climbing: changing a peg or exchanging two. The result depends
//! only on the possible codes.

use alloc::vec::Vec;
use core::ops::ControlFlow;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{
    Stopped,
    bench::{Bench, Judged, openings},
    search::number_of,
    space::{split, telling_member},
};
use crate::{code::Code, config::Rules};

/// The maximum number of possible codes by which the first guess is judged. First guesses are few, and small
/// differences affect all codes.
const JUDGED_AT_FIRST: usize = 1 << 18;

/// Limits on the guesses, and on the codes by which they are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of possible codes tried as guesses. Larger sets are sampled.
    pub tried: usize,
    /// The number of tried guesses that are improved.
    pub improved: usize,
    /// The maximum number of possible codes by which a guess is judged. Larger sets are sampled.
    pub judged: usize,
    /// The largest set that is searched; 0 disables the search.
    pub searched: usize,
    /// The number of guesses that the search tries at each point.
    pub width: usize,
}

impl Limits {
    /// Plays eight pegs in eight colours with repeats within an hour. Higher limits gain a thousandth of a turn.
    pub(crate) const ONE_STEP: Self = Self { tried: 1024, improved: 16, judged: 4096, searched: 0, width: 0 };
    /// The largest number of codes of a game that is searched thoroughly.
    const THOROUGH: u64 = 50_000;

    pub(crate) fn of_search(rules: Rules) -> Self {
        if rules.codes() <= Self::THOROUGH {
            Self { improved: 32, searched: 256, width: 8, ..Self::ONE_STEP }
        } else {
            Self { searched: 256, width: 4, ..Self::ONE_STEP }
        }
    }
}

type Watch<'a> = dyn FnMut() -> ControlFlow<()> + 'a;

pub(crate) struct Shortlist<'a> {
    pub(crate) rules: Rules,
    pub(crate) limits: Limits,
    pub(crate) bench: &'a mut Bench,
}

impl Shortlist<'_> {
    /// `codes` is not empty.
    pub(crate) fn choose(&mut self, codes: &[Code], watch: &mut Watch<'_>) -> Result<Code, Stopped> {
        if codes.len() <= self.limits.searched {
            return self.search(codes, u32::MAX, watch).map(|(_, guess)| guess);
        }
        Ok(self.best(codes).first().map_or(codes[0], |(_, _, guess)| *guess))
    }

    /// The best guesses, best first; at least one.
    fn best(&mut self, codes: &[Code]) -> Vec<Judged> {
        if codes.len() as u64 == self.rules.codes() {
            self.bench.refill(&sample(codes, JUDGED_AT_FIRST));
            return self.bench.best(&openings(self.rules), 1);
        }
        let judged = sample(codes, self.limits.judged);
        self.bench.refill(&judged);
        let mut best = self.bench.best(&sample(&judged, self.limits.tried), self.limits.improved);
        for guess in &mut best {
            *guess = self.bench.improve(*guess);
        }
        best.sort_unstable();
        best.dedup();
        best
    }

    /// The least total found and its guess if below `budget`; otherwise `budget` and any guess.
    fn search(&mut self, codes: &[Code], budget: u32, watch: &mut Watch<'_>) -> Result<(u32, Code), Stopped> {
        if codes.len() <= 2 {
            return Ok(([0, 1, 3][codes.len()], codes[0]));
        }
        if let Some(member) = telling_member(codes) {
            return Ok((least(codes), member));
        }
        let (mut total, mut chosen) = (budget, codes[0]);
        // A member that does not distinguish all others costs one of them a third turn.
        if least(codes) + 1 >= budget {
            return Ok((budget, chosen));
        }
        if watch().is_break() {
            return Err(Stopped);
        }
        for (_, _, guess) in self.best(codes).into_iter().take(self.limits.width) {
            let mut parts: Vec<_> = split(codes, guess)
                .into_iter()
                .filter_map(|(answer, part)| (!answer.is_win(guess.len())).then_some(part))
                .collect();
            // One turn for each code now, plus the lower bound of each part.
            let mut bound = number_of(codes) + parts.iter().map(|part| least(part)).sum::<u32>();
            parts.sort_by_key(Vec::len);
            for part in parts.iter().filter(|part| part.len() > 2) {
                if bound >= total {
                    break;
                }
                let others = bound - least(part);
                bound = others + self.search(part, total - others, watch)?.0;
            }
            if bound < total {
                (total, chosen) = (bound, guess);
            }
        }
        Ok((total, chosen))
    }
}

/// The total if one member distinguishes all others, a lower bound for any set.
fn least(codes: &[Code]) -> u32 {
    2 * number_of(codes) - 1
}

/// At most `most` of the codes, spread evenly but not at equal distances, which would often select the same last pegs.
fn sample(codes: &[Code], most: usize) -> Vec<Code> {
    if codes.len() <= most {
        return codes.to_vec();
    }
    let mut rng = Pcg64::seed_from_u64(codes.len() as u64);
    (0..most)
        .map(|index| codes[rng.random_range(index * codes.len() / most..(index + 1) * codes.len() / most)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Strategy, bench::neighbours};

    #[test]
    fn a_sample_is_spread_over_all_codes_and_always_the_same() {
        let codes = Rules::new(6, 8, true).unwrap().all();
        let picked = sample(&codes, 4096);
        assert_eq!(picked, sample(&codes, 4096));
        assert!(picked.len() == 4096 && picked.windows(2).all(|pair| pair[0] < pair[1]));
        let mut ends: Vec<u32> = picked.iter().map(|code| code.digits & 0xff).collect();
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends.len(), 64);
        assert_eq!(sample(&codes[..100], 100), codes[..100]);
    }

    #[test]
    fn no_neighbour_of_an_improved_guess_is_better() {
        let rules = Rules::new(5, 8, true).unwrap();
        let codes: Vec<Code> = rules.all().into_iter().step_by(331).collect();
        for strategy in Strategy::ALL {
            let bench = &mut Bench::new(rules, strategy);
            let mut shortlist = Shortlist { rules, limits: Limits::ONE_STEP, bench };
            let best = shortlist.best(&codes)[0];
            let around = shortlist.bench.best(&neighbours(rules, best.2), 1)[0];
            assert!(best <= around, "{strategy}");
            let members = shortlist.bench.best(&codes, 1)[0];
            assert!(best < members, "{strategy}: improving finds something here");
        }
    }
}
