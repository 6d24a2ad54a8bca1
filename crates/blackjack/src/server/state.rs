use alloc::{string::ToString, vec::Vec};
use netcore::{HostId, HostQueueState, Outcome, PeerId, Recorded, StateError, Time};
use serde::{Deserialize, Serialize};

use super::{
    ClientState, Entry, Queue, Server,
    admission::{HostQuota, PendingJoins, RetainedSeatState},
    reports::{Accounts, Printer},
    table::{Table, TableState},
    watchers::{Watchers, WatchersState},
};
use crate::{
    config::{Config, MAX_CLIENTS},
    name::Name,
    protocol::Dialect,
};

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
