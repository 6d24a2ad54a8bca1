//! The server's simulated UDP socket.

use std::{
    io,
    net::SocketAddr,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::Time;
use netshell::DatagramPort;

use super::{datagrams::Way, world::Shared};

/// The server's socket.
#[derive(Debug)]
pub(super) struct SimulatedPort(Shared);

impl SimulatedPort {
    pub(super) fn new(shared: Shared) -> Self {
        shared.lock().post.closed = false;
        Self(shared)
    }
}

impl DatagramPort for SimulatedPort {
    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut world = self.0.lock();
        if !world.post.inbox.is_empty() {
            return Poll::Ready(Ok(()));
        }
        world.post.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_room(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn resume(&self) -> Option<Time> {
        None
    }

    fn is_drained(&self) -> bool {
        true
    }

    fn receive(&mut self, _: Time, buffer: &mut BytesMut) -> io::Result<Option<SocketAddr>> {
        Ok(self.0.lock().post.inbox.pop_front().map(|(from, datagram)| {
            buffer.extend_from_slice(&datagram);
            from
        }))
    }

    fn spell(&self, address: SocketAddr) -> Option<SocketAddr> {
        Some(address)
    }

    fn send(&mut self, _: Time, (to, _): (SocketAddr, Time), frame: Bytes) {
        let world = &mut *self.0.lock();
        world.post.post(&mut world.chance, Way::ToClient { to }, frame);
    }

    fn drain(&mut self, _: Time) {}
}

impl Drop for SimulatedPort {
    fn drop(&mut self) {
        let mut world = self.0.lock();
        world.post.closed = true;
        world.post.inbox.clear();
    }
}
