use std::{
    collections::VecDeque,
    fmt, io, mem,
    sync::Arc,
    task::Waker,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tracing::{info, warn};

use crate::{
    SYNC_INTERVAL,
    sink::{Next, Sink, Urgency},
    sync::{Condvar, Mutex, MutexGuard, PoisonError, thread},
};

/// How long records without waiting outputs stay in memory, to be written in batches.
const DELAY: Duration = Duration::from_millis(100);
/// The delay per waiting journal, if longer: at most a thousand writes per second.
const DELAY_EACH: Duration = Duration::from_millis(1);
/// The interval per journal that waits for a sync, if longer than [`SYNC_INTERVAL`]: syncs are expensive, even of
/// little data, so there are at most a hundred per second.
const SYNC_INTERVAL_EACH: Duration = Duration::from_millis(10);
/// Work due this soon is done immediately, so that a thread wakes once for many journals.
const SLACK: Duration = Duration::from_millis(20);

/// A direct write that takes longer is slow: the page cache takes less, even with some preemption.
const SLOW: Duration = Duration::from_micros(200);
/// The writing thread takes over after this many consecutive slow writes, or one of `VERY_SLOW`.
const MAX_SLOW: u32 = 3;
const VERY_SLOW: Duration = Duration::from_millis(20);
/// How long it then does all writes.
const PAUSE: Duration = Duration::from_secs(1);
/// When a direct write is logged and reported as stalled, and how often this is checked.
const STALLED: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_secs(5);

const RETRY: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce() + Send>;

/// A step of a thread; with `true`, all work is due.
type Take = for<'a> fn(&'a Shared, MutexGuard<'a, Queues>, bool) -> (Step, MutexGuard<'a, Queues>);

type Sleeps = fn(&mut Queues) -> &mut bool;

pub trait Clock: Send + Sync {
    /// Monotonic, from an arbitrary moment.
    fn elapsed(&self) -> Duration;

    fn unix_seconds(&self) -> u64;
}

struct SystemClock(Instant);

impl Clock for SystemClock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn unix_seconds(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// Writes journals in the background.
///
/// One thread writes records; another syncs files and encodes snapshots, so that slow syncs do not delay writes. The
/// thread of a room writes records with waiting outputs itself: a write into the page cache costs less than waking two
/// threads. Only one room does so at a time, and none while writes are slow, so an unresponsive disk blocks one thread
/// only. [`Scribe::by_hand`] starts no threads and never writes directly: a simulation performs their steps.
#[derive(Clone)]
pub struct Scribe {
    shared: Arc<Shared>,
    // Ends the threads with the last handle.
    _shutdown: Arc<ShutdownGuard>,
}

struct ShutdownGuard(Arc<Shared>);

impl Drop for ShutdownGuard {
    fn drop(&mut self) {
        self.0.queues().ended = true;
        self.0.to_write.notify_all();
        self.0.to_keep.notify_all();
    }
}

struct Shared {
    clock: Box<dyn Clock>,
    queues: Mutex<Queues>,
    to_write: Condvar,
    to_keep: Condvar,
    direct: Option<Mutex<Direct>>,
}

#[derive(Default)]
struct Direct {
    // The journal being written, since when, and whether it was reported as stalled.
    running: Option<(Duration, Arc<Sink>, bool)>,
    slow: u32,
    paused_until: Duration,
}

#[derive(Default)]
struct Queues {
    dirty: VecDeque<Arc<Sink>>,
    // No outputs wait for these; each is written when due.
    delayed: VecDeque<(Duration, Arc<Sink>)>,
    jobs: VecDeque<Job>,
    // In this order, each when due.
    syncs: VecDeque<(Duration, Arc<Sink>)>,
    // Journals that are not marked as cut yet.
    retries: VecDeque<(Duration, Arc<Sink>)>,
    // No work follows: the threads finish the rest immediately and end.
    ended: bool,
    // Each sleeping thread is woken once for all work that is queued meanwhile.
    writer_sleeps: bool,
    keeper_sleeps: bool,
    // Tasks that perform the steps.
    writer: Option<Waker>,
    keeper: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// More work may be due.
    Done,
    /// Waits until this time of its [`Clock`], or for new work.
    Until(Duration),
    /// Waits for new work.
    Idle,
}

impl fmt::Debug for Scribe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scribe").finish_non_exhaustive()
    }
}

impl Scribe {
    pub fn start() -> io::Result<Self> {
        Self::start_with_clock(SystemClock(Instant::now()))
    }

    pub fn start_with_clock(clock: impl Clock + 'static) -> io::Result<Self> {
        let scribe = Self::with(clock, true);
        let (writer, keeper) = (Arc::clone(&scribe.shared), Arc::clone(&scribe.shared));
        let write = move || writer.run(Shared::write_step, &writer.to_write, |queues| &mut queues.writer_sleeps);
        let keep = move || keeper.run(Shared::keep_step, &keeper.to_keep, |queues| &mut queues.keeper_sleeps);
        thread::Builder::new().name("journal-write".into()).spawn(write)?;
        thread::Builder::new().name("journal-sync".into()).spawn(keep)?;
        Ok(scribe)
    }

    /// A scribe without threads.
    pub fn by_hand() -> Self {
        Self::with_clock(SystemClock(Instant::now()))
    }

    /// A scribe without threads.
    pub fn with_clock(clock: impl Clock + 'static) -> Self {
        Self::with(clock, false)
    }

    fn with(clock: impl Clock + 'static, writes_directly: bool) -> Self {
        let (queues, to_write, to_keep) = <(Mutex<Queues>, Condvar, Condvar)>::default();
        let direct = writes_directly.then(Mutex::default);
        let shared = Arc::new(Shared { clock: Box::new(clock), queues, to_write, to_keep, direct });
        Self { _shutdown: Arc::new(ShutdownGuard(Arc::clone(&shared))), shared }
    }

    /// A step of the writing thread, for a scribe without threads. `waker` is woken when there is new work.
    pub fn write_step(&self, waker: &Waker) -> Step {
        let (step, mut queues) = self.shared.write_step(self.shared.queues(), false);
        queues.writer = (step != Step::Done).then(|| waker.clone());
        step
    }

    /// A step of the syncing thread, for a scribe without threads. `waker` is woken when there is new work.
    pub fn keep_step(&self, waker: &Waker) -> Step {
        let (step, mut queues) = self.shared.keep_step(self.shared.queues(), false);
        queues.keeper = (step != Step::Done).then(|| waker.clone());
        step
    }

    /// Writes one journal, due or not. Returns `false` if there was none.
    pub fn write(&self) -> bool {
        self.shared.write_step(self.shared.queues(), true).0 == Step::Done
    }

    /// Encodes a snapshot or syncs a journal, due or not. Returns `false` if there was none.
    pub fn keep(&self) -> bool {
        self.shared.keep_step(self.shared.queues(), true).0 == Step::Done
    }

    pub(crate) fn unix_seconds(&self) -> u64 {
        self.shared.clock.unix_seconds()
    }

    pub(crate) fn queue(&self, sink: &Arc<Sink>) {
        self.shared.queue(sink);
    }

    /// Writes the records that outputs wait for, or leaves that to the writing thread.
    pub(crate) fn flush(&self, sink: &Arc<Sink>) {
        self.shared.write_directly(sink);
        // The writing thread skips a journal that is being written, so records added meanwhile are queued here.
        self.shared.queue(sink);
    }

    pub(crate) fn run(&self, job: Job) {
        let mut queues = self.shared.queues();
        queues.jobs.push_back(job);
        self.shared.wake_keeper(queues);
    }
}

impl Shared {
    fn queue(&self, sink: &Arc<Sink>) {
        let Some(urgency) = sink.queue() else { return };
        let mut queues = self.queues();
        if urgency == Urgency::Now {
            queues.dirty.push_back(Arc::clone(sink));
        } else {
            let idle = queues.dirty.is_empty() && queues.delayed.is_empty();
            let delay = pace(DELAY, DELAY_EACH, queues.delayed.len());
            queues.delayed.push_back((self.clock.elapsed() + delay, Arc::clone(sink)));
            // With other delayed journals, the thread wakes in time.
            if !idle {
                return;
            }
        }
        let (sleeps, writer) = (mem::take(&mut queues.writer_sleeps), queues.writer.take());
        drop(queues);
        if sleeps {
            self.to_write.notify_one();
        }
        writer.into_iter().for_each(Waker::wake);
    }

    fn wake_keeper(&self, mut queues: MutexGuard<'_, Queues>) {
        let (sleeps, keeper) = (mem::take(&mut queues.keeper_sleeps), queues.keeper.take());
        drop(queues);
        if sleeps {
            self.to_keep.notify_one();
        }
        keeper.into_iter().for_each(Waker::wake);
    }

    fn write_directly(&self, sink: &Arc<Sink>) {
        let Some(direct) = self.direct.as_ref().filter(|_| sink.may_write_directly()) else { return };
        let lock = || direct.lock().unwrap_or_else(PoisonError::into_inner);
        let start = self.clock.elapsed();
        {
            let mut direct = lock();
            if direct.running.is_some() || start < direct.paused_until {
                return;
            }
            direct.running = Some((start, Arc::clone(sink), false));
        }
        let next = sink.write_now();
        let end = self.clock.elapsed();
        let took = end.saturating_sub(start);
        let mut direct = lock();
        let was_stalled = direct.running.take().is_some_and(|(.., is_stalled)| is_stalled);
        direct.slow = if took > SLOW { direct.slow + 1 } else { 0 };
        if direct.slow >= MAX_SLOW || took > VERY_SLOW {
            (direct.slow, direct.paused_until) = (0, end + PAUSE);
        }
        drop(direct);
        if was_stalled {
            sink.set_stalled(false);
            info!(journal = sink.name, "the disk responds again");
        }
        if let Some(next) = next {
            self.follow(sink, next);
        }
    }

    // Logs a direct write that takes too long: its room is blocked and cannot report it.
    fn report_stall(&self, now: Duration) {
        let Some(direct) = &self.direct else { return };
        let mut direct = direct.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, sink, is_stalled)) = &mut direct.running
            && !*is_stalled
            && now.saturating_sub(*since) >= STALLED
        {
            *is_stalled = true;
            sink.set_stalled(true);
            warn!(journal = sink.name, "the disk does not respond: no output is sent until the input is stored");
        }
    }

    fn write(&self, sink: &Arc<Sink>) {
        let next = sink.write();
        self.follow(sink, next);
    }

    fn follow(&self, sink: &Arc<Sink>, next: Next) {
        match next {
            Next::Wait => {}
            Next::Sync => {
                let mut queues = self.queues();
                let interval = pace(SYNC_INTERVAL, SYNC_INTERVAL_EACH, queues.syncs.len());
                // The records have already waited up to `DELAY` for the write.
                queues.syncs.push_back((self.clock.elapsed() + interval.saturating_sub(DELAY), Arc::clone(sink)));
                self.wake_keeper(queues);
            }
            Next::Retry => self.queues().retries.push_back((self.clock.elapsed() + RETRY, Arc::clone(sink))),
        }
    }

    fn sync(&self, sink: &Arc<Sink>) {
        if sink.sync() {
            self.queue(sink);
        }
    }

    // Does one piece of work with the queues unlocked. With `all`, all work is due.
    fn write_step<'a>(&'a self, mut queues: MutexGuard<'a, Queues>, all: bool) -> (Step, MutexGuard<'a, Queues>) {
        let now = self.clock.elapsed();
        let is_due = |due: Duration| all || due <= now + SLACK;
        let Queues { dirty, delayed, retries, .. } = &mut *queues;
        let next = retries.front().into_iter().chain(delayed.front()).map(|&(due, _)| due).min();
        let sink = match next {
            Some(due) if is_due(due) && retries.front().is_some_and(|&(first, _)| first == due) => {
                retries.pop_front().map(|(_, sink)| sink)
            }
            Some(due) if is_due(due) => delayed.pop_front().map(|(_, sink)| sink).inspect(|sink| sink.end_delay()),
            _ => dirty.pop_front(),
        };
        let Some(sink) = sink else {
            // A direct write wakes no thread, so this one checks it regularly.
            let look = (self.direct.is_some() && !queues.ended).then(|| now + LOOK);
            self.report_stall(now);
            return (next.into_iter().chain(look).min().map_or(Step::Idle, Step::Until), queues);
        };
        drop(queues);
        self.write(&sink);
        (Step::Done, self.queues())
    }

    fn keep_step<'a>(&'a self, mut queues: MutexGuard<'a, Queues>, all: bool) -> (Step, MutexGuard<'a, Queues>) {
        let now = self.clock.elapsed();
        if let Some(job) = queues.jobs.pop_front() {
            drop(queues);
            job();
            return (Step::Done, self.queues());
        }
        match queues.syncs.pop_front() {
            Some((due, sink)) if all || due <= now + SLACK => {
                drop(queues);
                self.sync(&sink);
                (Step::Done, self.queues())
            }
            Some(later) => {
                let due = later.0;
                queues.syncs.push_front(later);
                (Step::Until(due), queues)
            }
            None => (Step::Idle, queues),
        }
    }

    // Runs until the last handle is dropped and no work is left.
    fn run(&self, take: Take, new: &Condvar, sleeps: Sleeps) {
        let mut queues = self.queues();
        loop {
            let ended = queues.ended;
            let (step, unlocked) = take(self, queues, ended);
            if ended && step == Step::Idle {
                return;
            }
            queues = self.wait(step, unlocked, (new, sleeps));
        }
    }

    fn wait<'a>(
        &self,
        step: Step,
        mut queues: MutexGuard<'a, Queues>,
        (new, sleeps): (&Condvar, Sleeps),
    ) -> MutexGuard<'a, Queues> {
        if queues.ended || step == Step::Done {
            return queues;
        }
        *sleeps(&mut queues) = true;
        let mut queues = if let Step::Until(due) = step {
            let waited = new.wait_timeout(queues, due.saturating_sub(self.clock.elapsed()));
            waited.unwrap_or_else(PoisonError::into_inner).0
        } else {
            new.wait(queues).unwrap_or_else(PoisonError::into_inner)
        };
        *sleeps(&mut queues) = false;
        queues
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pace(least: Duration, each: Duration, waiting: usize) -> Duration {
    least.max(each.saturating_mul(waiting.try_into().unwrap_or(u32::MAX)))
}
