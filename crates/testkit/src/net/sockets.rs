//! The server's ends of the simulated network: a datagram socket, and a listener with its streams.

use std::{
    io::{self, IoSlice},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::Role;
use netshell::{ByteStream, DatagramSocket, Listen};
use rand::RngExt;

use super::{
    datagrams::Direction,
    streams::{End, Segments},
    world::Shared,
};
use crate::machine::draw;

#[derive(Debug)]
pub(super) struct SimulatedSocket(Shared);

impl SimulatedSocket {
    pub(super) fn new(shared: Shared) -> Self {
        shared.lock().datagrams.closed = false;
        Self(shared)
    }
}

impl DatagramSocket for SimulatedSocket {
    fn local_ip(&self) -> Option<IpAddr> {
        Some(Ipv4Addr::UNSPECIFIED.into())
    }

    fn poll_readable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut world = self.0.lock();
        if !world.datagrams.inbox.is_empty() {
            return Poll::Ready(Ok(()));
        }
        world.datagrams.reader = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let world = &mut *self.0.lock();
        if !world.datagrams.is_full(&world.chance) {
            return Poll::Ready(Ok(()));
        }
        world.datagrams.writer = Some(context.waker().clone());
        Poll::Pending
    }

    fn try_receive(&self, buffer: &mut BytesMut) -> io::Result<SocketAddr> {
        let world = &mut *self.0.lock();
        world.process_due();
        if world.datagrams.inbox.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let chance = &mut world.chance;
        if chance.rng.random_range(0..1_000) < chance.conditions.socket.receive_error_permille {
            chance.traffic.socket_errors += 1;
            // Most errors concern an earlier datagram.
            let kind = match chance.rng.random_range(0..10) {
                0 => io::ErrorKind::OutOfMemory,
                _ => io::ErrorKind::ConnectionRefused,
            };
            return Err(kind.into());
        }
        let (_, from, datagram) = world.datagrams.inbox.pop_front().ok_or(io::ErrorKind::WouldBlock)?;
        world.datagrams.read_at = world.chance.now;
        buffer.extend_from_slice(&datagram);
        Ok(from)
    }

    fn try_send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        let world = &mut *self.0.lock();
        let (datagrams, chance) = (&mut world.datagrams, &mut world.chance);
        if datagrams.is_full(chance) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let faults = &chance.conditions.socket;
        if chance.rng.random_range(0..1_000) < faults.full_permille {
            let duration = draw(&mut chance.rng, &faults.full);
            chance.traffic.socket_errors += 1;
            datagrams.full_until = Some(chance.now.plus(duration));
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if chance.rng.random_range(0..1_000) < faults.send_error_permille {
            chance.traffic.socket_errors += 1;
            return Err(io::Error::other("no buffer space available"));
        }
        datagrams.send(chance, Direction::ToClient { to }, Bytes::copy_from_slice(datagram));
        Ok(())
    }

    // The simulated buffer is either empty or full.
    fn try_send_in_half(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.try_send(to, datagram)
    }
}

impl Drop for SimulatedSocket {
    fn drop(&mut self) {
        let mut world = self.0.lock();
        world.datagrams.closed = true;
        world.datagrams.inbox.clear();
    }
}

#[derive(Debug)]
pub(super) struct SimulatedListener {
    shared: Shared,
    listener: Role,
}

impl SimulatedListener {
    pub(super) fn new(shared: Shared, listener: Role) -> Self {
        shared.lock().connections.listen(listener);
        Self { shared, listener }
    }
}

impl Listen for SimulatedListener {
    type Stream = SimulatedStream;

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(SimulatedStream, SocketAddr)>> {
        let mut world = self.shared.lock();
        world.process_due();
        let Some((connection, address)) = world.connections.accept(self.listener) else {
            world.connections.await_connection(self.listener, context);
            return Poll::Pending;
        };
        drop(world);
        Poll::Ready(Ok((SimulatedStream { shared: self.shared.clone(), connection }, address)))
    }
}

impl Drop for SimulatedListener {
    fn drop(&mut self) {
        let world = &mut *self.shared.lock();
        world.connections.stop_listening(&mut world.chance, self.listener);
    }
}

#[derive(Debug)]
pub(super) struct SimulatedStream {
    shared: Shared,
    connection: usize,
}

fn broken() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

impl ByteStream for SimulatedStream {
    fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
        let world = &mut *self.shared.lock();
        world.process_due();
        let connection = world.connections.connection(self.connection);
        let read = connection.to_server.read(most);
        if !read.is_empty() {
            buffer.extend_from_slice(&read);
            connection.send_unsent(&mut world.chance);
            return Ok(read.len());
        }
        match connection.to_server.ended() {
            None => Err(io::ErrorKind::WouldBlock.into()),
            Some(End::Closed) => Ok(0),
            Some(End::Broken) => Err(broken()),
        }
    }

    fn try_write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let world = &mut *self.shared.lock();
        let connection = world.connections.connection(self.connection);
        if connection.to_server.ended() == Some(End::Broken) {
            return Err(broken());
        }
        let mut written = 0;
        for slice in slices {
            let taken = connection.to_client.write(&mut world.chance, slice, Segments::Small);
            written += taken;
            if taken < slice.len() {
                break;
            }
        }
        if written == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(written)
    }

    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let world = &mut *self.shared.lock();
        let pipe = &mut world.connections.connection(self.connection).to_server;
        if pipe.has_unread() || pipe.ended().is_some() {
            return Poll::Ready(Ok(()));
        }
        pipe.await_bytes(context);
        Poll::Pending
    }

    fn poll_writable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let world = &mut *self.shared.lock();
        let connection = world.connections.connection(self.connection);
        if connection.to_client.room(&world.chance) > 0 || connection.to_server.ended() == Some(End::Broken) {
            return Poll::Ready(Ok(()));
        }
        connection.to_client.await_room(context);
        Poll::Pending
    }

    fn finish(&mut self) {
        let world = &mut *self.shared.lock();
        world.connections.connection(self.connection).to_client.finish(&mut world.chance, End::Closed);
    }
}

impl Drop for SimulatedStream {
    fn drop(&mut self) {
        let world = &mut *self.shared.lock();
        world.connections.connection(self.connection).leave(&mut world.chance);
    }
}
