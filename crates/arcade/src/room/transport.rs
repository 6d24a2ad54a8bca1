//! The transport for browsers: sockets that the web server has accepted.
//!
//! A seat outlives its socket. When the socket is gone, the seat of a player is kept for [`GRACE`]; a socket that
//! returns with the address of the seat, which a token proves, resumes it and receives a snapshot. The room notices none of that.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io,
    net::SocketAddr,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{Gone, Link, Log, Progress, Role, Time};
use netshell::{ConnectionEvent, ConnectionId, Transport};
use tokio::sync::mpsc;

use super::{
    mailbox::{Ending, Mailbox, Piece},
    ready::Ready,
};

/// How long the seat of a player whose socket is gone is kept, unless it was left for good.
pub(crate) const GRACE: Duration = Duration::from_mins(1);
/// Browsers at one room.
pub(crate) const MAX_SEATS: usize = 2_000;
/// Sockets that wait to be let in.
const MAX_ARRIVALS: usize = 64;

/// A socket that asks to be let in.
#[derive(Debug)]
struct Arrival {
    line: Arc<Mailbox>,
    role: Role,
    address: SocketAddr,
    // Whether a token has proved that the seat at this address is its own.
    returns: bool,
}

/// How the web server hands sockets to a room.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    arrivals: mpsc::Sender<Arrival>,
    ready: Arc<Ready>,
}

impl Gate {
    /// Lets a socket in: at a new seat, or back at the seat of `address` if that `returns`. None if the room is over.
    pub(crate) async fn enter(&self, role: Role, address: SocketAddr, returns: bool) -> Option<Arc<Mailbox>> {
        let line = Arc::new(Mailbox::new(Arc::clone(&self.ready)));
        let arrival = Arrival { line: Arc::clone(&line), role, address, returns };
        self.arrivals.send(arrival).await.ok()?;
        self.ready.wake();
        Some(line)
    }
}

/// One seat: a connection as the room knows it.
#[derive(Debug)]
struct Seat {
    address: SocketAddr,
    role: Role,
    // None while nobody is there.
    line: Option<Arc<Mailbox>>,
    // Until when it is kept without a line.
    kept_until: Time,
    // Whether the room was told that nobody will come back; it closes the seat then.
    given_up: bool,
    // A message that the room must not have before this time.
    paused: Option<(Time, BytesMut)>,
}

/// The transport.
#[derive(Debug)]
pub(crate) struct WebSockets {
    arrivals: mpsc::Receiver<Arrival>,
    ready: Arc<Ready>,
    seats: BTreeMap<ConnectionId, Seat>,
    at: BTreeMap<SocketAddr, ConnectionId>,
    next_id: u64,
    // Seats that are looked at in turn, until all of them had nothing to do.
    turns: VecDeque<ConnectionId>,
    // Seats with a message that the room must not have before this time.
    paused: BTreeSet<(Time, ConnectionId)>,
    message: BytesMut,
    // Lines whose seat the room has closed, until they are written.
    ending: Vec<Arc<Mailbox>>,
}

impl WebSockets {
    pub(crate) fn new() -> (Gate, Self) {
        let (sender, arrivals) = mpsc::channel(MAX_ARRIVALS);
        let ready = Arc::new(Ready::default());
        let gate = Gate { arrivals: sender, ready: Arc::clone(&ready) };
        let transport = Self {
            arrivals,
            ready,
            seats: BTreeMap::new(),
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
        if let Some(line) = &seat.line {
            line.sit(id.0);
        }
        self.at.insert(seat.address, id);
        self.seats.insert(id, seat);
        self.turns.push_back(id);
        id
    }

    // What a socket that asks to be let in brings about.
    fn arrive(&mut self, now: Time, arrival: Arrival) -> ConnectionEvent<'static> {
        let Arrival { line, role, address, returns } = arrival;
        if let Some(&id) = self.at.get(&address) {
            if let Some(seat) = self.seats.get_mut(&id).filter(|seat| returns && !seat.given_up) {
                line.sit(id.0);
                if let Some(before) = seat.line.replace(line) {
                    before.end(Ending::Replaced);
                }
                self.turns.push_back(id);
                return ConnectionEvent::Refreshed { id };
            }
            line.end(if returns { Ending::Expired } else { Ending::Full });
            return ConnectionEvent::Internal;
        }
        if returns || self.seats.len() >= MAX_SEATS {
            line.end(if returns { Ending::Expired } else { Ending::Full });
            return ConnectionEvent::Internal;
        }
        let id = self.seat(Seat { address, role, line: Some(line), kept_until: now, given_up: false, paused: None });
        ConnectionEvent::Opened { id, role, link: Link::Message, address }
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
        let Some(line) = &seat.line else {
            if seat.kept_until > now {
                return None;
            }
            seat.given_up = true;
            return Some(ConnectionEvent::Closed { id, why: Gone::Broken });
        };
        line.looked_at();
        if let Some(message) = line.take() {
            self.message = message;
            return None;
        }
        if line.is_gone() {
            let left = line.has_left();
            seat.line = None;
            if seat.role == Role::Watcher || left {
                seat.given_up = true;
                return Some(ConnectionEvent::Closed { id, why: if left { Gone::Left } else { Gone::Broken } });
            }
            seat.kept_until = now.plus(GRACE);
            return Some(ConnectionEvent::Internal);
        }
        if line.has_caught_up() {
            return Some(ConnectionEvent::Refreshed { id });
        }
        None
    }

    fn to(&self, id: ConnectionId, piece: Piece) {
        if let Some(line) = self.seats.get(&id).and_then(|seat| seat.line.as_ref()) {
            line.send(piece);
        }
    }
}

impl Transport for WebSockets {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.register(context);
        // Only now: what comes from here on wakes the task.
        if self.turns.is_empty() && self.arrivals.is_empty() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn wake_at(&self) -> Option<Time> {
        // Few seats are empty, so looking at all of them is cheap next to what woke the room.
        let kept = |seat: &Seat| (seat.line.is_none() && !seat.given_up).then_some(seat.kept_until);
        let paused = self.paused.first().map(|&(until, _)| until);
        self.seats.values().filter_map(kept).chain(paused).min()
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        if let Ok(arrival) = self.arrivals.try_recv() {
            return Ok(Some(self.arrive(now, arrival)));
        }
        self.turns.append(&mut self.ready.state().seats);
        while let Some(&(until, id)) = self.paused.first()
            && until <= now
        {
            self.paused.pop_first();
            self.turns.push_back(id);
        }
        if self.turns.is_empty() && self.wake_at().is_some_and(|wake| wake <= now) {
            self.turns = self.seats.keys().copied().collect();
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
                return Ok(Some(ConnectionEvent::Bytes { id, bytes: &mut self.message }));
            }
        }
        Ok(None)
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        if link != Link::Message || self.seats.len() >= MAX_SEATS || self.at.contains_key(&address) {
            return None;
        }
        // Whoever only looked on is kept for a while too; nobody tells here who that was.
        let kept_until = now.plus(GRACE);
        Some(self.seat(Seat { address, role: Role::Player, line: None, kept_until, given_up: false, paused: None }))
    }

    fn processed(&mut self, _: Time, _: ConnectionId, _: Progress) {
        // Malformed messages are the room's business: on this link nothing is cut off by them.
    }

    fn pause(&mut self, _: Time, id: ConnectionId, until: Time) {
        if let Some(seat) = self.seats.get_mut(&id) {
            seat.paused = Some((until, std::mem::take(&mut self.message)));
            self.paused.insert((until, id));
        }
    }

    fn send(&mut self, _: Time, to: ConnectionId, frame: Bytes) {
        self.to(to, Piece::Frame(frame));
    }

    fn send_everyone(&mut self, _: Time, frame: &Bytes) {
        for line in self.seats.values().filter_map(|seat| seat.line.as_ref()) {
            line.send(Piece::Frame(frame.clone()));
        }
    }

    fn replay(&mut self, _: Time, to: ConnectionId, log: &Log) {
        self.to(to, Piece::History(log.clone()));
    }

    fn close(&mut self, _: Time, id: ConnectionId) {
        let Some(seat) = self.seats.remove(&id) else { return };
        self.at.remove(&seat.address);
        if let Some((until, _)) = seat.paused {
            self.paused.remove(&(until, id));
        }
        if let Some(line) = seat.line {
            line.end(Ending::Closed);
            self.ending.push(line);
        }
    }

    fn delivered(&mut self, _: Time) {
        self.ending.retain(|line| !line.is_flushed());
    }

    fn poll_flush(&mut self, _: Time, context: &mut Context<'_>) -> Poll<()> {
        // Registered first, so that no wake-up is lost.
        self.register(context);
        let lines = self.seats.values().filter_map(|seat| seat.line.as_ref()).chain(&self.ending);
        if lines.into_iter().all(|line| line.is_flushed()) { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests;
