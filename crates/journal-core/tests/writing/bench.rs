//! A journalled room on a simulated disk, without threads.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::BytesMut;
use journal_core::{
    Arrival, Entry, Head, Journal, JournalEnd, JournalHold, Journalled, Parts, Resumable, ResumeError, Scribe,
    SyncPolicy, Writing,
};
use netcore::{EngineRoom, Hold as _, Input, Link, Outbox, PeerId, Role, Room, Time};
use testkit::disk::SimulatedDisk;

use crate::adder::Adder;

pub(crate) const ANN: PeerId = PeerId(0);
pub(crate) const MAX: u64 = 1 << 20;

pub(crate) struct Bench {
    pub(crate) disk: SimulatedDisk,
    pub(crate) journal: PathBuf,
    pub(crate) scribe: Scribe,
    pub(crate) room: Journalled<Adder>,
    pub(crate) hold: JournalHold,
    pub(crate) end: JournalEnd,
    pub(crate) now: Time,
    pub(crate) out: Outbox,
}

pub(crate) fn writing(disk: &SimulatedDisk, sync: SyncPolicy, max: u64) -> Writing {
    Writing { disk: Arc::new(disk.clone()), scribe: Scribe::by_hand(), sync, max, copy: None }
}

pub(crate) fn head() -> Head {
    Head::new(&Adder::new(7), "1.2.3", vec![], 99)
}

pub(crate) fn entries(disk: &SimulatedDisk, journal: &Path) -> Vec<Entry> {
    let mut reader = Journal::open_on(disk, journal).unwrap().reader().unwrap();
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

pub(crate) fn arrivals(disk: &SimulatedDisk, journal: &Path) -> Vec<Arrival> {
    let all = entries(disk, journal).into_iter();
    all.filter_map(|entry| if let Entry::Arrival(arrival) = entry { Some(arrival) } else { None }).collect()
}

impl Bench {
    pub(crate) fn new(sync: SyncPolicy) -> Self {
        Self::on(SimulatedDisk::new(), sync, MAX)
    }

    pub(crate) fn on(disk: SimulatedDisk, sync: SyncPolicy, max: u64) -> Self {
        let writing = writing(&disk, sync, max);
        let (journal, parts) = writing.create(Path::new("/games"), EngineRoom::new(Adder::new(7)), head()).unwrap();
        Self::of(disk, journal, writing.scribe, parts)
    }

    pub(crate) fn of(disk: SimulatedDisk, journal: PathBuf, scribe: Scribe, (room, hold, end): Parts<Adder>) -> Self {
        Self { disk, journal, scribe, room, hold, end, now: Time::ZERO, out: Outbox::new() }
    }

    pub(crate) fn resume(
        disk: &SimulatedDisk,
        journal: &Path,
        sync: SyncPolicy,
        max: u64,
    ) -> Result<Self, ResumeError> {
        let resumable = Resumable::<Adder>::open(disk, journal)?;
        let (now, writing) = (resumable.time, writing(disk, sync, max));
        let parts = resumable.resume(&writing)?;
        Ok(Self { now, ..Self::of(disk.clone(), journal.to_owned(), writing.scribe, parts) })
    }

    /// Ann has connected.
    pub(crate) fn joined(mut self) -> Self {
        self.connect();
        self.settle();
        self
    }

    pub(crate) fn connect(&mut self) {
        self.connect_as(ANN, Link::Stream);
    }

    pub(crate) fn connect_as(&mut self, peer: PeerId, link: Link) {
        self.input(Input::Connected { peer, role: Role::Player, link, address: "10.0.0.1:5".into() });
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let mut bytes = BytesMut::from(bytes);
        while !bytes.is_empty() {
            self.receive(ANN, &mut bytes);
        }
    }

    pub(crate) fn receive(&mut self, peer: PeerId, bytes: &mut BytesMut) {
        self.now = Time::from_nanos(self.now.as_nanos() + 1_000_500);
        self.room.receive(self.now, peer, bytes, &mut self.out);
    }

    pub(crate) fn input(&mut self, input: Input<'_, &[u8]>) {
        self.now = Time::from_nanos(self.now.as_nanos() + 1_000_500);
        self.room.input(self.now, input, &mut self.out);
    }

    pub(crate) fn settle(&mut self) {
        self.hold.flush();
        while self.scribe.write() || self.scribe.keep() {}
    }

    pub(crate) fn may_send(&self) -> bool {
        let mark = self.hold.position();
        self.hold.reached() >= mark
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.disk.written(&self.journal)
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        entries(&self.disk, &self.journal)
    }

    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        arrivals(&self.disk, &self.journal)
    }

    pub(crate) fn sum(&self) -> u64 {
        self.room.room().engine().sum
    }
}
