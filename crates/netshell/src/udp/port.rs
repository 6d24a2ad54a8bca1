use std::{
    io,
    net::{IpAddr, SocketAddr},
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::Time;

use super::{
    backlog::{Backlog, Share},
    receiver::Receiver,
    socket::DatagramSocket,
};

#[derive(Debug)]
pub(super) struct Port<S> {
    socket: S,
    pub(super) backlog: Backlog,
    pub(super) receiver: Receiver,
}

impl<S: DatagramSocket> Port<S> {
    pub(super) fn new(now: Time, socket: S) -> Self {
        Self { socket, backlog: Backlog::new(now), receiver: Receiver::new(now) }
    }

    pub(super) fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.receiver.resume.is_none()
            && let Poll::Ready(ready) = self.socket.poll_readable(context)
        {
            return Poll::Ready(ready);
        }
        self.poll_room(context)
    }

    /// Ready if the backlog may be sent: the system reports space only when half of its buffer is free.
    pub(super) fn poll_room(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.backlog.is_empty() { Poll::Pending } else { self.socket.poll_writable(context) }
    }

    /// Receives one datagram into `buffer`, which has space for the largest; `None` if none has arrived.
    ///
    /// # Errors
    /// If the socket can never receive again.
    pub(super) fn receive(&mut self, now: Time, buffer: &mut BytesMut) -> io::Result<Option<SocketAddr>> {
        let Self { socket, backlog, receiver } = self;
        let Some(from) = receiver.take(now, || socket.try_receive(buffer))? else { return Ok(None) };
        if backlog.record_arrival(now, from) {
            self.drain(now);
        }
        Ok(Some(from))
    }

    /// The form of `address` for this socket; `None` if the socket cannot reach it.
    pub(super) fn map_address(&self, address: SocketAddr) -> Option<SocketAddr> {
        let own = self.socket.local_ip()?;
        let ip = address.ip().to_canonical();
        if !own.is_unspecified() && own.to_canonical().is_loopback() != ip.is_loopback() {
            return None;
        }
        let ip = match (own, ip) {
            (IpAddr::V4(_), IpAddr::V4(_)) => ip,
            (IpAddr::V6(_), IpAddr::V6(_)) => return Some(address),
            // A dual-stack socket receives from both families.
            (IpAddr::V6(own), IpAddr::V4(ip)) if own.is_unspecified() => ip.to_ipv6_mapped().into(),
            _ => return None,
        };
        Some(SocketAddr::new(ip, address.port()))
    }

    pub(super) fn send(&mut self, now: Time, (to, last_received): (SocketAddr, Time), frame: Bytes) {
        let socket = &self.socket;
        self.backlog.send(now, (to, last_received), frame, |share, to, frame| try_send(socket, share, to, frame));
    }

    pub(super) fn drain(&mut self, now: Time) {
        let socket = &self.socket;
        self.backlog.drain(now, |share, to, frame| try_send(socket, share, to, frame));
    }
}

fn try_send(socket: &impl DatagramSocket, share: Share, to: SocketAddr, frame: &[u8]) -> io::Result<()> {
    match share {
        Share::Whole => socket.try_send(to, frame),
        Share::Half => socket.try_send_in_half(to, frame),
    }
}
