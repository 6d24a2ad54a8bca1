//! A simulated network.
//!
//! A [`Net`] holds one room, any number of clients and the bytes between them, all in one thread. Its time is virtual:
//! it jumps from one event to the next and passes a little while the server works, so a minute of play takes only as
//! long as the work in it. Randomness comes from a seed: the same seed and the same calls give the same run.
//!
//! The server is the real [`serve`] with the real [`Host`] and the real transports: [`Ports`] and [`Streams`] over
//! simulated sockets, and a transport for whole messages as over a WebSocket. Only the operating system is simulated: it
//! is a [`Machine`] with one task, which is polled when a simulated socket or timer has woken it.

mod arrived;
mod clients;
mod conditions;
mod datagrams;
mod delivery;
mod journalled;
mod ledger;
mod lines;
mod listener;
mod messages;
mod recorder;
mod shared_room;
mod socket;
mod stop;
mod streams;
mod tap;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    hash::{DefaultHasher, Hash, Hasher},
    net::SocketAddr,
    time::Duration,
};

use bytes::Bytes;
use netcore::{Client, Engine, Hosted, Leave, Outcome, Rate, Role, Time};
use netshell::{Host, Limits, Ports, Streams, serve};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub(crate) use self::ledger::bytes_of;
use crate::machine::{Machine, Pace, TaskId};

pub use self::{
    conditions::{Conditions, SocketFaults, StreamConditions, Traffic},
    journalled::Restart,
    ledger::Delivered,
    lines::MAX_QUEUE,
    recorder::{EventRecorder, RecordedEvent},
    shared_room::{EngineRef, Hostable},
};
use self::{
    listener::SimulatedListener,
    messages::Messages,
    shared_room::SharedRoom,
    socket::SimulatedSocket,
    stop::Stop,
    tap::{DATAGRAMS, Tap},
    world::Shared,
};

/// Bytes per second that the server reads from one stream.
pub const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 1 << 20 };
/// The server is checked for lost wake-ups once in this many steps on average.
const CHECKS: u32 = 16;
/// How long the server may leave a datagram, and the bytes of a stream, unread while it sleeps.
const UNREAD: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));
/// Limit on steps at the same time; more mean an endless loop.
const MAX_STEPS: usize = 1 << 16;

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Datagrams,
    Stream(usize),
    Messages(usize),
}

#[derive(Debug)]
struct Seat<C> {
    client: C,
    line: Line,
    // Its side of the connection is closed.
    closed: bool,
    // When it was connected.
    since: Time,
}

/// A simulated network with a room for an engine `E` and clients `C`.
#[derive(Debug)]
pub struct Net<E: Engine, C> {
    machine: Machine,
    // The task of the server, which ends after the final flush.
    server: TaskId,
    stop: Stop,
    shared: Shared,
    room: SharedRoom<E>,
    recorder: EventRecorder,
    clients: BTreeMap<SocketAddr, Seat<C>>,
    mail: BTreeMap<SocketAddr, Vec<Bytes>>,
    trace: DefaultHasher,
    // The time until which the server's clock shows less than it has shown before.
    pub(crate) behind: Time,
    // Decides when the server is checked for lost wake-ups.
    checks: Pcg64,
    // The time of the last step, and the steps at that time.
    steps: (Time, usize),
}

impl<E: Hostable, C: Client<Error: Debug>> Net<E, C> {
    /// A network around `engine`, at time zero. `conditions` apply to datagrams; streams and messages are
    /// [calm](StreamConditions::CALM).
    pub fn new(engine: E, seed: u64, conditions: Conditions) -> Self {
        let machine = Machine::new(seed);
        let shared = Shared::new(seed, machine.clock(), conditions);
        let room = SharedRoom::new(Hosted::new(engine), shared.clone());
        Self::around(machine, shared, room, |host| host)
    }

    // A network around a room.
    fn around(mut machine: Machine, shared: Shared, room: SharedRoom<E>, build: impl FnOnce(Host) -> Host) -> Self {
        let (recorder, stop) = (EventRecorder::default(), Stop::default());
        let host = build(Self::build_host(&shared, room.clone(), &recorder));
        let server = spawn(&mut machine, host, stop.clone());
        Self {
            machine,
            server,
            stop,
            shared,
            room,
            recorder,
            clients: BTreeMap::new(),
            mail: BTreeMap::new(),
            trace: DefaultHasher::new(),
            behind: Time::ZERO,
            checks: Pcg64::seed_from_u64(CHECKS.into()),
            steps: (Time::ZERO, 0),
        }
    }

    // Starts another server.
    fn start(&mut self, host: Host) {
        self.stop = Stop::default();
        self.server = spawn(&mut self.machine, host, self.stop.clone());
    }

    // A host with all transports.
    fn build_host(shared: &Shared, room: SharedRoom<E>, recorder: &EventRecorder) -> Host {
        let limits = Limits { connections: usize::MAX };
        let streams = |role| {
            let listener = SimulatedListener::new(shared.clone(), role);
            Streams::over(vec![listener], READ_RATE, limits).with_role(role)
        };
        let ports = Ports::over(vec![SimulatedSocket::new(shared.clone())]);
        Host::new(room)
            .with_transport(Tap::new(ports, DATAGRAMS, shared.clone()))
            .with_transport(Tap::new(streams(Role::Player), 1, shared.clone()))
            .with_transport(Tap::new(streams(Role::Watcher), 2, shared.clone()))
            .with_transport(Tap::new(Messages::new(shared.clone()), 3, shared.clone()))
            .with_observer(recorder.clone())
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.machine.now()
    }

    /// The machine of the server. Tasks that share it with the server survive the end of the server.
    pub const fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// The engine, locked while the reference exists.
    pub fn engine(&self) -> EngineRef<'_, E> {
        self.room.engine()
    }

    /// Why the room ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.engine().outcome()
    }

    /// The lines that the room printed on standard output, oldest first.
    pub fn summaries(&self) -> Vec<String> {
        self.recorder.summaries()
    }

    /// The observer of the room.
    pub const fn recorder(&self) -> &EventRecorder {
        &self.recorder
    }

    /// Statistics of the network so far.
    pub fn traffic(&self) -> Traffic {
        let world = self.shared.lock();
        let Traffic { refused, .. } = world.chance.traffic;
        Traffic { refused: refused - world.post.inbox.len() as u64, ..world.chance.traffic }
    }

    /// A hash of all data that each client received, and of the times.
    pub fn trace(&self) -> u64 {
        self.trace.finish()
    }

    /// The number of peers of the server.
    pub fn peers(&self) -> usize {
        self.shared.lock().open
    }

    /// Whether the server has ended and closed its sockets.
    pub fn is_closed(&self) -> bool {
        !self.machine.is_running(self.server)
    }

    /// Sets the conditions for datagrams sent from now on.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.shared.lock().chance.conditions = conditions;
    }

    /// Sets the conditions for streams and messages from now on.
    pub fn set_stream_conditions(&mut self, rough: StreamConditions) {
        self.shared.lock().chance.rough = rough;
    }

    /// Sets the speed of the server from now on.
    pub fn set_pace(&mut self, pace: Pace) {
        self.machine.clock().set_pace(pace);
    }

    /// Stops the server permanently.
    pub fn stop(&mut self) {
        self.leave(Leave::Over);
    }

    fn leave(&mut self, leave: Leave) {
        self.stop.stop(leave);
    }

    /// Advances to the next event and processes everything due then, unless that is after `until`. Returns `false` if
    /// no event is left by then; the time is then at least `until`.
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
            self.hand_over(address, what);
        }
        self.machine.run();
        let now = self.now();
        for Seat { client, .. } in self.clients.values_mut() {
            if client.deadline(now).is_some_and(|due| due <= now) {
                client.elapsed(now);
            }
        }
        self.collect();
        now.hash(&mut self.trace);
        true
    }

    /// Processes all events up to `until`.
    pub fn run_until(&mut self, until: Time) {
        while self.step(until) {}
    }

    /// Runs until no data is in flight and the server is idle, for at most an hour.
    pub fn settle(&mut self) {
        let until = self.now().plus(Duration::from_secs(3_600));
        self.collect();
        while (self.shared.lock().next_due().is_some() || self.machine.next_due().is_some()) && self.step(until) {}
        self.machine.check_sleepers();
    }

    /// The time of the next event, if known.
    pub(crate) fn next_due(&mut self) -> Option<Time> {
        self.collect();
        self.next_moment()
    }

    /// Advances the time without an event.
    pub(crate) fn advance(&mut self, to: Time) {
        self.machine.advance(to);
    }

    /// The clients that are peers of the server.
    pub(crate) fn connected(&self) -> impl Iterator<Item = (SocketAddr, &C)> {
        let peers: BTreeSet<SocketAddr> = self.shared.lock().places.keys().copied().collect();
        let seats = self.clients.iter().filter(move |(at, seat)| !seat.closed && peers.contains(at));
        seats.map(|(&at, seat)| (at, &seat.client))
    }

    /// When the client at this address was connected.
    pub(crate) fn since(&self, address: SocketAddr) -> Time {
        self.clients.get(&address).map_or(Time::ZERO, |seat| seat.since)
    }

    // Checks that the server does not sleep despite pending work.
    fn check_server(&mut self) {
        self.machine.check_sleepers();
        if self.is_closed() || self.machine.is_woken() || self.outcome().is_some() {
            return;
        }
        // While the clock is behind, a back-off takes longer.
        let now = self.now();
        let leaves = |since: Option<Time>, most| since.is_some_and(|since| now.since(since.max(self.behind)) > most);
        let world = self.shared.lock();
        let datagram = world.post.unread_since();
        assert!(!leaves(datagram, UNREAD.0), "the server sleeps although a datagram waits since {datagram:?}: {now:?}");
        let bytes = world.wires.unread_since();
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
        let clients = self.clients.values().filter_map(|seat| seat.client.deadline(now));
        clients.chain(self.shared.lock().next_due()).chain(self.machine.next_due()).min().map(|next| next.max(now))
    }
}

// Starts a server.
fn spawn(machine: &mut Machine, host: Host, stop: Stop) -> TaskId {
    let clock = machine.clock();
    machine.spawn("server", async move {
        if let Err(error) = serve(host, clock, stop).await {
            // The only permitted failure: a journal that can be neither written nor marked as cut.
            assert!(error.to_string().starts_with("the journal "), "the server fails: {error}");
        }
    })
}
