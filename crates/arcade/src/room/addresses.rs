//! Addresses in a room, by which those who are no persons are known.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Addresses in a room, by which bots, or the pictures of a lobby, are told from people.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<BTreeSet<SocketAddr>>);

impl Addresses {
    /// Whether a bot has this address.
    pub(crate) fn has(&self, address: SocketAddr) -> bool {
        self.set().contains(&address)
    }

    /// Whoever has this address is no person.
    pub(crate) fn insert(&self, address: SocketAddr) {
        self.set().insert(address);
    }

    /// Nobody has this address any more.
    pub(crate) fn remove(&self, address: SocketAddr) {
        self.set().remove(&address);
    }

    /// All of them.
    pub(crate) fn set(&self) -> MutexGuard<'_, BTreeSet<SocketAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
