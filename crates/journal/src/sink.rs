//! One journal that is being written: what waits to be written, and how far it has come.

use std::{
    fmt, io, mem,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use tracing::{error, warn};

use crate::{
    Disk, SyncPolicy,
    layout::{RECORDS, State, Status},
    record,
    spool::Spool,
};

/// Bytes that wait to be written; beyond that the disk is too slow for the match.
const MAX_PENDING: usize = 64 << 20;
/// Memory of a buffer that is kept for the next write.
const MAX_SPARE: usize = 256 << 10;
/// The mark that is above all others.
const EVERYTHING: u64 = u64::MAX;

/// What is known when a journal is taken up: a new one, or one whose end was found by reading it.
#[derive(Debug)]
pub(crate) struct Start {
    /// Where the next record goes.
    pub(crate) offset: u64,
    /// The checksum of the record before.
    pub(crate) sum: u32,
    /// The status that the file has.
    pub(crate) status: Status,
    /// Where records are safe until they are written, if there is such a place.
    pub(crate) spool: Option<Spool>,
}

/// A journal that is written by a [`Scribe`](crate::Scribe).
///
/// Its marks are offsets in the file.
pub(crate) struct Sink {
    disk: Box<dyn Disk>,
    // For people.
    name: String,
    sync: SyncPolicy,
    max: u64,
    inner: Mutex<Inner>,
    // Held while a status is written, so that they are written in their order. The disk may take long for that, and whoever adds
    // records must not wait for it.
    slots: Mutex<()>,
    // Told when the state changes.
    changed: Condvar,
    reached: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

#[derive(Debug)]
struct Inner {
    pending: Vec<u8>,
    // Taken in turns with `pending`, so that no memory is taken for each write.
    spare: Vec<u8>,
    // Bytes of `pending` that the spool has.
    spooled: usize,
    // With what is pending.
    end: u64,
    sum: u32,
    written: u64,
    synced: u64,
    status: Status,
    taking: Taking,
    // Where records are safe until they are written.
    spool: Option<Spool>,
    // Why it was given up, until that is carried out.
    cut: Option<Cut>,
    // Somebody waits for a change.
    watched: bool,
    // It waits for the thread that writes.
    queued: bool,
    // It waits for the thread that syncs.
    due: bool,
}

/// What a journal still takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    Records,
    /// It is to be closed.
    End,
    /// It was given up.
    Cut,
}

/// Why a journal was given up.
#[derive(Debug)]
enum Cut {
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
            taking: Taking::Records,
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

    /// Whether records are still taken.
    pub(crate) fn is_open(&self) -> bool {
        self.inner().taking == Taking::Records
    }

    /// Its name, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds a record. Nothing happens with it before [`Sink::queue`].
    pub(crate) fn push(&self, body: &[u8]) {
        self.add(body, true);
    }

    /// Adds a record without which the journal tells as much.
    pub(crate) fn push_if_it_fits(&self, body: &[u8]) {
        self.add(body, false);
    }

    fn add(&self, body: &[u8], needed: bool) {
        let mut guard = self.inner();
        let inner = &mut *guard;
        if inner.taking != Taking::Records {
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
            if needed && inner.give_up(Cut::Full) {
                self.reached.store(EVERYTHING, Ordering::Release);
            }
            return;
        }
        inner.end += added as u64;
    }

    /// Makes all that was pushed safe from the end of the process, if there is a place for it. Otherwise outputs wait for the
    /// journal itself.
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

    /// Where the next record goes.
    pub(crate) fn end_offset(&self) -> u64 {
        self.inner().end
    }

    /// Whether writing it may be put off for a while: nobody waits for it.
    pub(crate) fn is_patient(&self) -> bool {
        let inner = self.inner();
        inner.spool.as_ref().is_some_and(Spool::is_whole) && inner.taking == Taking::Records
    }

    /// The mark after everything that was pushed, asked for when something is to be told. Once it is to be cut, that it is cut:
    /// whoever is told anything that the journal does not know must not find it open after a crash.
    pub(crate) fn mark(&self) -> u64 {
        let mut inner = self.inner();
        self.spool_all(&mut inner);
        inner.end + u64::from(inner.taking == Taking::Cut)
    }

    /// Where the next record goes, and the checksum of the one before.
    pub(crate) fn position(&self) -> (u64, u32) {
        let inner = self.inner();
        (inner.end, inner.sum)
    }

    /// The mark up to which everything is safe, as far as the policy asks for it.
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
        // It may have been reached while the waker was put there.
        if self.reached() > above { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Stops waiting for a disk that does not answer.
    pub(crate) fn give_up(&self) {
        let mut inner = self.inner();
        if inner.taking != Taking::Records {
            // It is full or closed, and the disk does not even take that.
            drop(inner);
            return self.reach(EVERYTHING);
        }
        inner.give_up(Cut::Hung);
        drop(inner);
        self.reach(EVERYTHING);
        warn!(
            journal = self.name,
            "the disk does not answer: the match goes on without its journal, which ends here and cannot be resumed from"
        );
    }

    /// Whether it has to be written, and does not wait for that already. Then it does.
    pub(crate) fn queue(&self) -> bool {
        let mut inner = self.inner();
        let wanted = !inner.queued && inner.has_work();
        inner.queued |= wanted;
        wanted
    }

    /// Takes no more records; the next [`Sink::write`] closes it.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        if inner.taking == Taking::Records {
            inner.taking = Taking::End;
        }
    }

    /// Waits until it is closed or cut, at most that long. Whether it is.
    pub(crate) fn finish(&self, patience: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.inner(), patience, |inner| inner.status.state == State::Open);
        let (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.status.state != State::Open
    }

    /// Waits until all that was pushed is written, at most that long.
    pub(crate) fn drain(&self, patience: Duration) {
        let unwritten = |inner: &mut Inner| inner.status.state == State::Open && inner.written < inner.end;
        let mut inner = self.inner();
        inner.watched = true;
        drop(self.changed.wait_timeout_while(inner, patience, unwritten));
    }

    /// Writes all that waits, or carries out its end. Whether it wants to be synced some time later.
    pub(crate) fn write(&self) -> bool {
        let mut guard = self.inner();
        let inner = &mut *guard;
        inner.queued = false;
        if inner.status.state != State::Open {
            return false;
        }
        // It has no gaps.
        self.spool_all(inner);
        inner.spooled = 0;
        let mut bytes = mem::replace(&mut inner.pending, mem::take(&mut inner.spare));
        let (at, hung) = (inner.written, matches!(inner.cut, Some(Cut::Hung)));
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
        if inner.taking == Taking::End && inner.pending.is_empty() {
            drop(inner);
            self.end();
            return false;
        }
        let due = !inner.due && inner.written > inner.status.synced;
        inner.due |= due;
        due
    }

    fn write_out(&self, at: u64, bytes: &[u8]) -> Result<(), Cut> {
        self.disk.write_at(at, bytes).map_err(|error| Cut::Failed("written to", error))?;
        match self.sync {
            SyncPolicy::Always => self.disk.sync().map_err(|error| Cut::Failed("synced", error)),
            SyncPolicy::Interval => Ok(()),
        }
    }

    fn wrote(&self, end: u64) {
        let mut inner = self.inner();
        inner.written = end;
        if self.sync == SyncPolicy::Always {
            inner.synced = end;
        }
        let given_up = matches!(inner.cut, Some(Cut::Hung));
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

    /// Makes sure that a power cut loses nothing of what was written so far, and says so in the file. Whether that failed, so
    /// that it has to be cut by [`Sink::write`].
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
            self.inner().give_up(Cut::Failed("synced", error));
            return true;
        }
        let _order = self.order();
        let mut inner = self.inner();
        inner.synced = inner.synced.max(written);
        if inner.status.state == State::Open && inner.cut.is_none() {
            let status = Status { sequence: inner.status.sequence + 1, synced: inner.synced, ..inner.status };
            inner.status = status;
            drop(inner);
            // If it fails, the next write will too.
            let _ = self.disk.write_at(status.offset(), &status.to_bytes());
        }
        false
    }

    // The end in good order.
    fn end(&self) {
        let _order = self.order();
        let status = self.ended(State::Closed);
        let ended = self.disk.sync().and_then(|()| {
            self.disk.write_at(status.offset(), &status.to_bytes())?;
            self.disk.sync()
        });
        if let Err(error) = ended {
            warn!(journal = self.name, %error, "the end of the journal may be lost in a power cut");
        }
        self.become_state(status);
    }

    // Leaves what is whole, and says that it is not everything.
    fn cut(&self, why: &Cut) {
        let _order = self.order();
        let status = self.ended(State::Cut);
        // The other slot has to be on the disk while this one is written, if the disk still takes anything.
        let _ = self.disk.sync();
        let cleared = self.disk.truncate(status.end);
        let marked = self.disk.write_at(status.offset(), &status.to_bytes());
        let _ = self.disk.sync();
        let journal = &self.name;
        match why {
            Cut::Full => warn!(
                journal,
                max = self.max,
                "the journal has its largest size: the match goes on without it, and cannot be resumed; --journal-max allows more"
            ),
            Cut::Hung => {}
            Cut::Failed(what, error) => warn!(
                journal,
                %error,
                "the journal cannot be {what}: the match goes on without it, and cannot be resumed from it"
            ),
        }
        if let Err(error) = cleared.and(marked) {
            error!(journal, %error, "the journal cannot even be marked as cut: delete it, it does not tell the whole match");
        }
        self.become_state(status);
    }

    fn ended(&self, state: State) -> Status {
        let inner = self.inner();
        let end = inner.written.max(RECORDS);
        let synced = if state == State::Closed { end } else { inner.synced.min(end) };
        Status { sequence: inner.status.sequence + 1, state, synced, end }
    }

    fn become_state(&self, status: Status) {
        let mut inner = self.inner();
        inner.status = status;
        if let Some(spool) = inner.spool.take() {
            spool.remove();
        }
        drop(inner);
        self.changed.notify_all();
        self.reach(EVERYTHING);
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
        self.status.state == State::Open && (!self.pending.is_empty() || self.taking != Taking::Records)
    }

    // The first reason counts. Whether that is safe from the end of the process already.
    fn give_up(&mut self, cut: Cut) -> bool {
        self.taking = Taking::Cut;
        // In case that the file cannot be told any more.
        let told = self.spool.as_mut().is_some_and(Spool::cut);
        if self.cut.is_none() && self.status.state == State::Open {
            self.cut = Some(cut);
        }
        told
    }
}
