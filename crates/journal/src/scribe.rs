//! Who writes: two threads for any number of journals.

use std::{
    collections::VecDeque,
    fmt, io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::sink::Sink;

/// With [`SyncPolicy::Interval`] what was written has reached the disk after this time, and with either policy the file says by then
/// how far it has.
pub const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// What outputs wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncPolicy {
    /// Until what they follow from is on the disk: not even a power cut loses anything that somebody was told.
    Always,
    /// Until what they follow from was handed to the system: killing the server loses nothing that somebody was told. A power
    /// cut may lose the last [`SYNC_INTERVAL`].
    #[default]
    Interval,
}

/// How long records stay in memory that outlives the process before they are written: long enough for many of them to be
/// written at once.
const PATIENCE: Duration = Duration::from_millis(100);

type Job = Box<dyn FnOnce() + Send>;

/// Writes journals, so that rooms never wait for a disk.
///
/// One thread writes what waits, another syncs and encodes snapshots: a sync may take long, and what is written meanwhile need not
/// wait for it. With [`Scribe::by_hand`] there are no threads, and a simulation decides when something happens.
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
    // Those for which nobody waits, in the order of their time.
    patient: VecDeque<(Instant, Arc<Sink>)>,
    jobs: VecDeque<Job>,
    // In the order of their time, as all wait equally long.
    syncs: VecDeque<(Instant, Arc<Sink>)>,
}

impl fmt::Debug for Scribe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scribe").finish_non_exhaustive()
    }
}

impl Scribe {
    /// Starts the threads. They end with the process.
    ///
    /// # Errors
    /// When the system has no threads to give.
    pub fn start() -> io::Result<Self> {
        let scribe = Self::by_hand();
        let writer = Arc::clone(&scribe.shared);
        thread::Builder::new().name("journal-write".into()).spawn(move || writer.write_forever())?;
        let keeper = Arc::clone(&scribe.shared);
        thread::Builder::new().name("journal-sync".into()).spawn(move || keeper.keep_forever())?;
        Ok(scribe)
    }

    /// One that does nothing by itself.
    pub fn by_hand() -> Self {
        Self { shared: Arc::default() }
    }

    /// By hand: writes what waits. Whether anything did.
    pub fn write(&self) -> bool {
        let mut queues = self.shared.queues();
        let patient = queues.patient.pop_front().map(|(_, sink)| sink);
        let Some(sink) = patient.or_else(|| queues.dirty.pop_front()) else { return false };
        drop(queues);
        self.shared.write(&sink);
        true
    }

    /// By hand: does one thing of what happens beside the writing, whether or not it is time for it: encodes a snapshot or
    /// syncs a journal. Whether there was one.
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
            let idle = queues.dirty.is_empty() && queues.patient.is_empty();
            if sink.is_patient() {
                queues.patient.push_back((Instant::now() + PATIENCE, Arc::clone(sink)));
                // Otherwise the thread wakes in time.
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
            self.queues().syncs.push_back((Instant::now() + SYNC_INTERVAL.saturating_sub(PATIENCE), Arc::clone(sink)));
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
            let next = queues.patient.front().map(|&(due, _)| due);
            let sink = match next {
                Some(due) if due <= now => queues.patient.pop_front().map(|(_, sink)| sink),
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
            } else if let Some((_, sink)) = queues.syncs.front().filter(|(due, _)| *due <= now).cloned() {
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
