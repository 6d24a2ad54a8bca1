//! One UDP socket: receiving and sending without ever waiting for the system.

use std::{
    io,
    net::{self, IpAddr, SocketAddr},
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::Time;
use socket2::SockRef;
use tokio::{io::Interest, net::UdpSocket};

use super::{
    backlog::{Backlog, Share},
    receiver::Receiver,
};

/// A place at which datagrams come in and go out. Nothing waits.
pub trait DatagramPort {
    /// Ready when there may be something to receive, or room for what waits.
    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ready when something waits and there may be room for it.
    fn poll_room(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Until when nothing is received because the system is in trouble, if it is.
    fn resume(&self) -> Option<Time>;

    /// Whether no datagram waits to be sent.
    fn is_drained(&self) -> bool;

    /// Takes one datagram off into the buffer, which has room for the largest; `None` when none is there.
    ///
    /// # Errors
    /// When nothing can ever be received again.
    fn receive(&mut self, now: Time, buffer: &mut BytesMut) -> io::Result<Option<SocketAddr>>;

    /// How this port spells the address of somebody at its other end; `None` if it cannot reach it.
    fn spell(&self, address: SocketAddr) -> Option<SocketAddr>;

    /// Sends a datagram to an address from which something came last at `heard`: now, or later if the system is full.
    fn send(&mut self, now: Time, to: (SocketAddr, Time), frame: Bytes);

    /// Sends what waits until the system is full again.
    fn drain(&mut self, now: Time);
}

/// A socket, what it could not send yet, and how it fares.
#[derive(Debug)]
pub struct Port {
    socket: UdpSocket,
    backlog: Backlog,
    receiver: Receiver,
}

impl Port {
    /// Watches a socket, which must be non-blocking.
    ///
    /// # Errors
    /// When it cannot be watched.
    pub(crate) fn new(now: Time, socket: net::UdpSocket) -> io::Result<Self> {
        let socket = UdpSocket::from_std(socket)?;
        Ok(Self { socket, backlog: Backlog::new(now), receiver: Receiver::new(now) })
    }
}

impl DatagramPort for Port {
    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.receiver.resume().is_none()
            && let Poll::Ready(ready) = self.socket.poll_recv_ready(context)
        {
            return Poll::Ready(ready);
        }
        self.poll_room(context)
    }

    // The system tells of room only when half of its buffer is free.
    fn poll_room(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.backlog.is_empty() { Poll::Pending } else { self.socket.poll_send_ready(context) }
    }

    fn resume(&self) -> Option<Time> {
        self.receiver.resume()
    }

    fn is_drained(&self) -> bool {
        self.backlog.is_empty()
    }

    fn receive(&mut self, now: Time, buffer: &mut BytesMut) -> io::Result<Option<SocketAddr>> {
        let Self { socket, backlog, receiver } = self;
        let Some((_, from)) = receiver.take(now, || socket.try_recv_buf_from(buffer))? else { return Ok(None) };
        if backlog.heard(now, from) {
            self.drain(now);
        }
        Ok(Some(from))
    }

    fn spell(&self, address: SocketAddr) -> Option<SocketAddr> {
        let own = self.socket.local_addr().ok()?.ip();
        let ip = address.ip().to_canonical();
        if !own.is_unspecified() && own.to_canonical().is_loopback() != ip.is_loopback() {
            return None;
        }
        let ip = match (own, ip) {
            (IpAddr::V4(_), IpAddr::V4(_)) => ip,
            (IpAddr::V6(_), IpAddr::V6(_)) => return Some(address),
            // Both come in at one socket.
            (IpAddr::V6(own), IpAddr::V4(ip)) if own.is_unspecified() => ip.to_ipv6_mapped().into(),
            _ => return None,
        };
        Some(SocketAddr::new(ip, address.port()))
    }

    fn send(&mut self, now: Time, (to, heard): (SocketAddr, Time), frame: Bytes) {
        let socket = &self.socket;
        self.backlog.send(now, (to, heard), frame, |share, to, frame| try_send(socket, share, to, frame));
    }

    fn drain(&mut self, now: Time) {
        let socket = &self.socket;
        self.backlog.drain(now, |share, to, frame| try_send(socket, share, to, frame));
    }
}

fn try_send(socket: &UdpSocket, share: Share, to: SocketAddr, frame: &[u8]) -> io::Result<()> {
    let attempt = || {
        if share == Share::Half && !is_half_free(socket) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        SockRef::from(socket).send_to(frame, &to.into()).map(drop)
    };
    // Within `try_io`, for after an error that says so the runtime watches for room.
    match socket.try_io(Interest::WRITABLE, attempt) {
        // But the system tells of room only when half is free, and there may be some before.
        Err(error) if share == Share::Whole && error.kind() == io::ErrorKind::WouldBlock => attempt(),
        sent => sent,
    }
}

// Linux calls a datagram socket writable while less than half of its buffer is in use. Elsewhere datagrams do not stay in
// the socket's buffer, so there is nothing to share.
#[cfg(unix)]
fn is_half_free(socket: &UdpSocket) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut watched = [PollFd::new(socket, PollFlags::OUT)];
    // If the system does not tell, sending will.
    poll(&mut watched, Some(&Timespec::default())) != Ok(0)
}

#[cfg(not(unix))]
fn is_half_free(_: &UdpSocket) -> bool {
    true
}
