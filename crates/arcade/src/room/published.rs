//! A room that publishes its status to pages, and has the facts of its events recorded.

use std::sync::Arc;

use journal_core::{Journalled, Peer};
use netcore::{Input, Outbox, Progress, Recorded, Room, Status, Time};
use tokio::sync::watch;

use super::{
    counters::Counters,
    forward::forward,
    fuse::Fuse,
    info::{Info, phase},
    register::Register,
};
use crate::games::Shown;

/// A room that publishes its status to pages, and has the facts of its events recorded.
pub(crate) struct Published<E: Recorded> {
    room: Fuse<Journalled<E>>,
    info: Arc<watch::Sender<Info>>,
    register: Arc<Register>,
    status: Status,
    counters: Counters,
}

impl<E: Recorded> Published<E> {
    pub(crate) fn new(
        room: Fuse<Journalled<E>>,
        (info, register): (Arc<watch::Sender<Info>>, Arc<Register>),
        status: Status,
        counters: Counters,
    ) -> Self {
        Self { room, info, register, status, counters }
    }

    /// The engine, unless it has panicked.
    pub(crate) fn engine(&self) -> Option<&E> {
        self.room.room().map(|room| room.room().engine())
    }
}

impl<E: Recorded + Shown> Room for Published<E> {
    forward!(split, admits, deadline, outcome, digest);

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        let is_message = matches!(input, Input::Message { .. } | Input::Malformed { .. });
        if let (Input::Elapsed, Some(due)) = (&input, self.room.deadline()) {
            self.counters.late(now.since(due));
        }
        let start = out.position();
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
        if let Some(room) = self.room.room() {
            let address = |peer| room.peer(peer).map(|Peer { address, .. }| address.as_str());
            self.register.follow(out.since(start), status.phase, address, |game| room.room().engine().odd(game));
        }
        progress
    }

    fn status(&self) -> Status {
        self.status
    }
}
