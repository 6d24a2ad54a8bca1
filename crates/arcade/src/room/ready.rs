//! Which seats of browsers have something to do.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use netshell::ConnectionId;

/// The seats that have something to do, and the task of the room, which is woken for them.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    state: Mutex<ReadyState>,
}

#[derive(Debug, Default)]
pub(crate) struct ReadyState {
    pub(crate) seats: VecDeque<ConnectionId>,
    pub(crate) waker: Option<Waker>,
}

impl Ready {
    /// The seat has something to do.
    pub(crate) fn note(&self, seat: u64) {
        self.state().seats.push_back(ConnectionId(seat));
        self.wake();
    }

    /// Wakes the task of the room.
    pub(crate) fn wake(&self) {
        let waker = self.state().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    // What it is about.
    pub(crate) fn state(&self) -> MutexGuard<'_, ReadyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
