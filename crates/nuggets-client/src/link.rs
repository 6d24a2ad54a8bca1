//! The way to the server: one UDP socket, connected to one address of the host at a time.

use std::{
    future,
    io::{self, ErrorKind},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
};

use anyhow::Context;
use bytes::Bytes;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::UdpSocket;
use tracing::{debug, warn};

use crate::unsent::Unsent;

/// What is asked of the system as room for datagrams that wait to be read: some sixty of the largest.
const RECEIVE_ROOM: usize = 4 << 20;
/// More than a datagram can hold, so that none is ever cut.
pub(crate) const BUFFER: usize = 1 << 16;

/// What came of an attempt to receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// A datagram of so many bytes.
    Datagram(usize),
    /// The system says that nobody listens there.
    Refused,
    Nothing,
}

/// A socket that talks to one address and hears nobody else, since it is connected.
#[derive(Debug)]
pub(crate) struct Link {
    addresses: Vec<SocketAddr>,
    current: usize,
    socket: UdpSocket,
    unsent: Unsent,
}

impl Link {
    /// A link to the first of `addresses` that the system has a way to.
    pub(crate) fn open(addresses: Vec<SocketAddr>) -> anyhow::Result<Self> {
        let mut trouble = None;
        for (current, &address) in addresses.iter().enumerate() {
            match connect(address) {
                Ok(socket) => return Ok(Self { addresses, current, socket, unsent: Unsent::default() }),
                Err(error) => trouble = Some((address, error)),
            }
        }
        match trouble {
            Some((address, error)) => Err(error).with_context(|| format!("cannot reach {address}")),
            None => anyhow::bail!("no address to connect to"),
        }
    }

    /// Goes on to the next address. `false`, and no change, if there is no other that can be reached.
    pub(crate) fn try_next(&mut self) -> bool {
        for step in 1..self.addresses.len() {
            let next = (self.current + step) % self.addresses.len();
            match connect(self.addresses[next]) {
                Ok(socket) => {
                    debug!(from = %self.addresses[self.current], to = %self.addresses[next], "trying another address");
                    (self.current, self.socket, self.unsent) = (next, socket, Unsent::default());
                    return true;
                }
                Err(error) => debug!(address = %self.addresses[next], %error, "no way to this address"),
            }
        }
        false
    }

    /// Whether it talks to one of these addresses.
    pub(crate) fn is_to(&self, addresses: &[SocketAddr]) -> bool {
        addresses.contains(&self.addresses[self.current])
    }

    /// Where the server may be.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Talks to the first of these addresses that the system has a way to, from the same port if that can be: a server knows its players by
    /// their addresses. `false`, and no change, if none can be reached.
    pub(crate) fn move_to(&mut self, addresses: Vec<SocketAddr>) -> bool {
        for (current, &address) in addresses.iter().enumerate() {
            let reconnected = SockRef::from(&self.socket).connect(&address.into());
            let socket = match reconnected {
                Ok(()) => None,
                // From another address of this machine, which a socket cannot change.
                Err(error) => {
                    debug!(%address, %error, "the socket has no way there");
                    let Ok(socket) = connect(address) else { continue };
                    Some(socket)
                }
            };
            debug!(from = %self.addresses[self.current], to = %address, "the server has moved");
            if let Some(socket) = socket {
                self.socket = socket;
            }
            (self.addresses, self.current, self.unsent) = (addresses, current, Unsent::default());
            return true;
        }
        false
    }

    /// How many addresses there are to try.
    pub(crate) fn choices(&self) -> usize {
        self.addresses.len()
    }

    /// Sends a datagram, or keeps it until the system takes it, as long as there is room. Answers `false` if the system says that nobody listens there.
    pub(crate) fn send(&mut self, datagram: Bytes) -> bool {
        let dropped = self.unsent.push(datagram);
        if dropped > 0 {
            debug!(dropped, "the system takes nothing, and too much waits");
        }
        self.send_unsent()
    }

    /// Waits until what could not be sent can be sent; for ever if there is none.
    pub(crate) async fn until_writable(&self) {
        if self.unsent.is_empty() {
            future::pending::<()>().await;
        }
        // An error shows when it is tried.
        let _ = self.socket.writable().await;
    }

    /// Sends what is left to send, as far as it goes. Answers as [`Link::send`].
    pub(crate) fn send_unsent(&mut self) -> bool {
        let mut listened = true;
        while let Some(datagram) = self.unsent.first() {
            let sent = match self.socket.try_send(datagram) {
                // Linux reports what became of the datagram before this one and sends nothing.
                Err(error) if is_refused(&error) => {
                    listened = false;
                    self.socket.try_send(datagram)
                }
                sent => sent,
            };
            match sent {
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if is_refused(&error) => listened = false,
                Err(error) => warn!(%error, "a datagram could not be sent"),
                Ok(_) => {}
            }
            self.unsent.remove_first();
        }
        listened
    }

    pub(crate) async fn receive(&self, buffer: &mut [u8]) -> Received {
        sort(self.socket.recv(buffer).await)
    }

    /// The next datagram, if one is there already.
    pub(crate) fn receive_now(&self, buffer: &mut [u8]) -> Received {
        sort(self.socket.try_recv(buffer))
    }
}

fn connect(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    // The system gives less if it must, and that will do.
    let _ = socket.set_recv_buffer_size(RECEIVE_ROOM);
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    socket.bind(&any.into())?;
    socket.connect(&address.into())?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}

fn sort(outcome: io::Result<usize>) -> Received {
    match outcome {
        Ok(bytes) => Received::Datagram(bytes),
        Err(error) if is_refused(&error) => Received::Refused,
        Err(error) => {
            if error.kind() != ErrorKind::WouldBlock {
                warn!(%error, "cannot receive");
            }
            Received::Nothing
        }
    }
}

// Windows calls it a reset.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}
