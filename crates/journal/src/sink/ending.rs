//! The end of a journal: closed, or cut when it is given up.

use tracing::{error, warn};

use super::{CutReason, EVERYTHING, Sink};
use crate::layout::{RECORDS, State, Status};

impl Sink {
    // Closes the journal.
    pub(super) fn end(&self) {
        let _order = self.order();
        let status = self.ended(State::Closed);
        let ended = self.disk.sync().and_then(|()| {
            self.disk.write_at(status.offset(), &status.to_bytes())?;
            self.disk.sync()
        });
        if let Err(error) = ended {
            warn!(journal = self.name, %error, "a power cut may lose the end of the journal");
        }
        self.become_state(status);
    }

    // Truncates the journal to what was written and marks it as incomplete.
    pub(super) fn cut(&self, why: &CutReason) {
        let _order = self.order();
        let status = self.ended(State::Cut);
        // The other slot must be on disk before this one is written, if the disk still works.
        let _ = self.disk.sync();
        let cleared = self.disk.truncate(status.end);
        let marked = self.disk.write_at(status.offset(), &status.to_bytes());
        let _ = self.disk.sync();
        let journal = &self.name;
        match why {
            CutReason::Full => warn!(
                journal,
                max = self.max,
                "the journal has reached its maximum size: the match continues without it and cannot be resumed; --journal-max allows more"
            ),
            CutReason::Hung => {}
            CutReason::Failed(what, error) => warn!(
                journal,
                %error,
                "the journal cannot be {what}: the match continues without it and cannot be resumed"
            ),
        }
        if let Err(error) = cleared.and(marked) {
            error!(journal, %error, "the journal cannot be marked as cut: delete it, because it is not complete");
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
}
