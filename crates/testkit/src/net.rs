//! A pretend network.
//!
//! A [`Net`] holds one room, any number of clients and the bytes between them, all in one thread. Its time is virtual: it
//! leaps from one event to the next, so a minute of play takes as long as the work in it. Chance comes from a seed; the same
//! seed and the same calls give the same run.
//!
//! The server is the real [`Host`] with the real transports: [`Ports`] and [`Streams`] over sockets that are none, and one for
//! whole messages as a WebSocket carries them. Only the operating system is made up.

mod conditions;
mod datagrams;
mod journalled;
mod ledger;
mod lent;
mod messages;
mod streams;
mod tap;
mod witness;
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
pub use self::{
    conditions::{Conditions, Rough, Traffic},
    journalled::Again,
    ledger::Told,
    lent::EngineRef,
    messages::MAX_QUEUE,
    witness::{Observed, Witness},
};
use self::{
    datagrams::{PretendPort, Way},
    lent::Lent,
    messages::Messages,
    streams::{Door, PretendListener},
    tap::Tap,
    world::{Arrived, Shared},
};

/// Bytes a second that the server reads from one stream.
pub const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 1 << 20 };
/// The place of the transport for datagrams among those of the host.
const DATAGRAMS: usize = 0;
/// How long the server waits at its end for the last bytes to go out.
const FLUSH: Duration = Duration::from_secs(1);
/// How often it tries that again.
const RETRY: Duration = Duration::from_millis(5);
/// Pieces of work at one moment beyond which something goes round in circles.
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
    // It has said its last.
    closed: bool,
}

/// A pretend network with a room for an engine `E` and clients `C` at its ends.
#[derive(Debug)]
pub struct Net<E: Engine, C> {
    now: Time,
    // What the server's clock says at a moment of the world: it may have been set, or started again.
    clock: (Time, Time),
    shared: Shared,
    room: Lent<E>,
    // Until the server has ended and all that it had to say is out.
    host: Option<Host>,
    // Since the room has an outcome.
    flush_until: Option<Time>,
    witness: Witness,
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
    /// A network around `engine`, at its time zero; `conditions` are those of datagrams. Streams and messages are
    /// [calm](Rough::CALM).
    pub fn new(engine: E, seed: u64, conditions: Conditions) -> Self {
        Self::with_host(engine, seed, conditions, |host| host)
    }

    /// The same, with a host that `build` has had a hand in.
    pub fn with_host(engine: E, seed: u64, conditions: Conditions, build: impl FnOnce(Host) -> Host) -> Self {
        let shared = Shared::new(seed, conditions);
        let room = Lent::new(Hosted::new(engine), shared.clone());
        Self::around(shared, room, build)
    }

    // A network around a room.
    fn around(shared: Shared, room: Lent<E>, build: impl FnOnce(Host) -> Host) -> Self {
        let witness = Witness::default();
        let host = Self::let_in(&shared, room.clone(), &witness);
        Self {
            now: Time::ZERO,
            clock: (Time::ZERO, Time::ZERO),
            shared,
            room,
            host: Some(build(host)),
            flush_until: None,
            witness,
            clients: BTreeMap::new(),
            mail: BTreeMap::new(),
            trace: DefaultHasher::new(),
            work_now: 0,
        }
    }

    // A host that can be reached.
    fn let_in(shared: &Shared, room: Lent<E>, witness: &Witness) -> Host {
        let limits = Limits { connections: usize::MAX };
        let streams = |door, role| {
            let listener = PretendListener::new(shared.clone(), door);
            Streams::over(vec![listener], READ_RATE, limits).with_role(role)
        };
        Host::new(room)
            .with_transport(Tap::new(Ports::over(vec![PretendPort::new(shared.clone())]), DATAGRAMS, shared.clone()))
            .with_transport(Tap::new(streams(Door::Players, Role::Player), 1, shared.clone()))
            .with_transport(Tap::new(streams(Door::Watchers, Role::Watcher), 2, shared.clone()))
            .with_transport(Tap::new(Messages::new(shared.clone()), 3, shared.clone()))
            .with_observer(witness.clone())
    }

    // What the server's clock says now.
    fn server_now(&self) -> Time {
        let (world, server) = self.clock;
        server.plus(self.now.since(world))
    }

    // When the server's clock says that.
    fn world_time(&self, time: Time) -> Time {
        let (world, server) = self.clock;
        world.plus(time.since(server))
    }

    /// The time now.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The engine. Nothing can happen while somebody looks at it.
    pub fn engine(&self) -> EngineRef<'_, E> {
        self.room.engine()
    }

    /// How the room's life ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.engine().outcome()
    }

    /// What the room wants on standard output, oldest first.
    pub fn summaries(&self) -> Vec<String> {
        self.witness.summaries()
    }

    /// Who is told what happens in the room.
    pub const fn witness(&self) -> &Witness {
        &self.witness
    }

    /// What has happened on the way so far.
    pub fn traffic(&self) -> Traffic {
        self.shared.lock().chance.traffic
    }

    /// A fingerprint of all that every client was told, when, and of the engine at each of these moments.
    pub fn trace(&self) -> u64 {
        self.trace.finish()
    }

    /// How many peers the host has.
    pub fn peers(&self) -> usize {
        self.host.as_ref().map_or(0, Host::peers)
    }

    /// Whether the server has ended and closed its sockets.
    pub const fn is_closed(&self) -> bool {
        self.host.is_none()
    }

    /// Changes what happens to datagrams sent from now on.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.shared.lock().chance.conditions = conditions;
    }

    /// Changes what happens to streams and messages from now on.
    pub fn set_rough(&mut self, rough: Rough) {
        self.shared.lock().chance.rough = rough;
    }

    /// Puts a client that speaks in datagrams at `address`, in place of the one that may be there.
    pub fn add(&mut self, address: SocketAddr, client: C) {
        self.seat(address, client, Line::Datagrams);
    }

    /// Connects a client by a stream; a watcher comes in at a listener of its own.
    pub fn add_stream(&mut self, address: SocketAddr, role: Role, client: C) {
        let world = &mut *self.shared.lock();
        let wire = world.wires.connect(&mut world.chance, address, role.into());
        self.clients.insert(address, Seat { client, line: Line::Stream(wire), closed: false });
    }

    /// Connects a client that speaks in whole messages, one a frame.
    pub fn add_message(&mut self, address: SocketAddr, role: Role, client: C) {
        let world = &mut *self.shared.lock();
        let line = world.lines.connect(&mut world.chance, address, role);
        self.clients.insert(address, Seat { client, line: Line::Messages(line), closed: false });
    }

    /// Takes a connection of whole messages up again, with a client that knows nothing of what was said so far. What was
    /// under way is lost.
    pub fn come_back(&mut self, address: SocketAddr, client: C) {
        let Line::Messages(line) = self.line(address) else { panic!("{address} is not connected by messages") };
        let world = &mut *self.shared.lock();
        world.lines.come_back(&mut world.chance, line);
        self.clients.insert(address, Seat { client, line: Line::Messages(line), closed: false });
    }

    /// Forgets the client at `address`, whose connection has ended.
    pub fn remove(&mut self, address: SocketAddr) {
        self.clients.remove(&address);
    }

    /// The client at `address`.
    pub fn client(&self, address: SocketAddr) -> &C {
        &self.clients.get(&address).unwrap_or_else(|| panic!("no client is at {address}")).client
    }

    /// The client at `address`, to be told something.
    pub fn client_mut(&mut self, address: SocketAddr) -> &mut C {
        &mut self.clients.get_mut(&address).unwrap_or_else(|| panic!("no client is at {address}")).client
    }

    /// All clients, by address.
    pub fn clients(&self) -> impl Iterator<Item = (SocketAddr, &C)> {
        self.clients.iter().map(|(&address, seat)| (address, &seat.client))
    }

    /// Sends a datagram to the server from an address at which there need not be a client.
    pub fn send(&mut self, from: SocketAddr, datagram: impl Into<Bytes>) {
        let world = &mut *self.shared.lock();
        world.post.post(&mut world.chance, Way::ToServer { from }, datagram.into());
    }

    /// Sends bytes on the stream of the client at `address`, behind what the client has said.
    pub fn say(&mut self, address: SocketAddr, bytes: &[u8]) {
        self.collect();
        let Some(&Seat { line: Line::Stream(wire), closed: false, .. }) = self.clients.get(&address) else { return };
        let world = &mut *self.shared.lock();
        world.wires.send(&mut world.chance, wire, bytes);
    }

    /// What came to an address at which there is no client, oldest first.
    pub fn take_mail(&mut self, address: SocketAddr) -> Vec<Bytes> {
        self.mail.remove(&address).unwrap_or_default()
    }

    /// Lets the room tell the peer at `address` all that it may know. `false` if none is there.
    pub fn refresh(&mut self, address: SocketAddr) -> bool {
        let (now, place) = (self.server_now(), self.shared.lock().places.get(&address).copied());
        let (Some((door, id)), Some(host)) = (place, &mut self.host) else { return false };
        host.refresh(now, door, id)
    }

    /// Breaks the connection of the client at `address`, as both ends find out at once.
    pub fn reset(&mut self, address: SocketAddr) {
        let line = self.line(address);
        let world = &mut *self.shared.lock();
        match line {
            Line::Stream(wire) => world.wires.reset(&mut world.chance, wire),
            Line::Messages(line) => world.lines.reset(&mut world.chance, line),
            Line::Datagrams => panic!("{address} has no connection that could break"),
        }
    }

    /// Whether the client at `address` takes in what comes. While it does not, it fills its window.
    pub fn set_reading(&mut self, address: SocketAddr, reading: bool) {
        let line = self.line(address);
        let mut world = self.shared.lock();
        match line {
            Line::Stream(wire) => world.wires.set_reading(wire, reading),
            Line::Messages(line) => world.lines.set_reading(line, reading),
            Line::Datagrams => panic!("datagrams do not wait for {address} to read them"),
        }
    }

    /// Closes the connection of the client at `address` in good order.
    pub fn close(&mut self, address: SocketAddr) {
        let Some(Seat { line, closed, .. }) = self.clients.get_mut(&address) else { return };
        *closed = true;
        hang_up(&self.shared, *line);
    }

    /// Tells the room that it is over.
    pub fn stop(&mut self) {
        self.leave(Leave::Over);
    }

    fn leave(&mut self, leave: Leave) {
        let now = self.server_now();
        if let Some(host) = &mut self.host {
            host.stop(now, leave);
        }
    }

    /// Lets everything happen that happens at the next moment at which something does, unless that is after `until`.
    /// `false` when nothing is left to happen until then, and it is `until` now.
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

    /// Lets everything happen that happens until then.
    pub fn run_until(&mut self, until: Time) {
        while self.step(until) {}
    }

    /// Lets everything happen until nothing is under way and the server waits for nothing, or an hour has passed.
    pub fn settle(&mut self) {
        let until = self.now.plus(Duration::from_secs(3_600));
        self.collect();
        while (self.shared.lock().next_due().is_some() || self.server_wakes().is_some()) && self.step(until) {}
    }

    fn seat(&mut self, address: SocketAddr, client: C, line: Line) {
        self.clients.insert(address, Seat { client, line, closed: false });
    }

    fn line(&self, address: SocketAddr) -> Line {
        self.clients.get(&address).unwrap_or_else(|| panic!("no client is at {address}")).line
    }

    fn set_now(&mut self, now: Time) {
        if now > self.now {
            self.now = now;
            self.work_now = 0;
        }
        self.work_now += 1;
        assert!(self.work_now < MAX_WORK, "something goes round in circles at {:?}", self.now);
        self.shared.lock().chance.now = self.now;
    }

    fn next_moment(&self) -> Option<Time> {
        let clients = self.clients.values().filter_map(|seat| seat.client.deadline(self.now));
        clients.chain(self.shared.lock().next_due()).chain(self.server_wakes()).min()
    }

    // When the server does something although nothing arrives.
    fn server_wakes(&self) -> Option<Time> {
        let host = self.host.as_ref()?;
        match (host.outcome(), self.flush_until) {
            (Some(_), Some(_)) => Some(self.now.plus(RETRY)),
            (Some(_), None) => Some(self.now),
            (None, _) => host.wake_at().map(|time| self.world_time(time)),
        }
    }

    // What the server's loop does at one moment.
    fn serve(&mut self) {
        let (now, mut context) = (self.server_now(), Context::from_waker(Waker::noop()));
        let Some(host) = &mut self.host else { return };
        // Deadlines before messages, as the server loop has it.
        while host.outcome().is_none() {
            let mut busy = host.elapse(now);
            let due = host.wake_at().is_some_and(|wake| wake <= now);
            if due || host.poll_ready(&mut context).is_ready() {
                while host.work(|| now).expect("no pretend transport breaks") {
                    busy = true;
                    self.work_now += 1;
                    assert!(self.work_now < MAX_WORK, "the server goes round in circles at {now:?}");
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
                    panic!("{address} cannot make sense of {}: {why:?}", bytes.escape_ascii());
                }
            }
            Arrived::End(end) => {
                seat.client.disconnected(now, end.gone());
                if !seat.closed {
                    seat.closed = true;
                    hang_up(&self.shared, seat.line);
                }
            }
        }
    }

    // Sends what the clients want sent.
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
                hang_up(&self.shared, *line);
            }
        }
    }
}

// A client says nothing more.
fn hang_up(shared: &Shared, line: Line) {
    let world = &mut *shared.lock();
    match line {
        Line::Datagrams => {}
        Line::Stream(wire) => world.wires.close(&mut world.chance, wire),
        Line::Messages(line) => world.lines.close(&mut world.chance, line),
    }
}
