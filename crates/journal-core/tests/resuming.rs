//! Resumes a match on a disk in memory.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::BytesMut;
use journal_core::{Head, JournalHold, Journalled, MAX_SIZE, Resumable, Scribe, SyncPolicy, Writing};
use netcore::{Hold as _, Hosted, Input, Link, Outbox, PeerId, Progress, Role, Room, Time};
use nuggets::{Config, Grid, Server};
use testkit::disk::SimulatedDisk;

const ANN: PeerId = PeerId(0);

/// A journalled room with Ann connected.
fn begin(disk: &SimulatedDisk) -> (PathBuf, Journalled<Server>, JournalHold, Scribe) {
    let (grid, _) = Grid::parse(b"+-----+\n|.....|\n+-----+\n").unwrap();
    let server = Server::new(Arc::new(grid), Config::default()).unwrap();
    let head = Head::new(&server, "0.0.0", vec![], 0);
    let (sync, max) = (SyncPolicy::Interval, MAX_SIZE);
    let writing = Writing { disk: Arc::new(disk.clone()), scribe: Scribe::by_hand(), sync, max };
    let (journal, (mut room, hold, _)) = writing.create(Path::new("/games"), Hosted::new(server), head).unwrap();
    let connected =
        Input::Connected { peer: ANN, role: Role::Player, link: Link::Message, address: "10.0.0.1:5000".into() };
    assert_eq!(room.input(Time::ZERO, connected, &mut Outbox::new()), Progress::Decoded);
    (journal, room, hold, writing.scribe)
}

fn say(room: &mut Journalled<Server>, now: Time, message: &[u8]) {
    let bytes = &mut BytesMut::from(message);
    assert_eq!(room.receive(now, ANN, bytes, &mut Outbox::new()), Progress::Decoded);
}

#[test]
fn a_match_is_resumed_after_a_long_time_without_arrivals() {
    let disk = SimulatedDisk::default();
    let (journal, mut room, mut hold, scribe) = begin(&disk);
    let quiet = [Duration::from_secs(1), Duration::from_secs(10), Duration::from_secs(86_400)];
    let mut now = Time::ZERO;
    for (quiet, message) in quiet.into_iter().zip([&b"PLAY Ann"[..], b"KEY h", b"KEY l"]) {
        now = now.plus(quiet);
        say(&mut room, now, message);
    }
    hold.flush();
    while scribe.write() {}
    let digest = room.digest();
    drop((room, hold, scribe));
    let resumable = Resumable::<Server>::open(&disk, &journal).unwrap();
    assert_eq!((resumable.room().digest(), resumable.time), (digest, now));
}
