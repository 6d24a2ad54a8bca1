use std::{mem, sync::Arc};

use super::{Failure, Inner, Next, Phase, Sink};
use crate::{
    SyncPolicy,
    disk::SharedFile,
    layout::Status,
    sync::{MutexGuard, Ordering, TryLockError},
};

/// Maximum bytes of a direct write by the thread of a room.
const MAX_DIRECT: usize = 64 << 10;
/// Maximum capacity of a buffer that is reused for the next write.
const MAX_SPARE: usize = 256 << 10;

impl Sink {
    pub(crate) fn write(&self) -> Next {
        // Cleared before the lock is tried, so that its holder queues the journal again.
        self.inner().queued = false;
        let _writing = match self.writing.try_lock() {
            Ok(writing) => writing,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // The journal is being continued in another file, or written by its room.
            Err(TryLockError::WouldBlock) => return Next::Wait,
        };
        let inner = self.inner();
        match inner.phase {
            Phase::Open | Phase::Closing => {}
            Phase::Failed(_) => {
                drop(inner);
                return self.cut();
            }
            Phase::Ended | Phase::Lost(_) => return Next::Wait,
        }
        drop(inner);
        self.write_pending();
        let inner = self.inner();
        match inner.phase {
            Phase::Failed(_) => {
                drop(inner);
                self.cut()
            }
            Phase::Closing if inner.pending.is_empty() => {
                drop(inner);
                self.end();
                Next::Wait
            }
            _ => Self::next(inner),
        }
    }

    /// Whether outputs wait, the pending records are few enough, and the write does not include a sync.
    pub(crate) fn may_write_directly(&self) -> bool {
        let inner = self.inner();
        self.sync == SyncPolicy::Interval
            && matches!(inner.phase, Phase::Open)
            && inner.is_urgent()
            && inner.pending.len() <= MAX_DIRECT
    }

    /// Runs in the thread of the room. Returns `None` if the writing thread has to continue.
    pub(crate) fn write_now(&self) -> Option<Next> {
        let _writing = match self.writing.try_lock() {
            Ok(writing) => writing,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.write_pending();
        let inner = self.inner();
        matches!(inner.phase, Phase::Open).then(|| Self::next(inner))
    }

    fn next(mut inner: MutexGuard<'_, Inner>) -> Next {
        let due = !inner.due && inner.written > inner.segment.positions.position(inner.segment.status.synced);
        inner.due |= due;
        if due { Next::Sync } else { Next::Wait }
    }

    /// `writing` must be locked.
    pub(super) fn write_pending(&self) {
        let mut guard = self.inner();
        let inner = &mut *guard;
        let mut bytes = mem::replace(&mut inner.pending, mem::take(&mut inner.spare));
        let (file, written) = (Arc::clone(&inner.segment.file), inner.written);
        let at = inner.segment.positions.offset(written);
        drop(guard);
        self.full.store(false, Ordering::Release);
        if !bytes.is_empty() {
            match self.write_out(&file, at, &bytes) {
                Ok(()) => self.wrote(written + bytes.len() as u64),
                Err(failure) => self.inner().fail(failure),
            }
        }
        bytes.clear();
        if bytes.capacity() > MAX_SPARE {
            bytes = vec![];
        }
        self.inner().spare = bytes;
    }

    fn write_out(&self, file: &SharedFile, at: u64, bytes: &[u8]) -> Result<(), Failure> {
        file.write_at(at, bytes).map_err(|error| Failure { what: "written to", error })?;
        match self.sync {
            SyncPolicy::Always => file.sync().map_err(|error| Failure { what: "synced", error }),
            SyncPolicy::Interval => Ok(()),
        }
    }

    fn wrote(&self, end: u64) {
        let inner = &mut *self.inner();
        inner.written = end;
        if self.sync == SyncPolicy::Always {
            inner.synced = end;
        }
        self.reach(end);
    }

    /// Records the synced position in the file. Returns whether the sync failed; [`Sink::write`] must then cut the
    /// journal.
    #[must_use]
    pub(crate) fn sync(&self) -> bool {
        let mut inner = self.inner();
        inner.due = false;
        if !matches!(inner.phase, Phase::Open | Phase::Closing) {
            return false;
        }
        let (written, synced, file) = (inner.written, inner.synced, Arc::clone(&inner.segment.file));
        drop(inner);
        if synced < written
            && let Err(error) = file.sync()
        {
            self.inner().fail(Failure { what: "synced", error });
            return true;
        }
        let _order = self.order();
        let mut inner = self.inner();
        inner.synced = inner.synced.max(written);
        if matches!(inner.phase, Phase::Open | Phase::Closing) {
            let segment = &mut inner.segment;
            let (sequence, synced) = (segment.status.sequence + 1, segment.positions.offset(written));
            segment.status = Status { sequence, synced: synced.max(segment.status.synced), ..segment.status };
            let status = segment.status;
            drop(inner);
            // If this fails, so will the next write.
            let _ = file.write_at(status.offset(), &status.to_bytes());
        }
        false
    }
}
