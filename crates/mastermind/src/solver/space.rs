use alloc::{sync::Arc, vec::Vec};

use super::{
    slices::Probe,
    symmetry::{PLAIN, Symmetry, renamed},
};
use crate::{
    code::{Code, MAX_COLOURS},
    config::Rules,
    feedback::{CLASSES, Feedback},
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
