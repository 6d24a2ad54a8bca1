//! Observes a transport.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Admission, Link, Log, Progress, Time};
use netshell::{ConnectionEvent, ConnectionId, Transport};

use super::{ledger, world::Shared};

/// The index of the datagram transport in the host.
pub(super) const DATAGRAMS: usize = 0;

/// Passes everything through to a transport and records the address of each connection.
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

    // Records what is sent to a peer, if there is a ledger.
    fn record(&self, id: ConnectionId, frame: impl FnOnce() -> Bytes) {
        if let Some(ledger) = &mut self.shared.lock().ledger {
            ledger.deliver((self.index, id), frame());
        }
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
                if let Some(ledger) = &mut world.ledger {
                    ledger.open((*index, id));
                }
            }
            // A datagram that reaches the host was not refused.
            Some(ConnectionEvent::Bytes { .. }) if *index == DATAGRAMS => shared.lock().chance.traffic.refused -= 1,
            _ => {}
        }
        Ok(event)
    }

    fn admit(&mut self, now: Time, admission: Option<Admission>) {
        if admission == Some(Admission::Ignored) {
            self.shared.lock().chance.traffic.refused -= 1;
        }
        self.transport.admit(now, admission);
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        let id = self.transport.adopt(now, link, address)?;
        self.addresses.insert(id, address);
        let world = &mut *self.shared.lock();
        world.open += 1;
        world.places.insert(address, (self.index, id));
        if let Some(ledger) = &mut world.ledger {
            ledger.adopt((self.index, id), address);
        }
        Some(id)
    }

    fn processed(&mut self, now: Time, id: ConnectionId, progress: Progress) {
        self.transport.processed(now, id, progress);
    }

    fn pause(&mut self, now: Time, id: ConnectionId, until: Time) {
        if self.index == DATAGRAMS {
            self.shared.lock().chance.traffic.refused += 1;
        }
        self.transport.pause(now, id, until);
    }

    fn send(&mut self, now: Time, to: ConnectionId, frame: Bytes) {
        self.record(to, || frame.clone());
        self.transport.send(now, to, frame);
    }

    fn send_everyone(&mut self, now: Time, frame: &Bytes) {
        self.addresses.keys().for_each(|&id| self.record(id, || frame.clone()));
        self.transport.send_everyone(now, frame);
    }

    fn replay(&mut self, now: Time, to: ConnectionId, log: &Log) {
        self.record(to, || ledger::bytes_of(log));
        self.transport.replay(now, to, log);
    }

    fn close(&mut self, now: Time, id: ConnectionId) {
        self.forget(id);
        self.transport.close(now, id);
    }

    fn delivered(&mut self, now: Time) {
        self.transport.delivered(now);
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        self.transport.poll_flush(now, context)
    }
}
