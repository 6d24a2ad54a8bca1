//! Each seat has its own port, which identifies the player of a connection.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf as _, Bytes, BytesMut};
use netcore::{DisconnectReason, Engine, Framing, Link, Protocol, Time};
use netshell::{Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, Transport, Warden, WardenRequest};

use crate::observer::MatchObserver;

/// The length of the first message in a stream; `None` if it is incomplete or malformed.
type Length = fn(&[u8]) -> Option<usize>;

pub(crate) fn length<E: Engine>(bytes: &[u8]) -> Option<usize> {
    <E::Protocol as Protocol>::length(&<E::Protocol as Protocol>::Decoder::default(), bytes).ok()?
}

/// Reports the seat of each connection, measures the latencies of its player, and lets the player reconnect once.
///
/// The new connection takes over the lost one's number for the room, which only sends its present state again.
pub(crate) struct Gate<T> {
    inner: T,
    place: Place,
}

struct Place {
    seat: usize,
    observer: MatchObserver,
    /// How long the end of the connection is kept from the room.
    grace: Duration,
    length: Length,
    // The connection's id for the room, and that of `inner`: `None` after its end.
    connection: Option<(ConnectionId, Option<ConnectionId>)>,
    // When to notify the room of the end, and why the connection ended.
    lost: Option<(Time, DisconnectReason)>,
    // The player's only reconnection is used.
    has_returned: bool,
    // The next message on a stream is the repeated join, which the room would reject.
    skips_join: bool,
    // Connections of `inner` to close.
    closing: Vec<ConnectionId>,
}

impl Place {
    fn may_return(&self) -> bool {
        !self.grace.is_zero() && !self.has_returned && self.observer.state().is_playing(self.seat)
    }

    // Returns the room's connection if the new one replaces it.
    fn opened(&mut self, id: ConnectionId, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        self.observer.opened(self.seat);
        let Some((room, current)) = self.connection else {
            // The warden may reject it, which closes it immediately.
            self.connection = Some((id, Some(id)));
            return None;
        };
        // The end of the current connection may be reported later, or never on datagrams.
        if !self.may_return() || !self.observer.is_own(address) {
            return None;
        }
        self.closing.extend(current);
        self.connection = Some((room, Some(id)));
        (self.has_returned, self.lost, self.skips_join) = (true, None, link == Link::Stream);
        self.observer.state().returned(self.seat);
        Some(room)
    }

    // Returns the room's connection if the room must be notified now.
    fn closed(&mut self, now: Time, id: ConnectionId, why: DisconnectReason) -> Option<ConnectionId> {
        let Some((room, _)) = self.connection.filter(|(_, current)| *current == Some(id)) else { return Some(id) };
        if !self.may_return() {
            return Some(room);
        }
        if why == DisconnectReason::Left {
            self.closing.push(id);
        }
        self.connection = Some((room, None));
        self.lost = Some((now.plus(self.grace), why));
        None
    }

    fn expired(&mut self, now: Time) -> Option<(ConnectionId, DisconnectReason)> {
        let (_, why) = self.lost.take_if(|(until, _)| *until <= now)?;
        self.has_returned = true;
        Some((self.connection?.0, why))
    }

    fn received(&mut self, now: Time, id: ConnectionId, bytes: &mut BytesMut) -> ConnectionId {
        if self.skips_join && self.connection.is_some_and(|(_, current)| current == Some(id)) {
            let Some(length) = (self.length)(bytes) else { return self.room(id) };
            bytes.advance(length.min(bytes.len()));
            self.skips_join = false;
        } else {
            self.observer.state().answered(now, self.seat);
        }
        self.room(id)
    }

    fn room(&self, id: ConnectionId) -> ConnectionId {
        self.connection.filter(|(_, current)| *current == Some(id)).map_or(id, |(room, _)| room)
    }

    // `None` after the end of the connection.
    fn inner(&self, id: ConnectionId) -> Option<ConnectionId> {
        self.connection.filter(|(room, _)| *room == id).map_or(Some(id), |(_, current)| current)
    }
}

impl<T> Gate<T> {
    /// The player may reconnect within `grace`.
    pub(crate) fn new(inner: T, (seat, observer): (usize, MatchObserver), (grace, length): (Duration, Length)) -> Self {
        let (connection, lost, has_returned, skips_join, closing) = (None, None, false, false, Vec::new());
        let place = Place { seat, observer, grace, length, connection, lost, has_returned, skips_join, closing };
        Self { inner, place }
    }
}

impl<T: Transport> Transport for Gate<T> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(context)
    }

    fn wake_at(&self) -> Option<Time> {
        self.inner.wake_at().into_iter().chain(self.place.lost.map(|(until, _)| until)).min()
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        let Self { inner, place } = self;
        for id in place.closing.drain(..) {
            inner.deliver(now, Delivery::Close(id));
            inner.flush(now);
        }
        if let Some((id, why)) = place.expired(now) {
            return Ok(Some(ConnectionEvent::Closed { id, why }));
        }
        let Some(event) = inner.next(now)? else { return Ok(None) };
        Ok(Some(match event {
            ConnectionEvent::Opened { id, role, link, address } => match place.opened(id, link, address) {
                Some(id) => ConnectionEvent::Refreshed { id },
                None => ConnectionEvent::Opened { id, role, link, address },
            },
            ConnectionEvent::Bytes { ticket, bytes } => {
                let id = place.received(now, ticket.id(), bytes);
                ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes }
            }
            ConnectionEvent::Closed { id, why } => match place.closed(now, id, why) {
                Some(id) => ConnectionEvent::Closed { id, why },
                None => ConnectionEvent::Internal,
            },
            ConnectionEvent::Refreshed { id } => ConnectionEvent::Refreshed { id: place.room(id) },
            event @ (ConnectionEvent::UnknownPeer { .. } | ConnectionEvent::Internal) => event,
        }))
    }

    fn answer(&mut self, now: Time, answer: Answer) {
        let ticket = |ticket: BytesTicket| BytesTicket::new(self.place.inner(ticket.id()).unwrap_or(ticket.id()));
        let answer = match answer {
            Answer::Processed(of, progress) => Answer::Processed(ticket(of), progress),
            Answer::Paused(of, until) => Answer::Paused(ticket(of), until),
            Answer::UnknownPeer(..) => answer,
        };
        self.inner.answer(now, answer);
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        self.inner.adopt(now, link, address)
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        let place = &mut self.place;
        let delivery = match delivery {
            Delivery::Frame(id, frame) => place.inner(id).map(|id| Delivery::Frame(id, frame)),
            Delivery::History(id, history) => place.inner(id).map(|id| Delivery::History(id, history)),
            Delivery::Everyone(_) => Some(delivery),
            Delivery::Close(id) => {
                let inner = place.inner(id);
                if place.connection.is_some_and(|(room, _)| room == id) {
                    (place.connection, place.lost) = (None, None);
                }
                return inner.into_iter().for_each(|id| self.inner.deliver(now, Delivery::Close(id)));
            }
        };
        if let Some(delivery) = delivery {
            place.observer.state().sent(now, place.seat);
            self.inner.deliver(now, delivery);
        }
    }

    fn flush(&mut self, now: Time) {
        self.inner.flush(now);
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_flush(now, context)
    }
}

/// Refuses connections of processes other than the seat's player, and further ones to a taken seat. The host queries it
/// after the [`Gate`] has reported the seat.
pub(crate) struct SeatWarden(pub(crate) MatchObserver);

impl Warden for SeatWarden {
    fn admits(&mut self, address: SocketAddr) -> bool {
        self.0.admits(address)
    }

    // Each seat counts as a host. Otherwise, players would share the room's quota for one host.
    fn room_address(&mut self, _: Link, address: SocketAddr) -> SocketAddr {
        let seat = u8::try_from(self.0.state().opened).unwrap_or(u8::MAX - 1);
        SocketAddr::from((Ipv4Addr::new(127, 0, 0, seat.saturating_add(1)), address.port()))
    }

    fn farewell(&self, _: &str, _: Framing) -> Option<Bytes> {
        None
    }

    fn poll_request(&mut self, _: &mut Context<'_>) -> Poll<WardenRequest> {
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use netcore::{GameEvent, PeerId, Role};
    use netshell::Observer as _;

    use super::*;
    use crate::protection::Protection;

    #[derive(Default)]
    struct Stub {
        events: VecDeque<ConnectionEvent<'static>>,
        sent: Vec<(ConnectionId, Bytes)>,
        closed: Vec<ConnectionId>,
    }

    impl Transport for Stub {
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn wake_at(&self) -> Option<Time> {
            None
        }

        fn next(&mut self, _: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
            Ok(self.events.pop_front())
        }

        fn answer(&mut self, _: Time, _: Answer) {}

        fn deliver(&mut self, _: Time, delivery: Delivery<'_>) {
            match delivery {
                Delivery::Frame(id, frame) => self.sent.push((id, frame)),
                Delivery::Close(id) => self.closed.push(id),
                Delivery::History(..) | Delivery::Everyone(_) => {}
            }
        }

        fn flush(&mut self, _: Time) {}

        fn poll_flush(&mut self, _: Time, _: &mut Context<'_>) -> Poll<()> {
            Poll::Ready(())
        }
    }

    const GRACE: Duration = Duration::from_secs(10);

    // Its player has joined over connection 0.
    fn joined(grace: Duration) -> Gate<Stub> {
        let mut observer = MatchObserver::new(Protection::Network);
        let mut gate =
            Gate::new(Stub::default(), (0, observer.clone()), (grace, |bytes| (bytes.len() >= 2).then_some(2)));
        assert_eq!(opened(&mut gate, 0, 0), "Opened 0");
        observer.connected(Time::ZERO, PeerId(0), Role::Player, "");
        observer.event(Time::ZERO, &GameEvent::Joined { peer: PeerId(0), name: "Ada".into(), seat: "A".into() }, None);
        gate
    }

    fn next(gate: &mut Gate<Stub>, now: u64) -> String {
        match gate.next(Time::from_millis(now)).unwrap() {
            Some(ConnectionEvent::Opened { id, .. }) => format!("Opened {}", id.0),
            Some(ConnectionEvent::Refreshed { id }) => format!("Refreshed {}", id.0),
            Some(ConnectionEvent::Closed { id, .. }) => format!("Closed {}", id.0),
            other => format!("{other:?}"),
        }
    }

    fn opened(gate: &mut Gate<Stub>, now: u64, id: u64) -> String {
        let (id, role, link) = (ConnectionId(id), Role::Player, Link::Stream);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        gate.inner.events.push_back(ConnectionEvent::Opened { id, role, link, address });
        next(gate, now)
    }

    fn closed(gate: &mut Gate<Stub>, now: u64, id: u64) -> String {
        gate.inner.events.push_back(ConnectionEvent::Closed { id: ConnectionId(id), why: DisconnectReason::Broken });
        next(gate, now)
    }

    fn deliver(gate: &mut Gate<Stub>, text: &'static str) {
        gate.deliver(Time::ZERO, Delivery::Frame(ConnectionId(0), Bytes::from_static(text.as_bytes())));
    }

    #[test]
    fn player_reconnects_once_and_its_repeated_join_is_skipped() {
        let mut gate = joined(GRACE);
        assert_eq!(closed(&mut gate, 1_000, 0), "Some(Internal)");
        deliver(&mut gate, "lost");
        assert_eq!(opened(&mut gate, 10_999, 2), "Refreshed 0");
        deliver(&mut gate, "state");
        assert_eq!(gate.inner.sent, [(ConnectionId(2), Bytes::from_static(b"state"))]);
        let place = &mut gate.place;
        for (received, rest) in [("J", "J"), ("J1ab", "ab"), ("ab", "ab")] {
            let mut bytes = BytesMut::from(received);
            assert_eq!(place.received(Time::ZERO, ConnectionId(2), &mut bytes), ConnectionId(0));
            assert_eq!(bytes, rest);
        }
        assert_eq!(closed(&mut gate, 12_000, 2), "Closed 0", "there is no second time");
    }

    #[test]
    fn connection_may_arrive_before_the_end_of_the_lost_one() {
        let mut gate = joined(GRACE);
        assert_eq!(opened(&mut gate, 1_000, 1), "Refreshed 0");
        assert_eq!(next(&mut gate, 1_000), "None");
        assert_eq!(gate.inner.closed, [ConnectionId(0)]);
        assert_eq!(opened(&mut gate, 1_001, 2), "Opened 2", "the warden rejects it");
    }

    #[test]
    fn connection_that_is_not_replaced_in_time_is_reported() {
        let mut gate = joined(GRACE);
        assert_eq!(closed(&mut gate, 1_000, 0), "Some(Internal)");
        assert_eq!((gate.wake_at(), next(&mut gate, 10_999)), (Some(Time::from_millis(11_000)), "None".into()));
        assert_eq!(next(&mut gate, 11_000), "Closed 0");
        assert_eq!(opened(&mut gate, 11_001, 1), "Opened 1", "the warden rejects it");
        assert_eq!(closed(&mut joined(Duration::ZERO), 1_000, 0), "Closed 0");
    }
}
