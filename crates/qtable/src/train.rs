//! Reproducible training in process. The same seed, workers and rounds give the same table, also when training is interrupted
//! and continued.
//!
//! Rounds are played in stretches. In a stretch each worker learns for itself. It starts from the table at the beginning of the
//! stretch, and its random numbers follow from the seed, its own number and that table. Workers share nothing, so none waits for
//! another. At the end of the stretch the counts that each has gained are added up. The length of a stretch follows from the
//! table too. So the next table depends only on the table before, the seed and the number of workers.

use std::thread;

use blackjack::{
    DeckEmpty, QTable, Score,
    learn::{Explore, Trainer},
};

use crate::tables::decisions;

/// The fewest rounds of a worker in a stretch: a fraction of a millisecond.
const SHORTEST: u64 = 1 << 12;
/// The most rounds of a worker in a stretch: about a tenth of a second. A stop takes as long.
const LONGEST: u64 = 1 << 21;

/// How a table is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    /// How decisions are made.
    pub(crate) explore: Explore,
    /// The seed of the random numbers.
    pub(crate) seed: u64,
    /// Workers that learn beside each other; at least 1.
    pub(crate) threads: u32,
}

impl Plan {
    /// How many rounds the next stretch has, all workers together. Early stretches are short, so that each worker soon decides
    /// by what all of them have learned.
    pub(crate) fn stretch(&self, table: &QTable) -> u64 {
        let threads = u64::from(self.threads);
        threads * (decisions(table) / 4 / threads).clamp(SHORTEST, LONGEST)
    }

    /// Plays so many rounds as one stretch.
    /// Fails when a count gets larger than a table can hold; the table is then unchanged.
    pub(crate) fn play(&self, table: &mut QTable, rounds: u64) -> anyhow::Result<Score> {
        let threads = u64::from(self.threads);
        let share = |worker: u32| rounds / threads + u64::from(u64::from(worker) < rounds % threads);
        let base = &*table;
        let learn = |worker: u32| -> Result<(QTable, Score), DeckEmpty> {
            let mut trainer = Trainer::seeded(base.clone(), self.explore, self.seed, worker);
            let score = trainer.play(share(worker))?;
            Ok((trainer.into_table(), score))
        };
        let results = thread::scope(|scope| {
            let others: Vec<_> = (1..self.threads).map(|worker| scope.spawn(move || learn(worker))).collect();
            let mut results = vec![learn(0)];
            for other in others {
                results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            results
        });
        let (mut sum, mut score) = (base.clone(), Score::default());
        for result in results {
            let (learned, played) = result?;
            sum.merge(&learned.since(base))?;
            score += played;
        }
        *table = sum;
        Ok(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blackjack::{StateSpace, learn::Chance};

    #[test]
    fn stretches_grow_with_what_is_known_within_bounds() {
        let plan = Plan { explore: Explore::Epsilon(Chance::new(0.1).unwrap()), seed: 5, threads: 2 };
        let mut table = QTable::new(StateSpace::Coarse);
        let mut last = plan.stretch(&table);
        assert_eq!(last, 2 * SHORTEST);
        for _ in 0..20 {
            plan.play(&mut table, last).unwrap();
            let next = plan.stretch(&table);
            assert!(next >= last && next <= 2 * LONGEST);
            last = next;
        }
        assert!(last > 4 * SHORTEST);
    }
}
