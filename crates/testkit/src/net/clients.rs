use std::{fmt::Debug, iter, net::SocketAddr};

use bytes::Bytes;
use netcore::{Client, Recorded, Role};

use super::{Endpoint, Hostable, Net, arrival::Arrived, datagrams::Direction, world::Shared};

impl<E: Recorded + Hostable, C: Client<Error: Debug>> Net<E, C> {
    /// Adds a client that uses datagrams, in place of the previous one at this address.
    pub fn add(&mut self, address: SocketAddr, client: C) {
        let since = self.now();
        self.clients.insert(address, Endpoint { client, stream: None, closed: false, since });
    }

    /// Watchers use a listener of their own.
    pub fn add_stream(&mut self, address: SocketAddr, role: Role, client: C) {
        let world = &mut *self.shared.lock();
        let (stream, since) = (world.connections.connect(&mut world.chance, address, role), world.chance.now);
        self.clients.insert(address, Endpoint { client, stream: Some(stream), closed: false, since });
    }

    pub fn remove(&mut self, address: SocketAddr) {
        self.clients.remove(&address);
    }

    pub fn client(&self, address: SocketAddr) -> &C {
        &self.clients.get(&address).unwrap_or_else(|| panic!("no client is at {address}")).client
    }

    pub fn client_mut(&mut self, address: SocketAddr) -> &mut C {
        &mut self.clients.get_mut(&address).unwrap_or_else(|| panic!("no client is at {address}")).client
    }

    pub fn clients(&self) -> impl Iterator<Item = (SocketAddr, &C)> {
        self.clients.iter().map(|(&address, endpoint)| (address, &endpoint.client))
    }

    /// Sends from any address, with or without a client.
    pub fn send(&mut self, from: SocketAddr, datagram: impl Into<Bytes>) {
        let world = &mut *self.shared.lock();
        world.datagrams.send(&mut world.chance, Direction::ToServer { from }, datagram.into());
    }

    /// The bytes follow the client's own output.
    pub fn write(&mut self, address: SocketAddr, bytes: &[u8]) {
        self.collect();
        let Some(&Endpoint { stream: Some(stream), closed: false, .. }) = self.clients.get(&address) else { return };
        let world = &mut *self.shared.lock();
        world.connections.send(&mut world.chance, stream, bytes);
    }

    pub(super) fn receive(&mut self, address: SocketAddr, what: Arrived) {
        let now = self.now();
        let Some(endpoint) = self.clients.get_mut(&address) else { return };
        match what {
            Arrived::Bytes(bytes) => {
                if let Err(why) = endpoint.client.receive(now, &bytes) {
                    panic!("{address} cannot decode {}: {why:?}", bytes.escape_ascii());
                }
            }
            Arrived::End(end) => {
                endpoint.client.disconnected(now, end.reason());
                endpoint.close(&self.shared);
            }
        }
    }

    pub(super) fn collect(&mut self) {
        for (&from, Endpoint { client, stream, closed, .. }) in &mut self.clients {
            let world = &mut *self.shared.lock();
            for message in iter::from_fn(|| client.take_outgoing()) {
                match *stream {
                    None => world.datagrams.send(&mut world.chance, Direction::ToServer { from }, message),
                    Some(_) if *closed => {}
                    Some(stream) => world.connections.send(&mut world.chance, stream, &message),
                }
            }
        }
        for endpoint in self.clients.values_mut().filter(|endpoint| endpoint.client.is_over()) {
            endpoint.close(&self.shared);
        }
    }
}

impl<C> Endpoint<C> {
    fn close(&mut self, shared: &Shared) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        if let Some(stream) = self.stream {
            let world = &mut *shared.lock();
            world.connections.close(&mut world.chance, stream);
        }
    }
}
