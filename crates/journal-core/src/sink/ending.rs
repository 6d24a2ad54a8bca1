//! The end of a journal: closed, or cut when it cannot be written.

use std::io;

use tracing::{error, warn};

use super::{EVERYTHING, Next, Phase, Sink};
use crate::{
    disk::SharedFile,
    layout::{SegmentState, Status},
};

/// Attempts to mark a journal as cut, a second apart.
const ATTEMPTS: u32 = 10;

impl Sink {
    pub(super) fn end(&self) {
        let _order = self.order();
        let (file, status) = self.ended(SegmentState::Closed);
        let ended = file.sync().and_then(|()| {
            file.write_at(status.offset(), &status.to_bytes())?;
            file.sync()
        });
        if let Err(error) = ended {
            warn!(journal = self.name, %error, "a power cut may lose the end of the journal");
        }
        self.become_state(status);
    }

    // Outputs that the journal does not cover are not sent before the mark is on disk: otherwise, a match resumed from
    // the journal would start before the state that players know.
    pub(super) fn cut(&self) -> Next {
        let _order = self.order();
        let (file, status) = self.ended(SegmentState::Cut);
        // The other slot must be on disk before this one is written, if the disk still works.
        let _ = file.sync();
        let marked = file.write_at(status.offset(), &status.to_bytes()).and_then(|()| file.sync());
        if let Err(error) = marked {
            return self.not_cut(&error);
        }
        // Only saves space: the mark contains the end.
        let _ = file.truncate(status.end);
        if let Phase::Failed(failure) = &self.inner().phase {
            warn!(
                journal = self.name,
                error = %failure.error,
                "the journal cannot be {}: the match continues without it and cannot be resumed",
                failure.what
            );
        }
        self.become_state(status);
        Next::Wait
    }

    fn not_cut(&self, mark: &io::Error) -> Next {
        let mut inner = self.inner();
        let Phase::Failed(failure) = &inner.phase else { return Next::Wait };
        let attempts = inner.attempts + 1;
        if attempts < ATTEMPTS {
            if attempts == 1 {
                error!(
                    journal = self.name,
                    error = %failure.error,
                    "the journal can be neither {} nor marked as cut ({mark}): no output is sent until it can",
                    failure.what
                );
            }
            inner.attempts = attempts;
            return Next::Retry;
        }
        let why = format!(
            "the journal '{}' can be neither {} ({}) nor marked as cut ({mark}), so no further output is sent; it \
             contains all that was sent, and --resume continues the match once the disk works",
            self.name, failure.what, failure.error
        );
        inner.phase = Phase::Lost(why);
        drop(inner);
        self.changed.notify_all();
        self.wake();
        Next::Wait
    }

    fn ended(&self, state: SegmentState) -> (SharedFile, Status) {
        let inner = self.inner();
        let segment = &inner.segment;
        let end = segment.positions.offset(inner.written);
        let synced = if state == SegmentState::Closed { end } else { segment.status.synced.min(end) };
        (segment.file.clone(), Status { sequence: segment.status.sequence + 1, state, synced, end })
    }

    fn become_state(&self, status: Status) {
        let mut inner = self.inner();
        inner.segment.status = status;
        inner.phase = Phase::Ended;
        inner.pending = vec![];
        drop(inner);
        if let Some(copy) = self.copy().filter(|_| status.state == SegmentState::Cut) {
            copy.cut();
        }
        self.changed.notify_all();
        self.reach(EVERYTHING);
    }
}
