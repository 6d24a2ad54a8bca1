//! Sending keys to the client.

use std::{
    future,
    io::{self, ErrorKind},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use anyhow::Context;
use bytes::BytesMut;
use netcore::wire::{Encode, Writer};
use robots::InputMessage;
use tokio::{net::UdpSocket, time::sleep};
use tracing::{debug, warn};

/// The pause after an error of the system, so that a lasting error costs no processor time.
const TROUBLE: Duration = Duration::from_millis(20);

/// A socket that is connected to one address of the client at a time, so that the system reports when nobody listens there.
/// Then the next address is tried.
#[derive(Debug)]
pub(crate) struct Sender {
    addresses: Vec<SocketAddr>,
    current: usize,
    way: Way,
    // The newest key, and the number of addresses that have refused it.
    newest: Option<InputMessage>,
    refusals: usize,
}

/// One socket twice: one handle waits for refusals, the other sends without the runtime, which learns only later that a new
/// socket is writable.
#[derive(Debug)]
struct Way {
    waiting: UdpSocket,
    sending: std::net::UdpSocket,
}

impl Sender {
    /// A sender to the first of `addresses` that the system can route to.
    pub(crate) fn new(addresses: Vec<SocketAddr>) -> anyhow::Result<Self> {
        let mut trouble = anyhow::anyhow!("no address of the client");
        for (current, &address) in addresses.iter().enumerate() {
            match connect(address).with_context(|| format!("cannot reach {address}")) {
                Ok(way) => return Ok(Self { addresses, current, way, newest: None, refusals: 0 }),
                Err(error) => trouble = error,
            }
        }
        Err(trouble)
    }

    pub(crate) fn send(&mut self, message: InputMessage) {
        // An address that has refused is not tried again until all others were.
        if self.is_refused() {
            self.refusals = 0;
        }
        self.newest = Some(message);
        self.send_newest();
    }

    /// Whether all addresses have refused the newest key.
    pub(crate) const fn is_refused(&self) -> bool {
        self.refusals >= self.addresses.len()
    }

    /// Notes that the client is there, since it has sent a picture.
    pub(crate) const fn heard(&mut self) {
        self.refusals = 0;
    }

    /// Waits until the system reports that nobody listens at the current address. Cancelling it loses nothing.
    pub(crate) async fn refused(&self) {
        loop {
            match self.way.waiting.recv(&mut [0; 1]).await {
                // Pictures arrive on other sockets.
                Ok(_) => {}
                Err(error) if is_refused(&error) => return,
                Err(error) => {
                    debug!(%error, "trouble with the way to the client");
                    sleep(TROUBLE).await;
                }
            }
        }
    }

    /// Switches to the next address after a refusal, and sends the newest key there unless all addresses have refused it.
    pub(crate) fn try_next(&mut self) {
        self.refusals = (self.refusals + 1).min(self.addresses.len());
        for step in 1..self.addresses.len() {
            let next = (self.current + step) % self.addresses.len();
            match connect(self.addresses[next]) {
                Ok(way) => {
                    debug!(refused = %self.addresses[self.current], next = %self.addresses[next], "another address");
                    (self.current, self.way) = (next, way);
                    break;
                }
                Err(error) => debug!(address = %self.addresses[next], %error, "no way to this address"),
            }
        }
        if !self.is_refused() {
            self.send_newest();
        }
    }

    fn send_newest(&mut self) {
        let Some(message) = self.newest else { return };
        let mut datagram = BytesMut::new();
        message.encode(&mut Writer::new(&mut datagram));
        let sent = match self.way.sending.send(&datagram) {
            // Linux reports the error of an earlier datagram here and does not send this one.
            Err(error) if is_refused(&error) => self.way.sending.send(&datagram),
            sent => sent,
        };
        match sent {
            Ok(_) => {}
            Err(error) => warn!(%error, ?message, to = %self.addresses[self.current], "a key could not be sent"),
        }
    }
}

/// Waits until one of `sockets` can be read; for ever without sockets.
pub(crate) async fn readable(sockets: &[UdpSocket]) {
    future::poll_fn(|context| {
        let ready = sockets.iter().filter(|socket| socket.poll_recv_ready(context).is_ready()).count();
        if ready > 0 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

fn connect(address: SocketAddr) -> io::Result<Way> {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = std::net::UdpSocket::bind(any)?;
    socket.connect(address)?;
    socket.set_nonblocking(true)?;
    Ok(Way { waiting: UdpSocket::from_std(socket.try_clone()?)?, sending: socket })
}

// Windows reports a refusal as a reset.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener() -> (std::net::UdpSocket, SocketAddr) {
        let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[tokio::test]
    async fn a_key_that_is_refused_goes_to_the_next_address() {
        let (gone, closed) = listener();
        drop(gone);
        let (client, open) = listener();
        let mut sender = Sender::new(vec![closed, open]).unwrap();
        sender.send(InputMessage::PlaceBlock);
        sender.refused().await;
        sender.try_next();
        assert!(!sender.is_refused());
        let mut buffer = [0; 9];
        assert_eq!((client.recv(&mut buffer).unwrap(), buffer[0]), (1, 1));
    }

    #[tokio::test]
    async fn a_key_that_nobody_takes_is_known_and_the_next_is_tried_anew() {
        let (gone, closed) = listener();
        drop(gone);
        let mut sender = Sender::new(vec![closed]).unwrap();
        sender.send(InputMessage::PlaceBomb);
        sender.refused().await;
        sender.try_next();
        assert!(sender.is_refused());
        sender.send(InputMessage::PlaceBomb);
        assert!(!sender.is_refused());
    }
}
