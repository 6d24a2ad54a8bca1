//! The socket of a client.

use std::{cell::RefCell, collections::VecDeque, io, net::SocketAddr};

use bytes::{Buf, Bytes, BytesMut};
use tokio::{
    io::Interest,
    net::{TcpSocket, TcpStream, UdpSocket},
};

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
    /// A UDP socket that is connected to the server, with what waits to be sent.
    Datagrams(UdpSocket, VecDeque<Bytes>),
    /// A connection, with what waits to be sent.
    Stream(TcpStream, BytesMut),
}

impl Wire {
    /// Binds a UDP socket to `own` and connects it to the server. Must be called within a runtime.
    pub fn datagrams(own: SocketAddr, server: SocketAddr) -> io::Result<Self> {
        let socket = std::net::UdpSocket::bind(own)?;
        socket.connect(server)?;
        socket.set_nonblocking(true)?;
        Ok(Self::Datagrams(UdpSocket::from_std(socket)?, VecDeque::new()))
    }

    /// Binds a TCP socket to `own`, tells `bound` its address, and connects it to the server. So the caller knows the address before
    /// the server does.
    pub async fn stream(own: SocketAddr, server: SocketAddr, bound: impl FnOnce(SocketAddr)) -> io::Result<Self> {
        let socket = if server.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.bind(own)?;
        bound(socket.local_addr()?);
        let stream = socket.connect(server).await?;
        netshell::tune_stream(&stream);
        Ok(Self::Stream(stream, BytesMut::new()))
    }

    /// The client's own address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Datagrams(socket, _) => socket.local_addr(),
            Self::Stream(stream, _) => stream.local_addr(),
        }
    }

    /// Waits until [`Wire::receive`] or [`Wire::flush`] has something to do. Cancellation safe.
    pub(crate) async fn ready(&self) -> io::Result<()> {
        let interest = |waits: bool| if waits { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        match self {
            Self::Datagrams(socket, unsent) => socket.ready(interest(!unsent.is_empty())).await.map(drop),
            Self::Stream(stream, unsent) => stream.ready(interest(!unsent.is_empty())).await.map(drop),
        }
    }

    /// Passes received bytes to `take`. `None` if there are none; `Ok(false)` at the end of a connection.
    pub(crate) fn receive(&self, take: impl FnOnce(&[u8])) -> Option<io::Result<bool>> {
        SCRATCH.with_borrow_mut(|buffer| {
            let received = match self {
                Self::Datagrams(socket, _) => socket.try_recv(buffer),
                Self::Stream(stream, _) => stream.try_read(buffer),
            };
            match (received, self) {
                (Err(error), _) if error.kind() == io::ErrorKind::WouldBlock => None,
                // Nobody listens at the port just now; a resumed match continues.
                (Err(error), Self::Datagrams(..)) if error.kind() == io::ErrorKind::ConnectionRefused => None,
                (Err(error), _) => Some(Err(error)),
                (Ok(0), Self::Stream(..)) => Some(Ok(false)),
                (Ok(bytes), _) => {
                    take(&buffer[..bytes]);
                    Some(Ok(true))
                }
            }
        })
    }

    /// Sends a message, now or when the system takes it. Datagrams beyond the bound are lost, as they could be on their way.
    pub(crate) fn send(&mut self, message: Bytes) -> io::Result<()> {
        match self {
            Self::Datagrams(_, unsent) => {
                let waiting = |unsent: &VecDeque<Bytes>| unsent.iter().map(Bytes::len).sum::<usize>();
                while !unsent.is_empty() && waiting(unsent) + message.len() > MAX_UNSENT {
                    unsent.pop_front();
                }
                unsent.push_back(message);
            }
            Self::Stream(_, unsent) => {
                if unsent.len() + message.len() > MAX_UNSENT {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not read"));
                }
                unsent.extend_from_slice(&message);
            }
        }
        self.flush()
    }

    /// Sends what waits, as far as the system takes it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Datagrams(socket, unsent) => {
                while let Some(message) = unsent.front() {
                    let sent = match socket.try_send(message) {
                        // An error that an earlier datagram caused is reported once and sends nothing.
                        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => socket.try_send(message),
                        sent => sent,
                    };
                    if sent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                        break;
                    }
                    unsent.pop_front();
                }
            }
            Self::Stream(stream, unsent) => {
                while !unsent.is_empty() {
                    match stream.try_write(unsent) {
                        Ok(sent) => unsent.advance(sent),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits until everything is sent.
    pub(crate) async fn flushed(&mut self) -> io::Result<()> {
        loop {
            self.flush()?;
            match self {
                Self::Datagrams(socket, unsent) if !unsent.is_empty() => socket.writable().await?,
                Self::Stream(stream, unsent) if !unsent.is_empty() => stream.writable().await?,
                Self::Datagrams(..) | Self::Stream(..) => return Ok(()),
            }
        }
    }
}
