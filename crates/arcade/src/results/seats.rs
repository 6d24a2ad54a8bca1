//! What the hub knows of the seats of a room besides what they say: who has proved a name, and who is a bot.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use store::Kind;

/// Seats of a room of which something is known.
const MAX_KNOWN: usize = 4_096;

/// The known seats of a room, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    known: Mutex<HashMap<String, (String, Kind)>>,
}

impl Seats {
    fn known(&self) -> MutexGuard<'_, HashMap<String, (String, Kind)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that whoever has this address may use this name.
    pub(crate) fn note(&self, address: SocketAddr, name: &str, kind: Kind) {
        let mut known = self.known();
        if known.len() >= MAX_KNOWN {
            // Sockets that were never let in; the name of whoever is hit becomes unproven.
            let any = known.keys().next().cloned();
            any.and_then(|any| known.remove(&any));
        }
        known.insert(address_text(address), (name.to_owned(), kind));
    }

    /// How far this name is to be trusted at this address.
    pub(crate) fn kind(&self, address: Option<&str>, name: &str) -> Kind {
        let known = self.known();
        known.get(address.unwrap_or_default()).filter(|(own, _)| own == name).map_or(Kind::Unproven, |(_, kind)| *kind)
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
