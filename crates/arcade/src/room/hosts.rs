//! Where those in a room really come from. The room itself knows pseudonyms; this is for its host, who can ban an address.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use netcore::{HostId, PeerId};

/// The hosts of those who are connected, as many as these.
#[derive(Debug, Default)]
pub(crate) struct Hosts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    // The last address that was replaced by a pseudonym, and its host. Whoever it is connects next, or not at all.
    next: Option<(String, HostId)>,
    peers: BTreeMap<PeerId, HostId>,
    // The last one who was closed, of whom the room may have to tell something yet.
    last: Option<(PeerId, HostId)>,
}

impl Hosts {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody at this host is about to connect, whom the room knows by another address.
    pub(crate) fn expect(&self, shown: String, host: HostId) {
        self.state().next = Some((shown, host));
    }

    /// Somebody has connected. `host` is that of the address if it is no pseudonym, or what else is known.
    pub(crate) fn connected(&self, peer: PeerId, address: &str, host: Option<HostId>) {
        let mut state = self.state();
        let expected = state.next.take().filter(|(shown, _)| shown == address).map(|(_, host)| host);
        if let Some(host) = expected.or(host) {
            state.peers.insert(peer, host);
        }
    }

    /// Somebody is not connected any more.
    pub(crate) fn closed(&self, peer: PeerId) {
        let mut state = self.state();
        if let Some(host) = state.peers.remove(&peer) {
            state.last = Some((peer, host));
        }
    }

    /// The host of somebody who is connected, or was closed just now, if it is known.
    pub(crate) fn of(&self, peer: PeerId) -> Option<HostId> {
        let state = self.state();
        let last = || state.last.filter(|(last, _)| *last == peer).map(|(_, host)| host);
        state.peers.get(&peer).copied().or_else(last)
    }
}
