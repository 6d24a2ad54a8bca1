//! The same seed, workers and rounds give the same table, also after an interruption.
//!
//! Rounds are played in stretches, in which each worker learns separately. It starts from the table at the beginning of
//! the stretch, and its random numbers follow from the seed, its own number and that table. At the end, the gains of
//! all workers are added up. The table determines the length of a stretch too.

use std::thread;

use blackjack::{
    DeckEmpty, QTable, Score,
    learn::{Explore, Trainer},
};
use cmdkit::{Progress, rounds_line};

use crate::tables::decisions;

/// Of a worker, in a fraction of a millisecond.
const SHORTEST: u64 = 1 << 12;
/// Of a worker, in a tenth of a second, which is also the delay of a stop.
const LONGEST: u64 = 1 << 21;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) explore: Explore,
    pub(crate) seed: u64,
    /// At least 1.
    pub(crate) threads: u32,
}

impl Plan {
    /// Rounds of all workers in a stretch. Early stretches are short, so that each worker soon decides by the results
    /// of all.
    pub(crate) fn stretch(&self, table: &QTable) -> u64 {
        let threads = u64::from(self.threads);
        threads * (decisions(table) / 4 / threads).clamp(SHORTEST, LONGEST)
    }

    /// Plays one stretch. Fails if a count exceeds the maximum of a table, which stays unchanged.
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

#[derive(Debug)]
pub(crate) struct RoundsProgress {
    all: u64,
    progress: Progress,
}

impl RoundsProgress {
    /// On a terminal, or elsewhere if `wanted`.
    pub(crate) fn new(all: u64, wanted: bool) -> Self {
        Self { all, progress: Progress::new().always(wanted) }
    }

    /// `more` is the rest of the line, called only to draw it.
    pub(crate) fn reach(&mut self, rounds: u64, more: impl FnOnce() -> String) {
        let all = self.all;
        let line = |elapsed| rounds_line(rounds, Some(all), elapsed, &more());
        if rounds == all { self.progress.draw_last(line) } else { self.progress.draw(line) }
    }

    pub(crate) const fn is_redrawn(&self) -> bool {
        self.progress.is_redrawn()
    }

    /// Leaves the last line on the screen, so that other output starts below it.
    pub(crate) fn end(&mut self) {
        self.progress.end();
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    pub(crate) fn rate(&self, rounds: u64) -> f64 {
        rounds as f64 / self.progress.elapsed().as_secs_f64().max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use blackjack::{StateSpace, learn::Chance};

    use super::*;

    #[test]
    fn stretches_grow_within_bounds() {
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
