use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    net::{IpAddr, Ipv4Addr},
    rc::Rc,
};

use super::*;

#[derive(Debug, Clone, Default)]
struct Scripted(Rc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    inbox: RefCell<VecDeque<(SocketAddr, &'static [u8])>>,
    flood: Cell<Option<SocketAddr>>,
}

impl DatagramSocket for Scripted {
    fn local_ip(&self) -> Option<IpAddr> {
        Some(Ipv4Addr::UNSPECIFIED.into())
    }

    fn poll_readable(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_writable(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn try_receive(&self, buffer: &mut BytesMut) -> io::Result<SocketAddr> {
        let flood = self.0.flood.get().map(|from| (from, &b"flood"[..]));
        let next = self.0.inbox.borrow_mut().pop_front().or(flood);
        let (from, datagram) = next.ok_or(io::ErrorKind::WouldBlock)?;
        buffer.extend_from_slice(datagram);
        Ok(from)
    }

    fn try_send(&self, _: SocketAddr, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn try_send_in_half(&self, _: SocketAddr, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 5_000))
}

const HEAVY: Duration = Duration::from_millis(30);
const NOW: Time = Time::from_millis(1);

/// Floods one socket with datagrams of Eve, and sends a key of Bob to the other. `eve` and `bob` are the work that they
/// have caused before; if `eve` is `None`, Eve has no connection. Returns how many datagrams were read or processed
/// before the key.
fn work_until_key(flooded: usize, eve: Option<Duration>, bob: Duration) -> Option<usize> {
    let sockets = [Scripted::default(), Scripted::default()];
    let mut ports = Ports::over(sockets.to_vec());
    let other = 1 - flooded;
    let known = eve.map(|caused| ((flooded, address(1)), caused));
    for (remote, caused) in known.into_iter().chain([((other, address(2)), bob)]) {
        let id = ports.datagrams.admit(NOW, remote, remote.1, Admission::Admitted).unwrap();
        ports.datagrams.fair.charge(NOW, id, caused);
    }
    sockets[flooded].0.flood.set(Some(address(1)));
    sockets[other].0.inbox.borrow_mut().push_back((address(2), b"key"));
    (0..1_000).find(|_| match ports.next(NOW).unwrap() {
        Some(ConnectionEvent::Bytes { ticket, bytes }) => {
            let key = bytes[..] == b"key"[..];
            ports.datagrams.fair.charge(NOW, ticket.id(), Duration::from_micros(30));
            key
        }
        Some(ConnectionEvent::UnknownPeer { ticket, .. }) => {
            ports.answer(NOW, Answer::UnknownPeer(ticket, Some(Admission::Ignored)));
            false
        }
        _ => false,
    })
}

#[test]
fn a_flood_on_one_socket_does_not_delay_another() {
    for flooded in [0, 1] {
        for eve in [None, Some(Duration::ZERO), Some(HEAVY)] {
            for bob in [Duration::ZERO, HEAVY] {
                let before = work_until_key(flooded, eve, bob);
                // Light peers are served immediately, heavy ones after a bounded number of datagrams.
                let most = if bob == HEAVY { RECEIVES } else { 2 };
                let few = before.is_some_and(|before| before <= most);
                assert!(few, "a flood on socket {flooded} by {eve:?}, a key by {bob:?}: {before:?}");
            }
        }
    }
}
