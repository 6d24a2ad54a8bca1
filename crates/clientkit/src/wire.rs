//! The socket of a client.

use std::{cell::RefCell, io, net::SocketAddr};

use bytes::{Buf, Bytes, BytesMut};
use tokio::net::{TcpSocket, TcpStream, UdpSocket};

/// Bytes that wait for a server that does not read. A client with more has lost its server.
pub const MAX_UNSENT: usize = 64 << 10;
/// More than a datagram can hold, so that none is ever cut.
const BUFFER: usize = 1 << 16;

thread_local! {
    // Shared by all clients of a thread, so that a thousand of them need one.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; BUFFER].into_boxed_slice());
}

/// The way of a client to its server.
#[derive(Debug)]
pub enum Wire {
    /// A UDP socket that is connected to the server.
    Datagrams(UdpSocket),
    /// A connection, with what waits to be sent.
    Stream(TcpStream, BytesMut),
}

impl Wire {
    /// Binds a UDP socket to `own` and connects it to the server. Must be called within a runtime.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn datagrams(own: SocketAddr, server: SocketAddr) -> io::Result<Self> {
        let socket = std::net::UdpSocket::bind(own)?;
        socket.connect(server)?;
        socket.set_nonblocking(true)?;
        Ok(Self::Datagrams(UdpSocket::from_std(socket)?))
    }

    /// Binds a TCP socket to `own`, tells `bound` its address, and connects it to the server. So the caller knows the address before
    /// the server does.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn stream(own: SocketAddr, server: SocketAddr, bound: impl FnOnce(SocketAddr)) -> io::Result<Self> {
        let socket = if server.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.bind(own)?;
        bound(socket.local_addr()?);
        let stream = socket.connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Self::Stream(stream, BytesMut::new()))
    }

    /// The client's own address.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Datagrams(socket) => socket.local_addr(),
            Self::Stream(stream, _) => stream.local_addr(),
        }
    }

    /// Waits until [`Wire::receive`] or [`Wire::flush`] has something to do. Cancellation safe.
    pub(crate) async fn ready(&self) -> io::Result<()> {
        match self {
            Self::Datagrams(socket) => socket.readable().await,
            Self::Stream(stream, unsent) if unsent.is_empty() => stream.readable().await,
            Self::Stream(stream, _) => {
                tokio::select! {
                    ready = stream.readable() => ready,
                    ready = stream.writable() => ready,
                }
            }
        }
    }

    /// Hands what has come to `take`. `None` if there is nothing; `Ok(false)` at the end of a connection.
    pub(crate) fn receive(&self, take: impl FnOnce(&[u8])) -> Option<io::Result<bool>> {
        SCRATCH.with_borrow_mut(|buffer| {
            let received = match self {
                Self::Datagrams(socket) => socket.try_recv(buffer),
                Self::Stream(stream, _) => stream.try_read(buffer),
            };
            match (received, self) {
                (Err(error), _) if error.kind() == io::ErrorKind::WouldBlock => None,
                // Nobody listens at the port just now; a match that is resumed goes on.
                (Err(error), Self::Datagrams(_)) if error.kind() == io::ErrorKind::ConnectionRefused => None,
                (Err(error), _) => Some(Err(error)),
                (Ok(0), Self::Stream(..)) => Some(Ok(false)),
                (Ok(bytes), _) => {
                    take(&buffer[..bytes]);
                    Some(Ok(true))
                }
            }
        })
    }

    /// Sends a message. A datagram that the system does not take is lost, as it could be on its way.
    pub(crate) fn send(&mut self, message: &Bytes) -> io::Result<()> {
        match self {
            Self::Datagrams(socket) => {
                // An error that an earlier datagram caused is reported once and sends nothing.
                if socket.try_send(message).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
                    let _ = socket.try_send(message);
                }
                Ok(())
            }
            Self::Stream(_, unsent) => {
                if unsent.len() + message.len() > MAX_UNSENT {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not read"));
                }
                unsent.extend_from_slice(message);
                self.flush()
            }
        }
    }

    /// Sends what waits, as far as the system takes it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Self::Stream(stream, unsent) = self else { return Ok(()) };
        while !unsent.is_empty() {
            match stream.try_write(unsent) {
                Ok(sent) => unsent.advance(sent),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
