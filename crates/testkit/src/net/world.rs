//! What lies between the two ends, shared by all who send over it.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use netcore::{Gone, Time};
use netshell::ConnectionId;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{
    conditions::{Conditions, Rough, Traffic},
    datagrams::Post,
    ledger::Ledger,
    messages::Lines,
    streams::Wires,
};

/// Everything that is under way.
#[derive(Debug)]
pub(super) struct World {
    pub(super) chance: Chance,
    pub(super) post: Post,
    pub(super) wires: Wires,
    pub(super) lines: Lines,
    // Where the server has a connection with whoever is at an address: at which of its transports, and which one.
    pub(super) places: BTreeMap<SocketAddr, (usize, ConnectionId)>,
    // What everybody was told, if somebody wants to know.
    pub(super) ledger: Option<Ledger>,
}

/// The time, and what decides what happens on the way.
#[derive(Debug)]
pub(super) struct Chance {
    pub(super) now: Time,
    pub(super) rng: Pcg64,
    pub(super) conditions: Conditions,
    pub(super) rough: Rough,
    pub(super) traffic: Traffic,
}

/// What reaches a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Arrived {
    Bytes(Bytes),
    End(End),
}

/// How a client's connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum End {
    Closed,
    Broken,
}

impl End {
    pub(super) const fn gone(self) -> Gone {
        match self {
            Self::Closed => Gone::Left,
            Self::Broken => Gone::Broken,
        }
    }
}

impl World {
    /// When something arrives next.
    pub(super) fn next_due(&self) -> Option<Time> {
        [self.post.next_due(), self.wires.next_due(self.chance.now), self.lines.next_due(self.chance.now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Lets everything arrive that is due. Gives what comes to clients, in order.
    pub(super) fn arrive(&mut self) -> Vec<(SocketAddr, Arrived)> {
        let mut arrived = vec![];
        self.post.arrive(&mut self.chance, &mut arrived);
        self.wires.arrive(&mut self.chance, &mut arrived);
        self.lines.arrive(&mut self.chance, &mut arrived);
        arrived
    }
}

/// A handle on the world: the server's pretend sockets have one each.
#[derive(Debug, Clone)]
pub(super) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(super) fn new(seed: u64, conditions: Conditions) -> Self {
        Self(Arc::new(Mutex::new(World {
            chance: Chance {
                now: Time::ZERO,
                rng: Pcg64::seed_from_u64(seed),
                conditions,
                rough: Rough::CALM,
                traffic: Traffic::default(),
            },
            post: Post::default(),
            wires: Wires::default(),
            lines: Lines::default(),
            places: BTreeMap::new(),
            ledger: None,
        })))
    }

    /// Everything runs in one thread, so nobody ever waits here.
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
