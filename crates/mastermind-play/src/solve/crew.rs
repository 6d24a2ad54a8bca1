//! Several threads that play the codes of one codebreaker.

use std::{
    collections::BinaryHeap,
    ops::ControlFlow,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use mastermind::solver::{Codebreaker, Job, Stopped, Tally};

use super::bar::Bar;

/// Pieces of more codes than this are divided, so that no thread is left with much while the others have nothing. In large
/// games they may be a four-thousandth of the whole.
const PIECE: usize = 500;

/// What the threads share: pieces that wait, and how many are being worked on.
struct Heap {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    jobs: BinaryHeap<Piece>,
    busy: usize,
}

/// A piece that waits; the more codes the greater.
struct Piece(Job);

impl Ord for Piece {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.codes().cmp(&other.0.codes())
    }
}

impl PartialOrd for Piece {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Piece {}

impl Heap {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The largest piece that waits. `None` when nothing waits and nobody can add anything any more.
    fn take(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(Piece(job)) = state.jobs.pop() {
                state.busy += 1;
                return Some(job);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes in that a piece is done, and what is left of it.
    fn done(&self, rest: Vec<Job>) {
        self.with(|state| {
            state.busy -= 1;
            state.jobs.extend(rest.into_iter().map(Piece));
        });
        self.changed.notify_all();
    }
}

/// Plays all `codes` with so many threads.
///
/// # Errors
/// [`Stopped`] when `stop` is set before the end.
pub(super) fn run(
    breaker: &Codebreaker,
    threads: usize,
    codes: u64,
    stop: &AtomicBool,
    bar: &Bar,
) -> Result<Tally, Stopped> {
    let heap = Heap {
        state: Mutex::new(State { jobs: BinaryHeap::from([Piece(breaker.job())]), busy: 0 }),
        changed: Condvar::new(),
    };
    let piece = usize::try_from(codes / 4096).unwrap_or(usize::MAX).max(PIECE);
    let found = AtomicU64::new(0);
    let work = || {
        let mut tally = Tally::default();
        let mut stopped = false;
        while let Some(job) = heap.take() {
            let mut rest = Vec::new();
            if stopped || stop.load(Ordering::Relaxed) {
                // What waits is taken off the heap, so that everybody comes to an end.
                stopped = true;
            } else if job.codes() > piece {
                let (part, further) = breaker.divide(&job);
                bar.found(found.fetch_add(part.codes(), Ordering::Relaxed) + part.codes(), codes);
                tally.add(&part);
                rest = further;
            } else {
                let watch = |more| {
                    bar.found(found.fetch_add(more, Ordering::Relaxed) + more, codes);
                    if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                match breaker.run(job, watch) {
                    Ok(part) => tally.add(&part),
                    Err(Stopped) => stopped = true,
                }
            }
            heap.done(rest);
        }
        if stopped { Err(Stopped) } else { Ok(tally) }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_fold(Tally::default(), |mut tally, worker| {
            // A thread that panicked has said so, and has no result.
            tally.add(&worker.join().map_err(|_| Stopped)??);
            Ok(tally)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use mastermind::{Rules, solver::Strategy};

    use super::*;

    #[test]
    fn any_number_of_threads_comes_to_the_same() {
        let rules = Rules::new(4, 7, true).unwrap();
        let bar = Bar::new(Instant::now());
        for breaker in [
            Codebreaker::new(rules, Strategy::Entropy),
            Codebreaker::limited(rules, Strategy::Entropy),
            Codebreaker::searching(rules),
        ] {
            let tally = |threads| run(&breaker, threads, rules.codes(), &AtomicBool::new(false), &bar).unwrap();
            let alone = tally(1);
            assert_eq!(alone.codes(), rules.codes());
            assert_eq!((tally(2), tally(7)), (alone.clone(), alone));
        }
    }

    #[test]
    fn work_that_is_stopped_has_no_result() {
        let rules = Rules::new(4, 6, true).unwrap();
        let breaker = Codebreaker::new(rules, Strategy::Parts);
        let stopped = run(&breaker, 3, rules.codes(), &AtomicBool::new(true), &Bar::new(Instant::now()));
        assert_eq!(stopped, Err(Stopped));
    }
}
