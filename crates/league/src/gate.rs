//! The port of one seat. Each seat has its own, so that it is known which program a connection is of, whatever it says.

use std::{
    io,
    net::SocketAddr,
    task::{Context, Poll},
};

use netcore::{Link, Time};
use netshell::{Answer, ConnectionEvent, ConnectionId, Delivery, Transport};

use crate::seen::Seen;

/// A transport that tells at which seat a connection was opened.
pub(crate) struct Gate<T> {
    inner: T,
    seat: usize,
    seen: Seen,
}

impl<T> Gate<T> {
    pub(crate) const fn new(inner: T, seat: usize, seen: Seen) -> Self {
        Self { inner, seat, seen }
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
        if let Some(ConnectionEvent::Opened { .. }) = &event {
            self.seen.opened(self.seat);
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
        self.inner.deliver(now, delivery);
    }

    fn flush(&mut self, now: Time) {
        self.inner.flush(now);
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_flush(now, context)
    }
}
