//! Who may be in a room, beside the rules of its game.

use std::{
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Framing, HostId, Link, PeerId};

/// Whom to remove from a room, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// One peer.
    Peer(PeerId, String),
    /// All peers of a host.
    Host(HostId, String),
}

/// Decides which addresses are let in and what the room is told of them, and removes peers at the request of the operator.
pub trait Warden {
    /// Whether a new connection from `address` is accepted. One that is not is closed, and the room never learns of it.
    fn admits(&mut self, address: SocketAddr) -> bool;

    /// What the room, its recording and the observer are told of an address. [`Removal::Host`] and the budgets go by it too, so it has
    /// to keep the addresses of one host together. A peer that is resumed has the address that was told before.
    fn shown(&mut self, link: Link, address: SocketAddr) -> SocketAddr {
        let _ = link;
        address
    }

    /// The message that tells a peer why it is removed, if its protocol has one.
    fn farewell(&self, why: &str, framing: Framing) -> Option<Bytes>;

    /// The next peers to remove; otherwise the task is woken when there are some.
    fn poll_removal(&mut self, context: &mut Context<'_>) -> Poll<Removal>;
}
