//! What everybody was told by a server, over all its lives.

use std::{
    collections::{BTreeMap, HashSet},
    net::SocketAddr,
};

use bytes::{Bytes, BytesMut};
use netcore::{Log, PeerId};
use netshell::ConnectionId;

/// What each peer was told, in order. A history that was told at once is one piece.
pub type Told = BTreeMap<PeerId, Vec<Bytes>>;

/// At which transport somebody is, and at which of its connections.
type Place = (usize, ConnectionId);

/// What everybody was told, by the numbers that the host gives its peers.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) told: Told,
    /// All digests that the room has had.
    pub(super) digests: HashSet<u64>,
    places: BTreeMap<Place, PeerId>,
    // Counts as the host does.
    next_peer: u64,
    // What counts as told to those who are told anything more: what came before that is safe then.
    follows: Told,
    // Those who were there before the server was killed.
    expected: BTreeMap<SocketAddr, PeerId>,
}

impl Ledger {
    pub(super) fn open(&mut self, place: Place) {
        self.places.insert(place, PeerId(self.next_peer));
        self.next_peer += 1;
    }

    pub(super) fn adopt(&mut self, place: Place, address: SocketAddr) {
        if let Some(peer) = self.expected.remove(&address) {
            self.places.insert(place, peer);
        }
    }

    pub(super) fn tell(&mut self, place: Place, frame: Bytes) {
        // Whoever is only told its farewell once more is no peer.
        if let Some(peer) = self.places.get(&place) {
            if let Some(follows) = self.follows.remove(peer) {
                self.told.insert(*peer, follows);
            }
            self.told.entry(*peer).or_default().push(frame);
        }
    }

    /// The server is gone.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.expected.clear();
    }

    /// What was told is the front of `follows`, but for what a power cut has taken away.
    pub(super) fn go_on(&mut self, follows: Told) {
        self.told.retain(|peer, _| follows.contains_key(peer));
        for (peer, told) in &mut self.told {
            let most = follows.get(peer).map_or(0, Vec::len);
            told.truncate(most);
        }
        self.follows = follows;
    }

    /// A server goes on, with these peers.
    pub(super) fn resume(&mut self, next: PeerId, peers: impl Iterator<Item = (SocketAddr, PeerId)>) {
        self.clear();
        self.next_peer = next.0;
        self.expected.extend(peers);
    }

    /// All who were there are back, or gone.
    pub(super) fn resumed(&mut self) {
        self.expected.clear();
    }
}

/// A history as its bytes.
pub(crate) fn bytes_of(log: &Log) -> Bytes {
    let mut bytes = BytesMut::new();
    log.segments().for_each(|segment| bytes.extend_from_slice(segment));
    bytes.freeze()
}
