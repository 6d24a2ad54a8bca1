//! Looks over the shoulder of a transport.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Admission, Link, Log, Progress, Time};
use netshell::{ConnectionEvent, ConnectionId, Transport};

use super::{DATAGRAMS, ledger, world::Shared};

/// A transport, unchanged, of which the world knows which connection is at which address.
#[derive(Debug)]
pub(super) struct Tap<T> {
    transport: T,
    door: usize,
    shared: Shared,
    addresses: BTreeMap<ConnectionId, SocketAddr>,
}

impl<T> Tap<T> {
    pub(super) const fn new(transport: T, door: usize, shared: Shared) -> Self {
        Self { transport, door, shared, addresses: BTreeMap::new() }
    }

    // Notes down what somebody is told, where a ledger is kept.
    fn tell(&self, id: ConnectionId, frame: impl FnOnce() -> Bytes) {
        if let Some(ledger) = &mut self.shared.lock().ledger {
            ledger.tell((self.door, id), frame());
        }
    }

    fn forget(&mut self, id: ConnectionId) {
        let Some(address) = self.addresses.remove(&id) else { return };
        let places = &mut self.shared.lock().places;
        if places.get(&address) == Some(&(self.door, id)) {
            places.remove(&address);
        }
    }
}

impl<T: Transport> Transport for Tap<T> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.transport.poll_ready(context)
    }

    fn wake_at(&self) -> Option<Time> {
        self.transport.wake_at()
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        let Self { transport, door, shared, addresses } = self;
        let event = transport.next(now)?;
        match event {
            Some(ConnectionEvent::Opened { id, address, .. }) => {
                addresses.insert(id, address);
                let world = &mut *shared.lock();
                world.places.insert(address, (*door, id));
                if let Some(ledger) = &mut world.ledger {
                    ledger.open((*door, id));
                }
            }
            // A datagram that the host is handed was not refused.
            Some(ConnectionEvent::Bytes { .. }) if *door == DATAGRAMS => shared.lock().chance.traffic.refused -= 1,
            _ => {}
        }
        Ok(event)
    }

    fn admit(&mut self, now: Time, admission: Admission) {
        if admission == Admission::Ignored {
            self.shared.lock().chance.traffic.refused -= 1;
        }
        self.transport.admit(now, admission);
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        let id = self.transport.adopt(now, link, address)?;
        self.addresses.insert(id, address);
        let world = &mut *self.shared.lock();
        world.places.insert(address, (self.door, id));
        if let Some(ledger) = &mut world.ledger {
            ledger.adopt((self.door, id), address);
        }
        Some(id)
    }

    fn took(&mut self, now: Time, id: ConnectionId, progress: Progress) {
        self.transport.took(now, id, progress);
    }

    fn send(&mut self, now: Time, to: ConnectionId, frame: Bytes) {
        self.tell(to, || frame.clone());
        self.transport.send(now, to, frame);
    }

    fn send_everyone(&mut self, now: Time, frame: &Bytes) {
        self.addresses.keys().for_each(|&id| self.tell(id, || frame.clone()));
        self.transport.send_everyone(now, frame);
    }

    fn replay(&mut self, now: Time, to: ConnectionId, log: &Log) {
        self.tell(to, || ledger::bytes_of(log));
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
