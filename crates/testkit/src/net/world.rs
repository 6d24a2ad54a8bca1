//! The state of the simulated network, shared by all ends.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use netcore::Time;
use netshell::ConnectionId;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{
    arrived::Arrived,
    chance::Chance,
    conditions::{Conditions, StreamConditions, Traffic},
    datagrams::Post,
    ledger::Ledger,
    lines::Lines,
    streams::Wires,
};

/// Everything in flight.
#[derive(Debug)]
pub(super) struct World {
    pub(super) chance: Chance,
    pub(super) post: Post,
    pub(super) wires: Wires,
    pub(super) lines: Lines,
    // The server's transport and connection for each address.
    pub(super) places: BTreeMap<SocketAddr, (usize, ConnectionId)>,
    // What the server sent, if it is recorded.
    pub(super) ledger: Option<Ledger>,
}

impl World {
    /// The time of the next arrival.
    pub(super) fn next_due(&self) -> Option<Time> {
        [self.post.next_due(), self.wires.next_due(self.chance.now), self.lines.next_due(self.chance.now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Processes all arrivals that are due. Returns what arrives at clients, in order.
    pub(super) fn arrive(&mut self) -> Vec<(SocketAddr, Arrived)> {
        let mut arrived = vec![];
        self.post.arrive(&mut self.chance, &mut arrived);
        self.wires.arrive(&mut self.chance, &mut arrived);
        self.lines.arrive(&mut self.chance, &mut arrived);
        arrived
    }
}

/// A handle on the network, shared with the simulated sockets of the server.
#[derive(Debug, Clone)]
pub(super) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(super) fn new(seed: u64, conditions: Conditions) -> Self {
        Self(Arc::new(Mutex::new(World {
            chance: Chance {
                now: Time::ZERO,
                rng: Pcg64::seed_from_u64(seed),
                conditions,
                rough: StreamConditions::CALM,
                traffic: Traffic::default(),
            },
            post: Post::default(),
            wires: Wires::default(),
            lines: Lines::default(),
            places: BTreeMap::new(),
            ledger: None,
        })))
    }

    /// Everything runs in one thread, so this never blocks.
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
