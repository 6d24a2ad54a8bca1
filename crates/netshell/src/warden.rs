//! Who may be in a room, beside the rules of its game.

use std::{
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Framing, HostId, Link, PeerId};

/// Whom to remove from a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// One peer, which is sent this message first.
    Peer(PeerId, Option<Farewell>),
    /// All peers of a host, which are sent this message first.
    Host(HostId, Option<Farewell>),
}

/// The last message to a peer that is removed, in both forms, since the peers of a host may have different links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Farewell {
    /// With the end that marks off messages on a stream.
    pub stream: Bytes,
    /// As a message of its own.
    pub whole: Bytes,
}

impl Farewell {
    /// The message for links with this framing.
    pub const fn on(&self, framing: Framing) -> &Bytes {
        match framing {
            Framing::Stream => &self.stream,
            Framing::Whole => &self.whole,
        }
    }
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

    /// The next peers to remove; otherwise the task is woken when there are some.
    fn poll_removal(&mut self, context: &mut Context<'_>) -> Poll<Removal>;
}
