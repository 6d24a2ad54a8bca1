use std::collections::BTreeMap;

use netcore::{PeerId, Time};

use crate::{ConnectionId, Delivery, Transport};

pub(super) struct Endpoint {
    pub(super) transport: Box<dyn Transport + Send>,
    pub(super) peers: BTreeMap<ConnectionId, PeerId>,
    touched: bool,
}

impl Endpoint {
    pub(super) fn new(transport: Box<dyn Transport + Send>) -> Self {
        Self { transport, peers: BTreeMap::new(), touched: false }
    }

    pub(super) fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        self.touched = true;
        self.transport.deliver(now, delivery);
    }

    pub(super) fn flush(&mut self, now: Time) {
        if std::mem::take(&mut self.touched) {
            self.transport.flush(now);
        }
    }

    pub(super) fn refuse(&mut self, now: Time, id: ConnectionId) {
        self.deliver(now, Delivery::Close(id));
        self.flush(now);
    }
}
