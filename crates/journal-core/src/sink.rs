mod ending;
mod writing;

use std::{
    collections::VecDeque,
    fmt, io,
    path::PathBuf,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use crate::{
    Disk, Fact, Facts, Head, MAX_FACTS, Note,
    copying::MaybeCopying,
    disk::SharedFile,
    layout::Status,
    record,
    segment::Positions,
    sync::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, PoisonError, TryLockError},
};

/// Beyond this many pending bytes, the room waits for the disk.
pub(crate) const MAX_PENDING: usize = 64 << 20;
/// Above all positions.
const EVERYTHING: u64 = u64::MAX;
/// Size in bytes from which a segment is continued in another file, unless [`SEGMENTS`] requires a smaller one.
const MAX_SEGMENT: u64 = 16 << 20;
/// The minimum number of segments in a journal of maximum size.
const SEGMENTS: u64 = 4;

#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) journal: PathBuf,
    pub(crate) head: Head,
    pub(crate) segment: Current,
    /// Oldest first, with their lengths.
    pub(crate) older: VecDeque<(PathBuf, u64)>,
    pub(crate) position: u64,
    /// The checksum of the previous record.
    pub(crate) sum: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(crate) file: SharedFile,
    pub(crate) path: PathBuf,
    pub(crate) number: u32,
    pub(crate) positions: Positions,
    pub(crate) status: Status,
}

/// A journal that is being written by a [`Scribe`](crate::Scribe).
pub(crate) struct Sink {
    disk: Arc<dyn Disk>,
    journal: PathBuf,
    pub(crate) name: String,
    head: Head,
    // Locked while a fact is recorded, to keep facts in order.
    facts: Mutex<Facts>,
    sync: SyncPolicy,
    max: u64,
    inner: Mutex<Inner>,
    // The segments before this one. Locked while records are written, and while a segment is begun.
    writing: Mutex<VecDeque<(PathBuf, u64)>>,
    // Locked while a status is written, to keep statuses in order. Separate from `inner`, so that adding records does
    // not wait for a slow disk.
    slots: Mutex<()>,
    // Receives records while `inner` is locked.
    copy: MaybeCopying,
    changed: Condvar,
    reached: AtomicU64,
    // Whether `pending` exceeds `MAX_PENDING`.
    full: AtomicBool,
    stalled: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

#[derive(Debug)]
struct Inner {
    pending: Vec<u8>,
    // Swapped with `pending`, to save an allocation per write.
    spare: Vec<u8>,
    // Positions after all records that are added, in the file, and on disk.
    end: u64,
    written: u64,
    synced: u64,
    awaited: u64,
    sum: u32,
    segment: Current,
    phase: Phase,
    // Failed attempts to mark the journal as cut.
    attempts: u32,
    // Whether it is in the queues of the writing thread: for an immediate write, or a delayed one.
    queued: bool,
    delayed: bool,
    // Whether it is in the queue of the syncing thread.
    due: bool,
}

#[derive(Debug)]
enum Phase {
    Open,
    Closing,
    /// Not writable, and not marked as cut yet.
    Failed(Failure),
    /// Neither writable nor marked as cut: the room must not send any more outputs.
    Lost(String),
    /// Closed or cut.
    Ended,
}

#[derive(Debug)]
struct Failure {
    // As in "cannot be ...".
    what: &'static str,
    error: io::Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Outputs wait for it.
    Now,
    /// In a batch with the records that follow.
    Later,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Until the journal is queued again.
    Wait,
    Sync,
    Retry,
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").field("name", &self.name).field("reached", &self.reached).finish_non_exhaustive()
    }
}

impl Sink {
    /// `max` is in bytes.
    pub(crate) fn new((sync, max): (SyncPolicy, u64), start: Start, copy: MaybeCopying) -> Self {
        let Start { disk, journal, head, segment, older, position, sum } = start;
        let inner = Inner {
            pending: vec![],
            spare: vec![],
            end: position,
            written: position,
            awaited: position,
            synced: segment.positions.position(segment.status.synced).min(position),
            sum,
            segment,
            phase: Phase::Open,
            attempts: 0,
            queued: false,
            delayed: false,
            due: false,
        };
        Self {
            disk,
            name: journal.display().to_string(),
            journal,
            facts: Mutex::new(head.facts()),
            head,
            sync,
            max,
            inner: Mutex::new(inner),
            writing: Mutex::new(older),
            slots: Mutex::new(()),
            copy,
            changed: Condvar::new(),
            reached: AtomicU64::new(position),
            full: AtomicBool::new(false),
            stalled: AtomicBool::new(false),
            waker: Mutex::new(None),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.inner().phase, Phase::Open)
    }

    /// The record is written after [`Sink::queue`] is called.
    pub(crate) fn push(&self, body: &[u8]) {
        self.put(body, true);
    }

    /// Like [`push`](Self::push), but the record is not copied.
    pub(crate) fn push_own(&self, body: &[u8]) {
        self.put(body, false);
    }

    /// Returns `false` if the fact is too long, or if there are too many others.
    pub(crate) fn set_fact(&self, fact: Fact) -> bool {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let held = facts.get(&fact.key);
        if !fact.is_valid() || held.is_none() && facts.len() >= MAX_FACTS {
            return false;
        }
        if held.map_or("", String::as_str) != fact.value {
            fact.clone().apply_to(&mut facts);
            let mut body = vec![];
            if record::encode_note(&mut body, &Note::Fact(fact)) {
                self.push(&body);
            }
        }
        true
    }

    pub(crate) fn facts(&self) -> Facts {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put(&self, body: &[u8], is_copied: bool) {
        let inner = &mut *self.inner();
        if matches!(inner.phase, Phase::Open) {
            let before = inner.pending.len();
            record::put(body, &mut inner.sum, &mut inner.pending);
            let position = inner.end;
            inner.end += (inner.pending.len() - before) as u64;
            match &self.copy {
                Some(copy) if is_copied => copy.add(position, &inner.pending[before..]),
                Some(copy) => copy.skip(inner.end),
                None => {}
            }
            if inner.pending.len() > MAX_PENDING {
                self.full.store(true, Ordering::Release);
            }
        }
    }

    pub(crate) fn end_position(&self) -> u64 {
        self.inner().end
    }

    /// Whether the next snapshot should begin a new segment.
    pub(crate) fn is_segment_full(&self) -> bool {
        let inner = self.inner();
        inner.segment.positions.offset(inner.end) >= self.max_segment()
    }

    pub(crate) const fn max_segment(&self) -> u64 {
        let part = self.max / SEGMENTS;
        if part < MAX_SEGMENT { part } else { MAX_SEGMENT }
    }

    /// The position after all added records, which outputs wait for from now on. In a failed journal, it is after the
    /// cut: once a client receives outputs that the journal does not cover, the journal must not be found open.
    pub(crate) fn held_position(&self) -> u64 {
        let mut inner = self.inner();
        inner.awaited = inner.end;
        inner.end + u64::from(!matches!(inner.phase, Phase::Open | Phase::Closing))
    }

    pub(crate) fn position(&self) -> (u64, u32) {
        let inner = self.inner();
        (inner.end, inner.sum)
    }

    /// The position up to which records are safe according to the policy.
    pub(crate) fn reached(&self) -> u64 {
        self.reached.load(Ordering::Acquire)
    }

    pub(crate) fn poll_reached(&self, above: u64, context: &Context<'_>) -> Poll<()> {
        if self.reached() > above {
            return Poll::Ready(());
        }
        let mut waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        drop(waker);
        // It may have been reached before the waker was stored.
        if self.reached() > above || self.failure().is_some() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Whether no records should be added, because of the backlog.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Acquire)
    }

    pub(crate) fn set_stalled(&self, is_stalled: bool) {
        self.stalled.store(is_stalled, Ordering::Release);
    }

    /// Why outputs must no longer be sent, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.inner().phase {
            Phase::Lost(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// Marks the journal as queued. `None` if it is already queued with that urgency, or has no work.
    pub(crate) fn queue(&self) -> Option<Urgency> {
        let mut inner = self.inner();
        if inner.queued || !inner.has_work() {
            return None;
        }
        if inner.is_urgent() {
            inner.queued = true;
            return Some(Urgency::Now);
        }
        (!std::mem::replace(&mut inner.delayed, true)).then_some(Urgency::Later)
    }

    pub(crate) fn end_delay(&self) {
        self.inner().delayed = false;
    }

    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        if matches!(inner.phase, Phase::Open) {
            inner.phase = Phase::Closing;
        }
    }

    /// Waits until it is closed, cut or lost. Returns whether it is.
    pub(crate) fn finish(&self, patience: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.inner(), patience, |inner| !inner.has_ended());
        let (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.has_ended()
    }

    fn reach(&self, mark: u64) {
        self.reached.fetch_max(mark, Ordering::AcqRel);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn order(&self) -> MutexGuard<'_, ()> {
        self.wait_for(&self.slots)
    }

    // The other thread may hold the mutex while the disk works.
    fn wait_for<'a, T>(&self, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
        loop {
            match mutex.try_lock() {
                Ok(locked) => return locked,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if self.disk.give_way() => {}
                Err(TryLockError::WouldBlock) => return mutex.lock().unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn has_work(&self) -> bool {
        match self.phase {
            Phase::Open => !self.pending.is_empty(),
            Phase::Closing => true,
            // After the first attempt, the writing thread retries by itself.
            Phase::Failed(_) => self.attempts == 0,
            Phase::Ended | Phase::Lost(_) => false,
        }
    }

    // Whether outputs wait for pending records, or the journal should end.
    const fn is_urgent(&self) -> bool {
        !matches!(self.phase, Phase::Open) || self.awaited > self.end - self.pending.len() as u64
    }

    const fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended | Phase::Lost(_))
    }

    // Keeps the first failure.
    fn fail(&mut self, failure: Failure) {
        if matches!(self.phase, Phase::Open | Phase::Closing) {
            self.phase = Phase::Failed(failure);
        }
    }
}

/// The time between syncs with [`SyncPolicy::Interval`], and between updates of the status in the file with either
/// policy.
pub const SYNC_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncPolicy {
    /// Inputs are on disk: even a power cut loses no input whose outputs were sent.
    Always,
    /// Inputs were passed to the system: killing the server loses no input whose outputs were sent, but a power cut may
    /// lose those of the last [`SYNC_INTERVAL`].
    #[default]
    Interval,
}
