//! The simulated network, shared by all ends.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use netcore::Time;
use netshell::ConnectionId;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::machine::SimulatedClock;

use super::{
    conditions::{Chance, Conditions, StreamConditions, Traffic},
    datagrams::Datagrams,
    ledger::Ledger,
    streams::{Arrived, Connections},
};

#[derive(Debug)]
pub(super) struct World {
    pub(super) chance: Chance,
    pub(super) datagrams: Datagrams,
    pub(super) connections: Connections,
    // The server's transport and connection.
    pub(super) routes: BTreeMap<SocketAddr, (usize, ConnectionId)>,
    arrived: Vec<(SocketAddr, Arrived)>,
    // The next arrival known when the server began to work.
    due: Option<Time>,
    pub(super) ledger: Ledger,
}

impl World {
    pub(super) fn next_due(&mut self) -> Option<Time> {
        let now = self.chance.now;
        let waiting = (!self.arrived.is_empty()).then_some(now);
        let due = [self.datagrams.next_due(), self.connections.next_due(now), waiting];
        self.due = due.into_iter().flatten().min();
        self.due
    }

    pub(super) fn arrive(&mut self) -> Vec<(SocketAddr, Arrived)> {
        self.due = None;
        let Self { chance, datagrams, connections, routes, arrived, .. } = self;
        datagrams.arrive(chance, |address| routes.contains_key(&address), arrived);
        connections.arrive(chance, arrived);
        std::mem::take(arrived)
    }

    /// Processes the arrivals since the server began to work.
    pub(super) fn process_due(&mut self) {
        if self.due.is_some_and(|due| due <= self.chance.now) {
            self.arrived = self.arrive();
            self.next_due();
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Shared {
    world: Arc<Mutex<World>>,
    clock: SimulatedClock,
}

impl Shared {
    pub(super) fn new(seed: u64, clock: SimulatedClock, conditions: Conditions) -> Self {
        let world = World {
            chance: Chance {
                now: Time::ZERO,
                rng: Pcg64::seed_from_u64(seed),
                conditions,
                stream_conditions: StreamConditions::CALM,
                traffic: Traffic::default(),
            },
            datagrams: Datagrams::default(),
            connections: Connections::default(),
            routes: BTreeMap::new(),
            arrived: vec![],
            due: None,
            ledger: Ledger::default(),
        };
        Self { world: Arc::new(Mutex::new(world)), clock }
    }

    /// Never blocks: everything runs in one thread.
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        world.chance.now = self.clock.world_now();
        world
    }
}
