//! The interface between a host and its transports.

use std::{
    fmt, io,
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::{Admission, Gone, Link, Log, Progress, Role, Time};

/// A connection of a transport. A transport never reuses a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {}", self.0)
    }
}

/// An event of a transport: the result of one piece of work.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// A connection was opened. Its bytes follow.
    Opened {
        /// The new connection.
        id: ConnectionId,
        /// What the peer may do.
        role: Role,
        /// What kind of connection it is.
        link: Link,
        /// The other end.
        address: SocketAddr,
    },
    /// Bytes arrived. The host lets the room take one message off their front and then calls [`Transport::processed`],
    /// or [`Transport::pause`] if the room must not have them yet.
    Bytes {
        /// The connection.
        id: ConnectionId,
        /// On a stream everything that was not taken yet, otherwise one whole message.
        bytes: &'a mut BytesMut,
    },
    /// A datagram arrived from an address without a connection. The host calls [`Transport::admit`].
    Stranger {
        /// Where it is from.
        address: SocketAddr,
        /// The datagram.
        datagram: &'a [u8],
    },
    /// The peer lost its state, because it has just reconnected to its seat.
    Refreshed {
        /// The connection.
        id: ConnectionId,
    },
    /// A connection ended. After [`Gone::Left`] it can still be sent to until it is closed; for any other reason it
    /// cannot.
    Closed {
        /// The connection.
        id: ConnectionId,
        /// The reason.
        why: Gone,
    },
    /// Internal work that does not concern the host. There may be more to do.
    Internal,
}

/// A way for peers to reach a room. It handles connections and bytes, and knows nothing of rooms, engines and peers.
///
/// No method blocks. What a connection cannot take is queued within a bound; a connection that exceeds it is dropped.
/// Time is an argument, so that a simulation can drive the same code.
pub trait Transport {
    /// Ready when [`Transport::next`] has something to do; otherwise the task is woken when that changes.
    ///
    /// # Errors
    /// When the transport itself fails.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// When to call [`Transport::next`] even if nothing is ready.
    fn wake_at(&self) -> Option<Time>;

    /// Does one piece of work, short enough for deadlines to be checked in between. `None` when nothing is left to do.
    ///
    /// Busy connections are scheduled by the work that they cause, so that none of them delays the others.
    ///
    /// # Errors
    /// When the transport itself fails; the failure of one connection is not an error.
    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>>;

    /// Answers the last [`ConnectionEvent::Stranger`]: what its datagram may cause, or `None` if it is refused because
    /// its host has used up a limit. If the limits on strangers permit it, the address becomes a connection, which the
    /// next events report.
    fn admit(&mut self, now: Time, admission: Option<Admission>) {
        let _ = (now, admission);
    }

    /// Restores the connection to `address` from an earlier run of the server, if addresses identify peers on this
    /// transport. No event reports it, because the caller knows the peer.
    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        let _ = (now, link, address);
        None
    }

    /// Answers the last [`ConnectionEvent::Bytes`]: what the room did with the bytes. All outputs have been delivered,
    /// so `now` shows how much work they caused.
    fn processed(&mut self, now: Time, id: ConnectionId, progress: Progress);

    /// Answers the last [`ConnectionEvent::Bytes`] if the room must not have them before `until`. The connection keeps
    /// them and is not read until then. Datagrams are dropped instead, which is logged.
    fn pause(&mut self, now: Time, id: ConnectionId, until: Time);

    /// Sends one message.
    fn send(&mut self, now: Time, to: ConnectionId, frame: Bytes);

    /// Sends one message to every open connection.
    fn send_everyone(&mut self, now: Time, frame: &Bytes);

    /// Sends a history before anything that is sent to this connection later.
    fn replay(&mut self, now: Time, to: ConnectionId, log: &Log);

    /// Closes a connection after sending what is queued for it. No further events are reported for it.
    fn close(&mut self, now: Time, id: ConnectionId);

    /// Called after all outputs of one input, so that they are sent together.
    fn delivered(&mut self, now: Time);

    /// At shutdown: ready when everything queued has been sent or cannot be sent.
    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()>;
}
