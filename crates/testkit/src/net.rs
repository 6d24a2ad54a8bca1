//! A simulated network.
//!
//! A [`Net`] holds one room with a journal, any number of clients and the bytes between them, in one thread and in
//! virtual time, which jumps from one event to the next and passes a little while the server works. Runs with the same
//! seed and the same calls are identical.
//!
//! The server is the real [`serve`] with the real [`Host`] and transports, [`Ports`] and [`Streams`]. Only the
//! operating system is simulated: a [`Machine`] with one task, which a simulated socket or timer wakes.

mod arrival;
mod clients;
mod conditions;
mod datagrams;
mod ledger;
mod listener;
mod recording_transport;
mod restart;
mod shared_room;
mod socket;
mod streams;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    future::pending,
    net::SocketAddr,
    time::Duration,
};

use journal_core::{JournalHold, Journalled};
use netcore::{Client, Leave, Outcome, Rate, Recorded, Role, Time};
use netshell::{Host, Limits, Ports, Streams, serve};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tokio::sync::oneshot;

pub(crate) use self::ledger::bytes_of;
use crate::machine::{Machine, Pace, TaskId};

pub use self::{
    conditions::{Conditions, SocketFaults, StreamConditions, Traffic},
    ledger::Delivered,
    restart::Restart,
    shared_room::{EngineRef, Hostable},
};
use self::{
    listener::SimulatedListener, recording_transport::RecordingTransport, shared_room::SharedRoom,
    socket::SimulatedSocket, world::Shared,
};

/// How fast the server reads one stream.
pub const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 1 << 20 };
/// Checks for lost wake-ups, one in this many steps on average.
const CHECKS: u32 = 16;
/// How long the server may leave a datagram, and the bytes of a stream, unread while it sleeps.
const UNREAD: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));
/// Steps at the same time; more mean an endless loop.
const MAX_STEPS: usize = 1 << 16;

#[derive(Debug)]
struct Endpoint<C> {
    client: C,
    // `None` if it uses datagrams.
    stream: Option<usize>,
    closed: bool,
    since: Time,
}

#[derive(Debug)]
pub struct Net<E: Recorded, C> {
    machine: Machine,
    // Ends after the final flush.
    server: TaskId,
    stop: Option<oneshot::Sender<Leave>>,
    shared: Shared,
    room: SharedRoom<E>,
    clients: BTreeMap<SocketAddr, Endpoint<C>>,
    // Up to this time, the server's clock shows less than before.
    pub(crate) behind: Time,
    // Decides when the server is checked for lost wake-ups.
    checks: Pcg64,
    // The time of the last step, and the steps at that time.
    steps: (Time, usize),
}

impl<E: Recorded + Hostable, C: Client<Error: Debug>> Net<E, C> {
    /// Starts at time zero. `conditions` apply to datagrams; streams are [calm](StreamConditions::CALM).
    pub fn new(seed: u64, conditions: Conditions, room: Journalled<E>, hold: JournalHold) -> Self {
        let mut machine = Machine::new(seed);
        let shared = Shared::new(seed, machine.clock(), conditions);
        let room = SharedRoom::new(room, shared.clone());
        let (server, stop) = spawn(&mut machine, build_host(&shared, room.clone()).with_hold(hold));
        Self {
            machine,
            server,
            stop: Some(stop),
            shared,
            room,
            clients: BTreeMap::new(),
            behind: Time::ZERO,
            checks: Pcg64::seed_from_u64(CHECKS.into()),
            steps: (Time::ZERO, 0),
        }
    }

    pub fn now(&self) -> Time {
        self.machine.now()
    }

    /// Locks the engine while the reference exists.
    pub fn engine(&self) -> EngineRef<'_, E> {
        self.room.engine()
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.engine().outcome()
    }

    pub fn traffic(&self) -> Traffic {
        self.shared.lock().chance.traffic
    }

    /// Whether the server is running; it may only be waiting for its journal.
    pub fn is_up(&self) -> bool {
        self.machine.is_running(self.server)
    }

    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.shared.lock().chance.conditions = conditions;
    }

    pub fn set_stream_conditions(&mut self, conditions: StreamConditions) {
        self.shared.lock().chance.stream_conditions = conditions;
    }

    pub fn set_pace(&mut self, pace: Pace) {
        self.machine.clock().set_pace(pace);
    }

    /// Processes everything due at the next event. Returns `false` if that is after `until`; the time is then at least
    /// `until`.
    pub fn step(&mut self, until: Time) -> bool {
        self.collect();
        if self.checks.random_range(0..CHECKS) == 0 {
            self.check_server();
        }
        let Some(next) = self.next_moment().filter(|&next| next <= until) else {
            self.check_server();
            self.machine.advance(until);
            return false;
        };
        self.machine.advance(next);
        self.count_step();
        let arrived = self.shared.lock().arrive();
        for (address, what) in arrived {
            self.receive(address, what);
        }
        self.machine.run();
        let now = self.now();
        for Endpoint { client, .. } in self.clients.values_mut() {
            if client.deadline(now).is_some_and(|due| due <= now) {
                client.elapsed(now);
            }
        }
        self.collect();
        true
    }

    pub(crate) fn next_due(&mut self) -> Option<Time> {
        self.collect();
        self.next_moment()
    }

    pub(crate) fn advance(&mut self, to: Time) {
        self.machine.advance(to);
    }

    pub(crate) fn connected(&self) -> impl Iterator<Item = (SocketAddr, &C)> {
        let peers: BTreeSet<SocketAddr> = self.shared.lock().routes.keys().copied().collect();
        let open = self.clients.iter().filter(move |(at, endpoint)| !endpoint.closed && peers.contains(at));
        open.map(|(&at, endpoint)| (at, &endpoint.client))
    }

    pub(crate) fn since(&self, address: SocketAddr) -> Time {
        self.clients.get(&address).map_or(Time::ZERO, |endpoint| endpoint.since)
    }

    // The server must not sleep despite pending work.
    fn check_server(&mut self) {
        self.machine.check_sleepers();
        if !self.is_up() || self.machine.is_woken() || self.outcome().is_some() {
            return;
        }
        // While the clock is behind, a back-off takes longer.
        let now = self.now();
        let leaves = |since: Option<Time>, most| since.is_some_and(|since| now.since(since.max(self.behind)) > most);
        let world = self.shared.lock();
        let datagram = world.datagrams.unread_since();
        assert!(!leaves(datagram, UNREAD.0), "the server sleeps although a datagram waits since {datagram:?}: {now:?}");
        let bytes = world.connections.unread_since();
        assert!(!leaves(bytes, UNREAD.1), "the server sleeps although bytes wait since {bytes:?}: {now:?}");
    }

    fn count_step(&mut self) {
        let now = self.now();
        let (at, steps) = &mut self.steps;
        *steps = if *at == now { *steps + 1 } else { 0 };
        *at = now;
        assert!(*steps < MAX_STEPS, "there is an endless loop at {now:?}");
    }

    // A moment that passed while the server worked counts as now.
    fn next_moment(&self) -> Option<Time> {
        let now = self.now();
        let clients = self.clients.values().filter_map(|endpoint| endpoint.client.deadline(now));
        clients.chain(self.shared.lock().next_due()).chain(self.machine.next_due()).min().map(|next| next.max(now))
    }
}

fn build_host<E: Recorded + Hostable>(shared: &Shared, room: SharedRoom<E>) -> Host {
    let limits = Limits { connections: usize::MAX };
    let streams = |role| {
        let listener = SimulatedListener::new(shared.clone(), role);
        Streams::over(vec![listener], READ_RATE, limits).with_role(role)
    };
    let ports = Ports::over(vec![SimulatedSocket::new(shared.clone())]);
    Host::new(room)
        .with_transport(RecordingTransport::new(ports, 0, shared.clone()))
        .with_transport(RecordingTransport::new(streams(Role::Player), 1, shared.clone()))
        .with_transport(RecordingTransport::new(streams(Role::Watcher), 2, shared.clone()))
}

fn spawn(machine: &mut Machine, host: Host) -> (TaskId, oneshot::Sender<Leave>) {
    let (clock, (stop, stopped)) = (machine.clock(), oneshot::channel());
    let server = machine.spawn("server", async move {
        let stopped = async {
            match stopped.await {
                Ok(leave) => leave,
                Err(_) => pending().await,
            }
        };
        if let Err(error) = serve(host, clock, stopped).await {
            // The only permitted failure: a journal that can be neither written nor marked as cut.
            assert!(error.to_string().starts_with("the journal "), "the server fails: {error}");
        }
    });
    (server, stop)
}
