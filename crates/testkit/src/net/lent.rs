//! A room that tests can look into while a host has it.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use journal::Journalled;
use netcore::{Admission, Engine, Hosted, Outbox, Outcome, Progress, Recorded, Room, RoomInput, Status, Time};

use super::world::Shared;

/// A room that shows its engine, whatever else it does.
pub(super) trait Inhabited<E>: Room + Send + Sync {
    fn inhabitant(&self) -> &E;
}

impl<E: Engine> Inhabited<E> for Hosted<E>
where
    Self: Send + Sync + 'static,
{
    fn inhabitant(&self) -> &E {
        self.engine()
    }
}

impl<E: Recorded> Inhabited<E> for Journalled<E>
where
    Hosted<E>: Send + Sync + 'static,
{
    fn inhabitant(&self) -> &E {
        self.room().engine()
    }
}

/// A room with an engine, shared with whoever looks.
pub(super) struct Lent<E: Engine> {
    room: Arc<RwLock<Box<dyn Inhabited<E>>>>,
    shared: Shared,
}

/// A look at an engine.
pub struct EngineRef<'a, E: Engine>(RwLockReadGuard<'a, Box<dyn Inhabited<E>>>);

impl<E: Engine> Deref for EngineRef<'_, E> {
    type Target = E;

    fn deref(&self) -> &E {
        self.0.inhabitant()
    }
}

impl<E: Engine + fmt::Debug> fmt::Debug for EngineRef<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<E: Engine> fmt::Debug for Lent<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").finish_non_exhaustive()
    }
}

impl<E: Engine> Clone for Lent<E> {
    fn clone(&self) -> Self {
        Self { room: Arc::clone(&self.room), shared: self.shared.clone() }
    }
}

impl<E: Engine> Lent<E> {
    pub(super) fn new(room: impl Inhabited<E> + 'static, shared: Shared) -> Self {
        Self { room: Arc::new(RwLock::new(Box::new(room))), shared }
    }

    pub(super) fn engine(&self) -> EngineRef<'_, E> {
        EngineRef(self.read())
    }

    fn read(&self) -> RwLockReadGuard<'_, Box<dyn Inhabited<E>>> {
        self.room.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Engine> Room for Lent<E> {
    fn input(&mut self, now: Time, input: RoomInput<'_>, out: &mut Outbox) -> Progress {
        let mut room = self.room.write().unwrap_or_else(PoisonError::into_inner);
        let progress = room.input(now, input, out);
        if let Some(ledger) = &mut self.shared.lock().ledger {
            ledger.digests.insert(room.digest());
        }
        progress
    }

    fn admits(&self, datagram: &[u8]) -> Admission {
        self.read().admits(datagram)
    }

    fn max_message(&self) -> usize {
        self.read().max_message()
    }

    fn deadline(&self) -> Option<Time> {
        self.read().deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.read().outcome()
    }

    fn digest(&self) -> u64 {
        self.read().digest()
    }

    fn status(&self) -> Status {
        self.read().status()
    }
}
