//! A room that tests can look into while a host has it.

use std::{
    ops::Deref,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use netcore::{Admission, Engine, Hosted, Outbox, Outcome, Progress, Room, RoomInput, Status, Time};

/// A room with an engine, shared with whoever looks.
#[derive(Debug)]
pub(super) struct Lent<E: Engine>(Arc<RwLock<Hosted<E>>>);

/// A look at an engine.
#[derive(Debug)]
pub struct EngineRef<'a, E: Engine>(RwLockReadGuard<'a, Hosted<E>>);

impl<E: Engine> Deref for EngineRef<'_, E> {
    type Target = E;

    fn deref(&self) -> &E {
        self.0.engine()
    }
}

impl<E: Engine> Clone for Lent<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E: Engine> Lent<E> {
    pub(super) fn new(engine: E) -> Self {
        Self(Arc::new(RwLock::new(Hosted::new(engine))))
    }

    pub(super) fn engine(&self) -> EngineRef<'_, E> {
        EngineRef(self.read())
    }

    fn read(&self) -> RwLockReadGuard<'_, Hosted<E>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Engine> Room for Lent<E> {
    fn input(&mut self, now: Time, input: RoomInput<'_>, out: &mut Outbox) -> Progress {
        self.0.write().unwrap_or_else(PoisonError::into_inner).input(now, input, out)
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
