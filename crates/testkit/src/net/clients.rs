//! The clients of a simulated network.

use std::{fmt::Debug, net::SocketAddr, task::Waker};

use bytes::Bytes;
use netcore::{Client, Role};

use super::{Hostable, Line, Net, Seat, datagrams::Way, delivery::finish_sending};

impl<E: Hostable, C: Client<Error: Debug>> Net<E, C> {
    /// Adds a client at `address` that uses datagrams. Replaces the previous one.
    pub fn add(&mut self, address: SocketAddr, client: C) {
        self.seat(address, client, Line::Datagrams);
    }

    /// Adds a client that connects by a stream; watchers use a listener of their own.
    pub fn add_stream(&mut self, address: SocketAddr, role: Role, client: C) {
        let world = &mut *self.shared.lock();
        let (wire, since) = (world.wires.connect(&mut world.chance, address, role), world.chance.now);
        self.clients.insert(address, Seat { client, line: Line::Stream(wire), closed: false, since });
    }

    /// Adds a client that sends whole messages, one per frame.
    pub fn add_message(&mut self, address: SocketAddr, role: Role, client: C) {
        let world = &mut *self.shared.lock();
        let (line, since) = (world.lines.connect(&mut world.chance, address, role), world.chance.now);
        self.clients.insert(address, Seat { client, line: Line::Messages(line), closed: false, since });
    }

    /// Reconnects a client of [`Net::add_message`] as a new client without state. Messages in flight are lost.
    pub fn reconnect(&mut self, address: SocketAddr, client: C) {
        let Line::Messages(line) = self.line(address) else { panic!("{address} is not connected by messages") };
        let world = &mut *self.shared.lock();
        world.lines.reconnect(&mut world.chance, line);
        let since = world.chance.now;
        self.clients.insert(address, Seat { client, line: Line::Messages(line), closed: false, since });
    }

    /// Removes the client at `address`, whose connection has ended.
    pub fn remove(&mut self, address: SocketAddr) {
        self.clients.remove(&address);
    }

    /// The client at `address`.
    pub fn client(&self, address: SocketAddr) -> &C {
        &self.clients.get(&address).unwrap_or_else(|| panic!("no client is at {address}")).client
    }

    /// The client at `address`, mutably.
    pub fn client_mut(&mut self, address: SocketAddr) -> &mut C {
        &mut self.clients.get_mut(&address).unwrap_or_else(|| panic!("no client is at {address}")).client
    }

    /// All clients, by address.
    pub fn clients(&self) -> impl Iterator<Item = (SocketAddr, &C)> {
        self.clients.iter().map(|(&address, seat)| (address, &seat.client))
    }

    /// Sends a datagram to the server from any address, with or without a client.
    pub fn send(&mut self, from: SocketAddr, datagram: impl Into<Bytes>) {
        let world = &mut *self.shared.lock();
        world.post.post(&mut world.chance, Way::ToServer { from }, datagram.into());
    }

    /// Sends bytes on the stream of the client at `address`, after the client's own output.
    pub fn say(&mut self, address: SocketAddr, bytes: &[u8]) {
        self.collect();
        let Some(&Seat { line: Line::Stream(wire), closed: false, .. }) = self.clients.get(&address) else { return };
        let world = &mut *self.shared.lock();
        world.wires.send(&mut world.chance, wire, bytes);
    }

    /// The datagrams that arrived at an address without a client, oldest first.
    pub fn take_mail(&mut self, address: SocketAddr) -> Vec<Bytes> {
        self.mail.remove(&address).unwrap_or_default()
    }

    /// Makes the room refresh the peer at `address`. Returns `false` if there is none.
    pub fn refresh(&mut self, address: SocketAddr) -> bool {
        let mut world = self.shared.lock();
        let Some(&place) = world.places.get(&address) else { return false };
        world.refreshes.push_back(place);
        world.refresher.take().into_iter().for_each(Waker::wake);
        true
    }

    /// Resets the connection of the client at `address`; both ends notice it immediately.
    pub fn reset(&mut self, address: SocketAddr) {
        let line = self.line(address);
        let world = &mut *self.shared.lock();
        match line {
            Line::Stream(wire) => world.wires.wire(wire).reset(&mut world.chance),
            Line::Messages(line) => world.lines.reset(&mut world.chance, line),
            Line::Datagrams => panic!("{address} has no connection that could break"),
        }
    }

    /// Sets whether the client at `address` reads its input. While it does not, its window fills up.
    pub fn set_reading(&mut self, address: SocketAddr, reading: bool) {
        let line = self.line(address);
        let mut world = self.shared.lock();
        match line {
            Line::Stream(wire) => world.wires.wire(wire).reading = reading,
            Line::Messages(line) => world.lines.all[line].reading = reading,
            Line::Datagrams => panic!("datagrams do not wait for {address} to read them"),
        }
    }

    /// Closes the connection of the client at `address` in an orderly way.
    pub fn close(&mut self, address: SocketAddr) {
        let Some(Seat { line, closed, .. }) = self.clients.get_mut(&address) else { return };
        *closed = true;
        finish_sending(&self.shared, *line);
    }

    fn seat(&mut self, address: SocketAddr, client: C, line: Line) {
        let since = self.now();
        self.clients.insert(address, Seat { client, line, closed: false, since });
    }

    fn line(&self, address: SocketAddr) -> Line {
        self.clients.get(&address).unwrap_or_else(|| panic!("no client is at {address}")).line
    }
}
