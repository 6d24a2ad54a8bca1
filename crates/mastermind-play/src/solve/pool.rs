//! A pool of worker threads that play the codes of one codebreaker.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use mastermind::solver::{Codebreaker, Job, Stopped, Tally};

use super::progress::Bar;

/// Jobs of more codes than this are divided, so that no worker has a large job left while the others have none. In large games
/// the limit is a 4096th of all codes.
const DIVIDED: usize = 500;

/// Plays all `codes` with so many worker threads.
/// [`Stopped`] also when a thread panics.
pub(super) fn run(
    breaker: &Codebreaker,
    threads: usize,
    codes: u64,
    stop: &AtomicBool,
    bar: &Bar,
) -> Result<Tally, Stopped> {
    let most = usize::try_from(codes / 4096).unwrap_or(usize::MAX).max(DIVIDED);
    let found = AtomicU64::new(0);
    let tell = |more| bar.found(found.fetch_add(more, Ordering::Relaxed) + more, codes);
    share_out(threads, breaker.job(), stop, |job| {
        if job.codes() > most {
            let (part, further) = breaker.divide(&job);
            tell(part.codes());
            return Ok((part, further));
        }
        let watch = |more| {
            tell(more);
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        Ok((breaker.run(job, watch)?, Vec::new()))
    })
}

/// Has `threads` workers play a job, then the jobs that it is divided into, and so on. `play` plays a job, or divides it and
/// returns the jobs that are left of it.
fn share_out(
    threads: usize,
    job: Job,
    stop: &AtomicBool,
    play: impl Fn(Job) -> Result<(Tally, Vec<Job>), Stopped> + Sync,
) -> Result<Tally, Stopped> {
    let mut tally = Tally::default();
    let mut jobs = vec![job];
    while !jobs.is_empty() {
        // The largest are taken first, so that no worker is left with one while the others have none.
        jobs.sort_by_key(Job::codes);
        let waiting = Mutex::new(jobs);
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let work = || {
            let (mut tally, mut further) = (Tally::default(), Vec::new());
            while let Some(job) = next() {
                // A thread that panicked has said so. The others need not go on.
                let played = if stop.load(Ordering::Relaxed) {
                    Err(Stopped)
                } else {
                    catch_unwind(AssertUnwindSafe(|| play(job))).unwrap_or(Err(Stopped))
                };
                stop.fetch_or(played.is_err(), Ordering::Relaxed);
                let (part, rest) = played?;
                tally.add(&part);
                further.extend(rest);
            }
            Ok((tally, further))
        };
        let done: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or(Err(Stopped))).collect()
        });
        jobs = Vec::new();
        for done in done {
            let (part, further) = done?;
            tally.add(&part);
            jobs.extend(further);
        }
    }
    Ok(tally)
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

    // A job that is never done would keep the other workers waiting for ever.
    #[test]
    fn a_thread_that_panics_ends_the_work_of_all() {
        for threads in [1, 2, 7] {
            let (ended, end) = mpsc::channel();
            thread::spawn(move || {
                let breaker = Codebreaker::new(Rules::new(4, 6, true).unwrap(), Strategy::Parts);
                let stop = AtomicBool::new(false);
                let done = share_out(threads, breaker.job(), &stop, |_| panic!("a job that cannot be played"));
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
