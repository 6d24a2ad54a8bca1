//! A room that tells the lobby of its status.

use std::sync::Arc;

use netcore::{Input, Outbox, Progress, Status, Time};
use tokio::sync::watch;

use super::{
    counters::Counters,
    forward::forward,
    info::{Info, phase},
};

/// A room that tells the lobby of its status.
pub(crate) struct Published<R> {
    room: R,
    info: Arc<watch::Sender<Info>>,
    status: Status,
    counters: Counters,
}

impl<R> Published<R> {
    pub(crate) const fn new(room: R, info: Arc<watch::Sender<Info>>, status: Status, counters: Counters) -> Self {
        Self { room, info, status, counters }
    }
}

impl<R: netcore::Room> netcore::Room for Published<R> {
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
        progress
    }

    fn status(&self) -> Status {
        self.status
    }
}
