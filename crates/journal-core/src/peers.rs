use std::collections::{BTreeMap, BTreeSet};

use netcore::{DisconnectReason, Input, PeerId};

use crate::record::Peer;

/// A new peer gets the smallest free slot. The present peers alone determine it, so a replay assigns the same slots
/// from the beginning or from any snapshot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peers {
    present: BTreeMap<PeerId, (u32, Peer)>,
    taken: BTreeSet<u32>,
    // All slots below are in use.
    full_below: u32,
    next_peer: u64,
}

impl Peers {
    pub(crate) fn restore(next_peer: PeerId, peers: &[(u32, Peer)]) -> Self {
        let mut restored = Self { next_peer: next_peer.0, ..Self::default() };
        for (slot, peer) in peers {
            restored.connect(*slot, peer.clone());
        }
        restored
    }

    pub(crate) fn connect(&mut self, slot: u32, peer: Peer) {
        self.next_peer = self.next_peer.max(peer.peer.0.saturating_add(1));
        self.close(peer.peer);
        self.taken.insert(slot);
        self.present.insert(peer.peer, (slot, peer));
        while self.taken.contains(&self.full_below) {
            self.full_below += 1;
        }
    }

    pub(crate) const fn free_slot(&self) -> u32 {
        self.full_below
    }

    pub(crate) fn close(&mut self, peer: PeerId) -> Option<Peer> {
        let (slot, peer) = self.present.remove(&peer)?;
        self.taken.remove(&slot);
        self.full_below = self.full_below.min(slot);
        Some(peer)
    }

    /// Returns the closed peers.
    pub(crate) fn follow<M>(&mut self, input: &Input<'_, M>, closed: impl Iterator<Item = PeerId>) -> Vec<Peer> {
        match input {
            // A peer that only shut down its sending half stays until the room closes it.
            Input::Disconnected { peer, why } if *why != DisconnectReason::Left => {
                self.close(*peer);
            }
            _ => {
                if let Some(peer) = Peer::of(input) {
                    self.connect(self.free_slot(), peer);
                }
            }
        }
        closed.filter_map(|peer| self.close(peer)).collect()
    }

    /// `None` if it concerns an unknown peer.
    pub(crate) fn slot_of<M>(&self, input: &Input<'_, M>) -> Option<u32> {
        match input {
            Input::Connected { .. } => Some(self.free_slot()),
            _ => input.peer().map_or(Some(0), |peer| self.slot(peer)),
        }
    }

    pub(crate) fn slot(&self, peer: PeerId) -> Option<u32> {
        self.present.get(&peer).map(|&(slot, _)| slot)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(u32, Peer)> {
        self.present.values()
    }

    pub(crate) fn get(&self, peer: PeerId) -> Option<&Peer> {
        self.present.get(&peer).map(|(_, peer)| peer)
    }

    pub(crate) const fn next(&self) -> PeerId {
        PeerId(self.next_peer)
    }
}
