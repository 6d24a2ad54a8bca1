//! The transport of browsers, for sockets that the web server has accepted.
//!
//! A seat outlives its socket. When the socket of a player ends, the transport retains the seat for a while. A socket
//! with the token of the seat resumes it and receives a snapshot, unnoticed by the room.
//!
//! Retained seats are shared fairly among hosts. One host may retain at most half of the places of a room, and if
//! another browser needs a place, the host with the most loses its oldest. The address of a seat is random within the
//! pseudonym of its host; see [`Mask`](super::pseudonyms::Mask).

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io,
    net::SocketAddr,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::BytesMut;
use netcore::{DisconnectReason, HostId, Link, Role, Time};
use netshell::{Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, Transport};
use tokio::sync::mpsc;

use super::{
    bans::Bans,
    mailbox::{CloseReason, Mailbox, Piece, Ready},
    roster::Roster,
};

/// Browsers of one room.
pub(crate) const MAX_SEATS: usize = 2_000;
/// Retained seats of one host.
pub(crate) const MAX_RETAINED_PER_HOST: usize = MAX_SEATS / 2;
/// Sockets to be accepted.
const MAX_NEWCOMERS: usize = 64;

#[derive(Debug)]
struct Newcomer {
    mailbox: Arc<Mailbox>,
    role: Role,
    // The true host.
    host: HostId,
    address: SocketAddr,
    // A token proves that it resumes the seat at this address.
    returns: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Gate {
    newcomers: mpsc::Sender<Newcomer>,
    ready: Arc<Ready>,
    roster: Arc<Roster>,
}

impl Gate {
    /// Opens a seat with this address, or resumes it if the client `returns`. `None` if the room is over.
    pub(crate) async fn enter(
        &self,
        role: Role,
        host: HostId,
        address: SocketAddr,
        returns: bool,
    ) -> Option<Arc<Mailbox>> {
        let mailbox = Arc::new(Mailbox::new(Arc::clone(&self.ready)));
        if !returns {
            self.roster.open_seat(address);
        }
        self.roster.set_seat_host(address, host);
        let newcomer = Newcomer { mailbox: Arc::clone(&mailbox), role, host, address, returns };
        self.newcomers.send(newcomer).await.ok()?;
        self.ready.wake();
        Some(mailbox)
    }
}

#[derive(Debug)]
struct Seat {
    address: SocketAddr,
    // `None` while the seat has no socket.
    mailbox: Option<Arc<Mailbox>>,
    // When the retained seat expires.
    retained_until: Time,
    // The room closes the seat, because the client has disconnected. Other browsers may take the place already.
    given_up: bool,
    // A message, and the time before which it is not delivered.
    paused: Option<(Time, BytesMut)>,
}

#[derive(Debug)]
pub(crate) struct WebSockets {
    newcomers: mpsc::Receiver<Newcomer>,
    // Waits until a retained seat is closed.
    next_newcomer: Option<Newcomer>,
    ready: Arc<Ready>,
    bans: Arc<Bans>,
    roster: Arc<Roster>,
    seats: BTreeMap<ConnectionId, Seat>,
    given_up: usize,
    retained: Retained,
    // How long the seat of a player is retained after its socket, unless the player has left permanently.
    grace: Duration,
    at: BTreeMap<SocketAddr, ConnectionId>,
    next_id: u64,
    // Polled round-robin until they have no events.
    turns: VecDeque<ConnectionId>,
    // Seats with a message, by its delivery time.
    paused: BTreeSet<(Time, ConnectionId)>,
    message: BytesMut,
    // Mailboxes of closed seats, until their queues are written.
    ending: Vec<Arc<Mailbox>>,
}

impl WebSockets {
    pub(crate) fn new(bans: Arc<Bans>, roster: Arc<Roster>, grace: Duration) -> (Gate, Self) {
        let (sender, newcomers) = mpsc::channel(MAX_NEWCOMERS);
        let ready = Arc::new(Ready::default());
        let gate = Gate { newcomers: sender, ready: Arc::clone(&ready), roster: Arc::clone(&roster) };
        let transport = Self {
            newcomers,
            next_newcomer: None,
            ready,
            bans,
            roster,
            seats: BTreeMap::new(),
            given_up: 0,
            retained: Retained::default(),
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

    // Moves ready seats to `turns`.
    fn register(&mut self, context: &mut Context<'_>) {
        let mut state = self.ready.state();
        state.waker = Some(context.waker().clone());
        self.turns.append(&mut state.seats);
    }

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

    fn arrive(&mut self, now: Time, newcomer: Newcomer) -> ConnectionEvent<'static> {
        if newcomer.returns {
            return self.resume(newcomer);
        }
        if self.bans.has(newcomer.host) {
            return self.turn_away(&newcomer, CloseReason::Banned);
        }
        // New addresses are random, so hardly any seat has this one.
        let is_free = !self.at.contains_key(&newcomer.address);
        if is_free && self.seats.len() - self.given_up >= MAX_SEATS {
            if let Some(event) = self.retained.first_to_go().and_then(|id| self.give_up(id, DisconnectReason::Broken)) {
                self.next_newcomer = Some(newcomer);
                return event;
            }
            return self.turn_away(&newcomer, CloseReason::Full);
        }
        if !is_free {
            newcomer.mailbox.end(CloseReason::Full);
            return ConnectionEvent::Internal;
        }
        let Newcomer { mailbox, role, address, .. } = newcomer;
        let id =
            self.seat(Seat { address, mailbox: Some(mailbox), retained_until: now, given_up: false, paused: None });
        ConnectionEvent::Opened { id, role, link: Link::Message, address }
    }

    fn turn_away(&mut self, newcomer: &Newcomer, ending: CloseReason) -> ConnectionEvent<'static> {
        self.roster.close_seat(newcomer.address);
        newcomer.mailbox.end(ending);
        ConnectionEvent::Internal
    }

    fn resume(&mut self, Newcomer { mailbox, host, address, .. }: Newcomer) -> ConnectionEvent<'static> {
        if self.bans.has(host) {
            mailbox.end(CloseReason::Banned);
            return ConnectionEvent::Internal;
        }
        let id = self.at.get(&address).copied();
        let seat = id.and_then(|id| self.seats.get_mut(&id).filter(|seat| !seat.given_up).map(|seat| (id, seat)));
        let Some((id, seat)) = seat else {
            mailbox.end(CloseReason::Expired);
            return ConnectionEvent::Internal;
        };
        mailbox.sit(id.0);
        match seat.mailbox.replace(mailbox) {
            Some(before) => before.end(CloseReason::Replaced),
            None => self.retained.remove(address.into(), seat.retained_until, id),
        }
        self.turns.push_back(id);
        ConnectionEvent::Refreshed { id }
    }

    fn give_up(&mut self, id: ConnectionId, why: DisconnectReason) -> Option<ConnectionEvent<'static>> {
        let seat = self.seats.get_mut(&id).filter(|seat| !seat.given_up)?;
        seat.given_up = true;
        self.given_up += 1;
        if seat.mailbox.is_none() {
            self.retained.remove(seat.address.into(), seat.retained_until, id);
        }
        Some(ConnectionEvent::Closed { id, why })
    }

    // Retains a seat whose socket has ended.
    fn retain(&mut self, now: Time, id: ConnectionId) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        seat.mailbox = None;
        seat.retained_until = now.plus(self.grace);
        let host = HostId::from(seat.address);
        let one_too_many = self.retained.insert(host, seat.retained_until, id, MAX_RETAINED_PER_HOST);
        if let Some((oldest, seat)) = one_too_many.and_then(|id| Some((id, self.seats.get_mut(&id)?))) {
            seat.retained_until = now;
            self.retained.insert(host, now, oldest, usize::MAX);
            self.turns.push_back(oldest);
        }
    }

    // Stores a message in `self.message`.
    fn poll_seat(&mut self, now: Time, id: ConnectionId) -> Option<ConnectionEvent<'static>> {
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
            if seat.retained_until > now {
                return None;
            }
            return self.give_up(id, DisconnectReason::Broken);
        };
        mailbox.looked_at();
        if let Some(message) = mailbox.take() {
            self.message = message;
            return None;
        }
        if mailbox.is_gone() {
            let left = mailbox.has_left();
            // Watchers' seats, and those of players who have not joined, are not retained.
            if left || !self.roster.has_joined(seat.address) {
                return self.give_up(id, if left { DisconnectReason::Left } else { DisconnectReason::Broken });
            }
            self.retain(now, id);
            return Some(ConnectionEvent::Internal);
        }
        if mailbox.has_caught_up() {
            return Some(ConnectionEvent::Refreshed { id });
        }
        None
    }

    fn send(&self, id: ConnectionId, piece: Piece) {
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
            self.retained.remove(seat.address.into(), seat.retained_until, id);
        }
        let ending = self.roster.close_reason(seat.address);
        self.roster.close_seat(seat.address);
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
        // Checked after the waker is registered, so that no wake-up is lost.
        let idle = self.turns.is_empty() && self.newcomers.is_empty() && self.next_newcomer.is_none();
        if idle { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn wake_at(&self) -> Option<Time> {
        let paused = self.paused.first().map(|&(until, _)| until);
        self.retained.next_due().into_iter().chain(paused).min()
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
            self.turns.extend(self.retained.due(now));
        }
        while let Some(id) = self.turns.pop_front() {
            self.message.clear();
            let event = self.poll_seat(now, id);
            if event.is_some() || !self.message.is_empty() {
                // It may have more events, after the turns of the other seats.
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
        // The roster contains the players who had joined.
        let is_retained = link == Link::Message && self.roster.has_joined(address) && !self.at.contains_key(&address);
        if !is_retained || self.seats.len() >= MAX_SEATS {
            return None;
        }
        let id = self.seat(Seat { address, mailbox: None, retained_until: now, given_up: false, paused: None });
        self.retain(now, id);
        Some(id)
    }

    fn answer(&mut self, _: Time, answer: Answer) {
        // The room decides how to handle a malformed message; this link stays open.
        let Answer::Paused(ticket, until) = answer else { return };
        if let Some(seat) = self.seats.get_mut(&ticket.id()) {
            seat.paused = Some((until, std::mem::take(&mut self.message)));
            self.paused.insert((until, ticket.id()));
        }
    }

    fn deliver(&mut self, _: Time, delivery: Delivery<'_>) {
        match delivery {
            Delivery::Frame(to, frame) => self.send(to, Piece::Frame(frame)),
            Delivery::Everyone(frame) => {
                for mailbox in self.seats.values().filter_map(|seat| seat.mailbox.as_ref()) {
                    mailbox.send(Piece::Frame(frame.clone()));
                }
            }
            Delivery::History(to, log) => self.send(to, Piece::History(log.clone())),
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

#[derive(Debug, Default)]
struct Retained {
    by_host: BTreeMap<HostId, BTreeSet<(Time, ConnectionId)>>,
    by_time: BTreeSet<(Time, ConnectionId)>,
}

impl Retained {
    // If the host exceeds `most` seats, removes and returns its oldest one.
    fn insert(&mut self, host: HostId, until: Time, id: ConnectionId, most: usize) -> Option<ConnectionId> {
        self.by_time.insert((until, id));
        let of_host = self.by_host.entry(host).or_default();
        of_host.insert((until, id));
        let (until, oldest) = *of_host.first().filter(|_| of_host.len() > most)?;
        self.remove(host, until, oldest);
        Some(oldest)
    }

    fn remove(&mut self, host: HostId, until: Time, id: ConnectionId) {
        self.by_time.remove(&(until, id));
        if let Some(of_host) = self.by_host.get_mut(&host) {
            of_host.remove(&(until, id));
            if of_host.is_empty() {
                self.by_host.remove(&host);
            }
        }
    }

    // The seat to give up when another browser needs a place: the oldest one of the host with the most.
    fn first_to_go(&self) -> Option<ConnectionId> {
        let most = self.by_host.values().max_by_key(|seats| seats.len())?;
        most.first().map(|&(_, id)| id)
    }

    fn next_due(&self) -> Option<Time> {
        self.by_time.first().map(|&(until, _)| until)
    }

    fn due(&self, now: Time) -> impl Iterator<Item = ConnectionId> {
        self.by_time.iter().take_while(move |(until, _)| *until <= now).map(|&(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use netcore::{Occupant, PeerId, Progress};
    use netshell::Host;
    use testkit::TempDir;

    use super::*;
    use crate::room::{
        fixtures::nuggets_room,
        mailbox::{MAX_OUTGOING, Next},
    };

    const MAP: &[u8] = b"+---------+\n|.........|\n|.........|\n+---------+\n";
    const SECOND: Duration = Duration::from_secs(1);

    fn room() -> (Gate, Host, TempDir) {
        let rules = nuggets::Rules { gold: 250, min_piles: 5, max_piles: 9, ..Default::default() };
        let config = nuggets::Config { rules, rematch: true, seed: 1, ..nuggets::Config::default() };
        let (gate, web) = web();
        let (room, _, directory) = nuggets_room(&gate.roster, MAP, config, None);
        (gate, Host::new(room).with_transport(web), directory)
    }

    const GRACE: Duration = Duration::from_mins(1);

    fn web() -> (Gate, WebSockets) {
        let directory = TempDir::new();
        let bans = Bans::open(directory.path().join("bans")).unwrap();
        WebSockets::new(Arc::new(bans), Arc::default(), GRACE)
    }

    fn enter(gate: &Gate, role: Role, port: u16, returns: bool) -> Arc<Mailbox> {
        enter_at(gate, role, SocketAddr::from(([127, 0, 0, 1], port)), returns)
    }

    fn enter_at(gate: &Gate, role: Role, address: SocketAddr, returns: bool) -> Arc<Mailbox> {
        let entered = gate.enter(role, address.into(), address, returns).now_or_never();
        entered.expect("there is room at the gate").expect("the room is open")
    }

    fn put(mailbox: &Mailbox, text: &str) {
        mailbox.put(BytesMut::from(text)).now_or_never().expect("there is room for a message");
    }

    fn work(host: &mut Host, now: Time) {
        while host.work(|| now).unwrap() {}
    }

    fn ann(gate: &Gate, host: &mut Host) -> Arc<Mailbox> {
        let mailbox = enter(gate, Role::Player, 1, false);
        put(&mailbox, "PLAY Ann");
        work(host, Time::ZERO);
        mailbox
    }

    /// The first lines of the messages, and the close reason.
    fn received(mailbox: &Mailbox) -> (Vec<String>, Option<CloseReason>) {
        let mut texts = vec![];
        loop {
            match mailbox.next().now_or_never() {
                Some(Next::Piece(Piece::Frame(frame))) => {
                    texts.push(String::from_utf8_lossy(&frame).lines().next().unwrap_or("").to_owned());
                }
                Some(Next::Piece(Piece::History(_))) => texts.push("a history".into()),
                Some(Next::End(ending)) => return (texts, Some(ending)),
                None => return (texts, None),
            }
        }
    }

    #[test]
    fn seat_of_a_player_who_leaves_permanently_is_free_immediately() {
        let (gate, mut host, _directory) = room();
        let mailbox = ann(&gate, &mut host);
        mailbox.give_up();
        mailbox.leave();
        work(&mut host, Time::ZERO);
        assert_eq!(host.peers(), 0);
    }

    #[test]
    fn browser_plays_and_resumes_its_seat() {
        let (gate, mut host, _directory) = room();
        let mailbox = ann(&gate, &mut host);
        assert_eq!(
            received(&mailbox),
            (vec!["OK A".into(), "GRID 4 11".into(), "GOLD 0 0 250".into(), "DISPLAY".into()], None)
        );

        mailbox.leave();
        work(&mut host, Time::ZERO);
        assert_eq!(host.peers(), 1, "the seat is retained");
        let again = enter(&gate, Role::Player, 1, true);
        work(&mut host, Time::ZERO.plus(GRACE / 2));
        let (texts, _) = received(&again);
        assert!(texts.contains(&"OK A".to_owned()) && texts.contains(&"DISPLAY".to_owned()), "{texts:?}");
        // Another window resumes the seat meanwhile.
        let elsewhere = enter(&gate, Role::Player, 1, true);
        work(&mut host, Time::ZERO.plus(GRACE / 2));
        assert_eq!(received(&again).1, Some(CloseReason::Replaced));
        // The replaced window no longer affects the seat.
        again.leave();
        work(&mut host, Time::ZERO.plus(GRACE * 3));
        put(&elsewhere, "KEY Q");
        work(&mut host, Time::ZERO.plus(GRACE * 3));
        let (texts, ending) = received(&elsewhere);
        assert_eq!(texts.last().map(String::as_str), Some("QUIT Thanks for playing!"));
        assert_eq!((ending, host.peers()), (Some(CloseReason::Closed), 0));
    }

    #[test]
    fn seat_is_retained_for_a_while_and_then_given_up() {
        let (gate, mut host, _directory) = room();
        let mailbox = ann(&gate, &mut host);
        mailbox.leave();
        work(&mut host, Time::ZERO);
        assert_eq!(host.wake_at(), Some(Time::ZERO.plus(GRACE)));
        work(&mut host, Time::ZERO.plus(GRACE));
        assert_eq!(host.peers(), 0);
        let late = enter(&gate, Role::Player, 1, true);
        work(&mut host, Time::ZERO.plus(GRACE));
        assert_eq!(received(&late), (vec![], Some(CloseReason::Expired)));
    }

    #[test]
    fn watcher_that_disconnects_is_removed_immediately() {
        let (gate, mut host, _directory) = room();
        let mailbox = enter(&gate, Role::Watcher, 1, false);
        work(&mut host, Time::ZERO);
        assert_eq!(received(&mailbox).0, ["GRID 4 11", "GOLD 0 0 250", "DISPLAY"]);
        mailbox.leave();
        work(&mut host, Time::ZERO);
        assert_eq!(host.peers(), 0);
    }

    #[test]
    fn seat_is_not_resumed_without_its_token() {
        let (gate, mut host, _directory) = room();
        let mailbox = enter(&gate, Role::Player, 1, false);
        put(&mailbox, "PLAY Ann");
        let other = enter(&gate, Role::Player, 1, false);
        work(&mut host, Time::ZERO);
        assert_eq!(received(&other), (vec![], Some(CloseReason::Full)));
        assert_eq!(received(&mailbox).0.len(), 4);
    }

    #[test]
    fn slow_browser_misses_messages_and_receives_a_snapshot() {
        let (gate, mut host, _directory) = room();
        let slow = enter(&gate, Role::Watcher, 1, false);
        let mailbox = enter(&gate, Role::Player, 2, false);
        put(&mailbox, "PLAY Ann");
        work(&mut host, Time::ZERO);
        let mut now = Time::ZERO;
        // Each move causes a display of some 120 bytes, plus overhead.
        for _ in 0..MAX_OUTGOING / 200 {
            for key in ["KEY L", "KEY H"] {
                put(&mailbox, key);
                now = now.plus(SECOND);
                work(&mut host, now);
                received(&mailbox);
            }
        }
        let (old, _) = received(&slow);
        assert!(old.len() < MAX_OUTGOING / 100, "{} messages waited", old.len());
        work(&mut host, now);
        let (new, _) = received(&slow);
        assert_eq!(new.iter().filter(|text| *text == "DISPLAY").count(), 1, "{new:?}");
        assert!(new.iter().any(|text| text == "GRID 4 11"), "{new:?}");
        // Afterwards it receives all messages again.
        put(&mailbox, "KEY l");
        work(&mut host, now.plus(SECOND));
        put(&mailbox, "KEY h");
        work(&mut host, now.plus(SECOND));
        assert!(!received(&slow).0.is_empty());
    }

    #[test]
    fn paused_browser_is_read_later_in_order() {
        let (gate, mut web) = web();
        let (eve, ann) = (enter(&gate, Role::Player, 1, false), enter(&gate, Role::Player, 2, false));
        let until = Time::from_millis(20);
        let (mut now, mut read, mut paused) = (Time::ZERO, vec![], 0);
        for message in ["a", "b"] {
            put(&eve, message);
        }
        loop {
            while let Some(event) = web.next(now).unwrap() {
                let ConnectionEvent::Bytes { ticket, bytes } = event else { continue };
                if ticket.id() == ConnectionId(0) && now < until {
                    paused += 1;
                    assert_eq!(paused, 1, "it is not read before its time");
                    web.answer(now, Answer::Paused(ticket, until));
                    put(&eve, "c");
                    put(&ann, "x");
                } else {
                    read.push((now, String::from_utf8_lossy(bytes).into_owned()));
                    web.answer(now, Answer::Processed(ticket, Progress::Decoded));
                }
            }
            match web.wake_at() {
                Some(wake) => now = wake,
                None => break,
            }
        }
        let expected = [(Time::ZERO, "x"), (until, "a"), (until, "b"), (until, "c")];
        assert_eq!(read, expected.map(|(now, message)| (now, message.to_owned())));
    }

    #[test]
    fn seat_of_a_paused_browser_can_be_closed() {
        let (gate, mut web) = web();
        let eve = enter(&gate, Role::Player, 1, false);
        put(&eve, "a");
        while let Some(event) = web.next(Time::ZERO).unwrap() {
            if let ConnectionEvent::Bytes { ticket, .. } = event {
                let id = ticket.id();
                web.answer(Time::ZERO, Answer::Paused(ticket, Time::from_millis(20)));
                web.deliver(Time::ZERO, Delivery::Close(id));
            }
        }
        assert_eq!(web.wake_at(), None);
        assert_eq!(received(&eve).1, Some(CloseReason::Closed));
    }

    fn arrive(web: &mut WebSockets, gate: &Gate, address: SocketAddr, joins: bool) -> Arc<Mailbox> {
        let mailbox = enter_at(gate, Role::Player, address, false);
        settle(web, Time::ZERO);
        if joins {
            gate.roster.resume(&[(PeerId(0), Link::Message, address)], &[occupant()]);
        }
        mailbox
    }

    /// Closes the seats that are given up, as a room does.
    fn settle(web: &mut WebSockets, now: Time) -> usize {
        let mut gone = 0;
        while let Some(event) = web.next(now).unwrap() {
            if let ConnectionEvent::Closed { id, .. } = event {
                web.deliver(now, Delivery::Close(id));
                gone += 1;
            }
        }
        gone
    }

    fn occupant() -> Occupant {
        Occupant { peer: PeerId(0), name: "Ann".into(), seat: "A".into() }
    }

    fn at(host: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, host], port))
    }

    #[test]
    fn sockets_that_disconnect_without_joining_retain_no_seats() {
        let (gate, mut web) = web();
        let ann = arrive(&mut web, &gate, at(1, 1), true);
        for port in 1..=3_000 {
            arrive(&mut web, &gate, at(9, port), false).leave();
            assert_eq!(settle(&mut web, Time::ZERO), 1);
        }
        assert_eq!((web.seats.len(), web.given_up, web.wake_at()), (1, 0, None));
        // Another browser connects, and Ann does not notice it.
        assert_eq!(received(&arrive(&mut web, &gate, at(2, 1), false)).1, None);
        assert_eq!(received(&ann).1, None);
    }

    #[test]
    fn retained_seats_are_shared_out_by_host_and_given_up_when_places_are_needed() {
        let (gate, mut web) = web();
        let eves = u16::try_from(MAX_SEATS).unwrap();
        // The seat of another host is retained first, so it is the oldest.
        arrive(&mut web, &gate, at(1, 1), true).leave();
        settle(&mut web, Time::ZERO);
        for port in 1..=eves {
            arrive(&mut web, &gate, at(9, port), true).leave();
            settle(&mut web, Time::ZERO);
        }
        assert_eq!(web.seats.len(), MAX_RETAINED_PER_HOST + 1, "a host alone retains half of the places");
        // All other places are taken by connected browsers.
        let there: Vec<_> = (1..eves / 2)
            .map(|port| arrive(&mut web, &gate, at(u8::try_from(port % 7 + 20).unwrap(), port), false))
            .collect();
        assert_eq!(web.seats.len(), MAX_SEATS);
        // The next browsers get the oldest retained places of the host with the most. No other browser is affected.
        for port in 1..=10 {
            let bob = arrive(&mut web, &gate, at(2, port), false);
            assert_eq!((received(&bob).1, web.seats.len()), (None, MAX_SEATS), "Bob {port}");
        }
        assert!(there.iter().all(|mailbox| received(mailbox).1.is_none()));
        let ann = enter_at(&gate, Role::Player, at(1, 1), true);
        let (first, last) =
            (enter_at(&gate, Role::Player, at(9, 1), true), enter_at(&gate, Role::Player, at(9, eves), true));
        settle(&mut web, Time::ZERO);
        assert_eq!([&ann, &first, &last].map(|mailbox| received(mailbox).1), [None, Some(CloseReason::Expired), None]);
    }

    #[test]
    fn host_with_most_retained_seats_loses_its_oldest_first() {
        let (ann, eve) = (HostId::of("10.0.0.1:1"), HostId::of("10.0.0.2:1"));
        let mut retained = Retained::default();
        let seat = |number: u64| (Time::from_millis(number), ConnectionId(number));
        for (host, number) in [(ann, 1), (eve, 2), (eve, 3), (ann, 5), (eve, 4)] {
            let (until, id) = seat(number);
            assert_eq!(retained.insert(host, until, id, 3), None);
        }
        assert_eq!((retained.first_to_go(), retained.next_due()), (Some(ConnectionId(2)), Some(Time::from_millis(1))));
        assert_eq!(retained.due(Time::from_millis(3)).count(), 3);
        // This exceeds the limit of the host by one.
        let (until, id) = seat(6);
        assert_eq!(retained.insert(eve, until, id, 3), Some(ConnectionId(2)));
        let (until, id) = seat(3);
        retained.remove(eve, until, id);
        retained.remove(eve, seat(4).0, seat(4).1);
        assert_eq!(retained.first_to_go(), Some(ConnectionId(1)));
    }
}
