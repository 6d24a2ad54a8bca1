//! A simulated network.
//!
//! A [`Net`] holds one room with a journal, any number of clients and the bytes between them, in one thread and in
//! virtual time, which jumps from one event to the next and passes a little while the server works. Runs with the same
//! seed and the same calls are identical.
//!
//! The server is the real [`serve`] with the real [`Host`] and transports, [`Ports`] and [`Streams`]. Only the
//! operating system is simulated: a [`Machine`] with one task, which a simulated socket or timer wakes.

mod conditions;
mod datagrams;
mod ledger;
mod recording_transport;
mod shared_room;
mod sockets;
mod streams;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    future::pending,
    iter,
    net::SocketAddr,
    time::Duration,
};

use bytes::Bytes;
use journal_core::{JournalHold, Journalled};
use netcore::{Client, Leave, Link, Outcome, PeerId, Rate, Recorded, Role, Time};
use netshell::{Host, Limits, Ports, Streams, serve};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tokio::sync::oneshot;

use self::{
    datagrams::Direction,
    recording_transport::RecordingTransport,
    shared_room::SharedRoom,
    sockets::{SimulatedListener, SimulatedSocket},
    streams::Arrived,
    world::Shared,
};
use crate::{
    disk::Crash,
    machine::{Machine, Pace, TaskId},
};

pub(crate) use self::ledger::bytes_of;
pub use self::{
    conditions::{Conditions, SocketFaults, StreamConditions, Traffic},
    ledger::Delivered,
    shared_room::{EngineRef, Hostable},
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

impl<E: Recorded + Hostable, C: Client<Error: Debug>> Net<E, C> {
    /// Adds a client that uses datagrams, in place of the previous one at this address.
    pub fn add(&mut self, address: SocketAddr, client: C) {
        let since = self.now();
        self.clients.insert(address, Endpoint { client, stream: None, closed: false, since });
    }

    /// Watchers use a listener of their own.
    pub fn add_stream(&mut self, address: SocketAddr, role: Role, client: C) {
        let world = &mut *self.shared.lock();
        let (stream, since) = (world.connections.connect(&mut world.chance, address, role), world.chance.now);
        self.clients.insert(address, Endpoint { client, stream: Some(stream), closed: false, since });
    }

    pub fn remove(&mut self, address: SocketAddr) {
        self.clients.remove(&address);
    }

    pub fn client(&self, address: SocketAddr) -> &C {
        &self.clients.get(&address).unwrap_or_else(|| panic!("no client is at {address}")).client
    }

    pub fn client_mut(&mut self, address: SocketAddr) -> &mut C {
        &mut self.clients.get_mut(&address).unwrap_or_else(|| panic!("no client is at {address}")).client
    }

    pub fn clients(&self) -> impl Iterator<Item = (SocketAddr, &C)> {
        self.clients.iter().map(|(&address, endpoint)| (address, &endpoint.client))
    }

    /// Sends from any address, with or without a client.
    pub fn send(&mut self, from: SocketAddr, datagram: impl Into<Bytes>) {
        let world = &mut *self.shared.lock();
        world.datagrams.send(&mut world.chance, Direction::ToServer { from }, datagram.into());
    }

    /// The bytes follow the client's own output.
    pub fn write(&mut self, address: SocketAddr, bytes: &[u8]) {
        self.collect();
        let Some(&Endpoint { stream: Some(stream), closed: false, .. }) = self.clients.get(&address) else { return };
        let world = &mut *self.shared.lock();
        world.connections.send(&mut world.chance, stream, bytes);
    }

    fn receive(&mut self, address: SocketAddr, what: Arrived) {
        let now = self.now();
        let Some(endpoint) = self.clients.get_mut(&address) else { return };
        match what {
            Arrived::Bytes(bytes) => {
                if let Err(why) = endpoint.client.receive(now, &bytes) {
                    panic!("{address} cannot decode {}: {why:?}", bytes.escape_ascii());
                }
            }
            Arrived::End(end) => {
                endpoint.client.disconnected(now, end.reason());
                endpoint.close(&self.shared);
            }
        }
    }

    fn collect(&mut self) {
        for (&from, Endpoint { client, stream, closed, .. }) in &mut self.clients {
            let world = &mut *self.shared.lock();
            for message in iter::from_fn(|| client.take_outgoing()) {
                match *stream {
                    None => world.datagrams.send(&mut world.chance, Direction::ToServer { from }, message),
                    Some(_) if *closed => {}
                    Some(stream) => world.connections.send(&mut world.chance, stream, &message),
                }
            }
        }
        for endpoint in self.clients.values_mut().filter(|endpoint| endpoint.client.is_over()) {
            endpoint.close(&self.shared);
        }
    }
}

impl<C> Endpoint<C> {
    fn close(&mut self, shared: &Shared) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        if let Some(stream) = self.stream {
            let world = &mut *shared.lock();
            world.connections.close(&mut world.chance, stream);
        }
    }
}

/// See [`journal_core::Resumable`].
#[derive(Debug)]
pub struct Restart<E: Recorded> {
    pub room: Journalled<E>,
    pub hold: JournalHold,
    pub at: Time,
    pub next_peer: PeerId,
    /// The peers at the last arrival.
    pub peers: Vec<(PeerId, Link, SocketAddr)>,
    pub farewells: Vec<(SocketAddr, Vec<Bytes>)>,
}

impl<E: Recorded + Hostable, C: Client<Error: Debug>> Net<E, C> {
    /// Messages in flight to clients arrive after a kill, but not after a power cut. Connections are closed or reset;
    /// clients on datagrams are not notified.
    pub fn crash(&mut self, how: Crash) {
        self.machine.check_sleepers();
        self.machine.kill(self.server);
        let world = &mut *self.shared.lock();
        world.routes.clear();
        world.ledger.clear();
        if how == Crash::PowerCut {
            world.connections.break_all(&mut world.chance);
        }
    }

    pub fn suspend(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A server that has ended does not listen.
            let _ = stop.send(Leave::Resumable);
        }
    }

    /// Resumes at the time of the last arrival.
    pub fn resume(&mut self, restart: Restart<E>) {
        assert!(!self.is_up(), "the server has not ended");
        let Restart { room, hold, at, next_peer, peers, farewells } = restart;
        self.machine.clock().set(at);
        self.behind = self.now();
        let datagrams = peers.iter().filter(|(_, link, _)| *link == Link::Datagram);
        self.shared.lock().ledger.resume(next_peer, datagrams.map(|&(peer, _, address)| (address, peer)));
        self.room = SharedRoom::new(room, self.shared.clone());
        let host = build_host(&self.shared, self.room.clone());
        let mut host = host.with_hold(hold).with_first_peer(next_peer);
        host.resume(at, peers);
        self.shared.lock().ledger.resumed();
        for (address, frames) in farewells {
            host.repeat_farewell(at, address, frames);
        }
        let (server, stop) = spawn(&mut self.machine, host);
        (self.server, self.stop) = (server, Some(stop));
    }

    pub fn jump(&mut self, by: Duration) {
        let clock = self.machine.clock();
        clock.set(clock.reading().plus(by));
    }

    /// Sets the server's clock back, but not below zero.
    pub fn jump_back(&mut self, by: Duration) {
        let clock = self.machine.clock();
        let now = clock.reading();
        let to = Time::ZERO.plus(now.since(Time::ZERO.plus(by)));
        self.behind = self.behind.max(self.now()).plus(now.since(to));
        clock.set(to);
    }

    /// Excuses the server from reading input while too much output waits for its disk.
    pub(crate) fn excuse(&mut self) {
        self.behind = self.behind.max(self.now());
    }

    /// Records a state that the room reached without an input.
    pub(crate) fn note_state(&mut self, digest: u64) {
        self.shared.lock().ledger.digests.insert(digest);
    }

    /// The output to each peer in all runs of the server.
    pub fn delivered(&self) -> Delivered {
        self.shared.lock().ledger.delivered.clone()
    }

    /// Sets the output of a replay of the resumed journal. Once a peer receives further output, its replayed output
    /// counts as delivered, including data that was in flight.
    pub fn set_expected(&mut self, expected: Delivered) {
        self.shared.lock().ledger.set_expected(expected);
    }

    pub fn had(&self, digest: u64) -> bool {
        self.shared.lock().ledger.digests.contains(&digest)
    }
}
