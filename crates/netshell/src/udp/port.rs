//! A UDP socket that never blocks.

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

/// A source and sink of datagrams. No method blocks.
pub trait DatagramPort {
    /// Ready when there may be a datagram to receive, or space to send the backlog.
    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ready when the backlog is not empty and there may be space to send it.
    fn poll_room(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// When receiving resumes after an error of the system; `None` if there was none.
    fn resume(&self) -> Option<Time>;

    /// Whether the backlog is empty.
    fn is_drained(&self) -> bool;

    /// Receives one datagram into the buffer, which has space for the largest; `None` when there is none.
    ///
    /// # Errors
    /// When nothing can ever be received again.
    fn receive(&mut self, now: Time, buffer: &mut BytesMut) -> io::Result<Option<SocketAddr>>;

    /// The form in which this port reports the address of a peer; `None` if the port cannot reach it.
    fn spell(&self, address: SocketAddr) -> Option<SocketAddr>;

    /// Sends a datagram to an address that last sent at `heard`, or queues it if the send buffer is full.
    fn send(&mut self, now: Time, to: (SocketAddr, Time), frame: Bytes);

    /// Sends the backlog until the send buffer is full.
    fn drain(&mut self, now: Time);
}

/// A socket with its backlog and its receive state.
#[derive(Debug)]
pub struct Port {
    socket: UdpSocket,
    backlog: Backlog,
    receiver: Receiver,
}

impl Port {
    /// Registers a socket, which must be non-blocking.
    ///
    /// # Errors
    /// When it cannot be registered.
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

    // The system reports space only when half of its buffer is free.
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
            // A dual-stack socket receives both.
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
    // Through `try_io`, because the runtime waits for space only after it returned `WouldBlock`.
    match socket.try_io(Interest::WRITABLE, attempt) {
        // The system reports space only when half of the buffer is free, but there may be some before.
        Err(error) if share == Share::Whole && error.kind() == io::ErrorKind::WouldBlock => attempt(),
        sent => sent,
    }
}

// Linux reports a datagram socket as writable while less than half of its send buffer is in use. On other systems
// datagrams do not stay in the buffer, so there is nothing to share.
#[cfg(unix)]
fn is_half_free(socket: &UdpSocket) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut watched = [PollFd::new(socket, PollFlags::OUT)];
    // If the poll fails, try to send.
    poll(&mut watched, Some(&Timespec::default())) != Ok(0)
}

#[cfg(not(unix))]
fn is_half_free(_: &UdpSocket) -> bool {
    true
}
