use std::{
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Framing, HostId, Link, PeerId};

/// The peers to remove from a room, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// One peer.
    Peer(PeerId, String),
    /// All peers of a host.
    Host(HostId, String),
}

/// Decides which addresses are admitted and in which form the room sees them, and removes peers at the request of the
/// operator.
pub trait Warden {
    /// Whether a new connection is accepted. A rejected one is never reported to the room.
    fn admits(&mut self, address: SocketAddr) -> bool;

    /// The form of an address that the room, its recording and the observer receive. [`Removal::Host`] and the budgets
    /// use it too, so it must keep the addresses of one host together. A resumed peer keeps its earlier form.
    fn room_address(&mut self, link: Link, address: SocketAddr) -> SocketAddr {
        let _ = link;
        address
    }

    /// The message with the reason for a removal, if the protocol has one.
    fn farewell(&self, why: &str, framing: Framing) -> Option<Bytes>;

    /// The next peers to remove.
    fn poll_removal(&mut self, context: &mut Context<'_>) -> Poll<Removal>;
}
