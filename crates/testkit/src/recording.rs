//! A journalled room without a host, and without threads: who holds it takes their steps.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::BytesMut;
use journal_core::{
    Arrival, Disk, Entry, Head, Journal, JournalEnd, JournalHold, Journalled, Resumable, ResumeError, Scribe,
    SyncPolicy, Writing,
};
use netcore::{Hold as _, Hosted, Input, Link, Outbox, PeerId, Progress, Recorded, Role, Room, Time};

use crate::disk::SimulatedDisk;

/// A journalled room, and the disk of its journal.
#[derive(Debug)]
pub struct Recording<E: Recorded, D = SimulatedDisk> {
    /// The room.
    pub room: Journalled<E>,
    /// What its outputs wait for.
    pub hold: JournalHold,
    /// Closes its journal.
    pub end: JournalEnd,
    /// Writes its journal.
    pub scribe: Scribe,
    /// Where its journal is.
    pub disk: D,
    /// The name of its journal.
    pub journal: PathBuf,
    /// Its time.
    pub now: Time,
    /// How much time passes before anything arrives.
    pub pause: Duration,
    /// What it has said since somebody looked.
    pub out: Outbox,
}

fn by_hand(disk: impl Disk + 'static, (sync, max): (SyncPolicy, u64)) -> Writing {
    Writing { disk: Arc::new(disk), scribe: Scribe::by_hand(), sync, max }
}

impl<E: Recorded, D: Disk + Clone + 'static> Recording<E, D> {
    /// Begins a match whose journal is in this directory. The last argument is what its outputs wait for, and how many bytes
    /// are kept.
    pub fn begin(disk: D, directory: &Path, engine: E, head: Head, how: (SyncPolicy, u64)) -> Self {
        let writing = by_hand(disk.clone(), how);
        let begun = writing.create(directory, Hosted::new(engine), head);
        let (journal, (room, hold, end)) = begun.expect("the journal can be created");
        let (scribe, now, pause, out) = (writing.scribe, Time::ZERO, Duration::ZERO, Outbox::new());
        Self { room, hold, end, scribe, disk, journal, now, pause, out }
    }

    /// Resumes a match.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn resume(disk: D, journal: &Path, how: (SyncPolicy, u64)) -> Result<Self, ResumeError> {
        let resumable = Resumable::<E>::open(&disk, journal)?;
        let (writing, journal, now) = (by_hand(disk.clone(), how), resumable.journal.clone(), resumable.time);
        let (room, hold, end) = resumable.resume(&writing)?;
        let (scribe, pause, out) = (writing.scribe, Duration::ZERO, Outbox::new());
        Ok(Self { room, hold, end, scribe, disk, journal, now, pause, out })
    }

    /// A player connects.
    pub fn connect(&mut self, peer: u64, link: Link, address: &str) {
        let (peer, role) = (PeerId(peer), Role::Player);
        self.input(Input::Connected { peer, role, link, address: address.into() });
    }

    /// Something arrives.
    pub fn input(&mut self, input: Input<'_, &[u8]>) {
        self.now = self.now.plus(self.pause);
        self.room.input(self.now, input, &mut self.out);
    }

    /// Messages of a peer arrive.
    pub fn say(&mut self, peer: u64, bytes: &[u8]) {
        let mut bytes = BytesMut::from(bytes);
        loop {
            self.now = self.now.plus(self.pause);
            let progress = self.room.receive(self.now, PeerId(peer), &mut bytes, &mut self.out);
            if progress != Progress::Decoded || bytes.is_empty() {
                return;
            }
        }
    }

    /// Lets time pass, with all deadlines of the room.
    pub fn pass(&mut self, time: Duration) {
        let until = self.now.plus(time);
        while let Some(due) = self.room.deadline().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            self.input(Input::Elapsed);
        }
        self.now = until;
    }

    /// Takes all steps of the threads, whether they are due or not.
    pub fn settle(&mut self) {
        self.hold.flush();
        while self.scribe.write() || self.scribe.keep() {}
    }

    /// Closes the journal.
    pub fn close(&mut self) {
        self.end.close();
        self.settle();
    }

    /// Whether all outputs so far may be sent.
    pub fn may_leave(&self) -> bool {
        let mark = self.hold.mark();
        self.hold.reached() >= mark
    }

    /// The arrivals that a reader of its journal finds.
    pub fn arrivals(&self) -> Vec<Arrival> {
        arrivals(&self.disk, &self.journal)
    }
}

/// The entries of a journal, which is whole.
pub fn entries(disk: &dyn Disk, journal: &Path) -> Vec<Entry> {
    let opened = Journal::open_on(disk, journal).and_then(|journal| journal.reader());
    let mut reader = opened.unwrap_or_else(|error| panic!("{error}"));
    std::iter::from_fn(|| reader.next().unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// The arrivals of a journal, which is whole.
pub fn arrivals(disk: &dyn Disk, journal: &Path) -> Vec<Arrival> {
    let all = entries(disk, journal).into_iter();
    all.filter_map(|entry| if let Entry::Arrival(arrival) = entry { Some(arrival) } else { None }).collect()
}
