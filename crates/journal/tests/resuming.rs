//! Resumes a match on a disk in memory.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::{io::Cursor, sync::Arc, time::Duration};

use bytes::BytesMut;
use journal::{Head, JournalHold, Journalled, MAX_SIZE, Resumable, Scribe, SyncPolicy, Writing};
use netcore::{Hosted, Link, Outbox, PeerId, Progress, Role, Room, RoomInput, Time};
use netshell::Hold;
use nuggets::{Grid, Server, server::Config};
use testkit::disk::SimulatedDisk;

const ANN: PeerId = PeerId(0);

/// A journalled room with Ann connected.
fn begin(disk: &SimulatedDisk) -> (Journalled<Server>, JournalHold, Scribe) {
    let (grid, _) = Grid::parse(b"+-----+\n|.....|\n+-----+\n").unwrap();
    let server = Server::new(Arc::new(grid), Config::default()).unwrap();
    let head = Head::new(&server, "0.0.0", vec![], 0);
    let writing = Writing { scribe: Scribe::by_hand(), sync: SyncPolicy::Interval, max: MAX_SIZE };
    let (mut room, hold, _) = writing.begin(disk.clone(), "memory".to_owned(), Hosted::new(server), &head).unwrap();
    let connected =
        RoomInput::Connected { peer: ANN, role: Role::Player, link: Link::Message, address: "10.0.0.1:5000" };
    assert_eq!(room.input(Time::ZERO, connected, &mut Outbox::new()), Progress::Decoded);
    (room, hold, writing.scribe)
}

fn say(room: &mut Journalled<Server>, now: Time, message: &[u8]) {
    let bytes = &mut BytesMut::from(message);
    assert_eq!(room.input(now, RoomInput::Bytes { peer: ANN, bytes }, &mut Outbox::new()), Progress::Decoded);
}

#[test]
fn a_match_is_resumed_after_a_long_time_without_arrivals() {
    let disk = SimulatedDisk::default();
    let (mut room, mut hold, scribe) = begin(&disk);
    let quiet = [Duration::from_secs(1), Duration::from_secs(10), Duration::from_secs(86_400)];
    let mut now = Time::ZERO;
    for (quiet, message) in quiet.into_iter().zip([&b"PLAY Ann"[..], b"KEY h", b"KEY l"]) {
        now = now.plus(quiet);
        say(&mut room, now, message);
    }
    hold.flush();
    while scribe.write() {}
    let file = disk.written();
    let length = file.len() as u64;
    let resumable = Resumable::<Server>::read(Cursor::new(file), length).unwrap();
    assert_eq!((resumable.room().digest(), resumable.time), (room.digest(), now));
}
