//! A simulated network.
//!
//! A [`Net`] holds one room, any number of clients and the bytes between them, all in one thread. Its time is virtual:
//! it jumps from one event to the next, so a minute of play takes only as long as the work in it. Randomness comes from
//! a seed: the same seed and the same calls give the same run.
//!
//! The server is the real [`Host`] with the real transports: [`Ports`] and [`Streams`] over simulated sockets, and a
//! transport for whole messages as over a WebSocket. Only the operating system is simulated.

mod arrived;
mod chance;
mod clients;
mod conditions;
mod datagrams;
mod journalled;
mod ledger;
mod lines;
mod listener;
mod messages;
mod port;
mod recorder;
mod restart;
mod shared_room;
mod streams;
mod tap;
mod world;

use std::{
    collections::BTreeMap,
    fmt::Debug,
    hash::{DefaultHasher, Hash, Hasher},
    iter,
    net::SocketAddr,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use netcore::{Client, Engine, Hosted, Leave, Outcome, Rate, Role, Time};
use netshell::{Host, Limits, Ports, Streams};

pub(crate) use self::ledger::bytes_of;
use self::{
    arrived::Arrived,
    datagrams::Way,
    listener::SimulatedListener,
    messages::Messages,
    port::SimulatedPort,
    shared_room::SharedRoom,
    streams::ListenerId,
    tap::{DATAGRAMS, Tap},
    world::Shared,
};
pub use self::{
    conditions::{Conditions, StreamConditions, Traffic},
    ledger::Delivered,
    lines::MAX_QUEUE,
    recorder::{EventRecorder, RecordedEvent},
    restart::Restart,
    shared_room::EngineRef,
};

/// Bytes per second that the server reads from one stream.
pub const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 1 << 20 };
/// Time limit of the final flush of the server.
const FLUSH: Duration = Duration::from_secs(1);
/// Interval between two attempts of the final flush.
const RETRY: Duration = Duration::from_millis(5);
/// Limit on pieces of work at one moment; more means an endless loop.
const MAX_WORK: usize = 1 << 20;

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
}

/// A simulated network with a room for an engine `E` and clients `C`.
#[derive(Debug)]
pub struct Net<E: Engine, C> {
    now: Time,
    // A moment of the network's time and the server's clock at that moment: the clock may have been set or restarted.
    clock: (Time, Time),
    shared: Shared,
    room: SharedRoom<E>,
    // `None` once the server has ended and everything was flushed.
    host: Option<Host>,
    // Set when the room has an outcome.
    flush_until: Option<Time>,
    recorder: EventRecorder,
    clients: BTreeMap<SocketAddr, Seat<C>>,
    mail: BTreeMap<SocketAddr, Vec<Bytes>>,
    trace: DefaultHasher,
    work_now: usize,
}

impl<E, C> Net<E, C>
where
    E: Engine,
    Hosted<E>: Send + Sync + 'static,
    C: Client,
    C::Error: Debug,
{
    /// A network around `engine`, at time zero. `conditions` apply to datagrams; streams and messages are
    /// [calm](StreamConditions::CALM).
    pub fn new(engine: E, seed: u64, conditions: Conditions) -> Self {
        Self::with_host(engine, seed, conditions, |host| host)
    }

    /// Like [`Net::new`], with a host that `build` modifies.
    pub fn with_host(engine: E, seed: u64, conditions: Conditions, build: impl FnOnce(Host) -> Host) -> Self {
        let shared = Shared::new(seed, conditions);
        let room = SharedRoom::new(Hosted::new(engine), shared.clone());
        Self::around(shared, room, build)
    }

    // A network around a room.
    fn around(shared: Shared, room: SharedRoom<E>, build: impl FnOnce(Host) -> Host) -> Self {
        let recorder = EventRecorder::default();
        let host = Self::build_host(&shared, room.clone(), &recorder);
        Self {
            now: Time::ZERO,
            clock: (Time::ZERO, Time::ZERO),
            shared,
            room,
            host: Some(build(host)),
            flush_until: None,
            recorder,
            clients: BTreeMap::new(),
            mail: BTreeMap::new(),
            trace: DefaultHasher::new(),
            work_now: 0,
        }
    }

    // A host with all transports.
    fn build_host(shared: &Shared, room: SharedRoom<E>, recorder: &EventRecorder) -> Host {
        let limits = Limits { connections: usize::MAX };
        let streams = |id, role| {
            let listener = SimulatedListener::new(shared.clone(), id);
            Streams::over(vec![listener], READ_RATE, limits).with_role(role)
        };
        Host::new(room)
            .with_transport(Tap::new(Ports::over(vec![SimulatedPort::new(shared.clone())]), DATAGRAMS, shared.clone()))
            .with_transport(Tap::new(streams(ListenerId::Players, Role::Player), 1, shared.clone()))
            .with_transport(Tap::new(streams(ListenerId::Watchers, Role::Watcher), 2, shared.clone()))
            .with_transport(Tap::new(Messages::new(shared.clone()), 3, shared.clone()))
            .with_observer(recorder.clone())
    }

    // The server's clock now.
    fn server_now(&self) -> Time {
        let (world, server) = self.clock;
        server.plus(self.now.since(world))
    }

    // The network's time when the server's clock shows `time`.
    fn world_time(&self, time: Time) -> Time {
        let (world, server) = self.clock;
        world.plus(time.since(server))
    }

    /// The current time.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The engine, locked while the reference exists.
    pub fn engine(&self) -> EngineRef<'_, E> {
        self.room.engine()
    }

    /// Why the room ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.engine().outcome()
    }

    /// What the room printed on standard output, oldest first.
    pub fn summaries(&self) -> Vec<String> {
        self.recorder.summaries()
    }

    /// The observer of the room.
    pub const fn recorder(&self) -> &EventRecorder {
        &self.recorder
    }

    /// Statistics of the network so far.
    pub fn traffic(&self) -> Traffic {
        self.shared.lock().chance.traffic
    }

    /// A hash of everything that each client received, of the times, and of the engine's digest at each of them.
    pub fn trace(&self) -> u64 {
        self.trace.finish()
    }

    /// The number of peers of the host.
    pub fn peers(&self) -> usize {
        self.host.as_ref().map_or(0, Host::peers)
    }

    /// Whether the server has ended and closed its sockets.
    pub const fn is_closed(&self) -> bool {
        self.host.is_none()
    }

    /// Sets the conditions for datagrams sent from now on.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.shared.lock().chance.conditions = conditions;
    }

    /// Sets the conditions for streams and messages from now on.
    pub fn set_stream_conditions(&mut self, rough: StreamConditions) {
        self.shared.lock().chance.rough = rough;
    }

    /// Stops the server for good.
    pub fn stop(&mut self) {
        self.leave(Leave::Over);
    }

    fn leave(&mut self, leave: Leave) {
        let now = self.server_now();
        if let Some(host) = &mut self.host {
            host.stop(now, leave);
        }
    }

    /// Advances to the next event and processes everything due then, unless that is after `until`. Returns `false` if
    /// nothing is left to happen by then; the time is `until` afterwards.
    pub fn step(&mut self, until: Time) -> bool {
        self.collect();
        let Some(next) = self.next_moment().filter(|&next| next <= until) else {
            self.set_now(until);
            return false;
        };
        self.set_now(next);
        let arrived = self.shared.lock().arrive();
        for (address, what) in arrived {
            self.hand_over(address, what);
        }
        self.serve();
        let now = self.now;
        for Seat { client, .. } in self.clients.values_mut() {
            if client.deadline(now).is_some_and(|due| due <= now) {
                client.elapsed(now);
            }
        }
        self.collect();
        let digest = self.engine().digest();
        (self.now, digest).hash(&mut self.trace);
        true
    }

    /// Processes all events up to `until`.
    pub fn run_until(&mut self, until: Time) {
        while self.step(until) {}
    }

    /// Runs until nothing is in flight and the server waits for nothing, for at most an hour.
    pub fn settle(&mut self) {
        let until = self.now.plus(Duration::from_secs(3_600));
        self.collect();
        while (self.shared.lock().next_due().is_some() || self.server_wakes().is_some()) && self.step(until) {}
    }

    fn set_now(&mut self, now: Time) {
        if now > self.now {
            self.now = now;
            self.work_now = 0;
        }
        self.work_now += 1;
        assert!(self.work_now < MAX_WORK, "there is an endless loop at {:?}", self.now);
        self.shared.lock().chance.now = self.now;
    }

    fn next_moment(&self) -> Option<Time> {
        let clients = self.clients.values().filter_map(|seat| seat.client.deadline(self.now));
        clients.chain(self.shared.lock().next_due()).chain(self.server_wakes()).min()
    }

    // When the server acts even if nothing arrives.
    fn server_wakes(&self) -> Option<Time> {
        let host = self.host.as_ref()?;
        match (host.outcome(), self.flush_until) {
            (Some(_), Some(_)) => Some(self.now.plus(RETRY)),
            (Some(_), None) => Some(self.now),
            (None, _) => host.wake_at().map(|time| self.world_time(time)),
        }
    }

    // The work of the server loop at one moment.
    fn serve(&mut self) {
        let (now, mut context) = (self.server_now(), Context::from_waker(Waker::noop()));
        let Some(host) = &mut self.host else { return };
        // Deadlines before messages, as in the real server loop.
        while host.outcome().is_none() {
            let mut busy = host.elapse(now);
            let due = host.wake_at().is_some_and(|wake| wake <= now);
            if due || host.poll_ready(&mut context).is_ready() {
                while host.work(|| now).expect("no simulated transport fails") {
                    busy = true;
                    self.work_now += 1;
                    assert!(self.work_now < MAX_WORK, "the server loops endlessly at {now:?}");
                }
            }
            if !busy {
                return;
            }
        }
        let until = *self.flush_until.get_or_insert(now.plus(FLUSH));
        if host.poll_flush(now, &mut context) != Poll::Pending || now >= until {
            // The program ends and the system closes its sockets.
            self.host = None;
        }
    }

    fn hand_over(&mut self, address: SocketAddr, what: Arrived) {
        (self.now, address, &what).hash(&mut self.trace);
        let now = self.now;
        let Some(seat) = self.clients.get_mut(&address) else {
            if let Arrived::Bytes(bytes) = what {
                self.mail.entry(address).or_default().push(bytes);
            }
            return;
        };
        match what {
            Arrived::Bytes(bytes) => {
                if let Err(why) = seat.client.receive(now, &bytes) {
                    panic!("{address} cannot decode {}: {why:?}", bytes.escape_ascii());
                }
            }
            Arrived::End(end) => {
                seat.client.disconnected(now, end.gone());
                if !seat.closed {
                    seat.closed = true;
                    finish_sending(&self.shared, seat.line);
                }
            }
        }
    }

    // Sends the outgoing messages of the clients.
    fn collect(&mut self) {
        for (&from, Seat { client, line, closed }) in &mut self.clients {
            let world = &mut *self.shared.lock();
            for message in iter::from_fn(|| client.take_outgoing()) {
                match *line {
                    Line::Datagrams => world.post.post(&mut world.chance, Way::ToServer { from }, message),
                    Line::Stream(_) | Line::Messages(_) if *closed => {}
                    Line::Stream(wire) => world.wires.send(&mut world.chance, wire, &message),
                    Line::Messages(line) => world.lines.send(&mut world.chance, line, message),
                }
            }
        }
        for Seat { client, line, closed } in self.clients.values_mut() {
            if client.is_over() && !*closed {
                *closed = true;
                finish_sending(&self.shared, *line);
            }
        }
    }
}

// Closes a client's side of its connection.
fn finish_sending(shared: &Shared, line: Line) {
    let world = &mut *shared.lock();
    match line {
        Line::Datagrams => {}
        Line::Stream(wire) => world.wires.close(&mut world.chance, wire),
        Line::Messages(line) => world.lines.close(&mut world.chance, line),
    }
}
