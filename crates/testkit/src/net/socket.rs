use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netshell::DatagramSocket;
use rand::RngExt;

use super::{datagrams::Direction, world::Shared};
use crate::draw::draw;

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
