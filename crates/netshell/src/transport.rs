//! The interface between a host and its transports.

use std::{
    fmt, io,
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::{
    Admission, DecodeError, DisconnectReason, Framing, GameEvent, History, HostId, Link, PeerId, Progress, Role,
    Status, Time,
};

/// A connection of a transport, which never reuses a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {}", self.0)
    }
}

/// The result of one piece of work of a transport.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// A connection was opened. Its bytes follow.
    Opened {
        /// A new number.
        id: ConnectionId,
        /// The role of the peer.
        role: Role,
        /// The kind of connection.
        link: Link,
        /// The address of the peer.
        address: SocketAddr,
    },
    /// Bytes arrived. The host lets the room take one message off their front, delivers the outputs, and returns the
    /// ticket.
    Bytes {
        /// The ticket.
        ticket: BytesTicket,
        /// On a stream all bytes that were not processed yet, otherwise one whole message.
        bytes: &'a mut BytesMut,
    },
    /// A datagram arrived from an address without a connection.
    UnknownPeer {
        /// The ticket.
        ticket: UnknownPeerTicket,
        /// The source address.
        address: SocketAddr,
        /// The datagram.
        datagram: &'a [u8],
    },
    /// The peer has just reconnected to its seat, and lost its state.
    Refreshed {
        /// The connection.
        id: ConnectionId,
    },
    /// A connection ended. After [`DisconnectReason::Left`] it still accepts deliveries until the room closes it; after
    /// any other reason it accepts none.
    Closed {
        /// The connection.
        id: ConnectionId,
        /// The reason.
        why: DisconnectReason,
    },
    /// Internal work; more may be due.
    Internal,
}

/// The obligation to answer [`ConnectionEvent::Bytes`]. An [`Answer`] consumes it, so there is at most one.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the transport waits for an answer"]
pub struct BytesTicket(ConnectionId);

impl BytesTicket {
    /// Creates a ticket, one for each event.
    pub const fn new(id: ConnectionId) -> Self {
        Self(id)
    }

    /// The connection that sent the bytes.
    pub const fn id(&self) -> ConnectionId {
        self.0
    }
}

/// The obligation to answer [`ConnectionEvent::UnknownPeer`], as [`BytesTicket`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the transport waits for an answer"]
pub struct UnknownPeerTicket(());

impl UnknownPeerTicket {
    /// Creates a ticket, one for each event.
    #[expect(clippy::new_without_default, reason = "only transports make them")]
    pub const fn new() -> Self {
        Self(())
    }
}

/// The host's answer to an event.
#[derive(Debug)]
pub enum Answer {
    /// The room processed the bytes, and all outputs were delivered: the time of the answer shows how much work they
    /// caused.
    Processed(BytesTicket, Progress),
    /// The room must not receive the bytes before this time. A stream keeps them and is not read until then; datagrams
    /// are dropped, which is logged.
    Paused(BytesTicket, Time),
    /// The permitted effect of the datagram, or `None` if its host has used up a limit. The address may become a
    /// connection, which the next events report.
    UnknownPeer(UnknownPeerTicket, Option<Admission>),
}

/// A delivery to connections of a transport.
#[derive(Debug)]
pub enum Delivery<'a> {
    /// A message to one connection.
    Frame(ConnectionId, Bytes),
    /// A message to every open connection.
    Everyone(&'a Bytes),
    /// A history, before all later deliveries to this connection.
    History(ConnectionId, &'a History),
    /// Closes a connection after its queue has been sent. It has no further events.
    Close(ConnectionId),
}

/// A way for peers to reach a room. It handles connections and bytes, independently of rooms, engines and peers.
///
/// No method blocks. Output that a connection cannot accept is queued within a bound; a connection that exceeds it is
/// dropped.
///
/// A host calls [`next`](Self::next), [`deliver`](Self::deliver) for each output, [`flush`](Self::flush) and, if the
/// event has a ticket, [`answer`](Self::answer).
pub trait Transport {
    /// Ready when [`Transport::next`] has work.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// When to call [`Transport::next`] even without readiness.
    fn wake_at(&self) -> Option<Time>;

    /// Does one piece of work, short enough for deadlines to be checked in between; `None` if all work is done.
    ///
    /// # Errors
    /// If the transport itself fails. The failure of one connection is not an error.
    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>>;

    /// Answers the last event with a ticket, which ends that piece of work.
    fn answer(&mut self, now: Time, answer: Answer);

    /// Restores the connection to `address` from an earlier run, if addresses identify peers on this transport. No
    /// event reports it, because the caller knows the peer.
    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        let _ = (now, link, address);
        None
    }

    /// Queues a delivery.
    fn deliver(&mut self, now: Time, delivery: Delivery<'_>);

    /// Sends all queued deliveries in one batch, after all outputs of one input.
    fn flush(&mut self, now: Time);

    /// At shutdown: ready when all queued output has been sent or cannot be sent.
    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()>;
}

/// Receives the events of a room, for a log, a lobby or a store of results. It must not block.
///
/// Peers cause these calls, so log lines of an observer must be limited in rate.
pub trait Observer {
    /// A peer connected.
    fn connected(&mut self, now: Time, peer: PeerId, role: Role, address: &str) {
        let _ = (now, peer, role, address);
    }

    /// The status changed. Called before the outputs of that input.
    fn status(&mut self, now: Time, status: Status) {
        let _ = (now, status);
    }

    /// An event of the game, and the address of the peer concerned, if connected.
    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        let _ = (now, event, address);
    }

    /// A peer sent bytes that are not a message.
    fn malformed(&mut self, now: Time, peer: PeerId, address: &str, why: &DecodeError) {
        let _ = (now, peer, address, why);
    }

    /// A peer is no longer connected: its connection ended or the room closed it.
    fn closed(&mut self, now: Time, peer: PeerId) {
        let _ = (now, peer);
    }

    /// The connection of a peer ended.
    fn disconnected(&mut self, now: Time, peer: PeerId, address: &str, why: DisconnectReason) {
        let _ = (now, peer, address, why);
    }
}

impl Observer for () {}

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
