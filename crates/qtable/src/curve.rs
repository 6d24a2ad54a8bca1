pub(crate) mod drawing;
pub(crate) mod terminal;

use std::{
    sync::{Mutex, PoisonError, mpsc},
    thread,
};

use blackjack::{
    DeckEmpty, QTable, StateSpace,
    learn::{Explore, Trainer},
};

use crate::{args::ExploreKind, judge::Judge, train::RoundsProgress};

pub(crate) const FIRST: u64 = 1_000;
const TITLE: &str = "How many rounds it takes to learn 21";

#[expect(clippy::cast_precision_loss, reason = "a place in a plot")]
fn power(rounds: u64) -> f64 {
    (rounds.max(1) as f64).log10()
}

#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) way: ExploreKind,
    pub(crate) name: String,
    pub(crate) runs: Vec<Run>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    /// Rounds, and the exact value of the table after them.
    pub(crate) points: Vec<(u64, f64)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Curves {
    pub(crate) space: StateSpace,
    pub(crate) series: Vec<Series>,
    pub(crate) optimum: f64,
    /// The value of the dealer's strategy.
    pub(crate) mimic: f64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct LineEnd<'a> {
    pub(crate) value: f64,
    pub(crate) name: &'a str,
    /// `None` for a reference value.
    pub(crate) way: Option<ExploreKind>,
}

impl Curves {
    /// Of the two reference lines and of the means of the series.
    pub(crate) fn ends(&self) -> Vec<LineEnd<'_>> {
        let mut ends = vec![
            LineEnd { value: self.optimum, name: "best table", way: None },
            LineEnd { value: self.mimic, name: "dealer's strategy", way: None },
        ];
        for series in &self.series {
            if let Some(&(_, value)) = series.mean().last() {
                ends.push(LineEnd { value, name: &series.name, way: Some(series.way) });
            }
        }
        ends
    }
}

impl Series {
    #[expect(clippy::cast_precision_loss, reason = "a hundred runs at most")]
    pub(crate) fn mean(&self) -> Vec<(u64, f64)> {
        let Some(first) = self.runs.first() else { return vec![] };
        let mean = |(at, &(rounds, _)): (usize, &(u64, f64))| {
            let values = self.runs.iter().filter_map(|run| run.points.get(at)).map(|&(_, value)| value);
            (rounds, values.sum::<f64>() / self.runs.len() as f64)
        };
        first.points.iter().enumerate().map(mean).collect()
    }
}

/// A table is evaluated after 1, 1.5, 2, 3, 5, 7 rounds in each power of ten, and after the last.
pub(crate) fn checkpoints(rounds: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(FIRST), |power| power.checked_mul(10));
    let mut points: Vec<u64> = powers
        .take_while(|&power| power < rounds)
        .flat_map(|power| [10, 15, 20, 30, 50, 70].map(|tenths| (power / 10).saturating_mul(tenths)))
        .take_while(|&point| point < rounds)
        .collect();
    points.push(rounds);
    points
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) explore: Explore,
    pub(crate) seed: u64,
}

/// Trains `threads` runs at a time, and returns them in the order of the jobs.
pub(crate) fn train_all(
    judge: &Judge,
    space: StateSpace,
    jobs: &[Job],
    checkpoints: &[u64],
    threads: u32,
    mut progress: RoundsProgress,
) -> Result<Vec<Run>, DeckEmpty> {
    let queue = Mutex::new(jobs.iter().enumerate());
    let (tell, told) = mpsc::channel();
    let worker = |tell: mpsc::Sender<u64>| -> Result<Vec<(usize, Run)>, DeckEmpty> {
        let mut runs = vec![];
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((at, job)) = next else { return Ok(runs) };
            let mut trainer = Trainer::seeded(QTable::new(space), job.explore, job.seed, 0);
            let (mut points, mut played) = (vec![], 0);
            for &rounds in checkpoints {
                trainer.play(rounds - played)?;
                points.push((rounds, judge.value(&trainer.table().policy())));
                // The receiver is dropped once another worker has failed.
                let _ = tell.send(rounds - played);
                played = rounds;
            }
            runs.push((at, Run { seed: job.seed, points }));
        }
    };
    let mut runs = vec![];
    thread::scope(|scope| {
        let start = |_| {
            let (tell, worker) = (tell.clone(), &worker);
            scope.spawn(move || worker(tell))
        };
        let workers: Vec<_> = (0..threads).map(start).collect();
        drop(tell);
        let mut done = 0;
        for rounds in told {
            done += rounds;
            progress.reach(done, String::new);
        }
        for worker in workers {
            runs.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(())
    })?;
    runs.sort_by_key(|&(at, _)| at);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_rise_evenly_on_a_log_scale_and_end_with_the_last_round() {
        assert_eq!(checkpoints(1_000), [1_000]);
        assert_eq!(checkpoints(1_500), [1_000, 1_500]);
        assert_eq!(checkpoints(12_000), [1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 12_000]);
        for rounds in [1_001, 999_999, 1_000_000, crate::args::MAX_ROUNDS] {
            let points = checkpoints(rounds);
            assert!(points.is_sorted_by(|one, next| one < next) && points.last() == Some(&rounds), "{points:?}");
        }
    }

    #[test]
    fn a_mean_is_taken_point_by_point() {
        let run = |seed, values: [f64; 2]| Run { seed, points: vec![(10, values[0]), (20, values[1])] };
        let series = Series {
            way: ExploreKind::UntilConfident,
            name: String::new(),
            runs: vec![run(1, [0.0, 1.0]), run(2, [1.0, 2.0])],
        };
        assert_eq!(series.mean(), [(10, 0.5), (20, 1.5)]);
    }
}
