//! Those who are connected and have not joined yet.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use netcore::{PeerId, StateError, Time};

use crate::fingerprint::{Fingerprint, SetFingerprint};

/// Clients that have not joined, and their deadlines to join.
#[derive(Debug, Clone, Default)]
pub(crate) struct Door {
    strangers: BTreeMap<PeerId, Time>,
    dues: BTreeSet<(Time, PeerId)>,
    fingerprint: SetFingerprint,
}

impl Door {
    /// Somebody has come and has until `due`.
    pub(crate) fn enter(&mut self, peer: PeerId, due: Time) {
        self.strangers.insert(peer, due);
        self.dues.insert((due, peer));
        self.fingerprint.toggle(fact(peer, due));
    }

    /// All strangers and until when they have to have joined.
    pub(crate) fn state(&self) -> Vec<(PeerId, Time)> {
        self.strangers.iter().map(|(&peer, &due)| (peer, due)).collect()
    }

    /// Restores the clients from their recorded deadlines.
    ///
    /// # Errors
    /// [`StateError`] when somebody is among them twice.
    pub(crate) fn restore(state: Vec<(PeerId, Time)>) -> Result<Self, StateError> {
        let mut door = Self::default();
        for (peer, due) in state {
            if door.has(peer) {
                return Err("somebody who is to join twice".into());
            }
            door.enter(peer, due);
        }
        Ok(door)
    }

    /// Removes a client that has joined or left; `false` if it was not here.
    pub(crate) fn leave(&mut self, peer: PeerId) -> bool {
        let Some(due) = self.strangers.remove(&peer) else { return false };
        self.dues.remove(&(due, peer));
        self.fingerprint.toggle(fact(peer, due));
        true
    }

    pub(crate) fn has(&self, peer: PeerId) -> bool {
        self.strangers.contains_key(&peer)
    }

    /// When somebody's time is up.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.dues.first().map(|&(due, _)| due)
    }

    /// Somebody whose time is up.
    pub(crate) fn late(&self, now: Time) -> Option<PeerId> {
        self.dues.first().filter(|&&(due, _)| due <= now).map(|&(_, peer)| peer)
    }

    /// All strangers.
    pub(crate) fn peers(&self) -> Vec<PeerId> {
        self.strangers.keys().copied().collect()
    }

    pub(crate) const fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }
}

fn fact(peer: PeerId, due: Time) -> Fingerprint {
    let mut fact = Fingerprint::new();
    fact.add(peer.0);
    fact.add(due.as_nanos());
    fact
}
