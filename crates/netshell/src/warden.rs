use std::{
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Framing, HostId, Link, PeerId};

/// A change to the peers of a room that none of them caused. Unknown peers are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WardenRequest {
    /// Removes a peer for this reason.
    Remove(PeerId, String),
    /// Removes all peers of a host for this reason.
    RemoveHost(HostId, String),
    /// Sends a peer its full state, because the program behind its connection was replaced.
    Refresh(PeerId),
}

/// Decides which addresses are admitted and in which form the room sees them, and removes peers at the request of the
/// operator.
pub trait Warden {
    /// Whether a new connection is accepted. A rejected one is never reported to the room.
    fn admits(&mut self, address: SocketAddr) -> bool;

    /// The form of an address that the room, its recording and the observer receive. [`WardenRequest::RemoveHost`] and
    /// the budgets use it too, so it must keep the addresses of one host together. A resumed peer keeps its earlier
    /// form.
    fn room_address(&mut self, link: Link, address: SocketAddr) -> SocketAddr {
        let _ = link;
        address
    }

    /// The message with the reason for a removal, if the protocol has one.
    fn farewell(&self, why: &str, framing: Framing) -> Option<Bytes>;

    /// The next request.
    fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<WardenRequest>;
}
