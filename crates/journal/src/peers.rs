//! Who is there, and in which slot of the journal.

use std::collections::{BTreeMap, BTreeSet};

use netcore::{Gone, PeerId};

use crate::record::{Peer, What};

/// The peers of a room.
///
/// A newcomer gets the smallest slot that nobody has. That follows from who is there alone, so whoever replays the match gives the
/// same slots, from its beginning or from any snapshot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peers {
    present: BTreeMap<PeerId, (u32, Peer)>,
    taken: BTreeSet<u32>,
    // No slot below is free.
    full_below: u32,
    next_peer: u64,
}

impl Peers {
    /// Those of a snapshot.
    pub(crate) fn restore(next_peer: PeerId, peers: &[(u32, Peer)]) -> Self {
        let mut restored = Self { next_peer: next_peer.0, ..Self::default() };
        for (slot, peer) in peers {
            restored.connect(*slot, peer.clone());
        }
        restored
    }

    /// Takes note of a newcomer, in this slot.
    pub(crate) fn connect(&mut self, slot: u32, peer: Peer) {
        self.next_peer = self.next_peer.max(peer.peer.0.saturating_add(1));
        self.close(peer.peer);
        self.taken.insert(slot);
        self.present.insert(peer.peer, (slot, peer));
        while self.taken.contains(&self.full_below) {
            self.full_below += 1;
        }
    }

    /// The slot that the next newcomer gets.
    pub(crate) const fn free_slot(&self) -> u32 {
        self.full_below
    }

    /// Forgets somebody.
    pub(crate) fn close(&mut self, peer: PeerId) -> Option<Peer> {
        let (slot, peer) = self.present.remove(&peer)?;
        self.taken.remove(&slot);
        self.full_below = self.full_below.min(slot);
        Some(peer)
    }

    /// What follows from an arrival for those who are there; newcomers get a slot by themselves. Gives those who were closed.
    pub(crate) fn follow(&mut self, what: Option<&What>, closed: impl Iterator<Item = PeerId>) -> Vec<Peer> {
        match what {
            Some(What::Connected(peer)) => self.connect(self.free_slot(), peer.clone()),
            // Whoever only closed its sending half stays until the room closes it.
            Some(What::Disconnected { peer, why }) if *why != Gone::Left => {
                self.close(*peer);
            }
            _ => {}
        }
        closed.filter_map(|peer| self.close(peer)).collect()
    }

    /// The slot in the record of an arrival; none if it is about a peer that is not there.
    pub(crate) fn slot_of(&self, what: &What) -> Option<u32> {
        match what {
            What::Connected(_) => Some(self.free_slot()),
            What::Elapsed | What::Stop(_) => Some(0),
            What::Bytes { peer, .. } | What::Refresh(peer) | What::Disconnected { peer, .. } => self.slot(*peer),
        }
    }

    /// The slot of somebody who is there.
    pub(crate) fn slot(&self, peer: PeerId) -> Option<u32> {
        self.present.get(&peer).map(|&(slot, _)| slot)
    }

    /// Everybody who is there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(u32, Peer)> {
        self.present.values()
    }

    /// Somebody who is there.
    pub(crate) fn get(&self, peer: PeerId) -> Option<&Peer> {
        self.present.get(&peer).map(|(_, peer)| peer)
    }

    /// The number of the next peer.
    pub(crate) const fn next(&self) -> PeerId {
        PeerId(self.next_peer)
    }
}
