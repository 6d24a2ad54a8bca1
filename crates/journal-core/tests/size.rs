//! The size of records: a long match must not fill the disk.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::{path::Path, sync::Arc, time::Duration};

use journal_core::{Entry, Head, Reader, SyncPolicy};
use netcore::{Input, Link, Recorded, wire::ShortText};
use nuggets::Grid;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use robots::{MAX_HISTORY, Parameters};
use testkit::{disk::SimulatedDisk, recording::Recording};

/// Limit on the bytes of a nuggets key or a robots action.
const AT_MOST: u64 = 16;
/// Arrivals that are measured.
const MANY: usize = 3_000;

/// A room whose journal is in memory, with so many peers.
fn begin<E: Recorded>(engine: E, peers: u64, link: Link) -> Recording<E> {
    let head = Head::new(&engine, "test", vec![], 0);
    let mut recording =
        Recording::begin(SimulatedDisk::default(), Path::new("/games"), engine, head, (SyncPolicy::Interval, 1 << 30));
    for peer in 0..peers {
        recording.connect(peer, link, &format!("10.0.{}.{}:5000", peer / 250, peer % 250));
    }
    recording
}

/// Sends a message after some time.
fn say<E: Recorded>(recording: &mut Recording<E>, after: Duration, peer: u64, message: &[u8]) {
    recording.pass(after);
    recording.say(peer, message);
    recording.out.drain().for_each(drop);
    recording.settle();
}

/// Checks the records of the messages for which `counts` holds.
fn check<E: Recorded>(mut recording: Recording<E>, counts: impl Fn(&[u8]) -> bool) {
    recording.close();
    let bytes = recording.disk.written(&recording.journal);
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
    // A key against a wall, or an action that was chosen already, changes nothing and is not recorded.
    assert!((MANY / 2..MANY).contains(&count), "{count}");
    assert!(longest <= AT_MOST, "{longest} bytes");
}

#[test]
fn a_nuggets_key_takes_at_most_16_bytes() {
    let (grid, _) = Grid::parse(include_bytes!("../../../maps/main.txt")).unwrap();
    let config = nuggets::Config { rematch: true, ..Default::default() };
    let mut recording = begin(nuggets::Server::new(Arc::new(grid), config).unwrap(), 26, Link::Datagram);
    for player in 0..26 {
        say(&mut recording, Duration::ZERO, player, format!("PLAY player {player}").as_bytes());
    }
    let mut dice = Pcg64::seed_from_u64(1);
    for _ in 0..MANY {
        let key = b"hjklyubn"[dice.random_range(0..8_usize)];
        let gap = Duration::from_micros(dice.random_range(0..8_000_000));
        say(&mut recording, gap, dice.random_range(0..26), &[b'K', b'E', b'Y', b' ', key]);
    }
    check(recording, |bytes| bytes.starts_with(b"KEY "));
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
    // Watchers connect first and take the short numbers.
    let mut recording = begin(robots::Server::new(config).unwrap(), 1_004, Link::Stream);
    for player in 1_000..1_004 {
        say(&mut recording, Duration::ZERO, player, b"\x00\x03Ann");
    }
    let mut dice = Pcg64::seed_from_u64(1);
    let actions: [&[u8]; 3] = [&[1], &[2], &[3, 2]];
    for _ in 0..MANY {
        let gap = Duration::from_micros(dice.random_range(0..8_000_000));
        say(&mut recording, gap, dice.random_range(1_000..1_004), actions[dice.random_range(0..3_usize)]);
    }
    check(recording, |bytes| bytes[0] != 0);
}
