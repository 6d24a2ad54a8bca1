//! Going on with a match on a disk in memory.
#![allow(clippy::unwrap_used, reason = "what helps a test fails as a test does")]

use std::{
    io::{self, Cursor},
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::BytesMut;
use journal::{Disk, Head, JournalHold, Journalled, MAX_SIZE, Resumable, Scribe, SyncPolicy, Writing};
use netcore::{Hosted, Link, Outbox, PeerId, Progress, Role, Room, RoomInput, Time};
use netshell::Hold;
use nuggets::{Grid, Server, server::Config};

#[derive(Debug, Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Disk for Memory {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut file, offset) = (self.0.lock().unwrap(), usize::try_from(offset).unwrap());
        let end = offset + bytes.len();
        let length = file.len().max(end);
        file.resize(length, 0);
        file[offset..end].copy_from_slice(bytes);
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.lock().unwrap().truncate(usize::try_from(length).unwrap());
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

const ANN: PeerId = PeerId(0);

/// A journalled room that Ann has entered.
fn begin(disk: &Memory) -> (Journalled<Server>, JournalHold, Scribe) {
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
fn a_match_in_which_nothing_happened_for_long_is_gone_on_with() {
    let disk = Memory::default();
    let (mut room, mut hold, scribe) = begin(&disk);
    let quiet = [Duration::from_secs(1), Duration::from_secs(10), Duration::from_secs(86_400)];
    let mut now = Time::ZERO;
    for (quiet, message) in quiet.into_iter().zip([&b"PLAY Ann"[..], b"KEY h", b"KEY l"]) {
        now = now.plus(quiet);
        say(&mut room, now, message);
    }
    hold.flush();
    while scribe.write() {}
    let file = disk.0.lock().unwrap().clone();
    let length = file.len() as u64;
    let resumable = Resumable::<Server>::read(Cursor::new(file), length).unwrap();
    assert_eq!((resumable.room().digest(), resumable.time), (room.digest(), now));
}
