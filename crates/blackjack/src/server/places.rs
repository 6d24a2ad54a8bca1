//! Places that are shared out over hosts, so that none can take them all.

use alloc::{collections::BTreeMap, vec::Vec};
use netcore::{Digest, Fingerprint, HostId, PeerId, StateError};

/// Who has a place, of a number that is limited.
///
/// A host gets another place only while more are free than it has already. Alone it comes to half of all; the next one to
/// half of the rest, and so on, so there is room for somebody from elsewhere as long as there is room at all.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    total: usize,
    hosts: BTreeMap<PeerId, HostId>,
    held: BTreeMap<HostId, usize>,
    pub(super) digest: Digest,
}

impl Places {
    pub(crate) fn new(total: usize) -> Self {
        Self { total, hosts: BTreeMap::new(), held: BTreeMap::new(), digest: Digest::default() }
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

    // Whether the peer had no place before.
    fn put(&mut self, peer: PeerId, host: HostId) -> bool {
        if self.hosts.insert(peer, host).is_some() {
            return false;
        }
        *self.held.entry(host).or_default() += 1;
        self.digest.toggle_fact(fact(peer, host));
        true
    }

    pub(crate) fn state(&self) -> Vec<(PeerId, HostId)> {
        self.hosts.iter().map(|(&peer, &host)| (peer, host)).collect()
    }

    /// Places that these have. Which host may have how many depends on who came when, so that is not asked again.
    /// Fails with [`StateError`] when they are too many, or one has two.
    pub(crate) fn restore(total: usize, state: Vec<(PeerId, HostId)>) -> Result<Self, StateError> {
        let mut places = Self::new(total);
        let possible = state.len() <= total && state.into_iter().all(|(peer, host)| places.put(peer, host));
        if possible { Ok(places) } else { Err("more peers than there are places, or one that has two".into()) }
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
        self.digest.toggle_fact(fact(peer, host));
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

fn fact(peer: PeerId, host: HostId) -> Fingerprint {
    let mut fact = Fingerprint::new();
    fact.add(peer.0);
    fact.add_host(host);
    fact
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
        assert_eq!((places.is_empty(), places.held.len(), places.digest.value()), (true, 0, 0));
    }
}
