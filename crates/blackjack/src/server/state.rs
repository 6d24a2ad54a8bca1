//! A dealer as plain data.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::ToString,
    vec::Vec,
};
use netcore::{HostId, Outcome, PeerId, Recorded, StateError, Time};
use serde::{Deserialize, Serialize};

use super::{
    Entry, Guest, Server,
    accounts::Accounts,
    held::{Held, HeldState},
    pending::Pending,
    places::Places,
    printer::Printer,
    queue::{Queue, QueueState},
    table::{Table, TableState},
    watchers::{Watchers, WatchersState},
};
use crate::{
    config::{Config, MAX_CLIENTS},
    name::Name,
    protocol::Dialect,
};

/// What a dealer has come to: who is there, who waits, what lies on the tables. It holds cards that nobody has seen.
#[derive(Serialize, Deserialize)]
pub struct ServerState {
    clients: Vec<(PeerId, HostId)>,
    strangers: Vec<(PeerId, Time)>,
    waiting: Vec<(PeerId, Name, Dialect)>,
    queue: QueueState,
    tables: Vec<EntryState>,
    held: Vec<HeldState>,
    audience: WatchersState,
    begun: u32,
    complete: u32,
    rounds: u64,
    accounts: Option<Accounts>,
    printer: Printer,
    ended: Option<Outcome>,
    suspended: bool,
}

#[derive(Serialize, Deserialize)]
struct EntryState {
    table: TableState,
    alarm: Option<Time>,
}

impl Recorded for Server {
    const GAME: &'static str = "blackjack";
    const RULES: u32 = 3;
    const OLDEST_RULES: u32 = 2;
    type Setup = Config;
    type State = ServerState;

    fn setup(&self) -> Config {
        self.config
    }

    fn from_setup(setup: Config) -> Result<Self, StateError> {
        Self::new(setup).map_err(|error| error.to_string().into())
    }

    fn state(&self) -> ServerState {
        let waiting = self.guests.iter().filter_map(|(&peer, guest)| match guest {
            Guest::Waiting { name, dialect } => Some((peer, name.clone(), *dialect)),
            Guest::Seated { .. } => None,
        });
        let entry = |entry: &Entry| EntryState { table: entry.table.state(), alarm: entry.alarm };
        ServerState {
            clients: self.places.state(),
            strangers: self.pending.state(),
            waiting: waiting.collect(),
            queue: self.queue.state(),
            tables: self.tables.values().map(entry).collect(),
            held: self.held.state(),
            audience: self.watchers.state(),
            begun: self.begun,
            complete: self.complete,
            rounds: self.rounds,
            accounts: self.accounts,
            printer: self.printer.clone(),
            ended: self.ended,
            suspended: self.suspended,
        }
    }

    fn restore(setup: Config, state: ServerState) -> Result<Self, StateError> {
        let mut server = Self::from_setup(setup)?;
        server.places = Places::restore(MAX_CLIENTS, state.clients)?;
        server.pending = Pending::restore(state.strangers)?;
        server.watchers = Watchers::restore(state.audience)?;
        server.printer = state.printer.restored(&setup)?;
        server.accounts = state.accounts;
        if setup.accounts.is_some() != state.accounts.is_some() {
            return Err("accounts that are given although nobody wants them, or the other way round".into());
        }
        (server.ended, server.suspended) = (state.ended, state.suspended);
        (server.begun, server.complete, server.rounds) = (state.begun, state.complete, state.rounds);
        for entry in state.tables {
            server.restore_table(entry)?;
        }
        server.check_counts()?;
        server.restore_held(state.held)?;
        for (peer, name, dialect) in state.waiting {
            server.toggle_waiting(peer, &name, dialect);
            server.admit(peer, Guest::Waiting { name, dialect })?;
        }
        server.restore_queue(state.queue)?;
        server.check_clients()?;
        Ok(server)
    }
}

impl Server {
    fn admit(&mut self, peer: PeerId, guest: Guest) -> Result<(), StateError> {
        if self.guests.insert(peer, guest).is_some() {
            return Err("a client that is in two places".into());
        }
        Ok(())
    }

    fn restore_table(&mut self, EntryState { table, alarm }: EntryState) -> Result<(), StateError> {
        let table = Table::restore(self.config, table)?;
        let number = table.number();
        if !(1..=self.begun).contains(&number) || self.tables.contains_key(&number) {
            return Err("a table with a number that it cannot have".into());
        }
        if table.due().is_some_and(|due| alarm.is_none_or(|alarm| alarm > due)) {
            return Err("a table that is not looked after in time".into());
        }
        for peer in table.peers() {
            self.admit(peer, Guest::Seated { table: number })?;
        }
        self.playing += u32::from(table.ended.is_none());
        self.alarms.extend(alarm.map(|alarm| (alarm, number)));
        let fingerprint = table.fingerprint();
        self.digest.toggle_fact(fingerprint);
        self.tables.insert(number, Entry { table, alarm, fingerprint });
        Ok(())
    }

    // Whether the counts are those of a dealer that has not forgotten to end, or has ended too early.
    fn check_counts(&self) -> Result<(), StateError> {
        let Config { tables, forever, rounds, .. } = self.config;
        let over = self.begun.checked_sub(self.playing).ok_or("more tables than were begun")?;
        let all_over = !forever && self.begun >= tables && self.playing == 0;
        let ended = match self.ended {
            None => !all_over,
            Some(Outcome::Stopped) => self.playing == 0,
            Some(Outcome::Finished | Outcome::Deserted) => all_over,
        };
        let possible = ended
            && self.playing <= tables
            && (forever || self.begun <= tables)
            && self.complete <= over
            && self.rounds <= u64::from(over) * u64::from(rounds);
        if possible { Ok(()) } else { Err("counts of tables and rounds that do not go together".into()) }
    }

    fn restore_held(&mut self, held: Vec<HeldState>) -> Result<(), StateError> {
        let places = |(&table, entry): (&u32, &Entry)| -> Vec<_> {
            entry.table.held_seats().map(|seat| (table, seat)).collect()
        };
        let mut missing: BTreeSet<(u32, usize)> = self.tables.iter().flat_map(places).collect();
        self.held = Held::default();
        for HeldState { table, seat, host, due } in held {
            let game = self.tables.get(&table).map(|entry| entry.table.game());
            let name = game.and_then(|game| game.name(seat)).filter(|_| missing.remove(&(table, seat)));
            let name = name.ok_or("a seat that is held and is none of a table's")?.clone();
            self.held.hold(host, name, (table, seat), due);
        }
        if missing.is_empty() { Ok(()) } else { Err("a seat that is held for nobody".into()) }
    }

    // Those who stand in the queue are those who wait, each once and with its own host.
    fn restore_queue(&mut self, state: QueueState) -> Result<(), StateError> {
        self.queue = Queue::restore(state)?;
        let mut hosts: BTreeMap<PeerId, HostId> = BTreeMap::new();
        for (host, peer) in self.queue.clients() {
            let waits = matches!(self.guests.get(&peer), Some(Guest::Waiting { .. }));
            if !waits || self.places.host(peer) != Some(host) || hosts.insert(peer, host).is_some() {
                return Err("a queue of those who do not wait".into());
            }
        }
        let waiting = self.guests.values().filter(|guest| matches!(guest, Guest::Waiting { .. })).count();
        if waiting == hosts.len() { Ok(()) } else { Err("somebody who waits without standing in the queue".into()) }
    }

    // Every client is in one place: not joined yet, in the queue or at a table.
    fn check_clients(&self) -> Result<(), StateError> {
        let pending = self.pending.peers();
        let has_place = |peer: PeerId| self.places.host(peer).is_some();
        let inside = self.guests.keys().filter(|&&peer| has_place(peer) && !self.pending.has(peer)).count();
        let outside = pending.iter().filter(|&&peer| has_place(peer)).count();
        let all = self.places.peers().count();
        let watches = self.places.peers().any(|peer| self.watchers.has(peer));
        let gone = self.ended.is_some() && (!pending.is_empty() || self.queue.waiting > 0);
        if inside == self.guests.len() && outside == pending.len() && inside + outside == all && !watches && !gone {
            Ok(())
        } else {
            Err("clients that are not where they can be".into())
        }
    }
}
