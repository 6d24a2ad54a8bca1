use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Link, Time};
use netshell::{Answer, ConnectionEvent, ConnectionId, Delivery, Transport};

use super::{ledger, world::Shared};

/// Records the address of each connection.
#[derive(Debug)]
pub(super) struct RecordingTransport<T> {
    transport: T,
    index: usize,
    shared: Shared,
    addresses: BTreeMap<ConnectionId, SocketAddr>,
}

impl<T> RecordingTransport<T> {
    pub(super) const fn new(transport: T, index: usize, shared: Shared) -> Self {
        Self { transport, index, shared, addresses: BTreeMap::new() }
    }

    fn record(&self, id: ConnectionId, frame: Bytes) {
        self.shared.lock().ledger.deliver((self.index, id), frame);
    }

    fn remove(&mut self, id: ConnectionId) {
        let Some(address) = self.addresses.remove(&id) else { return };
        let mut world = self.shared.lock();
        if world.routes.get(&address) == Some(&(self.index, id)) {
            world.routes.remove(&address);
        }
    }
}

impl<T: Transport> Transport for RecordingTransport<T> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.transport.poll_ready(context)
    }

    fn wake_at(&self) -> Option<Time> {
        self.transport.wake_at()
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        let Self { transport, index, shared, addresses } = self;
        let event = transport.next(now)?;
        if let Some(ConnectionEvent::Opened { id, address, .. }) = event {
            addresses.insert(id, address);
            let world = &mut *shared.lock();
            world.routes.insert(address, (*index, id));
            world.ledger.open((*index, id));
        }
        Ok(event)
    }

    fn answer(&mut self, now: Time, answer: Answer) {
        self.transport.answer(now, answer);
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        let id = self.transport.adopt(now, link, address)?;
        self.addresses.insert(id, address);
        let world = &mut *self.shared.lock();
        world.routes.insert(address, (self.index, id));
        world.ledger.adopt((self.index, id), address);
        Some(id)
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        match &delivery {
            Delivery::Frame(to, frame) => self.record(*to, frame.clone()),
            Delivery::Everyone(frame) => self.addresses.keys().for_each(|&id| self.record(id, Bytes::clone(frame))),
            Delivery::History(to, log) => self.record(*to, ledger::bytes_of(log)),
            Delivery::Close(id) => self.remove(*id),
        }
        self.transport.deliver(now, delivery);
    }

    fn flush(&mut self, now: Time) {
        self.transport.flush(now);
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        self.transport.poll_flush(now, context)
    }
}
