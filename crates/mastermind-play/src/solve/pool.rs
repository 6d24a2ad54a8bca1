//! A pool of worker threads that play the codes of one codebreaker.

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

use super::progress::Bar;

/// Jobs of more codes than this are divided, so that no worker has a large job left while the others have none. In large games
/// the limit is a 4096th of all codes.
const DIVIDED: usize = 500;

/// A job that has more than one part in `SHARE * threads` of the waiting codes is taken before smaller ones. If it were left to the
/// end, the other workers would have nothing to do while one divides it.
const SHARE: usize = 4;

/// The queue that the workers share: the jobs that wait, and how many are being worked on.
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    threads: usize,
    // Set by a thread that panics.
    panicked: AtomicBool,
}

#[derive(Default)]
struct State {
    jobs: Jobs,
    busy: usize,
}

/// Jobs that wait, ordered by their number of codes, then by age.
#[derive(Default)]
struct Jobs {
    waiting: BTreeMap<(usize, u64), Job>,
    // Codes of all waiting jobs.
    codes: usize,
    // How many jobs were ever added.
    number: u64,
}

impl Jobs {
    fn add(&mut self, job: Job) {
        self.codes += job.codes();
        self.waiting.insert((job.codes(), self.number), job);
        self.number += 1;
    }

    /// Takes the smallest job, which keeps the queue short; or the largest, if it would hold up the workers at the end.
    fn take(&mut self, threads: usize) -> Option<Job> {
        let (&(most, _), _) = self.waiting.last_key_value()?;
        let large = most.saturating_mul(SHARE).saturating_mul(threads) > self.codes;
        let (_, job) = if large { self.waiting.pop_last() } else { self.waiting.pop_first() }?;
        self.codes -= job.codes();
        Some(job)
    }
}

/// A job that a worker has claimed. It counts as done when this is dropped, also by a panic, since other workers wait for it.
struct Claim<'a> {
    queue: &'a Queue,
    rest: Vec<Job>,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.queue.panicked.store(true, Ordering::Relaxed);
        }
        self.queue.done(mem::take(&mut self.rest));
    }
}

impl Queue {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for the next job. `None` when no job waits and no worker can add one.
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

    /// Marks a job as done and adds the jobs that it was divided into.
    fn done(&self, rest: Vec<Job>) {
        self.with(|state| {
            state.busy -= 1;
            for job in rest {
                state.jobs.add(job);
            }
        });
        self.changed.notify_all();
    }

    /// Works on jobs until none is left. `play` plays a job, or divides it and returns the jobs that are left of it. It is not
    /// called again after it has returned [`Stopped`].
    fn work(&self, play: impl Fn(Job) -> Result<(Tally, Vec<Job>), Stopped>) -> Result<Tally, Stopped> {
        let mut tally = Tally::default();
        let mut stopped = false;
        while let Some(job) = self.take() {
            let mut claim = Claim { queue: self, rest: Vec::new() };
            // After a stop the queue is still emptied, so that all workers come to an end.
            if stopped {
                continue;
            }
            match play(job) {
                Ok((part, rest)) => {
                    tally.add(&part);
                    claim.rest = rest;
                }
                Err(Stopped) => stopped = true,
            }
        }
        if stopped { Err(Stopped) } else { Ok(tally) }
    }
}

/// Plays all `codes` with so many worker threads.
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
    let most = usize::try_from(codes / 4096).unwrap_or(usize::MAX).max(DIVIDED);
    let found = AtomicU64::new(0);
    let tell = |more| bar.found(found.fetch_add(more, Ordering::Relaxed) + more, codes);
    share_out(threads, breaker.job(), stop, |job, stopping| {
        if job.codes() > most {
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

/// Runs `threads` workers on a job and on the jobs that it is divided into. `play` is given a function that says whether to stop.
fn share_out(
    threads: usize,
    job: Job,
    stop: &AtomicBool,
    play: impl Fn(Job, &dyn Fn() -> bool) -> Result<(Tally, Vec<Job>), Stopped> + Sync,
) -> Result<Tally, Stopped> {
    let queue = Queue { state: Mutex::default(), changed: Condvar::new(), threads, panicked: AtomicBool::new(false) };
    queue.with(|state| state.jobs.add(job));
    let stopping = || stop.load(Ordering::Relaxed) || queue.panicked.load(Ordering::Relaxed);
    let work = || queue.work(|job| if stopping() { Err(Stopped) } else { play(job, &stopping) });
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
    use std::{sync::mpsc, time::Duration};

    use mastermind::{Rules, solver::Strategy};

    use super::*;

    #[test]
    fn any_number_of_threads_comes_to_the_same() {
        let rules = Rules::new(4, 7, true).unwrap();
        let bar = Bar::new();
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

    // The answers to the first guess 1123, for one thread: a job of more than a quarter of the waiting codes goes first.
    #[test]
    fn small_jobs_come_first_and_large_ones_not_last() {
        let breaker = Codebreaker::new(Rules::new(4, 6, true).unwrap(), Strategy::Parts);
        let mut jobs = Jobs::default();
        let (_, divided) = breaker.divide(&breaker.job());
        for job in divided {
            jobs.add(job);
        }
        let taken: Vec<usize> = std::iter::from_fn(|| jobs.take(1)).map(|job| job.codes()).collect();
        assert_eq!(taken, [2, 4, 5, 20, 40, 44, 81, 276, 230, 222, 182, 105, 84]);
        assert_eq!(jobs.codes, 0);
    }

    // A job that is never done would keep the other workers waiting for ever.
    #[test]
    fn a_thread_that_panics_ends_the_work_of_all() {
        for threads in [1, 2, 7] {
            let (ended, end) = mpsc::channel();
            thread::spawn(move || {
                let breaker = Codebreaker::new(Rules::new(4, 6, true).unwrap(), Strategy::Parts);
                let stop = AtomicBool::new(false);
                let done = share_out(threads, breaker.job(), &stop, |_, _| panic!("a job that cannot be played"));
                let _ = ended.send(done);
            });
            assert_eq!(end.recv_timeout(Duration::from_secs(60)), Ok(Err(Stopped)), "{threads} threads");
        }
    }

    #[test]
    fn work_that_is_stopped_has_no_result() {
        let rules = Rules::new(4, 6, true).unwrap();
        let breaker = Codebreaker::new(rules, Strategy::Parts);
        let stopped = run(&breaker, 3, rules.codes(), &AtomicBool::new(true), &Bar::new());
        assert_eq!(stopped, Err(Stopped));
    }
}
