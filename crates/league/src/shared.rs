//! A room with a second owner.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use journal_core::Journalled;
use netcore::{Admission, Input, Outbox, Outcome, PeerId, Progress, Recorded, Room, Split, Status, Time};

/// A room that can be inspected while a host owns it. Clones share the room.
pub(crate) struct Shared<E: Recorded>(Arc<Mutex<Journalled<E>>>);

impl<E: Recorded> Clone for Shared<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E: Recorded> Shared<E> {
    pub(crate) fn new(room: Journalled<E>) -> Self {
        Self(Arc::new(Mutex::new(room)))
    }

    fn room(&self) -> MutexGuard<'_, Journalled<E>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Inspects the complete state of the engine. The room itself must not call this.
    pub(crate) fn look<T>(&self, find: impl FnOnce(&E) -> T) -> T {
        find(self.room().room().engine())
    }
}

impl<E: Recorded> Room for Shared<E> {
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split {
        self.room().split(peer, bytes)
    }

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        self.room().input(now, input, out)
    }

    fn admits(&self, datagram: &[u8]) -> Admission {
        self.room().admits(datagram)
    }

    fn deadline(&self) -> Option<Time> {
        self.room().deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.room().outcome()
    }

    fn status(&self) -> Status {
        self.room().status()
    }
}
