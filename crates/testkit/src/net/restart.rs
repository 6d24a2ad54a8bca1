use std::{fmt::Debug, net::SocketAddr, time::Duration};

use bytes::Bytes;
use journal_core::{JournalHold, Journalled};
use netcore::{Client, Leave, Link, PeerId, Recorded, Time};

use super::{Delivered, Hostable, Net, build_host, shared_room::SharedRoom, spawn};
use crate::disk::Crash;

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
