//! A room that counts its inputs and records the facts of its events.

use std::sync::Arc;

use super::{counters::Counters, forward::forward, fuse::Fuse, register::Register};
use crate::games::Shown;
use journal_core::{Journalled, Peer};
use netcore::{Input, Outbox, Progress, Recorded, Room, Status, Time};

/// A room that counts its inputs and records the facts of its events.
pub(crate) struct Instrumented<E: Recorded> {
    room: Fuse<Journalled<E>>,
    register: Arc<Register>,
    status: Status,
    counters: Counters,
}

impl<E: Recorded> Instrumented<E> {
    pub(crate) fn new(room: Fuse<Journalled<E>>, register: Arc<Register>, status: Status, counters: Counters) -> Self {
        Self { room, register, status, counters }
    }

    /// The engine, unless it has panicked.
    pub(crate) fn engine(&self) -> Option<&E> {
        self.room.room().map(|room| room.room().engine())
    }
}

impl<E: Recorded + Shown> Room for Instrumented<E> {
    forward!(split, admits, deadline, outcome);

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
        self.status = self.room.status();
        if let Some(room) = self.room.room() {
            let address = |peer| room.peer(peer).map(|Peer { address, .. }| address.as_str());
            self.register.follow(out.since(start), self.status.phase, address);
        }
        progress
    }

    fn status(&self) -> Status {
        self.status
    }
}
