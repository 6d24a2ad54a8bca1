//! A transport of a host.

use std::collections::BTreeMap;

use netcore::{PeerId, Time};

use crate::{ConnectionId, Delivery, Transport};

/// A transport, and the peer at each of its connections.
pub(super) struct Endpoint {
    pub(super) transport: Box<dyn Transport + Send>,
    pub(super) peers: BTreeMap<ConnectionId, PeerId>,
    // Whether something was delivered since it was flushed.
    touched: bool,
}

impl Endpoint {
    /// A transport without peers.
    pub(super) fn new(transport: Box<dyn Transport + Send>) -> Self {
        Self { transport, peers: BTreeMap::new(), touched: false }
    }

    /// Queues something until the next flush.
    pub(super) fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        self.touched = true;
        self.transport.deliver(now, delivery);
    }

    /// Sends what was delivered, if anything was.
    pub(super) fn flush(&mut self, now: Time) {
        if std::mem::take(&mut self.touched) {
            self.transport.flush(now);
        }
    }

    /// Closes a connection that becomes no peer.
    pub(super) fn refuse(&mut self, now: Time, id: ConnectionId) {
        self.deliver(now, Delivery::Close(id));
        self.flush(now);
    }
}
