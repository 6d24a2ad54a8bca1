//! The transport for browsers: sockets that the web server has accepted.
//!
//! A seat outlives its socket. When the socket is gone, the seat of a player who has joined is kept for a while; a socket that
//! returns with the address of the seat, which a token proves, resumes it and receives a snapshot. The room notices none of that.
//!
//! Kept seats are shared out by host: one host has at most half of the places of a room for them, and if somebody needs a place, the oldest
//! kept seat of the host that keeps most is given up. The address of a seat is random and has the pseudonym of its host; see
//! [`Mask`](super::mask::Mask).

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io,
    net::SocketAddr,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::BytesMut;
use netcore::{Gone, HostId, Link, Role, Time};
use netshell::{Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, Transport};
use tokio::sync::mpsc;

use super::{
    guard::Bans,
    kept::Kept,
    known::Seats,
    mailbox::{Ending, Mailbox, Piece},
    ready::Ready,
};

/// Browsers at one room.
pub(crate) const MAX_SEATS: usize = 2_000;
/// Seats that are kept for players of one host.
pub(crate) const MAX_KEPT_PER_HOST: usize = MAX_SEATS / 2;
/// Sockets that wait to be let in.
const MAX_NEWCOMERS: usize = 64;

/// A socket that asks to be let in.
#[derive(Debug)]
struct Newcomer {
    mailbox: Arc<Mailbox>,
    role: Role,
    // Its true host.
    host: HostId,
    address: SocketAddr,
    // Whether a token has proved that the seat at this address is its own.
    returns: bool,
}

/// How the web server hands sockets to a room.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    newcomers: mpsc::Sender<Newcomer>,
    ready: Arc<Ready>,
    known: Arc<Seats>,
}

impl Gate {
    /// Lets a socket from `host` in: at a new seat with this address, or back at the seat of `address` if that `returns`. None if the
    /// room is over.
    pub(crate) async fn enter(
        &self,
        role: Role,
        host: HostId,
        address: SocketAddr,
        returns: bool,
    ) -> Option<Arc<Mailbox>> {
        let mailbox = Arc::new(Mailbox::new(Arc::clone(&self.ready)));
        if !returns {
            // From now on something can be known of it; the transport removes it.
            self.known.open(address);
        }
        self.known.note_host(address, host);
        let newcomer = Newcomer { mailbox: Arc::clone(&mailbox), role, host, address, returns };
        self.newcomers.send(newcomer).await.ok()?;
        self.ready.wake();
        Some(mailbox)
    }
}

/// One seat: a connection as the room knows it.
#[derive(Debug)]
struct Seat {
    address: SocketAddr,
    // None while nobody is there.
    mailbox: Option<Arc<Mailbox>>,
    // Until when it is kept without a mailbox.
    kept_until: Time,
    // Whether the room was told that nobody will come back; it closes the seat then, and the place is free for others already.
    given_up: bool,
    // A message that the room must not have before this time.
    paused: Option<(Time, BytesMut)>,
}

/// The transport.
#[derive(Debug)]
pub(crate) struct WebSockets {
    newcomers: mpsc::Receiver<Newcomer>,
    // One for which a kept seat has to go first.
    next_newcomer: Option<Newcomer>,
    ready: Arc<Ready>,
    bans: Arc<Bans>,
    known: Arc<Seats>,
    seats: BTreeMap<ConnectionId, Seat>,
    given_up: usize,
    kept: Kept,
    // How long the seat of a player whose socket is gone is kept, unless it was left for good.
    grace: Duration,
    at: BTreeMap<SocketAddr, ConnectionId>,
    next_id: u64,
    // Seats that are looked at in turn, until all of them had nothing to do.
    turns: VecDeque<ConnectionId>,
    // Seats with a message that the room must not have before this time.
    paused: BTreeSet<(Time, ConnectionId)>,
    message: BytesMut,
    // Mailboxes whose seat the room has closed, until they are written.
    ending: Vec<Arc<Mailbox>>,
}

impl WebSockets {
    /// `grace` is how long the seat of a player whose socket is gone is kept.
    pub(crate) fn new(bans: Arc<Bans>, known: Arc<Seats>, grace: Duration) -> (Gate, Self) {
        let (sender, newcomers) = mpsc::channel(MAX_NEWCOMERS);
        let ready = Arc::new(Ready::default());
        let gate = Gate { newcomers: sender, ready: Arc::clone(&ready), known: Arc::clone(&known) };
        let transport = Self {
            newcomers,
            next_newcomer: None,
            ready,
            bans,
            known,
            seats: BTreeMap::new(),
            given_up: 0,
            kept: Kept::default(),
            grace,
            at: BTreeMap::new(),
            next_id: 0,
            turns: VecDeque::new(),
            paused: BTreeSet::new(),
            message: BytesMut::new(),
            ending: vec![],
        };
        (gate, transport)
    }

    // Registers the waker, and moves the seats that are ready to `turns`.
    fn register(&mut self, context: &mut Context<'_>) {
        let mut state = self.ready.state();
        state.waker = Some(context.waker().clone());
        self.turns.append(&mut state.seats);
    }

    // Takes a seat; gives its number.
    fn seat(&mut self, seat: Seat) -> ConnectionId {
        let id = ConnectionId(self.next_id);
        self.next_id += 1;
        if let Some(mailbox) = &seat.mailbox {
            mailbox.sit(id.0);
        }
        self.at.insert(seat.address, id);
        self.seats.insert(id, seat);
        self.turns.push_back(id);
        id
    }

    // What a socket that asks to be let in brings about.
    fn arrive(&mut self, now: Time, newcomer: Newcomer) -> ConnectionEvent<'static> {
        if newcomer.returns {
            return self.come_back(newcomer);
        }
        if self.bans.has(newcomer.host) {
            return self.turn_away(&newcomer, Ending::Banned);
        }
        // Addresses are random, so no seat has it.
        let is_free = !self.at.contains_key(&newcomer.address);
        if is_free && self.seats.len() - self.given_up >= MAX_SEATS {
            if let Some(event) = self.kept.first_to_go().and_then(|id| self.give_up(id, Gone::Broken)) {
                self.next_newcomer = Some(newcomer);
                return event;
            }
            return self.turn_away(&newcomer, Ending::Full);
        }
        if !is_free {
            newcomer.mailbox.end(Ending::Full);
            return ConnectionEvent::Internal;
        }
        let Newcomer { mailbox, role, address, .. } = newcomer;
        let id = self.seat(Seat { address, mailbox: Some(mailbox), kept_until: now, given_up: false, paused: None });
        ConnectionEvent::Opened { id, role, link: Link::Message, address }
    }

    fn turn_away(&mut self, newcomer: &Newcomer, ending: Ending) -> ConnectionEvent<'static> {
        self.known.close(newcomer.address);
        newcomer.mailbox.end(ending);
        ConnectionEvent::Internal
    }

    fn come_back(&mut self, Newcomer { mailbox, host, address, .. }: Newcomer) -> ConnectionEvent<'static> {
        if self.bans.has(host) {
            mailbox.end(Ending::Banned);
            return ConnectionEvent::Internal;
        }
        let id = self.at.get(&address).copied();
        let seat = id.and_then(|id| self.seats.get_mut(&id).filter(|seat| !seat.given_up).map(|seat| (id, seat)));
        let Some((id, seat)) = seat else {
            mailbox.end(Ending::Expired);
            return ConnectionEvent::Internal;
        };
        mailbox.sit(id.0);
        match seat.mailbox.replace(mailbox) {
            Some(before) => before.end(Ending::Replaced),
            None => self.kept.remove(address.into(), seat.kept_until, id),
        }
        self.turns.push_back(id);
        ConnectionEvent::Refreshed { id }
    }

    // Tells the room that nobody will come back to a seat.
    fn give_up(&mut self, id: ConnectionId, why: Gone) -> Option<ConnectionEvent<'static>> {
        let seat = self.seats.get_mut(&id).filter(|seat| !seat.given_up)?;
        seat.given_up = true;
        self.given_up += 1;
        if seat.mailbox.is_none() {
            self.kept.remove(seat.address.into(), seat.kept_until, id);
        }
        Some(ConnectionEvent::Closed { id, why })
    }

    // Keeps a seat whose socket is gone for a while.
    fn keep(&mut self, now: Time, id: ConnectionId) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        seat.mailbox = None;
        seat.kept_until = now.plus(self.grace);
        let host = HostId::from(seat.address);
        let one_too_many = self.kept.insert(host, seat.kept_until, id, MAX_KEPT_PER_HOST);
        if let Some((oldest, seat)) = one_too_many.and_then(|id| Some((id, self.seats.get_mut(&id)?))) {
            seat.kept_until = now;
            self.kept.insert(host, now, oldest, usize::MAX);
            self.turns.push_back(oldest);
        }
    }

    // What a seat has to tell, if anything. A message is left in `self.message`.
    fn look(&mut self, now: Time, id: ConnectionId) -> Option<ConnectionEvent<'static>> {
        let seat = self.seats.get_mut(&id)?;
        if seat.given_up {
            return None;
        }
        if let Some((until, message)) = seat.paused.take() {
            if until > now {
                seat.paused = Some((until, message));
            } else {
                self.message = message;
            }
            return None;
        }
        let Some(mailbox) = &seat.mailbox else {
            if seat.kept_until > now {
                return None;
            }
            return self.give_up(id, Gone::Broken);
        };
        mailbox.looked_at();
        if let Some(message) = mailbox.take() {
            self.message = message;
            return None;
        }
        if mailbox.is_gone() {
            let left = mailbox.has_left();
            // Whoever only looks on or has not joined yet loses nothing.
            if left || !self.known.has_joined(seat.address) {
                return self.give_up(id, if left { Gone::Left } else { Gone::Broken });
            }
            self.keep(now, id);
            return Some(ConnectionEvent::Internal);
        }
        if mailbox.has_caught_up() {
            return Some(ConnectionEvent::Refreshed { id });
        }
        None
    }

    fn to(&self, id: ConnectionId, piece: Piece) {
        if let Some(mailbox) = self.seats.get(&id).and_then(|seat| seat.mailbox.as_ref()) {
            mailbox.send(piece);
        }
    }

    fn close(&mut self, id: ConnectionId) {
        let Some(seat) = self.seats.remove(&id) else { return };
        self.at.remove(&seat.address);
        if seat.given_up {
            self.given_up -= 1;
        } else if seat.mailbox.is_none() {
            self.kept.remove(seat.address.into(), seat.kept_until, id);
        }
        let ending = self.known.ending(seat.address);
        self.known.close(seat.address);
        if let Some((until, _)) = seat.paused {
            self.paused.remove(&(until, id));
        }
        if let Some(mailbox) = seat.mailbox {
            mailbox.end(ending);
            self.ending.push(mailbox);
        }
    }
}

impl Transport for WebSockets {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.register(context);
        // Only now: what comes from here on wakes the task.
        let idle = self.turns.is_empty() && self.newcomers.is_empty() && self.next_newcomer.is_none();
        if idle { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn wake_at(&self) -> Option<Time> {
        let paused = self.paused.first().map(|&(until, _)| until);
        self.kept.next_due().into_iter().chain(paused).min()
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        if let Some(newcomer) = self.next_newcomer.take().or_else(|| self.newcomers.try_recv().ok()) {
            return Ok(Some(self.arrive(now, newcomer)));
        }
        self.turns.append(&mut self.ready.state().seats);
        while let Some(&(until, id)) = self.paused.first()
            && until <= now
        {
            self.paused.pop_first();
            self.turns.push_back(id);
        }
        if self.turns.is_empty() {
            self.turns.extend(self.kept.due(now));
        }
        while let Some(id) = self.turns.pop_front() {
            self.message.clear();
            let event = self.look(now, id);
            if event.is_some() || !self.message.is_empty() {
                // It may have more; first the others have their turns.
                self.turns.push_back(id);
            }
            if let Some(event) = event {
                return Ok(Some(event));
            }
            if !self.message.is_empty() {
                return Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.message }));
            }
        }
        Ok(None)
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        // Those who had joined are known by now.
        let is_kept = link == Link::Message && self.known.has_joined(address) && !self.at.contains_key(&address);
        if !is_kept || self.seats.len() >= MAX_SEATS {
            return None;
        }
        let id = self.seat(Seat { address, mailbox: None, kept_until: now, given_up: false, paused: None });
        self.keep(now, id);
        Some(id)
    }

    fn answer(&mut self, _: Time, answer: Answer) {
        // Malformed messages are the room's business: on this link nothing is cut off by them.
        let Answer::Paused(ticket, until) = answer else { return };
        if let Some(seat) = self.seats.get_mut(&ticket.id()) {
            seat.paused = Some((until, std::mem::take(&mut self.message)));
            self.paused.insert((until, ticket.id()));
        }
    }

    fn deliver(&mut self, _: Time, delivery: Delivery<'_>) {
        match delivery {
            Delivery::Frame(to, frame) => self.to(to, Piece::Frame(frame)),
            Delivery::Everyone(frame) => {
                for mailbox in self.seats.values().filter_map(|seat| seat.mailbox.as_ref()) {
                    mailbox.send(Piece::Frame(frame.clone()));
                }
            }
            Delivery::History(to, log) => self.to(to, Piece::History(log.clone())),
            Delivery::Close(id) => self.close(id),
        }
    }

    fn flush(&mut self, _: Time) {
        self.ending.retain(|mailbox| !mailbox.is_flushed());
    }

    fn poll_flush(&mut self, _: Time, context: &mut Context<'_>) -> Poll<()> {
        // Registered first, so that no wake-up is lost.
        self.register(context);
        let mut mailboxes = self.seats.values().filter_map(|seat| seat.mailbox.as_ref()).chain(&self.ending);
        if mailboxes.all(|mailbox| mailbox.is_flushed()) { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests;
