//! A journal that is being written: its pending records and its progress.

mod ending;

use std::{
    fmt, io, mem,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use tracing::warn;

use crate::{
    Disk, SyncPolicy,
    layout::{State, Status},
    record,
    spool::Spool,
};

/// Limit on pending bytes; above it the disk is too slow for the match.
const MAX_PENDING: usize = 64 << 20;
/// Largest buffer that is kept for the next write, in bytes.
const MAX_SPARE: usize = 256 << 10;
/// A mark above all others.
const EVERYTHING: u64 = u64::MAX;

/// Where a journal starts or continues.
#[derive(Debug)]
pub(crate) struct Start {
    /// The offset of the next record.
    pub(crate) offset: u64,
    /// The checksum of the previous record.
    pub(crate) sum: u32,
    /// The present status of the file.
    pub(crate) status: Status,
    /// The spool, if there is one.
    pub(crate) spool: Option<Spool>,
}

/// A journal that is written by a [`Scribe`](crate::Scribe). Its marks are file offsets.
pub(crate) struct Sink {
    disk: Box<dyn Disk>,
    // For messages.
    name: String,
    sync: SyncPolicy,
    max: u64,
    inner: Mutex<Inner>,
    // Locked while a status is written, to keep statuses in order. It is separate from `inner`, because the disk may be
    // slow and adding records must not wait for it.
    slots: Mutex<()>,
    // Notified when the state changes.
    changed: Condvar,
    reached: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

#[derive(Debug)]
struct Inner {
    pending: Vec<u8>,
    // Swapped with `pending`, to avoid an allocation for each write.
    spare: Vec<u8>,
    // The part of `pending` that is in the spool, in bytes.
    spooled: usize,
    // The end of the file once everything pending is written.
    end: u64,
    sum: u32,
    written: u64,
    synced: u64,
    status: Status,
    phase: Phase,
    // Keeps pending records safe if the process is killed.
    spool: Option<Spool>,
    // Why it was given up, until that is written to the file.
    cut: Option<CutReason>,
    // Somebody waits for `changed`.
    watched: bool,
    // It is queued for the writing thread.
    queued: bool,
    // It is queued for the syncing thread.
    due: bool,
}

/// What a journal still accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Nothing more: it is being closed.
    Closing,
    /// Nothing more: it was given up.
    Cut,
}

/// Why a journal was given up.
#[derive(Debug)]
enum CutReason {
    Full,
    Hung,
    Failed(&'static str, io::Error),
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").field("name", &self.name).field("reached", &self.reached).finish_non_exhaustive()
    }
}

impl Sink {
    pub(crate) fn new(disk: Box<dyn Disk>, name: String, (sync, max): (SyncPolicy, u64), start: Start) -> Self {
        let Start { offset, sum, status, spool } = start;
        let inner = Inner {
            pending: vec![],
            spare: vec![],
            spooled: 0,
            end: offset,
            sum,
            written: offset,
            synced: status.synced,
            status,
            phase: Phase::Open,
            spool,
            cut: None,
            watched: false,
            queued: false,
            due: false,
        };
        Self {
            disk,
            name,
            sync,
            max,
            inner: Mutex::new(inner),
            slots: Mutex::new(()),
            changed: Condvar::new(),
            reached: AtomicU64::new(offset),
            waker: Mutex::new(None),
        }
    }

    /// Whether it accepts records.
    pub(crate) fn is_open(&self) -> bool {
        self.inner().phase == Phase::Open
    }

    /// Its name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds a record. It is not written before [`Sink::queue`].
    pub(crate) fn push(&self, body: &[u8]) {
        self.add(body, true);
    }

    /// Adds an optional record, unless it exceeds the size limit.
    pub(crate) fn push_if_it_fits(&self, body: &[u8]) {
        self.add(body, false);
    }

    fn add(&self, body: &[u8], needed: bool) {
        let mut guard = self.inner();
        let inner = &mut *guard;
        if inner.phase != Phase::Open {
            return;
        }
        if inner.pending.len() > MAX_PENDING {
            drop(guard);
            return self.give_up();
        }
        let before = (inner.pending.len(), inner.sum);
        record::put(body, &mut inner.sum, &mut inner.pending);
        let added = inner.pending.len() - before.0;
        if inner.end + added as u64 > self.max {
            inner.pending.truncate(before.0);
            inner.sum = before.1;
            if needed && inner.give_up(CutReason::Full) {
                self.reached.store(EVERYTHING, Ordering::Release);
            }
            return;
        }
        inner.end += added as u64;
    }

    /// Copies all pending records to the spool, if there is one. Otherwise outputs wait until the journal is written.
    pub(crate) fn spool(&self) {
        self.spool_all(&mut self.inner());
    }

    fn spool_all(&self, inner: &mut Inner) {
        let Some(spool) = &mut inner.spool else { return };
        spool.append(&inner.pending[inner.spooled..]);
        inner.spooled = inner.pending.len();
        if spool.is_whole() {
            self.reached.fetch_max(inner.end, Ordering::AcqRel);
        }
    }

    /// The offset of the next record.
    pub(crate) fn end_offset(&self) -> u64 {
        self.inner().end
    }

    /// Whether a write may be delayed, because the spool has everything.
    pub(crate) fn may_be_delayed(&self) -> bool {
        let inner = self.inner();
        inner.spool.as_ref().is_some_and(Spool::is_whole) && inner.phase == Phase::Open
    }

    /// The mark after everything that was added, for outputs that follow now. If the journal is being cut, it is the
    /// mark after the cut: once anybody receives outputs that the journal does not cover, it must not be found open
    /// after a crash.
    pub(crate) fn mark(&self) -> u64 {
        let mut inner = self.inner();
        self.spool_all(&mut inner);
        inner.end + u64::from(inner.phase == Phase::Cut)
    }

    /// The offset of the next record, and the checksum of the previous one.
    pub(crate) fn position(&self) -> (u64, u32) {
        let inner = self.inner();
        (inner.end, inner.sum)
    }

    /// The mark up to which everything is safe according to the policy.
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
        if self.reached() > above { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Stops waiting for a disk that does not respond.
    pub(crate) fn give_up(&self) {
        let mut inner = self.inner();
        if inner.phase != Phase::Open {
            // It is full or closed, and the disk does not respond to that either.
            drop(inner);
            return self.reach(EVERYTHING);
        }
        inner.give_up(CutReason::Hung);
        drop(inner);
        self.reach(EVERYTHING);
        warn!(
            journal = self.name,
            "the disk does not respond: the match continues without its journal, which is cut here and cannot be resumed"
        );
    }

    /// Whether it must be queued for writing, and is not yet. Marks it as queued then.
    pub(crate) fn queue(&self) -> bool {
        let mut inner = self.inner();
        let wanted = !inner.queued && inner.has_work();
        inner.queued |= wanted;
        wanted
    }

    /// Stops accepting records. The next [`Sink::write`] closes it.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        if inner.phase == Phase::Open {
            inner.phase = Phase::Closing;
        }
    }

    /// Waits until it is closed or cut, or the time is over. Returns whether it is.
    pub(crate) fn finish(&self, patience: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.inner(), patience, |inner| inner.status.state == State::Open);
        let (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.status.state != State::Open
    }

    /// Waits until everything that was added is written, or the time is over.
    pub(crate) fn drain(&self, patience: Duration) {
        let unwritten = |inner: &mut Inner| inner.status.state == State::Open && inner.written < inner.end;
        let mut inner = self.inner();
        inner.watched = true;
        drop(self.changed.wait_timeout_while(inner, patience, unwritten));
    }

    /// Writes everything pending, or closes or cuts the journal. Returns whether a sync must be scheduled.
    pub(crate) fn write(&self) -> bool {
        let mut guard = self.inner();
        let inner = &mut *guard;
        inner.queued = false;
        if inner.status.state != State::Open {
            return false;
        }
        // The spool must have no gaps.
        self.spool_all(inner);
        inner.spooled = 0;
        let mut bytes = mem::replace(&mut inner.pending, mem::take(&mut inner.spare));
        let (at, hung) = (inner.written, matches!(inner.cut, Some(CutReason::Hung)));
        drop(guard);
        if !bytes.is_empty() && !hung {
            match self.write_out(at, &bytes) {
                Ok(()) => self.wrote(at + bytes.len() as u64),
                Err(error) => {
                    self.inner().give_up(error);
                }
            }
        }
        bytes.clear();
        if bytes.capacity() > MAX_SPARE {
            bytes = vec![];
        }
        let mut inner = self.inner();
        inner.spare = bytes;
        if let Some(cut) = inner.cut.take() {
            drop(inner);
            self.cut(&cut);
            return false;
        }
        if inner.phase == Phase::Closing && inner.pending.is_empty() {
            drop(inner);
            self.end();
            return false;
        }
        let due = !inner.due && inner.written > inner.status.synced;
        inner.due |= due;
        due
    }

    fn write_out(&self, at: u64, bytes: &[u8]) -> Result<(), CutReason> {
        self.disk.write_at(at, bytes).map_err(|error| CutReason::Failed("written to", error))?;
        match self.sync {
            SyncPolicy::Always => self.disk.sync().map_err(|error| CutReason::Failed("synced", error)),
            SyncPolicy::Interval => Ok(()),
        }
    }

    fn wrote(&self, end: u64) {
        let mut inner = self.inner();
        inner.written = end;
        if self.sync == SyncPolicy::Always {
            inner.synced = end;
        }
        let given_up = matches!(inner.cut, Some(CutReason::Hung));
        if let Some(spool) = inner.spool.take_if(|spool| !spool.written(end)) {
            spool.remove();
        }
        if inner.watched {
            self.changed.notify_all();
        }
        drop(inner);
        if !given_up {
            self.reach(end);
        }
    }

    /// Syncs everything written so far and records that in the file. Returns whether the sync failed, so that
    /// [`Sink::write`] must cut the journal.
    #[must_use]
    pub(crate) fn sync(&self) -> bool {
        let mut inner = self.inner();
        inner.due = false;
        if inner.status.state != State::Open {
            return false;
        }
        let (written, synced) = (inner.written, inner.synced);
        drop(inner);
        if synced < written
            && let Err(error) = self.disk.sync()
        {
            self.inner().give_up(CutReason::Failed("synced", error));
            return true;
        }
        let _order = self.order();
        let mut inner = self.inner();
        inner.synced = inner.synced.max(written);
        if inner.status.state == State::Open && inner.cut.is_none() {
            let status = Status { sequence: inner.status.sequence + 1, synced: inner.synced, ..inner.status };
            inner.status = status;
            drop(inner);
            // If it fails, the next write will fail too.
            let _ = self.disk.write_at(status.offset(), &status.to_bytes());
        }
        false
    }

    fn reach(&self, mark: u64) {
        self.reached.fetch_max(mark, Ordering::AcqRel);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn order(&self) -> MutexGuard<'_, ()> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn has_work(&self) -> bool {
        self.status.state == State::Open && (!self.pending.is_empty() || self.phase != Phase::Open)
    }

    // The first reason is kept. Returns whether the spool has recorded the cut.
    fn give_up(&mut self, cut: CutReason) -> bool {
        self.phase = Phase::Cut;
        // In case that the file cannot be changed any more.
        let told = self.spool.as_mut().is_some_and(Spool::cut);
        if self.cut.is_none() && self.status.state == State::Open {
            self.cut = Some(cut);
        }
        told
    }
}
