//! Places of clients: they are shared among hosts, have a deadline until their client has joined, and are held for players whose
//! connection was lost with the server.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use netcore::{HostId, PeerId, Time};
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// Who has a place, of a number that is limited.
///
/// A host gets another place only while more are free than it has already. Alone it comes to half of all; the next one to
/// half of the rest, and so on, so there is room for somebody from elsewhere as long as there is room at all.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    total: usize,
    hosts: BTreeMap<PeerId, HostId>,
    held: BTreeMap<HostId, usize>,
}

impl Places {
    pub(crate) fn new(total: usize) -> Self {
        Self { total, hosts: BTreeMap::new(), held: BTreeMap::new() }
    }

    /// Gives a place to a peer from this host, unless the host has its share.
    pub(crate) fn enter(&mut self, peer: PeerId, host: HostId) -> bool {
        let free = self.total.saturating_sub(self.hosts.len());
        if self.held.get(&host).copied().unwrap_or(0) >= free {
            return false;
        }
        self.put(peer, host);
        true
    }

    fn put(&mut self, peer: PeerId, host: HostId) {
        self.hosts.insert(peer, host);
        *self.held.entry(host).or_default() += 1;
    }

    pub(crate) fn state(&self) -> Vec<(PeerId, HostId)> {
        self.hosts.iter().map(|(&peer, &host)| (peer, host)).collect()
    }

    pub(crate) fn restore(total: usize, state: Vec<(PeerId, HostId)>) -> Self {
        let mut places = Self::new(total);
        for (peer, host) in state {
            places.put(peer, host);
        }
        places
    }

    /// Takes the place of a peer back; `false` if it had none.
    pub(crate) fn leave(&mut self, peer: PeerId) -> bool {
        let Some(host) = self.hosts.remove(&peer) else { return false };
        if let Some(held) = self.held.get_mut(&host) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&host);
            }
        }
        true
    }

    /// Where a peer that has a place is from.
    pub(crate) fn host(&self, peer: PeerId) -> Option<HostId> {
        self.hosts.get(&peer).copied()
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = PeerId> {
        self.hosts.keys().copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

/// Clients that have not joined, and their deadlines to join.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    deadlines: BTreeMap<PeerId, Time>,
    by_deadline: BTreeSet<(Time, PeerId)>,
}

impl Pending {
    /// Adds a client, which has until `due` to join.
    pub(crate) fn enter(&mut self, peer: PeerId, due: Time) {
        self.deadlines.insert(peer, due);
        self.by_deadline.insert((due, peer));
    }

    pub(crate) fn state(&self) -> Vec<(PeerId, Time)> {
        self.deadlines.iter().map(|(&peer, &due)| (peer, due)).collect()
    }

    pub(crate) fn restore(state: Vec<(PeerId, Time)>) -> Self {
        let mut pending = Self::default();
        for (peer, due) in state {
            pending.enter(peer, due);
        }
        pending
    }

    /// Removes a client that has joined or left; `false` if it was not here.
    pub(crate) fn leave(&mut self, peer: PeerId) -> bool {
        let Some(due) = self.deadlines.remove(&peer) else { return false };
        self.by_deadline.remove(&(due, peer));
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

/// A table and a seat there.
type Place = (u32, usize);

/// Seats for whom they are held and until when. No more than there are seats at tables.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    // Indexed by host and name, for the look-up when somebody joins.
    places: BTreeSet<(HostId, Name, Place)>,
    dues: BTreeSet<(Time, Place)>,
    by_place: BTreeMap<Place, (HostId, Name, Time)>,
}

impl Held {
    /// Holds a seat until `due` for whoever comes from this host and has this name.
    pub(super) fn hold(&mut self, host: HostId, name: Name, place: Place, due: Time) {
        self.dues.insert((due, place));
        self.by_place.insert(place, (host, name.clone(), due));
        self.places.insert((host, name, place));
    }

    /// The first seat that is held for whoever comes from this host and has this name. It is held no more.
    pub(super) fn take(&mut self, host: HostId, name: &Name) -> Option<Place> {
        let from = (host, name.clone(), (0, 0));
        let place = self.places.range(from..).next().filter(|held| (held.0, &held.1) == (host, name))?.2;
        self.remove(place);
        Some(place)
    }

    /// A seat whose time is up. It is held no more.
    pub(super) fn late(&mut self, now: Time) -> Option<Place> {
        let &(_, place) = self.dues.first().filter(|(due, _)| *due <= now)?;
        self.remove(place);
        Some(place)
    }

    fn remove(&mut self, place: Place) {
        let Some((host, name, due)) = self.by_place.remove(&place) else { return };
        self.dues.remove(&(due, place));
        self.places.remove(&(host, name, place));
    }

    /// When somebody's time is up.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.dues.first().map(|&(due, _)| due)
    }

    /// Which seats are held for whom, and until when.
    pub(super) fn state(&self) -> Vec<HeldState> {
        let held = self.by_place.iter();
        held.map(|(&(table, seat), &(host, _, due))| HeldState { table, seat, host, due }).collect()
    }
}

/// A seat that is held as plain data. The name is in the game.
#[derive(Serialize, Deserialize)]
pub(super) struct HeldState {
    pub(super) table: u32,
    pub(super) seat: usize,
    pub(super) host: HostId,
    pub(super) due: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_alone_gets_half_and_there_is_always_room_for_another_host() {
        let mut places = Places::new(64);
        let mut peers = (0..).map(PeerId);
        let mut got = Vec::new();
        for host in 0..7 {
            let host = HostId::V4([10, 0, 0, host]);
            got.push((0..100).filter(|_| places.enter(peers.next().unwrap(), host)).count());
        }
        assert_eq!(got, [32, 16, 8, 4, 2, 1, 1]);
        assert!(!places.enter(PeerId(10_000), HostId::Other), "all are taken");
        let everybody: Vec<PeerId> = places.peers().collect();
        assert!(everybody.iter().all(|&peer| places.leave(peer)) && !places.leave(PeerId(10_000)));
        assert_eq!((places.is_empty(), places.held.len()), (true, 0));
    }
}
