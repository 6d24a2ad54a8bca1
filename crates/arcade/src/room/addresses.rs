//! Addresses in a room, by which those who are no persons are known.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU16, Ordering},
    },
};

use netcore::Level;

/// Addresses in a room, by which bots are told from people, and how well they play.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<BTreeMap<SocketAddr, Level>>);

impl Addresses {
    /// Whether a bot has this address.
    pub(crate) fn has(&self, address: SocketAddr) -> bool {
        self.set().contains_key(&address)
    }

    /// How well the bot plays that has this address.
    pub(crate) fn level(&self, address: &str) -> Option<Level> {
        self.set().get(&address.parse().ok()?).copied()
    }

    /// Whoever has this address is no person.
    pub(crate) fn insert(&self, address: SocketAddr, level: Level) {
        self.set().insert(address, level);
    }

    /// Nobody has this address any more.
    pub(crate) fn remove(&self, address: SocketAddr) {
        self.set().remove(&address);
    }

    /// All of them.
    pub(crate) fn set(&self) -> MutexGuard<'_, BTreeMap<SocketAddr, Level>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An address for a watcher of the hub itself. Nobody else can have it, and the next one is another, since the watcher before may not be
/// gone yet.
pub(crate) fn own_watcher() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(1);
    SocketAddr::from((Ipv4Addr::UNSPECIFIED, NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// Whether the hub itself watches from this address.
pub(super) fn is_own_watcher(address: SocketAddr) -> bool {
    address.ip().is_unspecified()
}
