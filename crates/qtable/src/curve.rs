//! How good a table gets in how many rounds of training.

pub mod drawing;

use std::{
    fmt::Write as _,
    io::{self, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use blackjack::{DeckEmpty, QTable, StateSpace, learn::Explore};

use crate::{
    args::{CurveArgs, Way},
    chart::write_picture,
    judge::Judge,
    progress::Progress,
    tables,
    train::watch,
};

/// The fewest rounds that a point is drawn for.
const FIRST: u64 = 1_000;

/// Runs that were trained in the same way.
#[derive(Debug, Clone)]
pub struct Series {
    /// How.
    pub way: Way,
    /// That in words.
    pub name: String,
    /// Each with its seed.
    pub runs: Vec<Run>,
}

/// One training.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Where its random numbers came from.
    pub seed: u64,
    /// Rounds and what the table was worth after so many.
    pub points: Vec<(u64, f64)>,
}

/// Several series, and what they are held against.
#[derive(Debug, Clone)]
pub struct Curves {
    /// What makes a state.
    pub space: StateSpace,
    /// Each with as many runs.
    pub series: Vec<Series>,
    /// The value of the best table.
    pub optimum: f64,
    /// The value of doing as the dealer does.
    pub mimic: f64,
}

impl Series {
    /// The mean of the runs after so many rounds.
    #[expect(clippy::cast_precision_loss, reason = "a hundred runs at most")]
    pub fn mean(&self) -> Vec<(u64, f64)> {
        let Some(first) = self.runs.first() else { return vec![] };
        let mean = |(at, &(rounds, _)): (usize, &(u64, f64))| {
            let values = self.runs.iter().filter_map(|run| run.points.get(at)).map(|&(_, value)| value);
            (rounds, values.sum::<f64>() / self.runs.len() as f64)
        };
        first.points.iter().enumerate().map(mean).collect()
    }
}

/// The numbers of rounds after which a table is looked at: 1, 1.5, 2, 3, 5, 7 in each power of ten, and the last.
pub fn checkpoints(rounds: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(FIRST), |power| power.checked_mul(10));
    let mut points: Vec<u64> = powers
        .take_while(|&power| power < rounds)
        .flat_map(|power| [10, 15, 20, 30, 50, 70].map(|tenths| (power / 10).saturating_mul(tenths)))
        .take_while(|&point| point < rounds)
        .collect();
    points.push(rounds);
    points
}

/// `qtable curve`.
///
/// # Errors
/// When something cannot be written.
pub fn curve(args: &CurveArgs) -> anyhow::Result<()> {
    let (ways, epsilon) = args.ways()?;
    let judge = Judge::new();
    let space = StateSpace::from(args.state);
    let name = |way: Way| match way {
        Way::Epsilon => format!("epsilon {}", epsilon.typed),
        way => way.word().to_owned(),
    };
    let seeds = args.seed..=args.seed.saturating_add(u64::from(args.runs) - 1);
    let jobs: Vec<Job> = ways
        .iter()
        .flat_map(|&way| seeds.clone().map(move |seed| (way, seed)))
        .map(|(way, seed)| Job { explore: way.explore(epsilon.chance), seed })
        .collect();
    let checkpoints = checkpoints(args.rounds);
    let all = args.rounds.saturating_mul(jobs.len() as u64);
    let runs = train(&judge, space, &jobs, &checkpoints, args.threads, Progress::new(all, args.progress))?;
    let mut runs = runs.into_iter();
    let mut series = vec![];
    for &way in &ways {
        series.push(Series { way, name: name(way), runs: runs.by_ref().take(args.runs as usize).collect() });
    }
    let curves = Curves { space, series, optimum: judge.optimum(space), mimic: judge.mimic() };
    let csv = csv(&curves);
    match &args.csv {
        Some(path) => tables::write(path, csv.as_bytes(), "the numbers")?,
        None if !args.picture.is_wanted() => io::stdout().write_all(csv.as_bytes())?,
        None => {}
    }
    if args.picture.is_wanted() {
        let picture = drawing::picture(&curves, args.picture.title.as_deref())?;
        write_picture(&picture, &args.picture)?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
struct Job {
    explore: Explore,
    seed: u64,
}

// Trains all of them, some at a time, and keeps their order.
fn train(
    judge: &Judge,
    space: StateSpace,
    jobs: &[Job],
    checkpoints: &[u64],
    threads: u32,
    mut progress: Progress,
) -> Result<Vec<Run>, DeckEmpty> {
    let next = AtomicUsize::new(0);
    let runs = Mutex::new(vec![None; jobs.len()]);
    let (tell, told) = mpsc::channel();
    let worker = |tell: mpsc::Sender<u64>| {
        while let Some((at, job)) = take(&next, jobs) {
            let mut points = vec![];
            let mut before = 0;
            let look = |rounds: u64, table: &QTable| {
                points.push((rounds, judge.value(&table.policy())));
                // Nobody listens once another worker has failed.
                let _ = tell.send(rounds - before);
                before = rounds;
            };
            watch(space, job.explore, job.seed, checkpoints, look)?;
            let run = Some(Run { seed: job.seed, points });
            if let Some(place) = runs.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
                *place = run;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (tell, worker) = (tell.clone(), &worker);
                scope.spawn(move || worker(tell))
            })
            .collect();
        drop(tell);
        let mut done = 0;
        for rounds in told {
            done += rounds;
            progress.reach(done, String::new);
        }
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(runs.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect())
}

fn take<'a>(next: &AtomicUsize, jobs: &'a [Job]) -> Option<(usize, &'a Job)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    Some((at, jobs.get(at)?))
}

fn csv(curves: &Curves) -> String {
    let Curves { space, series, optimum, mimic } = curves;
    let mut text = "explore,states,seed,rounds,value,optimum,mimic\n".to_owned();
    for Series { name, runs, .. } in series {
        for Run { seed, points } in runs {
            for (rounds, value) in points {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{name},{space},{seed},{rounds},{value:.6},{optimum:.6},{mimic:.6}");
            }
        }
    }
    text
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
        let series =
            Series { way: Way::UntilConfident, name: String::new(), runs: vec![run(1, [0.0, 1.0]), run(2, [1.0, 2.0])] };
        assert_eq!(series.mean(), [(10, 0.5), (20, 1.5)]);
    }
}
