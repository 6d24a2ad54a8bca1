//! Access control for a room, in addition to the rules of its game.

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
    /// Whether a new connection from `address` is accepted. A rejected one is closed and never reported to the room.
    fn admits(&mut self, address: SocketAddr) -> bool;

    /// The form of an address that the room, its recording and the observer receive. [`Removal::Host`] and the
    /// budgets use it too, so it must keep the addresses of one host together. A resumed peer keeps the form that it
    /// had before.
    fn shown(&mut self, link: Link, address: SocketAddr) -> SocketAddr {
        let _ = link;
        address
    }

    /// The message that informs a peer of the reason for its removal, if its protocol has one.
    fn farewell(&self, why: &str, framing: Framing) -> Option<Bytes>;

    /// The next peers to remove; otherwise the task is woken when there are some.
    fn poll_removal(&mut self, context: &mut Context<'_>) -> Poll<Removal>;
}
