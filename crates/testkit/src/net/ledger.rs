//! All output of a server, in all its runs.

use std::{
    collections::{BTreeMap, HashSet},
    net::SocketAddr,
};

use bytes::{Bytes, BytesMut};
use netcore::{History, PeerId};
use netshell::ConnectionId;

/// The output to each peer, in order. A history is one item.
pub type Delivered = BTreeMap<PeerId, Vec<Bytes>>;

/// The index of a transport, and one of its connections.
type ConnectionKey = (usize, ConnectionId);

/// Uses the peer numbers of the host.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) delivered: Delivered,
    pub(super) digests: HashSet<u64>,
    peers: BTreeMap<ConnectionKey, PeerId>,
    // Counted as in the host.
    next_peer: u64,
    // Counts as delivered to a peer once it receives further output.
    expected: Delivered,
    // The peers at the time of the crash.
    returning: BTreeMap<SocketAddr, PeerId>,
}

impl Ledger {
    pub(super) fn open(&mut self, key: ConnectionKey) {
        self.peers.insert(key, PeerId(self.next_peer));
        self.next_peer += 1;
    }

    pub(super) fn adopt(&mut self, key: ConnectionKey, address: SocketAddr) {
        if let Some(peer) = self.returning.remove(&address) {
            self.peers.insert(key, peer);
        }
    }

    pub(super) fn deliver(&mut self, key: ConnectionKey, frame: Bytes) {
        // An address that only receives its farewell again is not a peer.
        if let Some(peer) = self.peers.get(&key) {
            if let Some(expected) = self.expected.remove(peer) {
                self.delivered.insert(*peer, expected);
            }
            self.delivered.entry(*peer).or_default().push(frame);
        }
    }

    pub(super) fn clear(&mut self) {
        self.peers.clear();
        self.returning.clear();
    }

    /// Except for losses in a power cut, the delivered output is a prefix of the expected one.
    pub(super) fn set_expected(&mut self, expected: Delivered) {
        self.delivered.retain(|peer, _| expected.contains_key(peer));
        for (peer, delivered) in &mut self.delivered {
            let most = expected.get(peer).map_or(0, Vec::len);
            delivered.truncate(most);
        }
        self.expected = expected;
    }

    pub(super) fn resume(&mut self, next: PeerId, peers: impl Iterator<Item = (SocketAddr, PeerId)>) {
        self.clear();
        self.next_peer = next.0;
        self.returning.extend(peers);
    }

    /// Called when all previous peers have been restored or disconnected.
    pub(super) fn resumed(&mut self) {
        self.returning.clear();
    }
}

pub(crate) fn bytes_of(history: &History) -> Bytes {
    let mut bytes = BytesMut::new();
    history.segments().for_each(|segment| bytes.extend_from_slice(segment));
    bytes.freeze()
}
