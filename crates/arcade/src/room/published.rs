//! A room that tells pages of its status and of its scores.

use std::sync::Arc;

use journal_core::Journalled;
use netcore::{Input, Outbox, Progress, Recorded, Room, Status, Time};
use tokio::sync::watch;

use super::{
    counters::Counters,
    forward::forward,
    fuse::Fuse,
    info::{Info, phase},
};
use crate::games::Shown;

/// A room that tells pages of its status and of its scores.
pub(crate) struct Published<E: Recorded> {
    room: Fuse<Journalled<E>>,
    info: Arc<watch::Sender<Info>>,
    status: Status,
    // Of what is shown; none before it was looked at.
    version: Option<u64>,
    counters: Counters,
}

impl<E: Recorded> Published<E> {
    pub(crate) const fn new(
        room: Fuse<Journalled<E>>,
        info: Arc<watch::Sender<Info>>,
        status: Status,
        counters: Counters,
    ) -> Self {
        Self { room, info, status, version: None, counters }
    }
}

impl<E: Recorded + Shown> Room for Published<E> {
    forward!(split, admits, deadline, outcome, digest);

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        let is_message = matches!(input, Input::Message { .. } | Input::Malformed { .. });
        if let (Input::Elapsed, Some(due)) = (&input, self.room.deadline()) {
            self.counters.late(now.since(due));
        }
        let progress = self.room.input(now, input, out);
        if is_message && matches!(progress, Progress::Decoded | Progress::Malformed(_)) {
            self.counters.received(progress == Progress::Decoded);
        }
        let status = self.room.status();
        if status != self.status {
            self.status = status;
            self.info.send_modify(|info| {
                info.phase = phase(status.phase);
                info.taken = status.taken;
                info.seats = status.seats;
            });
        }
        if let Some(engine) = self.room.room().map(|room| room.room().engine()) {
            let version = Some(engine.version());
            if version != self.version {
                self.version = version;
                let show = engine.show();
                self.info.send_if_modified(|info| {
                    let changed = info.show != show;
                    info.show = show;
                    changed
                });
            }
        }
        progress
    }

    fn status(&self) -> Status {
        self.status
    }
}
