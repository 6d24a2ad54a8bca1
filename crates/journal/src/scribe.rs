//! The threads that write journals.

use std::{
    collections::VecDeque,
    fmt, io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{SYNC_INTERVAL, sink::Sink};

/// How long records stay in the spool before they are written, so that many are written at once.
const DELAY: Duration = Duration::from_millis(100);
/// The delay for each journal that waits to be written, where that is longer: a process writes at most a thousand journals a
/// second, however many it has.
const DELAY_EACH: Duration = Duration::from_millis(1);
/// The interval of syncs for each journal that waits for one, where that is longer than [`SYNC_INTERVAL`]: a sync costs the
/// same however little there is to sync, so a process makes at most a hundred a second.
const SYNC_INTERVAL_EACH: Duration = Duration::from_millis(10);
/// What is due so soon is done at once, so that a thread wakes once for many journals.
const SLACK: Duration = Duration::from_millis(20);

type Job = Box<dyn FnOnce() + Send>;

/// Writes journals in the background, so that rooms never wait for a disk.
///
/// One thread writes records; another syncs files and encodes snapshots, so that slow syncs do not delay writes.
/// [`Scribe::by_hand`] starts no threads: a simulation decides when something happens.
#[derive(Clone)]
pub struct Scribe {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    queues: Mutex<Queues>,
    to_write: Condvar,
    to_keep: Condvar,
}

#[derive(Default)]
struct Queues {
    dirty: VecDeque<Arc<Sink>>,
    // Journals whose records are in a spool and may wait. The first is written when it is due, and no other before it.
    delayed: VecDeque<(Instant, Arc<Sink>)>,
    jobs: VecDeque<Job>,
    // The first is synced when it is due, and no other before it.
    syncs: VecDeque<(Instant, Arc<Sink>)>,
}

impl fmt::Debug for Scribe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scribe").finish_non_exhaustive()
    }
}

impl Scribe {
    /// Starts the threads, which run until the process ends.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start() -> io::Result<Self> {
        let scribe = Self::by_hand();
        let writer = Arc::clone(&scribe.shared);
        thread::Builder::new().name("journal-write".into()).spawn(move || writer.write_forever())?;
        let keeper = Arc::clone(&scribe.shared);
        thread::Builder::new().name("journal-sync".into()).spawn(move || keeper.keep_forever())?;
        Ok(scribe)
    }

    /// A scribe without threads.
    pub fn by_hand() -> Self {
        Self { shared: Arc::default() }
    }

    /// Without threads: writes the records of one journal. Returns whether there were any.
    pub fn write(&self) -> bool {
        let mut queues = self.shared.queues();
        let delayed = queues.delayed.pop_front().map(|(_, sink)| sink);
        let Some(sink) = delayed.or_else(|| queues.dirty.pop_front()) else { return false };
        drop(queues);
        self.shared.write(&sink);
        true
    }

    /// Without threads: does one task of the second thread, even if it is not due yet: encodes a snapshot or syncs a
    /// journal. Returns whether there was one.
    pub fn keep(&self) -> bool {
        let mut queues = self.shared.queues();
        let job = queues.jobs.pop_front();
        let sync = if job.is_some() { None } else { queues.syncs.pop_front() };
        drop(queues);
        match (job, sync) {
            (Some(job), _) => job(),
            (None, Some((_, sink))) => self.shared.sync(&sink),
            (None, None) => return false,
        }
        true
    }

    pub(crate) fn queue(&self, sink: &Arc<Sink>) {
        self.shared.queue(sink);
    }

    pub(crate) fn run(&self, job: Job) {
        self.shared.queues().jobs.push_back(job);
        self.shared.to_keep.notify_one();
    }
}

impl Shared {
    fn queue(&self, sink: &Arc<Sink>) {
        if sink.queue() {
            let mut queues = self.queues();
            let idle = queues.dirty.is_empty() && queues.delayed.is_empty();
            if sink.may_be_delayed() {
                let delay = pace(DELAY, DELAY_EACH, queues.delayed.len());
                queues.delayed.push_back((Instant::now() + delay, Arc::clone(sink)));
                // If there are others, the thread is going to wake in time.
                if !idle {
                    return;
                }
            } else {
                queues.dirty.push_back(Arc::clone(sink));
            }
            drop(queues);
            self.to_write.notify_one();
        }
    }

    fn write(&self, sink: &Arc<Sink>) {
        if sink.write() {
            let mut queues = self.queues();
            let interval = pace(SYNC_INTERVAL, SYNC_INTERVAL_EACH, queues.syncs.len());
            // The records have waited for the write already.
            queues.syncs.push_back((Instant::now() + interval.saturating_sub(DELAY), Arc::clone(sink)));
            drop(queues);
            self.to_keep.notify_one();
        }
    }

    fn sync(&self, sink: &Arc<Sink>) {
        if sink.sync() {
            self.queue(sink);
        }
    }

    fn write_forever(&self) {
        let mut queues = self.queues();
        loop {
            let now = Instant::now();
            let next = queues.delayed.front().map(|&(due, _)| due);
            let sink = match next {
                Some(due) if due <= now + SLACK => queues.delayed.pop_front().map(|(_, sink)| sink),
                _ => queues.dirty.pop_front(),
            };
            if let Some(sink) = sink {
                drop(queues);
                self.write(&sink);
                queues = self.queues();
            } else if let Some(due) = next {
                let waited = self.to_write.wait_timeout(queues, due.saturating_duration_since(now));
                (queues, _) = waited.unwrap_or_else(PoisonError::into_inner);
            } else {
                queues = self.to_write.wait(queues).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn keep_forever(&self) {
        let mut queues = self.queues();
        loop {
            let now = Instant::now();
            if let Some(job) = queues.jobs.pop_front() {
                drop(queues);
                job();
                queues = self.queues();
            } else if let Some((_, sink)) = queues.syncs.front().filter(|(due, _)| *due <= now + SLACK).cloned() {
                queues.syncs.pop_front();
                drop(queues);
                self.sync(&sink);
                queues = self.queues();
            } else if let Some(&(due, _)) = queues.syncs.front() {
                let waited = self.to_keep.wait_timeout(queues, due.saturating_duration_since(now));
                (queues, _) = waited.unwrap_or_else(PoisonError::into_inner);
            } else {
                queues = self.to_keep.wait(queues).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// How long one waits behind `waiting` others.
fn pace(least: Duration, each: Duration, waiting: usize) -> Duration {
    least.max(each.saturating_mul(waiting.try_into().unwrap_or(u32::MAX)))
}
