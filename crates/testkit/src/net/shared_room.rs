//! A room that tests can inspect while a host owns it.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use journal_core::{Journalled, digest};
use netcore::{
    Admission, Engine, Input, Outbox, Outcome, PeerId, Progress, Protocol, Recorded, Room, Split, Status, Time,
};

use super::world::Shared;

/// An engine whose room can be shared with other threads.
pub trait Hostable: Engine<Protocol: Protocol<Decoder: Send + Sync + 'static>> + Send + Sync + 'static {}

impl<E: Engine<Protocol: Protocol<Decoder: Send + Sync + 'static>> + Send + Sync + 'static> Hostable for E {}

pub(super) struct SharedRoom<E: Recorded> {
    room: Arc<RwLock<Journalled<E>>>,
    shared: Shared,
    latest: Time,
}

pub struct EngineRef<'a, E: Recorded>(RwLockReadGuard<'a, Journalled<E>>);

impl<E: Recorded> Deref for EngineRef<'_, E> {
    type Target = E;

    fn deref(&self) -> &E {
        self.0.room().engine()
    }
}

impl<E: Recorded + fmt::Debug> fmt::Debug for EngineRef<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<E: Recorded> fmt::Debug for SharedRoom<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRoom").finish_non_exhaustive()
    }
}

impl<E: Recorded> Clone for SharedRoom<E> {
    fn clone(&self) -> Self {
        Self { room: Arc::clone(&self.room), shared: self.shared.clone(), latest: self.latest }
    }
}

impl<E: Recorded> SharedRoom<E> {
    pub(super) fn new(room: Journalled<E>, shared: Shared) -> Self {
        Self { room: Arc::new(RwLock::new(room)), shared, latest: Time::ZERO }
    }

    pub(super) fn engine(&self) -> EngineRef<'_, E> {
        EngineRef(self.read())
    }

    fn read(&self) -> RwLockReadGuard<'_, Journalled<E>> {
        self.room.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Recorded> Room for SharedRoom<E> {
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split {
        self.room.write().unwrap_or_else(PoisonError::into_inner).split(peer, bytes)
    }

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        assert!(self.latest <= now, "the time of the room goes back from {:?} to {now:?}", self.latest);
        self.latest = now;
        let mut room = self.room.write().unwrap_or_else(PoisonError::into_inner);
        let progress = room.input(now, input, out);
        self.shared.lock().ledger.digests.insert(digest(room.room()));
        progress
    }

    fn admits(&self, datagram: &[u8]) -> Admission {
        self.read().admits(datagram)
    }

    fn deadline(&self) -> Option<Time> {
        self.read().deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.read().outcome()
    }

    fn status(&self) -> Status {
        self.read().status()
    }
}
