//! Each seat has its own port, so the port of a connection identifies the player.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{Framing, Link, Time};
use netshell::{Answer, ConnectionEvent, ConnectionId, Delivery, Removal, Transport, Warden};

use crate::observer::MatchObserver;

/// Reports the seat of each connection, and measures the latencies of its player.
pub(crate) struct Gate<T> {
    inner: T,
    seat: usize,
    observer: MatchObserver,
}

impl<T> Gate<T> {
    pub(crate) const fn new(inner: T, seat: usize, observer: MatchObserver) -> Self {
        Self { inner, seat, observer }
    }
}

impl<T: Transport> Transport for Gate<T> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(context)
    }

    fn wake_at(&self) -> Option<Time> {
        self.inner.wake_at()
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        let event = self.inner.next(now)?;
        match &event {
            Some(ConnectionEvent::Opened { .. }) => self.observer.opened(self.seat),
            Some(ConnectionEvent::Bytes { .. }) => self.observer.state().answered(now, self.seat),
            _ => {}
        }
        Ok(event)
    }

    fn answer(&mut self, now: Time, answer: Answer) {
        self.inner.answer(now, answer);
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        self.inner.adopt(now, link, address)
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        if !matches!(delivery, Delivery::Close(_)) {
            self.observer.state().sent(now, self.seat);
        }
        self.inner.deliver(now, delivery);
    }

    fn flush(&mut self, now: Time) {
        self.inner.flush(now);
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_flush(now, context)
    }
}

/// Refuses connections of processes other than the seat's player, and further connections to a taken seat. The host
/// queries it after the [`Gate`] has reported the seat.
pub(crate) struct SeatWarden(pub(crate) MatchObserver);

impl Warden for SeatWarden {
    fn admits(&mut self, address: SocketAddr) -> bool {
        self.0.admits(address)
    }

    // Each seat counts as a host of its own. Otherwise players would share the room's quota for one host.
    fn room_address(&mut self, _: Link, address: SocketAddr) -> SocketAddr {
        let seat = u8::try_from(self.0.state().opened).unwrap_or(u8::MAX - 1);
        SocketAddr::from((Ipv4Addr::new(127, 0, 0, seat.saturating_add(1)), address.port()))
    }

    fn farewell(&self, _: &str, _: Framing) -> Option<Bytes> {
        None
    }

    fn poll_removal(&mut self, _: &mut Context<'_>) -> Poll<Removal> {
        Poll::Pending
    }
}
