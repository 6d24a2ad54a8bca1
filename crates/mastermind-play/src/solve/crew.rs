//! Several threads that play the codes of one codebreaker.

use std::{
    collections::BTreeMap,
    mem,
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

/// A piece with more than this part of the codes that wait, for each thread, is divided before smaller ones are done. If it
/// were left to the end, the other threads would wait for whoever divides it.
const SHARE: usize = 4;

/// What the threads share: pieces that wait, and how many are being worked on.
struct Heap {
    state: Mutex<State>,
    changed: Condvar,
    threads: usize,
    // Set by a thread that panics.
    panicked: AtomicBool,
}

#[derive(Default)]
struct State {
    jobs: Pieces,
    busy: usize,
}

/// Pieces that wait, in the order of their codes. Of equally large ones the older is the smaller.
#[derive(Default)]
struct Pieces {
    jobs: BTreeMap<(usize, u64), Job>,
    // Codes of all of them.
    codes: usize,
    // How many there have ever been.
    number: u64,
}

impl Pieces {
    fn add(&mut self, job: Job) {
        self.codes += job.codes();
        self.jobs.insert((job.codes(), self.number), job);
        self.number += 1;
    }

    /// The smallest piece, so that codes are found from the beginning and few pieces wait; but the largest if it would hold
    /// up so many threads in the end.
    fn take(&mut self, threads: usize) -> Option<Job> {
        let (&(most, _), _) = self.jobs.last_key_value()?;
        let large = most.saturating_mul(SHARE).saturating_mul(threads) > self.codes;
        let (_, job) = if large { self.jobs.pop_last() } else { self.jobs.pop_first() }?;
        self.codes -= job.codes();
        Some(job)
    }
}

/// A piece that is being worked on. It is done when this is dropped, also by a panic, since other threads wait for it.
struct Busy<'a> {
    heap: &'a Heap,
    rest: Vec<Job>,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.heap.panicked.store(true, Ordering::Relaxed);
        }
        self.heap.done(mem::take(&mut self.rest));
    }
}

impl Heap {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The next piece. `None` when nothing waits and nobody can add anything any more.
    fn take(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = state.jobs.take(self.threads) {
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
            for job in rest {
                state.jobs.add(job);
            }
        });
        self.changed.notify_all();
    }

    /// Works on pieces until none is left. `play` plays a piece, or divides it and gives what is left of it; once it is
    /// stopped, it is not called again.
    fn work(&self, play: impl Fn(Job) -> Result<(Tally, Vec<Job>), Stopped>) -> Result<Tally, Stopped> {
        let mut tally = Tally::default();
        let mut stopped = false;
        while let Some(job) = self.take() {
            let mut busy = Busy { heap: self, rest: Vec::new() };
            // After a stop the pieces are still taken off the heap, so that all threads come to an end.
            if stopped {
                continue;
            }
            match play(job) {
                Ok((part, rest)) => {
                    tally.add(&part);
                    busy.rest = rest;
                }
                Err(Stopped) => stopped = true,
            }
        }
        if stopped { Err(Stopped) } else { Ok(tally) }
    }
}

/// Plays all `codes` with so many threads.
///
/// # Errors
/// [`Stopped`] when `stop` is set before the end, or a thread panics.
pub(super) fn run(
    breaker: &Codebreaker,
    threads: usize,
    codes: u64,
    stop: &AtomicBool,
    bar: &Bar,
) -> Result<Tally, Stopped> {
    let threads = threads.max(1);
    let piece = usize::try_from(codes / 4096).unwrap_or(usize::MAX).max(PIECE);
    let found = AtomicU64::new(0);
    let tell = |more| bar.found(found.fetch_add(more, Ordering::Relaxed) + more, codes);
    share_out(threads, breaker.job(), stop, |job, stopping| {
        if job.codes() > piece {
            let (part, further) = breaker.divide(&job);
            tell(part.codes());
            return Ok((part, further));
        }
        let watch = |more| {
            tell(more);
            if stopping() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        Ok((breaker.run(job, watch)?, Vec::new()))
    })
}

/// Lets so many threads work on a job and on what it is divided into. `play` can ask whether it is to stop.
fn share_out(
    threads: usize,
    job: Job,
    stop: &AtomicBool,
    play: impl Fn(Job, &dyn Fn() -> bool) -> Result<(Tally, Vec<Job>), Stopped> + Sync,
) -> Result<Tally, Stopped> {
    let heap = Heap { state: Mutex::default(), changed: Condvar::new(), threads, panicked: AtomicBool::new(false) };
    heap.with(|state| state.jobs.add(job));
    let stopping = || stop.load(Ordering::Relaxed) || heap.panicked.load(Ordering::Relaxed);
    let work = || heap.work(|job| if stopping() { Err(Stopped) } else { play(job, &stopping) });
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_fold(Tally::default(), |mut tally, worker| {
            // A thread that panicked has said so, and has no result.
            tally.add(&worker.join().map_err(|_| Stopped)??);
            Ok(tally)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::{
        sync::mpsc,
        time::{Duration, Instant},
    };

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

    // The answers to the first guess 1123, for one thread: a piece of more than a quarter of what waits goes first.
    #[test]
    fn small_pieces_come_first_and_large_ones_not_last() {
        let breaker = Codebreaker::new(Rules::new(4, 6, true).unwrap(), Strategy::Parts);
        let mut pieces = Pieces::default();
        let (_, jobs) = breaker.divide(&breaker.job());
        for job in jobs {
            pieces.add(job);
        }
        let taken: Vec<usize> = std::iter::from_fn(|| pieces.take(1)).map(|job| job.codes()).collect();
        assert_eq!(taken, [2, 4, 5, 20, 40, 44, 81, 276, 230, 222, 182, 105, 84]);
        assert_eq!(pieces.codes, 0);
    }

    // Whoever waits for the piece of a thread that panics would wait for ever: it is never done.
    #[test]
    fn a_thread_that_panics_ends_the_work_of_all() {
        for threads in [1, 2, 7] {
            let (ended, end) = mpsc::channel();
            thread::spawn(move || {
                let breaker = Codebreaker::new(Rules::new(4, 6, true).unwrap(), Strategy::Parts);
                let stop = AtomicBool::new(false);
                let done = share_out(threads, breaker.job(), &stop, |_, _| panic!("a piece that cannot be played"));
                let _ = ended.send(done);
            });
            assert_eq!(end.recv_timeout(Duration::from_secs(60)), Ok(Err(Stopped)), "{threads} threads");
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
