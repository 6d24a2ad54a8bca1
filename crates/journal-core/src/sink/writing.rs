use std::{
    collections::VecDeque,
    io, mem,
    path::{Path, PathBuf},
    sync::Arc,
    task::{Context, Poll},
};

use tracing::{debug, warn};

use super::{Current, Failure, Inner, Next, Phase, Sink};
use crate::{
    Copying, Facts, Snapshot, SyncPolicy, codec,
    disk::{SharedFile, read_exact_at},
    layout::{self, SegmentPosition, SegmentState, Status},
    record,
    segment::{self, Positions},
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
    fn write_pending(&self) {
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

/// A segment that is on disk, and the checksum of its last record.
struct Begun {
    segment: Current,
    sum: u32,
}

impl Sink {
    /// Begins a segment with `base`, an earlier state, and the facts of that time. Removes segments beyond the maximum
    /// size. If the new segment cannot be written, the current one grows.
    pub(crate) fn rotate(&self, base: Snapshot, facts: &Facts) {
        let mut older = self.wait_for(&self.writing);
        if self.inner().written < base.offset {
            // The new segment does not contain the records before the state.
            self.write_pending();
        }
        let inner = self.inner();
        if !matches!(inner.phase, Phase::Open) {
            return;
        }
        let (old, written) = (inner.segment.clone(), inner.written);
        drop(inner);
        let position = base.offset;
        match self.begin_segment(&old, (base, facts), written) {
            Ok(begun) => self.switch(&old, position, begun),
            Err(Refusal::Harmless(error)) => {
                warn!(journal = self.name, %error, "the journal cannot be continued in another file, so this one grows");
                return;
            }
            Err(Refusal::Fatal(error)) => {
                self.inner().fail(Failure { what: "continued in another file", error });
                return;
            }
        }
        older.push_back((old.path, old.positions.offset(position)));
        self.remove_oldest(&mut older);
    }

    // Writes a segment with all records since `base`. It gets its name when it is on disk.
    fn begin_segment(&self, old: &Current, (base, facts): (Snapshot, &Facts), written: u64) -> Result<Begun, Refusal> {
        let place = SegmentPosition { number: old.number + 1, position: Some(base.offset) };
        let path = segment::path_of(&self.journal, place.number);
        let unfinished = segment::unfinished(&path);
        match self.disk.remove(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let file = self.disk.create(&unfinished)?;
        let filled = self.fill(&file, old, (place, base, facts), written).and_then(|filled| {
            self.disk.rename(&unfinished, &path)?;
            Ok(filled)
        });
        let (positions, status, sum) = match filled {
            Ok(filled) => filled,
            Err(error) => {
                let _ = self.disk.remove(&unfinished);
                return Err(error);
            }
        };
        if let Err(error) = self.disk.sync_directory(path.parent().unwrap_or(Path::new(""))) {
            // Either segment may be found after a power cut. The old one will be cut.
            let cut = Status { sequence: status.sequence + 1, state: SegmentState::Cut, end: status.synced, ..status };
            let _ = file.write_at(cut.offset(), &cut.to_bytes()).and_then(|()| file.sync());
            let _ = self.disk.remove(&path);
            return Err(Refusal::Fatal(error));
        }
        let segment = Current { file, path, number: place.number, positions, status };
        Ok(Begun { segment, sum })
    }

    fn fill(
        &self,
        file: &SharedFile,
        old: &Current,
        (place, base, facts): (SegmentPosition, Snapshot, &Facts),
        written: u64,
    ) -> Result<(Positions, Status, u32), Refusal> {
        if !file.try_lock()? {
            return Err(Refusal::Harmless(io::ErrorKind::ResourceBusy.into()));
        }
        let from = old.positions.offset(base.offset);
        let mut tail = vec![0; usize::try_from(old.positions.offset(written) - from).map_err(io::Error::other)?];
        read_exact_at(&*old.file, from, &mut tail)?;
        // Its new checksum would make damage look like a valid record.
        if !record::are_whole(&tail, base.sum) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the last write is damaged").into());
        }
        let status = Status { sequence: 0, state: SegmentState::Open, synced: 0, end: 0 };
        let mut bytes = layout::front(place, status);
        let (mut head, mut sum) = (vec![], 0);
        codec::encode(&self.head.clone().with_facts(facts).with_base(Some(base)), &mut head);
        record::put(&head, &mut sum, &mut bytes);
        let positions = Positions::new(place, bytes.len() as u64);
        record::copy(&tail, &mut sum, &mut bytes);
        file.write_at(0, &bytes)?;
        // The part that the new segment omits must be in the old one. After a failed sync, the system may consider data
        // as written that never reaches the disk.
        old.file.sync().map_err(Refusal::Fatal)?;
        file.sync()?;
        let status = Status { sequence: 1, synced: bytes.len() as u64, ..status };
        file.write_at(status.offset(), &status.to_bytes())?;
        file.sync()?;
        Ok((positions, status, sum))
    }

    fn switch(&self, old: &Current, position: u64, Begun { segment, mut sum }: Begun) {
        let mut inner = self.inner();
        let mut pending = Vec::with_capacity(inner.pending.len());
        record::copy(&inner.pending, &mut sum, &mut pending);
        (inner.pending, inner.sum, inner.segment) = (pending, sum, segment);
        inner.synced = inner.written;
        drop(inner);
        let _order = self.order();
        let end = old.positions.offset(position);
        let status = Status { sequence: old.status.sequence + 1, state: SegmentState::Continued, synced: end, end };
        // A reader finds the next segment even without this status.
        let _ = old.file.write_at(status.offset(), &status.to_bytes());
    }

    fn remove_oldest(&self, older: &mut VecDeque<(PathBuf, u64)>) {
        let inner = self.inner();
        let mut kept = older.iter().map(|(_, length)| length).sum::<u64>() + inner.segment.positions.offset(inner.end);
        drop(inner);
        while kept > self.max
            && let Some((path, length)) = older.pop_front()
        {
            kept -= length;
            match self.disk.remove(&path) {
                Ok(()) => debug!(journal = self.name, segment = %path.display(), "removed the oldest segment"),
                Err(error) => warn!(journal = self.name, %error, segment = %path.display(), "cannot remove a segment"),
            }
        }
    }
}

enum Refusal {
    /// The current segment can be continued.
    Harmless(io::Error),
    /// The current segment cannot be continued: the state after a power cut is unknown.
    Fatal(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Harmless(error)
    }
}

impl Sink {
    pub(crate) const fn copy(&self) -> Option<&Arc<dyn Copying>> {
        self.copy.as_ref()
    }

    pub(crate) fn begin_copy(&self, base: Snapshot, facts: &Facts) {
        let Some(copy) = &self.copy else { return };
        let (mut head, position) = (vec![], base.offset);
        codec::encode(&self.head.clone().with_facts(facts).with_base(Some(base)), &mut head);
        copy.begin(self.head.id, position, head);
    }

    /// The position that is safe here, and in the copy if outputs wait for it.
    pub(crate) fn reached_with_copy(&self) -> u64 {
        let copied = self.copy().and_then(|copy| copy.reached());
        self.reached().min(copied.unwrap_or(u64::MAX))
    }

    pub(crate) fn poll_with_copy(&self, above: u64, context: &Context<'_>) -> Poll<()> {
        let Some(copy) = self.copy().filter(|copy| copy.reached().is_some()) else {
            return self.poll_reached(above, context);
        };
        copy.wake(context);
        match self.poll_reached(above, context) {
            Poll::Ready(()) if self.reached_with_copy() > above || self.failure().is_some() => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}
