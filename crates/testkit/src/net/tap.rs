//! Observes a transport.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Admission, Link, Time};
use netshell::{Answer, ConnectionEvent, ConnectionId, Delivery, Transport};

use super::{ledger, world::Shared};

/// The index of the datagram transport in the host.
pub(super) const DATAGRAMS: usize = 0;

/// Passes all calls through to a transport and records the address of each connection.
#[derive(Debug)]
pub(super) struct Tap<T> {
    transport: T,
    index: usize,
    shared: Shared,
    addresses: BTreeMap<ConnectionId, SocketAddr>,
}

impl<T> Tap<T> {
    pub(super) const fn new(transport: T, index: usize, shared: Shared) -> Self {
        Self { transport, index, shared, addresses: BTreeMap::new() }
    }

    // Records a frame sent to a peer.
    fn record(&self, id: ConnectionId, frame: Bytes) {
        self.shared.lock().ledger.deliver((self.index, id), frame);
    }

    fn forget(&mut self, id: ConnectionId) {
        let Some(address) = self.addresses.remove(&id) else { return };
        let mut world = self.shared.lock();
        world.open -= 1;
        if world.places.get(&address) == Some(&(self.index, id)) {
            world.places.remove(&address);
        }
    }
}

impl<T> Drop for Tap<T> {
    fn drop(&mut self) {
        self.shared.lock().open -= self.addresses.len();
    }
}

impl<T: Transport> Transport for Tap<T> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut world = self.shared.lock();
        if world.refreshes.iter().any(|&(index, _)| index == self.index) {
            return Poll::Ready(Ok(()));
        }
        world.refresher = Some(context.waker().clone());
        drop(world);
        self.transport.poll_ready(context)
    }

    fn wake_at(&self) -> Option<Time> {
        self.transport.wake_at()
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        let Self { transport, index, shared, addresses } = self;
        let mut world = shared.lock();
        if let Some(place) = world.refreshes.iter().position(|&(at, _)| at == *index)
            && let Some((_, id)) = world.refreshes.remove(place)
        {
            return Ok(Some(ConnectionEvent::Refreshed { id }));
        }
        drop(world);
        let event = transport.next(now)?;
        match event {
            Some(ConnectionEvent::Opened { id, address, .. }) => {
                addresses.insert(id, address);
                let world = &mut *shared.lock();
                world.open += 1;
                world.places.insert(address, (*index, id));
                world.ledger.open((*index, id));
            }
            // A datagram that reaches the host was not refused.
            Some(ConnectionEvent::Bytes { .. }) if *index == DATAGRAMS => shared.lock().chance.traffic.refused -= 1,
            _ => {}
        }
        Ok(event)
    }

    fn answer(&mut self, now: Time, answer: Answer) {
        match answer {
            Answer::Stranger(_, Some(Admission::Ignored)) => self.shared.lock().chance.traffic.refused -= 1,
            Answer::Paused(..) if self.index == DATAGRAMS => self.shared.lock().chance.traffic.refused += 1,
            _ => {}
        }
        self.transport.answer(now, answer);
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        let id = self.transport.adopt(now, link, address)?;
        self.addresses.insert(id, address);
        let world = &mut *self.shared.lock();
        world.open += 1;
        world.places.insert(address, (self.index, id));
        world.ledger.adopt((self.index, id), address);
        Some(id)
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        match &delivery {
            Delivery::Frame(to, frame) => self.record(*to, frame.clone()),
            Delivery::Everyone(frame) => self.addresses.keys().for_each(|&id| self.record(id, Bytes::clone(frame))),
            Delivery::History(to, log) => self.record(*to, ledger::bytes_of(log)),
            Delivery::Close(id) => self.forget(*id),
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
