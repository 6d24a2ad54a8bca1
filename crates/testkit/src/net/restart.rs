//! Restarting a server from its journal.

use std::net::SocketAddr;

use bytes::Bytes;
use journal_core::{JournalHold, Journalled, Peer};
use netcore::{PeerId, Recorded, Time};

/// What a killed server is resumed from; see [`journal_core::Resumable`].
#[derive(Debug)]
pub struct Restart<E: Recorded> {
    /// The resumed room.
    pub room: Journalled<E>,
    /// Holds outputs back until the journal is written.
    pub hold: JournalHold,
    /// The time of the last arrival.
    pub at: Time,
    /// The number of the next peer.
    pub next_peer: PeerId,
    /// The peers at that time.
    pub peers: Vec<Peer>,
    /// Peers that receive their last messages again.
    pub farewells: Vec<(SocketAddr, Vec<Bytes>)>,
}
