//! A pretend network whose server writes a journal, is killed, and goes on with it.

use std::{fmt::Debug, net::SocketAddr, time::Duration};

use bytes::Bytes;
use journal::{JournalHold, Journalled, Peer};
use netcore::{Client, Hosted, Leave, Link, PeerId, Recorded, Time};

use super::{Conditions, Net, Told, ledger::Ledger, lent::Lent, world::Shared};
use crate::disk::Crash;

/// What a server goes on with that was killed: see [`journal::Resumable`].
#[derive(Debug)]
pub struct Again<E: Recorded> {
    /// The room, going on with its journal.
    pub room: Journalled<E>,
    /// What outputs wait for.
    pub hold: JournalHold,
    /// The time of the last arrival.
    pub at: Time,
    /// The number of the next peer.
    pub next_peer: PeerId,
    /// Who was there.
    pub peers: Vec<Peer>,
    /// Whom to tell their last messages again.
    pub farewells: Vec<(SocketAddr, Vec<Bytes>)>,
}

impl<E, C> Net<E, C>
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client,
    C::Error: Debug,
{
    /// A network around a room with a journal, which nothing has arrived at.
    pub fn journalled(seed: u64, conditions: Conditions, room: Journalled<E>, hold: JournalHold) -> Self {
        let shared = Shared::new(seed, conditions);
        shared.lock().ledger = Some(Ledger::default());
        let room = Lent::new(room, shared.clone());
        Self::around(shared, room, |host| host.with_hold(hold))
    }

    /// Ends the server where it stands. What is under way to clients arrives, unless the whole machine is gone; connections are
    /// closed or broken, and whoever speaks in datagrams notices nothing.
    pub fn crash(&mut self, how: Crash) {
        self.host = None;
        self.flush_until = None;
        let world = &mut *self.shared.lock();
        world.places.clear();
        if let Some(ledger) = &mut world.ledger {
            ledger.clear();
        }
        if how == Crash::PowerCut {
            world.wires.break_all(&mut world.chance);
        }
    }

    /// Tells the room that its server is stopped and will go on later.
    pub fn suspend(&mut self) {
        self.leave(Leave::Resumable);
    }

    /// Goes on with a room whose server is gone, at the time of its last arrival.
    pub fn resume(&mut self, again: Again<E>) {
        assert!(self.host.is_none(), "the server has not ended");
        let Again { room, hold, at, next_peer, peers, farewells } = again;
        self.clock = (self.now, at);
        let address = |peer: &Peer| peer.address.parse().unwrap_or_else(|_| panic!("{peer:?} is nowhere"));
        let peers: Vec<(PeerId, Link, SocketAddr)> =
            peers.iter().map(|peer| (peer.peer, peer.link, address(peer))).collect();
        if let Some(ledger) = &mut self.shared.lock().ledger {
            let datagrams = peers.iter().filter(|(_, link, _)| *link == Link::Datagram);
            ledger.resume(next_peer, datagrams.map(|&(peer, _, address)| (address, peer)));
        }
        self.room = Lent::new(room, self.shared.clone());
        let host = Self::let_in(&self.shared, self.room.clone(), &self.witness);
        let mut host = host.with_hold(hold).with_first_peer(next_peer);
        host.resume(at, peers);
        if let Some(ledger) = &mut self.shared.lock().ledger {
            ledger.resumed();
        }
        for (address, frames) in farewells {
            host.repeat_farewell(at, address, frames);
        }
        self.host = Some(host);
    }

    /// Sets the server's clock forward.
    pub fn jump(&mut self, by: Duration) {
        self.clock = (self.now, self.server_now().plus(by));
    }

    /// Lets the server notice that its journal has come further.
    pub fn poke(&mut self) {
        self.serve();
        self.collect();
    }

    /// Whether the server waits for nothing but its journal, so that it lets nobody in.
    pub fn is_up(&self) -> bool {
        self.host.is_some()
    }

    /// What every peer of the room was told by the server so far, over all its lives.
    pub fn told(&self) -> Told {
        self.shared.lock().ledger.as_ref().map(|ledger| ledger.told.clone()).unwrap_or_default()
    }

    /// Says what follows for every peer from the journal that a server goes on with. It counts as told once the peer is told anything
    /// more, so that it has lost nothing by what was still on its way.
    pub fn set_follows(&mut self, follows: Told) {
        if let Some(ledger) = &mut self.shared.lock().ledger {
            ledger.go_on(follows);
        }
    }

    /// Whether the room had this digest at some time.
    pub fn had(&self, digest: u64) -> bool {
        self.shared.lock().ledger.as_ref().is_some_and(|ledger| ledger.digests.contains(&digest))
    }
}
