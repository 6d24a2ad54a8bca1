use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use netcore::{HostId, PeerId, Shares, Time};
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// The places of clients, shared among hosts, but not among networks: journals of earlier versions depend on it.
#[derive(Debug, Clone)]
pub(crate) struct HostQuota {
    shares: Shares,
    hosts: BTreeMap<PeerId, HostId>,
}

impl HostQuota {
    pub(crate) fn new(total: usize) -> Self {
        Self { shares: Shares::new(total).of_hosts_only(), hosts: BTreeMap::new() }
    }

    /// Returns `false` if the host has used up its share.
    pub(crate) fn enter(&mut self, peer: PeerId, host: HostId) -> bool {
        let is_admitted = self.shares.take(host).is_ok();
        if is_admitted {
            self.hosts.insert(peer, host);
        }
        is_admitted
    }

    pub(crate) fn state(&self) -> Vec<(PeerId, HostId)> {
        self.hosts.iter().map(|(&peer, &host)| (peer, host)).collect()
    }

    pub(crate) fn restore(total: usize, state: Vec<(PeerId, HostId)>) -> Self {
        let mut quota = Self::new(total);
        for (peer, host) in state {
            quota.shares.restore(host);
            quota.hosts.insert(peer, host);
        }
        quota
    }

    pub(crate) fn leave(&mut self, peer: PeerId) -> bool {
        let Some(host) = self.hosts.remove(&peer) else { return false };
        self.shares.release(host);
        true
    }

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

#[derive(Debug, Clone, Default)]
pub(crate) struct PendingJoins {
    deadlines: BTreeMap<PeerId, Time>,
    by_deadline: BTreeSet<(Time, PeerId)>,
}

impl PendingJoins {
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

    pub(crate) fn first_expired(&self, now: Time) -> Option<PeerId> {
        self.by_deadline.first().filter(|&&(due, _)| due <= now).map(|&(_, peer)| peer)
    }

    pub(crate) fn peers(&self) -> Vec<PeerId> {
        self.deadlines.keys().copied().collect()
    }
}

type TableSeat = (u32, usize);

/// Seats held for interrupted players.
#[derive(Debug, Clone, Default)]
pub(super) struct RetainedSeats {
    // Indexed by host and name, for the look-up when a player joins.
    seats: BTreeSet<(HostId, Name, TableSeat)>,
    dues: BTreeSet<(Time, TableSeat)>,
    by_seat: BTreeMap<TableSeat, (HostId, Name, Time)>,
}

impl RetainedSeats {
    pub(super) fn retain(&mut self, host: HostId, name: Name, seat: TableSeat, due: Time) {
        self.dues.insert((due, seat));
        self.by_seat.insert(seat, (host, name.clone(), due));
        self.seats.insert((host, name, seat));
    }

    pub(super) fn take(&mut self, host: HostId, name: &Name) -> Option<TableSeat> {
        let from = (host, name.clone(), (0, 0));
        let seat = self.seats.range(from..).next().filter(|entry| (entry.0, &entry.1) == (host, name))?.2;
        self.remove(seat);
        Some(seat)
    }

    pub(super) fn take_expired(&mut self, now: Time) -> Option<TableSeat> {
        let &(_, seat) = self.dues.first().filter(|(due, _)| *due <= now)?;
        self.remove(seat);
        Some(seat)
    }

    fn remove(&mut self, seat: TableSeat) {
        let Some((host, name, due)) = self.by_seat.remove(&seat) else { return };
        self.dues.remove(&(due, seat));
        self.seats.remove(&(host, name, seat));
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.dues.first().map(|&(due, _)| due)
    }

    pub(super) fn state(&self) -> Vec<RetainedSeatState> {
        let entries = self.by_seat.iter();
        entries.map(|(&(table, seat), &(host, _, due))| RetainedSeatState { table, seat, host, due }).collect()
    }
}

/// The name of the player is part of the game.
#[derive(Serialize, Deserialize)]
pub(super) struct RetainedSeatState {
    pub(super) table: u32,
    pub(super) seat: usize,
    pub(super) host: HostId,
    pub(super) due: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_shared_among_hosts_also_after_a_restart() {
        let mut quota = HostQuota::new(64);
        let mut peers = (0..).map(PeerId);
        let mut got = Vec::new();
        for host in 0..7 {
            let host = HostId::V4([10, 0, 0, host]);
            got.push((0..100).filter(|_| quota.enter(peers.next().unwrap(), host)).count());
        }
        assert_eq!(got, [32, 16, 8, 4, 2, 1, 1]);
        assert!(!quota.enter(PeerId(10_000), HostId::Other), "all are taken");
        let mut quota = HostQuota::restore(64, quota.state());
        assert!(!quota.enter(PeerId(10_000), HostId::Other), "all are still taken");
        let clients: Vec<PeerId> = quota.peers().collect();
        assert!(clients.iter().all(|&peer| quota.leave(peer)) && !quota.leave(PeerId(10_000)));
        assert_eq!((quota.is_empty(), quota.shares.in_use()), (true, 0));
    }
}
