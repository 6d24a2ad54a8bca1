//! The dealer without its sockets: a lobby that assigns waiting clients to tables and forwards their messages to them.
//!
//! - Clients that have joined wait in a queue; as soon as there are enough of them for a table, and a table is free, it
//!   begins. Each [`Table`] has cards of its own.
//! - When the server was killed and resumed, a JOIN from the same host with the same name gets its seat back. Clients without
//!   a seat are forgotten.
//! - Places, and turns in the queue, are shared among hosts, so a thousand connections from one address delay only each other.
//! - Watchers are sent a [`LobbyView`] when something has changed, at most ten a second.
//!
//! Sources: the requirements of the course's project, "Dealer" and "Tournament"; what happens on trouble is our own.

mod accounts;
mod engine;
mod fault;
mod held;
mod pending;
mod places;
mod printer;
mod queue;
mod state;
mod table;
mod tables;
mod watchers;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};
use netcore::{Departure, Digest, Fingerprint, GameEvent, Gone, HostId, Outbox, Outcome, PeerId, Role, Severity, Time};

use accounts::Accounts;
use fault::{Fault, note};
use held::Held;
use pending::Pending;
use places::Places;
use printer::Printer;
use queue::Queue;
pub use state::ServerState;
pub use table::{Table, seat_label};
use tables::Entry;
use watchers::Watchers;

use crate::{
    config::{Config, ConfigError, MAX_CLIENTS},
    name::Name,
    protocol::{DealerMessage, Dialect, PlayerMessage, Request},
    view::{LobbyView, MAX_SHOWN},
};

// Where a joined client is.
#[derive(Debug, Clone)]
enum Guest {
    Waiting { name: Name, dialect: Dialect },
    Seated { table: u32 },
}

/// A dealer: its tables, players, waiting clients and watchers.
#[derive(Debug, Clone)]
pub struct Server {
    config: Config,
    // Of players; watchers have others.
    places: Places,
    // Who has not joined yet.
    pending: Pending,
    watchers: Watchers,
    guests: BTreeMap<PeerId, Guest>,
    queue: Queue,
    // Tables in play, and those that are over and still have messages to send.
    tables: BTreeMap<u32, Entry>,
    alarms: BTreeSet<(Time, u32)>,
    // Seats at tables that are held for those who had them.
    held: Held,
    begun: u32,
    playing: u32,
    complete: u32,
    // Rounds at tables that are over.
    rounds: u64,
    accounts: Option<Accounts>,
    printer: Printer,
    ended: Option<Outcome>,
    // Stopped, to be resumed later.
    suspended: bool,
    digest: Digest,
}

impl Server {
    /// A dealer without clients.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            places: Places::new(MAX_CLIENTS),
            pending: Pending::default(),
            watchers: Watchers::new(),
            guests: BTreeMap::new(),
            queue: Queue::default(),
            tables: BTreeMap::new(),
            alarms: BTreeSet::new(),
            held: Held::default(),
            begun: 0,
            playing: 0,
            complete: 0,
            rounds: 0,
            accounts: config.accounts.map(Accounts::new),
            printer: Printer::new(&config),
            ended: None,
            suspended: false,
            digest: Digest::default(),
        })
    }

    /// How it is set up.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The tables that are played, by their number.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values().map(|entry| &entry.table).filter(|table| table.ended.is_none())
    }

    /// Rounds that are over, at all tables.
    pub fn rounds(&self) -> u64 {
        let played = |table: &Table| u64::from(table.game().played());
        self.rounds + self.tables().map(played).sum::<u64>()
    }

    /// What anybody may see.
    pub fn view(&self) -> LobbyView {
        LobbyView {
            playing: self.playing,
            tables: self.config.tables,
            waiting: u32::try_from(self.queue.waiting).unwrap_or(u32::MAX),
            rounds: self.rounds,
            shown: self.tables().take(MAX_SHOWN).map(Table::view).collect(),
        }
    }

    fn connected(&mut self, now: Time, (peer, role): (PeerId, Role), address: &str, out: &mut Outbox) {
        let host = HostId::of(address);
        let entered = self.ended.is_none()
            && match role {
                Role::Watcher => self.watchers.enter(now, (peer, host), &self.view().to_bytes(), out),
                Role::Player => self.places.enter(peer, host),
            };
        if !entered {
            note(out, Severity::Info, Some(peer), "is sent away: there is no place for it".into());
            out.close(peer);
        } else if role == Role::Player {
            self.pending.enter(peer, now.plus(self.config.timeout));
        }
    }

    // Disconnects a client that has not joined; its dialect may be unknown, so it gets no message.
    fn turn_away(&mut self, peer: PeerId, fault: &Fault, out: &mut Outbox) {
        fault.tell(peer, None, out);
        self.close(peer, out);
    }

    // Disconnects a client without a seat.
    fn close(&mut self, peer: PeerId, out: &mut Outbox) {
        self.pending.leave(peer);
        self.places.leave(peer);
        out.close(peer);
    }

    fn request(&mut self, now: Time, peer: PeerId, Request { dialect, message }: Request, out: &mut Outbox) {
        match self.guests.get(&peer) {
            Some(&Guest::Seated { table }) => {
                return self.at(now, table, out, |table, out| table.receive(now, peer, message, out));
            }
            Some(Guest::Waiting { name, .. }) => {
                if self.config.trace {
                    note(out, Severity::Requested, Some(peer), format!("{name} > {message}"));
                }
                return self.fault(now, peer, &Fault::OutOfTurn(message), out);
            }
            None => {}
        }
        // Messages of watchers are ignored.
        if !self.pending.has(peer) {
            return;
        }
        if self.config.trace {
            note(out, Severity::Requested, Some(peer), format!("> {message}"));
        }
        let PlayerMessage::Join(name) = message else {
            return self.turn_away(peer, &Fault::OutOfTurn(message), out);
        };
        self.pending.leave(peer);
        let Some(host) = self.places.host(peer) else { return };
        if let Some((table, seat)) = self.held.take(host, &name) {
            self.guests.insert(peer, Guest::Seated { table });
            return self.at(now, table, out, |table, out| table.come_back(now, seat, (peer, dialect), out));
        }
        self.toggle_waiting(peer, &name, dialect);
        self.guests.insert(peer, Guest::Waiting { name: name.clone(), dialect });
        self.queue.push(host, peer);
        self.fill_tables(now, out);
        if let Some(before) = self.queue.before(host, peer) {
            let places = u32::try_from(before).unwrap_or(u32::MAX);
            if self.seats_to_come().is_some_and(|seats| before >= seats) {
                let text = format!("no seat is left for {name}: all tables are taken and none will follow");
                note(out, Severity::Info, Some(peer), text);
            }
            out.event(GameEvent::Waiting { peer, name: name.to_string(), before: places });
        }
    }

    // Sends away a client that violated the protocol.
    fn fault(&mut self, now: Time, peer: PeerId, fault: &Fault, out: &mut Outbox) {
        match self.guests.get(&peer) {
            Some(&Guest::Seated { table }) => self.at(now, table, out, |table, out| table.fault(now, peer, fault, out)),
            Some(Guest::Waiting { name, dialect }) => {
                fault.tell(peer, Some(name), out);
                out.send(peer, DealerMessage::Quit.to_bytes(*dialect));
                self.stop_waiting(peer, Departure::Dismissed(fault.to_string()), out);
            }
            None if self.pending.has(peer) => self.turn_away(peer, fault, out),
            None => {}
        }
    }

    fn disconnected(&mut self, now: Time, peer: PeerId, why: Gone, out: &mut Outbox) {
        match self.guests.get(&peer) {
            Some(&Guest::Seated { table }) if why == Gone::Interrupted => self.interrupted(now, peer, table, out),
            Some(&Guest::Seated { table }) => self.at(now, table, out, |table, out| table.gone(now, peer, why, out)),
            Some(Guest::Waiting { .. }) => self.stop_waiting(peer, Departure::Disconnected(why), out),
            None if self.pending.has(peer) => self.close(peer, out),
            None => {
                if self.watchers.leave(peer) {
                    out.close(peer);
                }
            }
        }
    }

    fn interrupted(&mut self, now: Time, peer: PeerId, table: u32, out: &mut Outbox) {
        let (Some(host), due) = (self.places.host(peer), now.plus(self.config.timeout)) else { return };
        let mut held = None;
        self.at(now, table, out, |table, out| held = table.interrupted(peer, out));
        if let Some((seat, name)) = held {
            self.held.hold(host, name, (table, seat), due);
        }
    }

    fn refresh(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        if let Some(&Guest::Seated { table }) = self.guests.get(&peer) {
            self.at(now, table, out, |table, out| table.refresh(now, peer, out));
        } else if self.watchers.has(peer) {
            out.send(peer, self.view().to_bytes());
        }
    }

    fn stop_waiting(&mut self, peer: PeerId, why: Departure, out: &mut Outbox) {
        if let (Some(Guest::Waiting { name, dialect }), Some(host)) =
            (self.guests.remove(&peer), self.places.host(peer))
        {
            self.toggle_waiting(peer, &name, dialect);
            self.queue.remove(host, peer);
            out.event(GameEvent::Left { peer, name: name.to_string(), seat: String::new(), why });
            self.close(peer, out);
        }
    }

    // Disconnects all clients without a seat.
    fn dismiss(&mut self, out: &mut Outbox) {
        for peer in self.pending.peers() {
            self.close(peer, out);
        }
        while let Some(peer) = self.queue.pop() {
            let Some(Guest::Waiting { name, dialect }) = self.guests.remove(&peer) else { continue };
            self.toggle_waiting(peer, &name, dialect);
            out.event(GameEvent::Left { peer, name: name.to_string(), seat: String::new(), why: Departure::GameOver });
            out.send(peer, DealerMessage::Quit.to_bytes(dialect));
            self.close(peer, out);
        }
    }

    fn stop(&mut self, now: Time, out: &mut Outbox) {
        self.ended = Some(Outcome::Stopped);
        self.dismiss(out);
        self.held = Held::default();
        let numbers: Vec<u32> = self.tables.keys().copied().collect();
        for number in numbers {
            self.at(now, number, out, |table, out| table.stop(now, out));
        }
        self.printer.finish(out);
    }

    fn toggle_waiting(&mut self, peer: PeerId, name: &Name, dialect: Dialect) {
        let mut fact = Fingerprint::new();
        fact.add(peer.0);
        fact.add_bytes(name.as_str().as_bytes());
        fact.add(u64::from(dialect == Dialect::Text));
        self.digest.toggle_fact(fact);
    }
}
