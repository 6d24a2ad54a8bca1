//! The dealer without its sockets: a lobby that assigns waiting clients to tables and forwards their messages.
//!
//! - Joined clients wait until there are enough of them and a table is free. Each [`Table`] has its own cards.
//! - After a killed server has resumed, a JOIN with the same name and host reclaims its seat. Clients without a seat
//!   are forgotten.
//! - Places and turns in the queue are shared among hosts.
//! - Watchers receive a [`LobbyView`] after changes, at most ten per second.
//!
//! Sources: the requirements of the course's project, "Dealer" and "Tournament". The handling of errors is our own.

mod admission;
mod reports;
mod table;
mod watchers;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::mem;

use netcore::{
    Departure, DisconnectReason, Engine, GameEvent, HostId, HostQueue, HostQueueState, Input, Leave, Occupant, Outbox,
    Outcome, PeerId, Phase, Recorded, Role, Severity, StateError, Status, Time,
};
use serde::{Deserialize, Serialize};

use self::{
    admission::{HostQuota, PendingJoins, RetainedSeatState, RetainedSeats},
    reports::{Accounts, Fault, Printer, note},
    table::TableState,
    watchers::{Watchers, WatchersState},
};
use crate::{
    config::{Config, ConfigError, MAX_CLIENTS},
    name::Name,
    protocol::{Blackjack, DealerMessage, Dialect, PlayerMessage, Request},
    view::{LobbyView, MAX_SHOWN},
};

pub use self::table::{FinishedRound, Table, seat_label};

// Each waiting client has a place.
type Queue = HostQueue<PeerId, MAX_CLIENTS>;

#[derive(Debug, Clone)]
enum ClientState {
    Waiting { name: Name, dialect: Dialect },
    Seated { table: u32 },
}

// The alarm is replaced only by an earlier deadline, so an answer in time costs nothing.
#[derive(Debug, Clone)]
struct Entry {
    table: Table,
    alarm: Option<Time>,
}

/// A dealer: its tables, players, waiting clients and watchers.
#[derive(Debug, Clone)]
pub struct Server {
    config: Config,
    // Places of players. Watchers have separate ones.
    quota: HostQuota,
    pending: PendingJoins,
    watchers: Watchers,
    clients: BTreeMap<PeerId, ClientState>,
    queue: Queue,
    // Includes finished tables with unsent messages.
    tables: BTreeMap<u32, Entry>,
    alarms: BTreeSet<(Time, u32)>,
    // Of the table that ended last. Only shown, so not part of the state.
    last_round: Option<FinishedRound>,
    retained: RetainedSeats,
    begun: u32,
    playing: u32,
    complete: u32,
    rounds: u64,
    accounts: Option<Accounts>,
    printer: Printer,
    ended: Option<Outcome>,
    suspended: bool,
}

impl Server {
    /// Creates a dealer without clients.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            quota: HostQuota::new(MAX_CLIENTS),
            pending: PendingJoins::default(),
            watchers: Watchers::new(),
            clients: BTreeMap::new(),
            queue: Queue::default(),
            tables: BTreeMap::new(),
            alarms: BTreeSet::new(),
            last_round: None,
            retained: RetainedSeats::default(),
            begun: 0,
            playing: 0,
            complete: 0,
            rounds: 0,
            accounts: config.accounts.map(Accounts::new),
            printer: Printer::new(&config),
            ended: None,
            suspended: false,
        })
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The tables in play, ordered by number.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values().map(|entry| &entry.table).filter(|table| table.ended.is_none())
    }

    /// The last finished rounds of the table that ended last and of all tables in play.
    pub fn finished_rounds(&self) -> impl Iterator<Item = FinishedRound> {
        self.last_round.into_iter().chain(self.tables().filter_map(Table::finished_round))
    }

    /// The number of finished rounds at all tables.
    pub fn rounds(&self) -> u64 {
        let played = |table: &Table| u64::from(table.game().played());
        self.rounds + self.tables().map(played).sum::<u64>()
    }

    /// The public view of the dealer.
    pub fn view(&self) -> LobbyView {
        LobbyView {
            playing: self.playing,
            tables: self.config.tables,
            waiting: u32::try_from(self.queue.len()).unwrap_or(u32::MAX),
            rounds: self.rounds,
            shown: self.tables().take(MAX_SHOWN).map(Table::view).collect(),
        }
    }

    fn connected(&mut self, now: Time, (peer, role): (PeerId, Role), address: &str, out: &mut Outbox) {
        let host = HostId::of(address);
        let entered = self.ended.is_none()
            && match role {
                Role::Watcher => self.watchers.enter(now, (peer, host), &self.view().to_bytes(), out),
                Role::Player => self.quota.enter(peer, host),
            };
        if !entered {
            note(out, Severity::Info, Some(peer), "is sent away: there is no place for it".into());
            out.close(peer);
        } else if role == Role::Player {
            self.pending.enter(peer, now.plus(self.config.timeout));
        }
    }

    // A client that has not joined gets no message, because its dialect may be unknown.
    fn reject(&mut self, peer: PeerId, fault: &Fault, out: &mut Outbox) {
        fault.log(peer, None, out);
        self.close(peer, out);
    }

    fn close(&mut self, peer: PeerId, out: &mut Outbox) {
        self.pending.leave(peer);
        self.quota.leave(peer);
        out.close(peer);
    }

    fn request(&mut self, now: Time, peer: PeerId, Request { dialect, message }: Request, out: &mut Outbox) {
        match self.clients.get(&peer) {
            Some(&ClientState::Seated { table }) => {
                return self.at(now, table, out, |table, out| table.receive(now, peer, message, out));
            }
            Some(ClientState::Waiting { name, .. }) => {
                if self.config.trace {
                    note(out, Severity::Requested, Some(peer), format!("{name} > {message}"));
                }
                return self.fault(now, peer, &Fault::OutOfTurn(message), out);
            }
            None => {}
        }
        if !self.pending.has(peer) {
            return;
        }
        if self.config.trace {
            note(out, Severity::Requested, Some(peer), format!("> {message}"));
        }
        let PlayerMessage::Join(name) = message else {
            return self.reject(peer, &Fault::OutOfTurn(message), out);
        };
        self.pending.leave(peer);
        let Some(host) = self.quota.host(peer) else { return };
        if let Some((table, seat)) = self.retained.take(host, &name) {
            self.clients.insert(peer, ClientState::Seated { table });
            return self.at(now, table, out, |table, out| table.reconnect(now, seat, (peer, dialect), out));
        }
        self.clients.insert(peer, ClientState::Waiting { name: name.clone(), dialect });
        self.queue.push(host, peer);
        self.fill_tables(now, out);
        if let Some(before) = self.queue.before(host, |&waiting| waiting == peer) {
            let places = u32::try_from(before).unwrap_or(u32::MAX);
            if self.remaining_seats().is_some_and(|seats| before >= seats) {
                let text = format!("no seat is left for {name}: all tables are taken and none will follow");
                note(out, Severity::Info, Some(peer), text);
            }
            out.event(GameEvent::Waiting { peer, name: name.to_string(), before: places });
        }
    }

    fn fault(&mut self, now: Time, peer: PeerId, fault: &Fault, out: &mut Outbox) {
        match self.clients.get(&peer) {
            Some(&ClientState::Seated { table }) => {
                self.at(now, table, out, |table, out| table.fault(now, peer, fault, out));
            }
            Some(ClientState::Waiting { name, dialect }) => {
                fault.log(peer, Some(name), out);
                out.send(peer, DealerMessage::Quit.to_bytes(*dialect));
                self.stop_waiting(peer, Departure::Dismissed(fault.to_string()), out);
            }
            None if self.pending.has(peer) => self.reject(peer, fault, out),
            None => {}
        }
    }

    fn disconnected(&mut self, now: Time, peer: PeerId, why: DisconnectReason, out: &mut Outbox) {
        match self.clients.get(&peer) {
            Some(&ClientState::Seated { table }) if why == DisconnectReason::Interrupted => {
                self.interrupted(now, peer, table, out);
            }
            Some(&ClientState::Seated { table }) => {
                self.at(now, table, out, |table, out| table.disconnected(now, peer, why, out));
            }
            Some(ClientState::Waiting { .. }) => self.stop_waiting(peer, Departure::Disconnected(why), out),
            None if self.pending.has(peer) => self.close(peer, out),
            None => {
                if self.watchers.leave(peer) {
                    out.close(peer);
                }
            }
        }
    }

    fn interrupted(&mut self, now: Time, peer: PeerId, table: u32, out: &mut Outbox) {
        let (Some(host), due) = (self.quota.host(peer), now.plus(self.config.timeout)) else { return };
        let mut released = None;
        self.at(now, table, out, |table, out| released = table.interrupted(peer, out));
        if let Some((seat, name)) = released {
            self.retained.retain(host, name, (table, seat), due);
        }
    }

    fn refresh(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        if let Some(&ClientState::Seated { table }) = self.clients.get(&peer) {
            self.at(now, table, out, |table, out| table.refresh(now, peer, out));
        } else if self.watchers.has(peer) {
            out.send(peer, self.view().to_bytes());
        }
    }

    fn stop_waiting(&mut self, peer: PeerId, why: Departure, out: &mut Outbox) {
        if let (Some(ClientState::Waiting { name, .. }), Some(host)) =
            (self.clients.remove(&peer), self.quota.host(peer))
        {
            self.queue.remove(host, |&waiting| waiting == peer);
            out.event(GameEvent::Left { peer, name: name.to_string(), seat: String::new(), why });
            self.close(peer, out);
        }
    }

    fn dismiss(&mut self, out: &mut Outbox) {
        for peer in self.pending.peers() {
            self.close(peer, out);
        }
        while let Some((_, peer)) = self.queue.pop() {
            let Some(ClientState::Waiting { name, dialect }) = self.clients.remove(&peer) else { continue };
            out.event(GameEvent::Left { peer, name: name.to_string(), seat: String::new(), why: Departure::GameOver });
            out.send(peer, DealerMessage::Quit.to_bytes(dialect));
            self.close(peer, out);
        }
    }

    fn stop(&mut self, now: Time, out: &mut Outbox) {
        self.ended = Some(Outcome::Stopped);
        self.dismiss(out);
        self.retained = RetainedSeats::default();
        let numbers: Vec<u32> = self.tables.keys().copied().collect();
        for number in numbers {
            self.at(now, number, out, |table, out| table.stop(now, out));
        }
        self.printer.finish(out);
    }
}

impl Server {
    fn remaining_seats(&self) -> Option<usize> {
        let Config { players, tables, forever, .. } = self.config;
        let tables = usize::try_from(tables.saturating_sub(self.begun)).unwrap_or(usize::MAX);
        (!forever).then_some(tables.saturating_mul(players))
    }

    fn fill_tables(&mut self, now: Time, out: &mut Outbox) {
        let Config { players, tables, forever, .. } = self.config;
        while self.queue.len() >= players
            && self.playing < tables
            && (forever || self.begun < tables)
            && self.ended.is_none()
        {
            let Some(number) = self.begun.checked_add(1) else { return };
            self.begun = number;
            self.playing += 1;
            let mut seated = Vec::new();
            for _ in 0..players {
                let Some((_, peer)) = self.queue.pop() else { break };
                let Some(ClientState::Waiting { name, dialect }) =
                    self.clients.insert(peer, ClientState::Seated { table: number })
                else {
                    continue;
                };
                seated.push((peer, name, dialect));
            }
            let Ok(table) = Table::begin(now, (self.config, number), seated, out) else { return };
            self.tables.insert(number, Entry { table, alarm: None });
            self.settle(now, number, out);
        }
    }

    fn at(&mut self, now: Time, number: u32, out: &mut Outbox, act: impl FnOnce(&mut Table, &mut Outbox)) {
        if let Some(entry) = self.tables.get_mut(&number) {
            act(&mut entry.table, out);
            self.settle(now, number, out);
        }
    }

    fn settle(&mut self, now: Time, number: u32, out: &mut Outbox) {
        let Some(entry) = self.tables.get_mut(&number) else { return };
        for peer in mem::take(&mut entry.table.closed) {
            self.clients.remove(&peer);
            self.quota.leave(peer);
        }
        let result = entry.table.result.take();
        if let Some(standings) = &result {
            self.playing -= 1;
            self.rounds += u64::from(entry.table.game().played());
            self.complete += u32::from(entry.table.ended == Some(Outcome::Finished));
            self.last_round = entry.table.finished_round();
            self.printer.print(now, standings, entry.table.game().is_deserted(), out);
        }
        let wanted = entry.table.due();
        if let Some(wanted) = wanted
            && entry.alarm.is_none_or(|alarm| wanted < alarm)
        {
            if let Some(alarm) = entry.alarm.replace(wanted) {
                self.alarms.remove(&(alarm, number));
            }
            self.alarms.insert((wanted, number));
        }
        if entry.table.is_empty() {
            if let Some(alarm) = entry.alarm {
                self.alarms.remove(&(alarm, number));
            }
            self.tables.remove(&number);
        }
        if result.is_some() {
            self.fill_tables(now, out);
            self.end_if_done(out);
        }
    }

    fn end_if_done(&mut self, out: &mut Outbox) {
        if self.ended.is_none() && !self.config.forever && self.begun >= self.config.tables && self.playing == 0 {
            self.ended = Some(if self.complete > 0 { Outcome::Finished } else { Outcome::Deserted });
            self.dismiss(out);
        }
    }
}

impl Server {
    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        while let Some(peer) = self.pending.first_expired(now) {
            self.reject(peer, &Fault::NoJoin, out);
        }
        while let Some((table, seat)) = self.retained.take_expired(now) {
            self.at(now, table, out, |table, out| table.give_up(now, seat, out));
        }
        while let Some(&(at, number)) = self.alarms.first()
            && at <= now
        {
            self.alarms.pop_first();
            if let Some(entry) = self.tables.get_mut(&number) {
                entry.alarm = None;
            }
            self.at(now, number, out, |table, out| table.elapse(now, out));
        }
    }

    fn conclude(&mut self, now: Time, out: &mut Outbox) {
        if let (Some(mut accounts), Some(every)) = (self.accounts, self.config.accounts) {
            accounts.give(now, every, self, out);
            self.accounts = Some(accounts);
        }
        let ended = self.ended.is_some();
        if self.watchers.changed(now, ended) {
            self.watchers.show_or_dismiss(now, &self.view().to_bytes(), ended, out);
        }
    }
}

impl Engine for Server {
    type Protocol = Blackjack;

    fn input(&mut self, now: Time, input: Input<'_, Request>, out: &mut Outbox) {
        match input {
            Input::Connected { peer, role, address, .. } => self.connected(now, (peer, role), &address, out),
            Input::Message { peer, message } => self.request(now, peer, message, out),
            Input::Malformed { peer, why } => self.fault(now, peer, &Fault::Malformed(why), out),
            Input::Refresh { peer } => self.refresh(now, peer, out),
            Input::Disconnected { peer, why } => {
                self.disconnected(now, peer, why, out);
                if why == DisconnectReason::Interrupted {
                    // Watchers are interrupted too, each by a separate input.
                    return;
                }
            }
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(Leave::Over) => self.stop(now, out),
            Input::Stop(Leave::Resumable) => {
                self.suspended = true;
                return;
            }
        }
        self.conclude(now, out);
    }

    fn deadline(&self) -> Option<Time> {
        let tables = self.alarms.first().map(|&(at, _)| at);
        let accounts = self.accounts.as_ref().map(|accounts| accounts.due).filter(|_| self.outcome().is_none());
        [tables, self.pending.deadline(), self.retained.deadline(), self.watchers.deadline(), accounts]
            .into_iter()
            .flatten()
            .min()
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.suspended { Some(Outcome::Stopped) } else { self.ended.filter(|_| self.quota.is_empty()) }
    }

    fn status(&self) -> Status {
        let phase = match (self.ended, self.playing) {
            (Some(_), _) => Phase::Over,
            (None, 0) => Phase::Lobby,
            (None, _) => Phase::Playing,
        };
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
        let seats = self.config.tables.saturating_mul(count(self.config.players));
        let taken: u32 = self.tables().map(|table| count(table.taken())).sum();
        // While no table plays, waiting players count as seated.
        let waiting = if phase == Phase::Lobby { count(self.queue.len()) } else { 0 };
        Status { phase, taken: taken.saturating_add(waiting).min(seats), seats }
    }

    fn roster(&self) -> Vec<Occupant> {
        let occupant = |(&peer, client): (&PeerId, &ClientState)| match client {
            ClientState::Waiting { name, .. } => Some(Occupant { peer, name: name.to_string(), seat: String::new() }),
            ClientState::Seated { table } => self.tables.get(table)?.table.occupant(peer),
        };
        self.clients.iter().filter_map(occupant).collect()
    }
}

/// The state of a dealer, which includes hidden cards.
#[derive(Serialize, Deserialize)]
pub struct ServerState {
    clients: Vec<(PeerId, HostId)>,
    strangers: Vec<(PeerId, Time)>,
    waiting: Vec<(PeerId, Name, Dialect)>,
    queue: HostQueueState<PeerId>,
    tables: Vec<EntryState>,
    held: Vec<RetainedSeatState>,
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
        let waiting = self.clients.iter().filter_map(|(&peer, client)| match client {
            ClientState::Waiting { name, dialect } => Some((peer, name.clone(), *dialect)),
            ClientState::Seated { .. } => None,
        });
        let entry = |entry: &Entry| EntryState { table: entry.table.state(), alarm: entry.alarm };
        ServerState {
            clients: self.quota.state(),
            strangers: self.pending.state(),
            waiting: waiting.collect(),
            queue: self.queue.state(),
            tables: self.tables.values().map(entry).collect(),
            held: self.retained.state(),
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
        server.quota = HostQuota::restore(MAX_CLIENTS, state.clients);
        server.pending = PendingJoins::restore(state.strangers);
        server.watchers = Watchers::restore(state.audience);
        server.printer = state.printer.restored(&setup);
        server.accounts = state.accounts;
        (server.ended, server.suspended) = (state.ended, state.suspended);
        (server.begun, server.complete, server.rounds) = (state.begun, state.complete, state.rounds);
        for EntryState { table, alarm } in state.tables {
            let table = Table::restore(setup, table)?;
            let number = table.number();
            server.clients.extend(table.peers().map(|peer| (peer, ClientState::Seated { table: number })));
            server.playing += u32::from(table.ended.is_none());
            server.alarms.extend(alarm.map(|alarm| (alarm, number)));
            server.tables.insert(number, Entry { table, alarm });
        }
        for RetainedSeatState { table, seat, host, due } in state.held {
            let game = server.tables.get(&table).map(|entry| entry.table.game());
            let name = game.and_then(|game| game.name(seat)).ok_or("a seat that no table has is held")?.clone();
            server.retained.retain(host, name, (table, seat), due);
        }
        let waiting = state.waiting.into_iter();
        server.clients.extend(waiting.map(|(peer, name, dialect)| (peer, ClientState::Waiting { name, dialect })));
        server.queue = Queue::restore(state.queue);
        Ok(server)
    }
}
