//! A pretend network.
//!
//! A [`Net`] holds one engine, any number of clients and the datagrams between them, all in one thread. Its time is
//! virtual: it leaps from one event to the next, so a minute of play takes as long as the work in it. Chance comes from a
//! seed; the same seed and the same calls give the same run.
//!
//! Towards the engine it is [`netshell::Udp`] without the operating system: [`netshell::Peers`] is the same, so who becomes
//! a peer and what strangers may cost are the same; there are no sockets, no buffers and no errors on sending.

use std::{collections::BTreeMap, iter, net::SocketAddr, ops::RangeInclusive, time::Duration};

use bytes::{Bytes, BytesMut};
use netcore::{Engine, Input, Outbox, Time};
use netshell::{Delivery, Peers, Taken};
use nuggets::Client;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The largest UDP payload over IPv4, in bytes.
const MAX_DATAGRAM: usize = 65_507;

/// A client without its socket: datagrams and time go in, datagrams come out.
pub trait Node {
    /// The next datagram for the server.
    fn take_outgoing(&mut self) -> Option<Bytes>;
    /// Takes in a datagram from the server.
    fn datagram(&mut self, now: Time, datagram: &[u8]);
    /// When [`Node::elapsed`] is wanted; after that call it must be later, or none.
    fn deadline(&self, now: Time) -> Option<Time>;
    /// Takes in that the deadline has come.
    fn elapsed(&mut self, now: Time);
}

impl Node for Client {
    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.take_outgoing()
    }

    fn datagram(&mut self, now: Time, datagram: &[u8]) {
        self.datagram(now, datagram);
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        self.deadline(now)
    }

    fn elapsed(&mut self, now: Time) {
        self.elapsed(now);
    }
}

/// What happens to datagrams on their way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    /// How many of a hundred never arrive.
    pub loss_percent: u32,
    /// How many of a hundred arrive twice.
    pub double_percent: u32,
    /// How long each copy is under way. A range means that they overtake each other.
    pub delay: RangeInclusive<Duration>,
}

impl Conditions {
    /// Everything arrives once, in order, after a millisecond.
    pub const CALM: Self =
        Self { loss_percent: 0, double_percent: 0, delay: Duration::from_millis(1)..=Duration::from_millis(1) };
    /// One in five is lost, one in ten doubled, and all overtake each other within a fifth of a second.
    pub const STORM: Self =
        Self { loss_percent: 20, double_percent: 10, delay: Duration::from_millis(5)..=Duration::from_millis(200) };
}

/// What has happened to datagrams so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Sent, by anybody.
    pub sent: u64,
    /// Lost on the way.
    pub lost: u64,
    /// Arrived twice.
    pub doubled: u64,
    /// Arrived after one that was sent later, between any two ends.
    pub overtaken: u64,
    /// Dropped by the limits on strangers and peers.
    pub refused: u64,
}

#[derive(Debug)]
enum Way {
    ToServer { from: SocketAddr },
    ToClient { to: SocketAddr },
}

/// A pretend network with an engine `E` and clients `C` at its ends.
#[derive(Debug)]
pub struct Net<E, C> {
    now: Time,
    rng: Pcg64,
    conditions: Conditions,
    engine: E,
    out: Outbox,
    clients: BTreeMap<SocketAddr, C>,
    // What is under way, by arrival; the serial number keeps the order of what arrives together.
    transit: BTreeMap<(Time, u64), (Way, Bytes)>,
    serial: u64,
    newest_arrived: u64,
    peers: Peers<SocketAddr>,
    mail: BTreeMap<SocketAddr, Vec<Bytes>>,
    summaries: Vec<String>,
    traffic: Traffic,
}

impl<E: Engine, C: Node> Net<E, C> {
    /// A network around `engine`, at its time zero.
    pub fn new(engine: E, seed: u64, conditions: Conditions) -> Self {
        Self {
            now: Time::ZERO,
            rng: Pcg64::seed_from_u64(seed),
            conditions,
            engine,
            out: Outbox::new(),
            clients: BTreeMap::new(),
            transit: BTreeMap::new(),
            serial: 0,
            newest_arrived: 0,
            peers: Peers::new(Time::ZERO),
            mail: BTreeMap::new(),
            summaries: vec![],
            traffic: Traffic::default(),
        }
    }

    /// The time now.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The engine.
    pub const fn engine(&self) -> &E {
        &self.engine
    }

    /// What the engine wants on standard output, oldest first.
    pub fn summaries(&self) -> &[String] {
        &self.summaries
    }

    /// What has happened to datagrams so far.
    pub const fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// How many addresses are peers.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// Changes what happens to datagrams sent from now on.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Puts a client at `address`, in place of the one that may be there.
    pub fn add(&mut self, address: SocketAddr, client: C) {
        self.clients.insert(address, client);
    }

    /// The client at `address`.
    pub fn client(&self, address: SocketAddr) -> &C {
        self.clients.get(&address).unwrap_or_else(|| panic!("no client is at {address}"))
    }

    /// The client at `address`, to be told something.
    pub fn client_mut(&mut self, address: SocketAddr) -> &mut C {
        self.clients.get_mut(&address).unwrap_or_else(|| panic!("no client is at {address}"))
    }

    /// All clients, by address.
    pub fn clients(&self) -> impl Iterator<Item = (SocketAddr, &C)> {
        self.clients.iter().map(|(&address, client)| (address, client))
    }

    /// Sends a datagram to the server from an address at which there need not be a client.
    pub fn send(&mut self, from: SocketAddr, datagram: impl Into<Bytes>) {
        self.post(Way::ToServer { from }, datagram.into());
    }

    /// What came to an address at which there is no client, oldest first.
    pub fn take_mail(&mut self, address: SocketAddr) -> Vec<Bytes> {
        self.mail.remove(&address).unwrap_or_default()
    }

    /// Lets the engine tell the peer at `address` all that it may know. `false` if none is there.
    pub fn refresh(&mut self, address: SocketAddr) -> bool {
        let Some(peer) = self.peers.at(address) else { return false };
        self.input(Input::Refresh { peer });
        true
    }

    /// Tells the engine to stop.
    pub fn stop(&mut self) {
        self.input(Input::Stop);
    }

    /// Lets the next thing happen, unless that is after `until`. `false` when nothing is left to happen until then, and
    /// it is `until` now.
    pub fn step(&mut self, until: Time) -> bool {
        self.collect();
        let arrival = self.transit.keys().next().map(|&(due, _)| due);
        let engine = if self.engine.outcome().is_none() { self.engine.deadline() } else { None };
        let client = self.clients.values().filter_map(|client| client.deadline(self.now)).min();
        let next = [engine, arrival, client].into_iter().flatten().min().filter(|&next| next <= until);
        let Some(next) = next else {
            self.now = self.now.max(until);
            return false;
        };
        self.now = self.now.max(next);
        // Deadlines before datagrams, as the server loop has it.
        if engine == Some(next) {
            self.input(Input::Elapsed);
        } else if arrival == Some(next)
            && let Some(((_, serial), (way, datagram))) = self.transit.pop_first()
        {
            self.traffic.overtaken += u64::from(serial < self.newest_arrived);
            self.newest_arrived = self.newest_arrived.max(serial);
            match way {
                Way::ToServer { from } => self.take_in(from, &datagram),
                Way::ToClient { to } => match self.clients.get_mut(&to) {
                    Some(client) => client.datagram(self.now, &datagram),
                    None => self.mail.entry(to).or_default().push(datagram),
                },
            }
        } else {
            let now = self.now;
            for client in self.clients.values_mut() {
                if client.deadline(now).is_some_and(|due| due <= now) {
                    client.elapsed(now);
                }
            }
        }
        self.collect();
        true
    }

    /// Lets everything happen that happens until then.
    pub fn run_until(&mut self, until: Time) {
        while self.step(until) {}
    }

    /// Lets everything happen until nothing is under way and the engine waits for nothing, or an hour has passed.
    pub fn settle(&mut self) {
        let until = self.now.plus(Duration::from_secs(3_600));
        self.collect();
        while (!self.transit.is_empty() || (self.engine.outcome().is_none() && self.engine.deadline().is_some()))
            && self.step(until)
        {}
    }

    // Sends what the clients want sent.
    fn collect(&mut self) {
        let mut datagrams = vec![];
        for (&from, client) in &mut self.clients {
            datagrams.extend(iter::from_fn(|| client.take_outgoing()).map(|datagram| (from, datagram)));
        }
        for (from, datagram) in datagrams {
            self.post(Way::ToServer { from }, datagram);
        }
    }

    fn post(&mut self, way: Way, datagram: Bytes) {
        assert!(datagram.len() <= MAX_DATAGRAM, "a datagram of {} bytes cannot be sent", datagram.len());
        self.traffic.sent += 1;
        if self.rng.random_range(0..100) < self.conditions.loss_percent {
            self.traffic.lost += 1;
            return;
        }
        if self.rng.random_range(0..100) < self.conditions.double_percent {
            self.traffic.doubled += 1;
            let copy = match way {
                Way::ToServer { from } => Way::ToServer { from },
                Way::ToClient { to } => Way::ToClient { to },
            };
            self.dispatch(copy, datagram.clone());
        }
        self.dispatch(way, datagram);
    }

    fn dispatch(&mut self, way: Way, datagram: Bytes) {
        let nanos = |delay: &Duration| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        let delay = self.rng.random_range(nanos(self.conditions.delay.start())..=nanos(self.conditions.delay.end()));
        self.serial += 1;
        self.transit.insert((self.now.plus(Duration::from_nanos(delay)), self.serial), (way, datagram));
    }

    fn take_in(&mut self, from: SocketAddr, datagram: &[u8]) {
        // A server that has ended has closed its socket.
        if self.engine.outcome().is_some() {
            return;
        }
        let mut buffer = BytesMut::from(datagram);
        let taken = self.peers.take_in(self.now, &mut self.engine, &mut self.out, (from, from), &mut buffer);
        self.traffic.refused += u64::from(taken == Taken::Refused);
        self.deliver();
    }

    fn input(&mut self, input: Input<'_, netcore::RequestOf<E>>) {
        self.engine.input(self.now, input, &mut self.out);
        self.deliver();
    }

    fn deliver(&mut self) {
        let mut deliveries = vec![];
        self.peers.deliver(&mut self.out, |delivery| deliveries.push(delivery));
        for delivery in deliveries {
            match delivery {
                Delivery::Send { to, frame, .. } => self.post(Way::ToClient { to }, frame),
                Delivery::Summary(text) => self.summaries.push(text),
            }
        }
    }
}
