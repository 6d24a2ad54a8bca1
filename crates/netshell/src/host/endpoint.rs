//! A transport of a host.

use std::collections::BTreeMap;

use netcore::{PeerId, Time};

use crate::{ConnectionId, Delivery, Transport};

/// A transport, and the peer at each of its connections.
pub(super) struct Endpoint {
    pub(super) transport: Box<dyn Transport + Send>,
    pub(super) peers: BTreeMap<ConnectionId, PeerId>,
    // Whether an output was delivered since the last flush.
    touched: bool,
}

impl Endpoint {
    /// Creates a transport without peers.
    pub(super) fn new(transport: Box<dyn Transport + Send>) -> Self {
        Self { transport, peers: BTreeMap::new(), touched: false }
    }

    /// Queues a delivery until the next flush.
    pub(super) fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        self.touched = true;
        self.transport.deliver(now, delivery);
    }

    /// Flushes the transport if it has unflushed deliveries.
    pub(super) fn flush(&mut self, now: Time) {
        if std::mem::take(&mut self.touched) {
            self.transport.flush(now);
        }
    }

    /// Closes a connection that was not admitted as a peer.
    pub(super) fn refuse(&mut self, now: Time, id: ConnectionId) {
        self.deliver(now, Delivery::Close(id));
        self.flush(now);
    }
}
