//! The size of records: a long match must not fill the disk.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::BytesMut;
use journal_core::{Entry, Head, Journalled, Reader, Scribe, SyncPolicy, Writing};
use netcore::{Hosted, Input, Link, Outbox, PeerId, Progress, Recorded, Role, Room, Time, wire::ShortText};
use nuggets::Grid;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use robots::{MAX_HISTORY, Parameters};
use testkit::disk::SimulatedDisk;

/// Limit on the bytes of a nuggets key or a robots action.
const AT_MOST: u64 = 16;
/// Arrivals that are measured.
const MANY: usize = 3_000;

/// A room whose journal is in memory, and its time.
struct Recording<E: Recorded> {
    room: Journalled<E>,
    disk: SimulatedDisk,
    journal: PathBuf,
    scribe: Scribe,
    end: journal_core::JournalEnd,
    now: Time,
    out: Outbox,
}

impl<E: Recorded> Recording<E> {
    fn of(engine: E) -> Self {
        let (disk, scribe) = (SimulatedDisk::default(), Scribe::by_hand());
        let sync = SyncPolicy::Interval;
        let writing = Writing { disk: Arc::new(disk.clone()), scribe: scribe.clone(), sync, max: 1 << 30 };
        let head = Head::new(&engine, "test", vec![], 0);
        let (journal, (room, _, end)) = writing.create(Path::new("/games"), Hosted::new(engine), head).unwrap();
        Self { room, disk, journal, scribe, end, now: Time::ZERO, out: Outbox::new() }
    }

    fn connect(&mut self, peer: u64, link: Link) {
        let address = format!("10.0.{}.{}:5000", peer / 250, peer % 250);
        let (peer, role) = (PeerId(peer), Role::Player);
        self.room.input(self.now, Input::Connected { peer, role, link, address: (&address).into() }, &mut self.out);
    }

    /// Sends a message after some time; deadlines of the room that are due come first.
    fn say(&mut self, after: Duration, peer: u64, message: &[u8]) {
        let then = self.now.plus(after);
        while let Some(due) = self.room.deadline().filter(|&due| due <= then) {
            self.now = self.now.max(due);
            self.room.input(self.now, Input::Elapsed, &mut self.out);
        }
        self.now = then;
        let mut bytes = BytesMut::from(message);
        let progress = self.room.receive(then, PeerId(peer), &mut bytes, &mut self.out);
        assert_eq!(progress, Progress::Decoded);
        self.out.drain().for_each(drop);
        while self.scribe.write() || self.scribe.keep() {}
    }

    /// The size of the longest record of messages for which `counts` holds, and their number.
    fn longest(self, counts: impl Fn(&[u8]) -> bool) -> (u64, usize) {
        self.end.close();
        while self.scribe.write() {}
        let bytes = self.disk.written(&self.journal);
        let mut reader = Reader::new(&bytes[..], bytes.len() as u64).unwrap();
        let (mut longest, mut count) = (0, 0);
        loop {
            let before = reader.offset();
            let Some(entry) = reader.next().unwrap() else { break };
            if let Entry::Arrival(arrival) = entry
                && let Input::Message { message: bytes, .. } = arrival.input
                && counts(&bytes)
            {
                longest = longest.max(reader.offset() - before);
                count += 1;
            }
        }
        (longest, count)
    }
}

#[test]
fn a_nuggets_key_takes_at_most_16_bytes() {
    let (grid, _) = Grid::parse(include_bytes!("../../../maps/main.txt")).unwrap();
    let config = nuggets::Config { rematch: true, ..Default::default() };
    let mut recording = Recording::of(nuggets::Server::new(Arc::new(grid), config).unwrap());
    for player in 0..26 {
        recording.connect(player, Link::Datagram);
        recording.say(Duration::ZERO, player, format!("PLAY player {player}").as_bytes());
    }
    let mut dice = Pcg64::seed_from_u64(1);
    for _ in 0..MANY {
        let key = b"hjklyubn"[dice.random_range(0..8_usize)];
        let gap = Duration::from_micros(dice.random_range(0..8_000_000));
        recording.say(gap, dice.random_range(0..26), &[b'K', b'E', b'Y', b' ', key]);
    }
    let (longest, count) = recording.longest(|bytes| bytes.starts_with(b"KEY "));
    // A key against a wall, or an action that was chosen already, changes nothing and is not recorded.
    assert!((MANY / 2..MANY).contains(&count), "{count}");
    assert!(longest <= AT_MOST, "{longest} bytes");
}

#[test]
fn a_robots_action_takes_at_most_16_bytes() {
    let parameters = Parameters {
        server_name: ShortText::try_from("here").unwrap(),
        players_count: 4,
        size_x: 10,
        size_y: 10,
        game_length: u16::MAX,
        explosion_radius: 2,
        bomb_timer: 3,
    };
    let turn_duration = Duration::from_secs(1);
    let config = robots::Config { parameters, turn_duration, initial_blocks: 5, seed: 1, max_history: MAX_HISTORY };
    let mut recording = Recording::of(robots::Server::new(config).unwrap());
    // Watchers connect first and take the short numbers.
    for peer in 0..1_004 {
        recording.connect(peer, Link::Stream);
    }
    for player in 1_000..1_004 {
        recording.say(Duration::ZERO, player, b"\x00\x03Ann");
    }
    let mut dice = Pcg64::seed_from_u64(1);
    let actions: [&[u8]; 3] = [&[1], &[2], &[3, 2]];
    for _ in 0..MANY {
        let gap = Duration::from_micros(dice.random_range(0..8_000_000));
        recording.say(gap, dice.random_range(1_000..1_004), actions[dice.random_range(0..3_usize)]);
    }
    let (longest, count) = recording.longest(|bytes| bytes[0] != 0);
    // A key against a wall, or an action that was chosen already, changes nothing and is not recorded.
    assert!((MANY / 2..MANY).contains(&count), "{count}");
    assert!(longest <= AT_MOST, "{longest} bytes");
}
