//! The dealer without its sockets: who sits where, who is asked, and who is told what when.
//!
//! - Clients that have joined wait in order; as soon as there are enough of them for a table, and a table is free, it
//!   begins. Each table has cards of its own.
//! - A seat is told what its [`View`](crate::round::View) holds and what it was not told yet, so the hole card cannot get into a message.
//! - To a text client messages go out one by one with a pause between them, since many such clients take whatever one
//!   read brings for one message. The first after a message of the client goes at once. A question counts as asked when
//!   it leaves, and only then can it be answered.
//! - Whoever sends what was not asked for, does not answer in time, or leaves in the middle of a hand, loses that hand and
//!   is sent away. Nobody waits for it longer than the time limit of an answer.
//!
//! A client that closes its sending half may still be sent to: messages for it are put out until its `Close`. A shell that
//! cannot deliver them drops them.
//!
//! Sources: the requirements of the course's project, "Dealer"; what happens on trouble is our own.

mod client;
mod config;
mod event;

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    string::ToString,
    vec::Vec,
};
use bytes::BytesMut;
use core::mem;
use netcore::{DecodeError, Digest, Engine, Gone, Input, Outbox, Outcome, PeerId, Role, Time};

use client::{Client, Place, Told};
pub use config::{Config, ConfigError, DELAY, Ending, MAX_CLIENTS, TIMEOUT};
pub use event::{ClientEvent, Event, TableEvent};

use crate::{
    protocol::{Blackjack, DealerMessage, Dialect, PlayerMessage, Request},
    round::{Action, MAX_SEATS},
    table::Table,
};

#[derive(Debug)]
struct Game {
    table: Table,
    // By seat; none where nobody sits any more.
    clients: [Option<PeerId>; MAX_SEATS],
    digest: u64,
}

/// A dealer: its tables and those who play at them or want to.
#[derive(Debug)]
pub struct Dealer {
    config: Config,
    clients: BTreeMap<PeerId, Client>,
    waiting: VecDeque<PeerId>,
    games: BTreeMap<u32, Game>,
    begun: u32,
    played: u32,
    // Rounds at tables that are over.
    rounds: u64,
    // Who wants to be looked after when. Set only when it is earlier than what is set already, so that an answer in time,
    // which puts the limit off, costs nothing.
    alarms: BTreeSet<(Time, PeerId)>,
    events: Vec<Event>,
    digest: Digest,
    ending: Option<Ending>,
    // Where messages are put together; kept, so that nothing is allocated for each.
    buffer: BytesMut,
}

impl Dealer {
    /// A dealer to whom nobody has come yet.
    ///
    /// # Errors
    /// [`ConfigError`] when a number is out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            clients: BTreeMap::new(),
            waiting: VecDeque::new(),
            games: BTreeMap::new(),
            begun: 0,
            played: 0,
            rounds: 0,
            alarms: BTreeSet::new(),
            events: Vec::new(),
            digest: Digest::default(),
            ending: None,
            buffer: BytesMut::new(),
        })
    }

    /// What happened in the last input, for the log.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// How the work ended; none before it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending.filter(|_| self.clients.is_empty())
    }

    /// The tables that are played, by their number.
    pub fn tables(&self) -> impl Iterator<Item = (u32, &Table)> {
        self.games.iter().map(|(&number, game)| (number, &game.table))
    }

    /// Rounds that are over, at all tables.
    pub fn rounds(&self) -> u64 {
        self.rounds + self.games.values().map(|game| u64::from(game.table.played())).sum::<u64>()
    }

    fn connected(&mut self, now: Time, peer: PeerId, role: Role, address: &str, out: &mut Outbox) {
        let full = self.clients.len() >= MAX_CLIENTS;
        // There is no way to look on in this protocol.
        if full || role != Role::Player || self.ending.is_some() {
            let (address, what) = (address.to_string(), ClientEvent::TurnedAway);
            self.events.push(Event::Client { address, name: None, what });
            return out.close(peer);
        }
        let client = Client::new(address, now, now.plus(self.config.timeout));
        self.clients.insert(peer, client);
        self.arm(peer);
    }

    fn request(&mut self, now: Time, peer: PeerId, request: Request, out: &mut Outbox) {
        let Some(client) = self.clients.get_mut(&peer) else { return };
        let Request { dialect, message } = request;
        if self.config.trace {
            self.events.push(client.event(ClientEvent::Said(message.clone())));
        }
        match (client.place, message) {
            (Place::Stranger, PlayerMessage::Join(name)) => {
                client.name = Some(name);
                client.dialect = dialect;
                client.place = Place::Waiting;
                client.free_at = now;
                client.due = None;
                self.waiting.push_back(peer);
                self.seat(now, out);
                if let Some(before) = self.waiting.iter().position(|&waiting| waiting == peer)
                    && let Some(client) = self.clients.get(&peer)
                {
                    self.events.push(client.event(ClientEvent::Waits { before }));
                }
            }
            (Place::Seated { table, seat }, PlayerMessage::Hit) if client.asked => {
                self.decided(now, peer, (table, seat), Action::Hit, out);
            }
            (Place::Seated { table, seat }, PlayerMessage::Stand) if client.asked => {
                self.decided(now, peer, (table, seat), Action::Stand, out);
            }
            (Place::Leaving, _) => {}
            (_, message) => self.send_away(now, peer, ClientEvent::OutOfTurn(message), out),
        }
    }

    fn malformed(&mut self, now: Time, peer: PeerId, why: DecodeError, out: &mut Outbox) {
        match self.clients.get(&peer).map(|client| client.place) {
            // It has its results; what it sends now changes nothing, but nothing more can be read from it either.
            None | Some(Place::Leaving) => {}
            Some(_) => self.send_away(now, peer, ClientEvent::Malformed(why), out),
        }
    }

    fn decided(&mut self, now: Time, peer: PeerId, (table, seat): (u32, usize), action: Action, out: &mut Outbox) {
        let (Some(client), Some(game)) = (self.clients.get_mut(&peer), self.games.get_mut(&table)) else { return };
        client.asked = false;
        client.due = None;
        client.free_at = now;
        if game.table.apply(seat, action).is_ok() {
            self.go_on(now, table, out);
        } else {
            // Whoever was asked may answer, and a deck does not run out.
            self.send_away(now, peer, ClientEvent::OutOfTurn(action.into()), out);
        }
    }

    // A client did what it must not: its hand is lost and it has to go.
    fn send_away(&mut self, now: Time, peer: PeerId, why: ClientEvent, out: &mut Outbox) {
        let Some(client) = self.clients.get_mut(&peer) else { return };
        let place = mem::replace(&mut client.place, Place::Leaving);
        self.events.push(client.event(why));
        client.queue.clear();
        if place == Place::Stranger {
            // What it speaks is not known.
            self.forget(peer, out);
        } else {
            client.queue.push_back(DealerMessage::Quit);
            client.free_at = now;
            self.flush(now, peer, out);
        }
        self.vacate(now, peer, place, true, out);
    }

    fn disconnected(&mut self, now: Time, peer: PeerId, why: Gone, out: &mut Outbox) {
        let Some(client) = self.clients.get_mut(&peer) else { return };
        let in_hand = match client.place {
            Place::Seated { table, seat } => {
                self.games.get(&table).is_some_and(|game| game.table.round().is_playing(seat))
            }
            Place::Stranger | Place::Waiting | Place::Leaving => false,
        };
        match (why, client.place) {
            // Half-closed after its last answer: it may still hear how that ended.
            (Gone::Left, Place::Leaving) => {}
            (Gone::Left, Place::Seated { .. }) if !in_hand => client.mute = true,
            (Gone::Left, Place::Seated { .. }) => self.send_away(now, peer, ClientEvent::Gone(why), out),
            (_, place) => {
                self.events.push(client.event(ClientEvent::Gone(why)));
                self.forget(peer, out);
                self.vacate(now, peer, place, in_hand, out);
            }
        }
    }

    // Frees the place of a client that is leaving.
    fn vacate(&mut self, now: Time, peer: PeerId, place: Place, forfeits: bool, out: &mut Outbox) {
        match place {
            Place::Stranger | Place::Leaving => {}
            Place::Waiting => self.waiting.retain(|&waiting| waiting != peer),
            Place::Seated { table, seat } => {
                let Some(game) = self.games.get_mut(&table) else { return };
                game.clients[seat] = None;
                if forfeits {
                    game.table.forfeit(seat);
                } else {
                    game.table.leave(seat);
                }
                self.go_on(now, table, out);
            }
        }
    }

    // Lets tables begin as long as there are players for them.
    fn seat(&mut self, now: Time, out: &mut Outbox) {
        let Config { players, tables, forever, rounds, seed, .. } = self.config;
        while self.waiting.len() >= players
            && self.games.len() < usize::try_from(tables).unwrap_or(usize::MAX)
            && (forever || self.begun < tables)
        {
            let peers: Vec<PeerId> = self.waiting.drain(..players).collect();
            let names = peers.iter().filter_map(|peer| self.clients.get(peer)?.name.clone()).collect();
            let number = self.begun + 1;
            let Ok(table) = Table::new(names, rounds, seed.generator(number)) else { return };
            self.begun = number;
            let mut clients = [None; MAX_SEATS];
            for (seat, peer) in peers.into_iter().enumerate() {
                clients[seat] = Some(peer);
                let Some(client) = self.clients.get_mut(&peer) else { continue };
                client.place = Place::Seated { table: number, seat };
                self.events.push(client.event(ClientEvent::Seated { table: number, seat: seat + 1 }));
            }
            self.events.push(Event::Table { table: number, what: TableEvent::Begins });
            self.games.insert(number, Game { table, clients, digest: 0 });
            self.go_on(now, number, out);
        }
    }

    // Tells everybody at a table what is new, deals the next round when one is over, and sends out what may leave.
    fn go_on(&mut self, now: Time, number: u32, out: &mut Outbox) {
        let Some(game) = self.games.get_mut(&number) else { return };
        loop {
            for (seat, peer) in seated(game.clients) {
                if let (Some(client), Some(view)) = (self.clients.get_mut(&peer), game.table.view(seat)) {
                    client.tell(view);
                }
            }
            if !game.table.round().is_over() {
                break;
            }
            if self.config.trace
                && let Some(dealer) = game.table.round().revealed()
            {
                let what = TableEvent::Round { round: game.table.played(), dealer: dealer.cards().to_vec() };
                self.events.push(Event::Table { table: number, what });
            }
            for (seat, peer) in seated(game.clients) {
                let Some(client) = self.clients.get_mut(&peer) else { continue };
                client.told = Told::default();
                if client.mute && !game.table.is_over() {
                    self.events.push(client.event(ClientEvent::Gone(Gone::Left)));
                    client.leave();
                    game.table.leave(seat);
                }
            }
            // Either the rounds are played, or nobody is left to deal to.
            if game.table.is_over() || game.table.deal().is_err() {
                break;
            }
        }
        let digest = fingerprint(&game.table);
        self.digest.change(0, number, mem::replace(&mut game.digest, digest), digest);
        let (clients, over) = (game.clients, game.table.round().is_over());
        if over {
            self.finish(number, out);
        }
        for (_, peer) in seated(clients) {
            self.flush(now, peer, out);
        }
        if over {
            self.seat(now, out);
            self.end_if_done(now, out);
        }
    }

    // Puts out the standings of a table and takes leave of its players.
    fn finish(&mut self, number: u32, out: &mut Outbox) {
        let Some(game) = self.games.remove(&number) else { return };
        for (_, peer) in seated(game.clients) {
            if let Some(client) = self.clients.get_mut(&peer).filter(|client| client.place != Place::Leaving) {
                client.leave();
            }
        }
        self.rounds += u64::from(game.table.played());
        let deserted = game.table.played() < self.config.rounds;
        self.played += u32::from(!deserted);
        let what = if deserted { TableEvent::Deserted } else { TableEvent::Over };
        self.events.push(Event::Table { table: number, what });
        self.put_standings(number, &game.table, out);
    }

    fn put_standings(&self, number: u32, table: &Table, out: &mut Outbox) {
        let standings = table.standings(number);
        out.summary(if self.config.json { standings.to_json() } else { standings.to_string() });
    }

    // When the last table is over, whoever still waits for one waits for nothing.
    fn end_if_done(&mut self, now: Time, out: &mut Outbox) {
        let done = !self.config.forever && self.begun >= self.config.tables && self.games.is_empty();
        if !done || self.ending.is_some() {
            return;
        }
        self.ending = Some(if self.played > 0 { Ending::Played } else { Ending::Deserted });
        self.waiting.clear();
        let idle = |client: &Client| matches!(client.place, Place::Stranger | Place::Waiting);
        let idlers: Vec<PeerId> = self.clients.iter().filter(|(_, c)| idle(c)).map(|(&peer, _)| peer).collect();
        for peer in idlers {
            self.dismiss(now, peer, out);
        }
    }

    // Takes leave of a client at once.
    fn dismiss(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        let Some(client) = self.clients.get_mut(&peer) else { return };
        if client.place == Place::Stranger {
            return self.forget(peer, out);
        }
        client.leave();
        client.queue.clear();
        client.queue.push_back(DealerMessage::Quit);
        client.free_at = now;
        self.flush(now, peer, out);
    }

    // Sends out what may leave by now, and sees to it that somebody comes back for the rest.
    fn flush(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        let Some(client) = self.clients.get_mut(&peer) else { return };
        let paced = client.dialect == Dialect::Text && !self.config.delay.is_zero();
        let mut quits = false;
        while !paced || client.free_at <= now {
            let Some(message) = client.queue.pop_front() else { break };
            if paced {
                client.free_at = now.plus(self.config.delay);
            }
            if message == DealerMessage::Decision {
                client.asked = true;
                client.due = Some(now.plus(self.config.timeout));
            }
            quits |= message == DealerMessage::Quit;
            if self.config.trace {
                self.events.push(client.event(ClientEvent::Heard(message)));
            }
            message.encode(client.dialect, &mut self.buffer);
        }
        if !self.buffer.is_empty() {
            out.send(peer, self.buffer.split().freeze());
        }
        if quits {
            self.forget(peer, out);
        } else {
            self.arm(peer);
        }
    }

    // Has a client looked after when its next message may leave or its time is up.
    fn arm(&mut self, peer: PeerId) {
        let Some(client) = self.clients.get_mut(&peer) else { return };
        let free = (!client.queue.is_empty()).then_some(client.free_at);
        let Some(wanted) = free.into_iter().chain(client.due).min() else { return };
        if client.alarm.is_some_and(|alarm| alarm <= wanted) {
            return;
        }
        if let Some(alarm) = client.alarm.replace(wanted) {
            self.alarms.remove(&(alarm, peer));
        }
        self.alarms.insert((wanted, peer));
    }

    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        while let Some(&(at, peer)) = self.alarms.first()
            && at <= now
        {
            self.alarms.pop_first();
            let Some(client) = self.clients.get_mut(&peer) else { continue };
            client.alarm = None;
            if client.due.is_some_and(|due| due <= now) {
                let stranger = client.place == Place::Stranger;
                let why = if stranger { ClientEvent::NoJoin } else { ClientEvent::NoAnswer };
                self.send_away(now, peer, why, out);
            } else {
                self.flush(now, peer, out);
            }
        }
    }

    fn forget(&mut self, peer: PeerId, out: &mut Outbox) {
        if let Some(client) = self.clients.remove(&peer) {
            if let Some(alarm) = client.alarm {
                self.alarms.remove(&(alarm, peer));
            }
            out.close(peer);
        }
    }

    fn stop(&mut self, now: Time, out: &mut Outbox) {
        for (number, game) in mem::take(&mut self.games) {
            self.put_standings(number, &game.table, out);
        }
        self.waiting.clear();
        let everybody: Vec<PeerId> = self.clients.keys().copied().collect();
        for peer in everybody {
            self.dismiss(now, peer, out);
        }
        self.ending = Some(Ending::Stopped);
    }
}

// The seats that are taken, and who sits there.
fn seated(clients: [Option<PeerId>; MAX_SEATS]) -> impl Iterator<Item = (usize, PeerId)> {
    clients.into_iter().enumerate().filter_map(|(seat, peer)| Some((seat, peer?)))
}

// What a table has come to: its scores, and the cards that lie on it.
fn fingerprint(table: &Table) -> u64 {
    let mut digest = Digest::default();
    for seat in 0..MAX_SEATS {
        let who = u32::try_from(seat).unwrap_or(u32::MAX);
        if let Some(score) = table.score(seat) {
            for (what, count) in (0..).zip([score.wins, score.pushes, score.losses, score.busts]) {
                digest.toggle(what, who, count);
            }
        }
        if let Some(view) = table.view(seat) {
            let cards = view.cards.iter().fold(u64::from(view.upcard.number()), |bits, card| {
                bits.wrapping_mul(53).wrapping_add(u64::from(card.number()))
            });
            digest.toggle(4, who, cards);
        }
    }
    digest.value()
}

impl Engine for Dealer {
    type Protocol = Blackjack;

    fn input(&mut self, now: Time, input: Input<'_, Request>, out: &mut Outbox) {
        self.events.clear();
        match input {
            Input::Connected { peer, role, address, .. } => self.connected(now, peer, role, address, out),
            Input::Request { peer, request } => self.request(now, peer, request, out),
            Input::Malformed { peer, why } => self.malformed(now, peer, why, out),
            // Who has lost track of a round cannot be told it anew: the protocol has no words for that.
            Input::Refresh { .. } => {}
            Input::Disconnected { peer, why } => self.disconnected(now, peer, why, out),
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop => self.stop(now, out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.alarms.first().map(|&(at, _)| at)
    }

    fn outcome(&self) -> Option<Outcome> {
        Some(match self.ending()? {
            Ending::Played => Outcome::Finished,
            Ending::Deserted | Ending::Stopped => Outcome::Stopped,
        })
    }

    fn digest(&self) -> u64 {
        self.digest.value()
    }
}
