//! What the hub knows of the seats of a room besides what they say: who owns which names.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use store::Kind;

/// Seats of a room of which something is known.
const MAX_KNOWN: usize = 4_096;

type Known = HashMap<String, Vec<String>>;

/// The names that are proven at the seats of a room, by the addresses of the seats.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    known: Mutex<Known>,
}

impl Seats {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which names whoever has this address owns.
    pub(crate) fn note(&self, address: SocketAddr, names: &[String]) {
        let mut known = self.known();
        if known.len() >= MAX_KNOWN {
            // Sockets that were never let in; the name of whoever is hit becomes unproven.
            let any = known.keys().next().cloned();
            any.and_then(|any| known.remove(&any));
        }
        known.insert(address_text(address), names.to_vec());
    }

    /// How far this name is to be trusted at this address.
    pub(crate) fn kind(&self, address: Option<&str>, name: &str) -> Kind {
        let known = self.known();
        let mut own = known.get(address.unwrap_or_default()).into_iter().flatten();
        if own.any(|own| own == name) { Kind::Proven } else { Kind::Unproven }
    }

    /// Whether this name is proven at this address.
    pub(crate) fn is_proven(&self, address: Option<&str>, name: &str) -> bool {
        self.kind(address, name) == Kind::Proven
    }

    /// The connection at this address has ended for good.
    pub(crate) fn forget(&self, address: &str) {
        self.known().remove(address);
    }
}

/// An address as rooms and journals write it.
pub(crate) fn address_text(address: SocketAddr) -> String {
    SocketAddr::new(address.ip().to_canonical(), address.port()).to_string()
}
