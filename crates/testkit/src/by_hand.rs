//! Journalled matches with inputs and times chosen by a test.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::BytesMut;
use journal_core::{Disk, Head, JournalEnd, JournalHold, Journalled, Scribe, SyncPolicy, Writing};
use netcore::{
    DisconnectReason, EngineRoom, Hold as _, Input, Link, Outbox, Output, PeerId, Recorded, Role, Room, Time,
};

/// A match in progress. Its journal is written when it [settles](Match::settle).
#[derive(Debug)]
pub struct Match<E: Recorded> {
    pub room: Journalled<E>,
    pub end: JournalEnd,
    pub path: PathBuf,
    pub now: Time,
    hold: JournalHold,
    scribe: Scribe,
    peers: u64,
}

impl<E: Recorded> Match<E> {
    /// The journal keeps at most `max` bytes.
    pub fn begin(disk: Arc<dyn Disk>, directory: &Path, engine: E, max: u64) -> Self {
        let listen = SocketAddr::from(([10, 0, 0, 1], 2_000));
        let head = Head::new(&engine, "0.1.0", vec![listen], 1_795_329_471);
        let scribe = Scribe::by_hand();
        let writing = Writing { disk, scribe: scribe.clone(), sync: SyncPolicy::Interval, max, copy: None };
        let created = writing.create(directory, EngineRoom::new(engine), head);
        let (path, (room, hold, end)) = created.expect("the journal can be created");
        Self { room, end, path, now: Time::ZERO, hold, scribe, peers: 0 }
    }

    pub fn input(&mut self, input: Input<'_, &[u8]>) -> Vec<Output> {
        let mut out = Outbox::new();
        self.room.input(self.now, input, &mut out);
        out.drain().collect()
    }

    pub fn connect(&mut self, link: Link) -> PeerId {
        let peer = PeerId(self.peers);
        self.peers += 1;
        let address = format!("10.0.0.7:{}", 4_000 + peer.0);
        self.input(Input::Connected { peer, role: Role::Player, link, address: (&address).into() });
        peer
    }

    pub fn send(&mut self, peer: PeerId, bytes: &[u8]) -> Vec<Output> {
        let mut out = Outbox::new();
        self.room.receive(self.now, peer, &mut BytesMut::from(bytes), &mut out);
        out.drain().collect()
    }

    pub fn disconnect(&mut self, peer: PeerId) {
        self.input(Input::Disconnected { peer, why: DisconnectReason::Broken });
    }

    pub fn advance(&mut self, time: Duration) -> Vec<Output> {
        let until = self.now.plus(time);
        let mut outputs = vec![];
        while let Some(due) = self.room.deadline().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            outputs.extend(self.input(Input::Elapsed));
        }
        self.now = until;
        outputs
    }

    pub fn settle(&mut self) {
        self.hold.flush();
        while self.scribe.write() || self.scribe.keep() {}
    }
}
