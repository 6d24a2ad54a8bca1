//! Clients that are connected and have not joined yet.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use netcore::{Digest, Fingerprint, PeerId, StateError, Time};

/// Clients that have not joined, and their deadlines to join.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    deadlines: BTreeMap<PeerId, Time>,
    by_deadline: BTreeSet<(Time, PeerId)>,
    pub(super) digest: Digest,
}

impl Pending {
    /// Adds a client, which has until `due` to join.
    pub(crate) fn enter(&mut self, peer: PeerId, due: Time) {
        self.deadlines.insert(peer, due);
        self.by_deadline.insert((due, peer));
        self.digest.toggle_fact(fact(peer, due));
    }

    pub(crate) fn state(&self) -> Vec<(PeerId, Time)> {
        self.deadlines.iter().map(|(&peer, &due)| (peer, due)).collect()
    }

    /// Restores the clients from their recorded deadlines. Fails with [`StateError`] when somebody is among them twice.
    pub(crate) fn restore(state: Vec<(PeerId, Time)>) -> Result<Self, StateError> {
        let mut pending = Self::default();
        for (peer, due) in state {
            if pending.has(peer) {
                return Err("somebody who is to join twice".into());
            }
            pending.enter(peer, due);
        }
        Ok(pending)
    }

    /// Removes a client that has joined or left; `false` if it was not here.
    pub(crate) fn leave(&mut self, peer: PeerId) -> bool {
        let Some(due) = self.deadlines.remove(&peer) else { return false };
        self.by_deadline.remove(&(due, peer));
        self.digest.toggle_fact(fact(peer, due));
        true
    }

    pub(crate) fn has(&self, peer: PeerId) -> bool {
        self.deadlines.contains_key(&peer)
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.by_deadline.first().map(|&(due, _)| due)
    }

    /// A client whose deadline has passed.
    pub(crate) fn late(&self, now: Time) -> Option<PeerId> {
        self.by_deadline.first().filter(|&&(due, _)| due <= now).map(|&(_, peer)| peer)
    }

    pub(crate) fn peers(&self) -> Vec<PeerId> {
        self.deadlines.keys().copied().collect()
    }
}

fn fact(peer: PeerId, due: Time) -> Fingerprint {
    Fingerprint::of([peer.0, due.as_nanos()])
}
