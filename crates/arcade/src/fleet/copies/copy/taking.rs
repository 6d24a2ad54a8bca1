//! What the journal of a room tells its copy.

use std::{sync::atomic::Ordering, task::Context};

use journal_core::Copying;
use mesh::Durability;
use tokio::time::Instant;

use super::{CHUNK, MAX_WAITING, MAX_WAITING_IN_ALL, NO_PLACE, RoomCopy};

impl Copying for RoomCopy {
    fn begin(&self, journal: u64, position: u64, head: Vec<u8>) {
        let mut state = self.state();
        if state.journal != journal {
            self.forget_runs(&mut state);
            (state.journal, state.least, state.end, state.is_cut) = (journal, 0, position, false);
            (state.reached, state.needs_anchor) = (0, true);
        }
        if position < state.least {
            return;
        }
        self.take_begins(&mut state);
        if self.common.waiting.load(Ordering::Relaxed) + head.len() > MAX_WAITING_IN_ALL {
            (state.wants_anchor, state.not_before) = (true, Instant::now() + NO_PLACE);
            return;
        }
        self.common.waiting.fetch_add(head.len(), Ordering::Relaxed);
        state.begins = Some((position, head));
        state.wants_anchor = false;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        self.work.notify_one();
    }

    fn add(&self, position: u64, records: &[u8]) {
        let mut guard = self.state();
        let state = &mut *guard;
        state.end = position + records.len() as u64;
        if state.is_over {
            return;
        }
        state.since.get_or_insert_with(Instant::now);
        match state.runs.back_mut() {
            Some((from, run)) if *from + run.len() as u64 == position && run.len() + records.len() <= CHUNK => {
                run.extend_from_slice(records);
            }
            _ => state.runs.push_back((position, records.to_vec())),
        }
        state.bytes += records.len();
        let in_all = self.common.waiting.fetch_add(records.len(), Ordering::Relaxed) + records.len();
        if state.bytes > MAX_WAITING || in_all > MAX_WAITING_IN_ALL {
            self.start_over(state);
        }
    }

    fn skip(&self, position: u64) {
        self.state().end = position;
    }

    fn wants_state(&self) -> bool {
        let state = self.state();
        state.wants_anchor && state.not_before <= Instant::now()
    }

    fn flush(&self) {
        if self.state().has_work() {
            self.work.notify_one();
        }
    }

    fn reached(&self) -> Option<u64> {
        let state = self.state();
        // Somebody else may have the room, or it ends.
        if state.is_over || !self.common.is_leased() {
            return Some(0);
        }
        (self.common.durability == Durability::Cluster).then_some(state.reached)
    }

    fn lost(&self) -> Option<String> {
        self.state().is_over.then(|| "another hub has the room".to_owned())
    }

    fn is_full(&self) -> bool {
        let waits = self.common.durability == Durability::Cluster || !self.common.is_leased();
        waits && self.state().bytes > MAX_WAITING / 2
    }

    fn wake(&self, context: &Context<'_>) {
        self.state().waker = Some(context.waker().clone());
    }

    fn cut(&self) {
        let mut state = self.state();
        state.is_cut = true;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        self.work.notify_one();
    }
}
