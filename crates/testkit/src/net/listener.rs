use std::{
    io::{self, IoSlice},
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::BytesMut;
use netcore::Role;
use netshell::{ByteStream, Listen};

use super::{arrival::End, streams::Segments, world::Shared};

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
