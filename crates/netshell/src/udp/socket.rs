use std::{
    io,
    net::{IpAddr, SocketAddr},
    task::{Context, Poll},
};

use bytes::BytesMut;
use socket2::SockRef;
use tokio::{io::Interest, net::UdpSocket};

/// A socket for datagrams. No method blocks.
pub trait DatagramSocket {
    /// The bound address; `None` if the system does not report it.
    fn local_ip(&self) -> Option<IpAddr>;

    /// Ready when there may be a datagram to receive.
    fn poll_readable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ready when there may be space to send. A waiting task is woken only when half of the send buffer is free.
    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Appends a datagram to `buffer`, which has space for the largest, and returns its sender.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if there is none.
    fn try_receive(&self, buffer: &mut BytesMut) -> io::Result<SocketAddr>;

    /// Sends a datagram.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if the send buffer has no space.
    fn try_send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()>;

    /// As [`DatagramSocket::try_send`], but uses only the first half of the send buffer.
    fn try_send_in_half(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()>;
}

impl DatagramSocket for UdpSocket {
    fn local_ip(&self) -> Option<IpAddr> {
        self.local_addr().ok().map(|address| address.ip())
    }

    fn poll_readable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_recv_ready(context)
    }

    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_send_ready(context)
    }

    fn try_receive(&self, buffer: &mut BytesMut) -> io::Result<SocketAddr> {
        self.try_recv_buf_from(buffer).map(|(_, from)| from)
    }

    fn try_send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        // Through `try_io`: the runtime waits for space only after it returned `WouldBlock`.
        match self.try_io(Interest::WRITABLE, || send(self, to, datagram)) {
            // The system reports space only when half of the buffer is free, but there may be some before.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => send(self, to, datagram),
            sent => sent,
        }
    }

    fn try_send_in_half(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.try_io(Interest::WRITABLE, || {
            if is_half_free(self) { send(self, to, datagram) } else { Err(io::ErrorKind::WouldBlock.into()) }
        })
    }
}

fn send(socket: &UdpSocket, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
    SockRef::from(socket).send_to(datagram, &to.into()).map(drop)
}

// Linux reports a datagram socket as writable while less than half of its send buffer is in use. On other systems
// datagrams do not stay in the buffer.
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
