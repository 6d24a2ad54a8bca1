//! What a host and its transports say to each other.

use std::{
    fmt, io,
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::{Admission, Gone, Link, Log, Progress, Role, Time};

/// One connection of one transport. A transport never gives a number twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {}", self.0)
    }
}

/// One piece of work of a transport.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// A connection is there; its bytes follow.
    Opened {
        /// The new connection.
        id: ConnectionId,
        /// What whoever is at its other end may do.
        role: Role,
        /// What kind of connection it is.
        link: Link,
        /// The other end.
        address: SocketAddr,
    },
    /// Bytes have arrived. The host has the room take one message off their front and answers with
    /// [`Transport::took`].
    Bytes {
        /// Where they came from.
        id: ConnectionId,
        /// On a stream whatever was not taken yet, otherwise one whole message.
        bytes: &'a mut BytesMut,
    },
    /// A datagram came from an address without a connection. The host answers with [`Transport::admit`].
    Stranger {
        /// The datagram.
        datagram: &'a [u8],
    },
    /// Whoever is at the other end has lost track, because it has just come back to its seat.
    Refreshed {
        /// Which connection.
        id: ConnectionId,
    },
    /// A connection is gone. After [`Gone::Left`] what is sent to it still goes out until it is closed; after anything else
    /// nothing can be sent to it any more.
    Closed {
        /// Which connection.
        id: ConnectionId,
        /// Why.
        why: Gone,
    },
    /// Something was done that the host has no part in. There may be more to do.
    Worked,
}

/// A way in which peers reach a room: it knows connections and bytes, and nothing of rooms, engines and peers.
///
/// Nothing here waits. What a connection cannot take is queued within a bound, and the connection is lost beyond it. Time is
/// an argument, so that a simulation can drive the same code.
pub trait Transport {
    /// Ready when [`Transport::next`] has something to do; otherwise the task is woken once it has.
    ///
    /// # Errors
    /// When the transport itself is broken.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// When [`Transport::next`] is wanted although nothing is ready, if it is.
    fn wake_at(&self) -> Option<Time>;

    /// Does one piece of work, small enough for deadlines to be looked at in between; `None` when nothing is left to do.
    ///
    /// Connections have their turns by the work that they cause: whoever causes much does not hold up the others.
    ///
    /// # Errors
    /// When the transport itself is broken; trouble with one connection is not an error.
    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>>;

    /// Says what the datagram of the last [`ConnectionEvent::Stranger`] may cause. If the limits on strangers let it, the
    /// address becomes a connection, which the next pieces of work tell of.
    fn admit(&mut self, now: Time, admission: Admission) {
        let _ = (now, admission);
    }

    /// Takes up the connection to `address` that an earlier run of the server had, if an address is an identity here. Nothing is
    /// said about it: the caller knows who is there.
    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        let _ = (now, link, address);
        None
    }

    /// Says what became of the bytes of the last [`ConnectionEvent::Bytes`]. All that followed from them has been
    /// delivered, so `now` tells how much work they caused.
    fn took(&mut self, now: Time, id: ConnectionId, progress: Progress);

    /// Sends one message.
    fn send(&mut self, now: Time, to: ConnectionId, frame: Bytes);

    /// Sends one message to every connection that is not closed.
    fn send_everyone(&mut self, now: Time, frame: &Bytes);

    /// Sends a history, before anything that is sent to this connection later.
    fn replay(&mut self, now: Time, to: ConnectionId, log: &Log);

    /// Sends what is queued for a connection and ends it then. Nothing more of it is told.
    fn close(&mut self, now: Time, id: ConnectionId);

    /// Everything that follows from one input was handed over: what is to go out goes out together.
    fn delivered(&mut self, now: Time);

    /// At the end: ready when everything queued is out or it makes no sense to wait for it any longer.
    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()>;
}
