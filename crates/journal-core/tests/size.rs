//! The size of records: a long match must not fill the disk.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::{path::Path, sync::Arc, time::Duration};

use journal_core::{Entry, Reader};
use netcore::{Input, Link, PeerId, Recorded, wire::ShortText};
use nuggets::Grid;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use robots::{MAX_HISTORY, Parameters};
use testkit::{by_hand::Match, disk::SimulatedDisk};

/// Limit on the bytes of a nuggets key or a robots action.
const AT_MOST: u64 = 15;
/// Arrivals that are measured.
const MANY: usize = 3_000;

/// A match whose journal is in memory.
fn begin<E: Recorded>(engine: E) -> (Match<E>, SimulatedDisk) {
    let disk = SimulatedDisk::default();
    (Match::begin(Arc::new(disk.clone()), Path::new("/games"), engine, journal_core::MAX_SIZE), disk)
}

/// The size of the longest record of messages for which `counts` holds, and their number.
fn longest<E: Recorded>(game: &mut Match<E>, disk: &SimulatedDisk, counts: impl Fn(&[u8]) -> bool) -> (u64, usize) {
    game.end.close();
    game.settle();
    let bytes = disk.written(&game.path);
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

#[test]
fn a_nuggets_key_takes_at_most_15_bytes() {
    let (grid, _) = Grid::parse(include_bytes!("../../../maps/main.txt")).unwrap();
    let config = nuggets::Config { rematch: true, ..Default::default() };
    let (mut game, disk) = begin(nuggets::Server::new(Arc::new(grid), config).unwrap());
    for _ in 0..26 {
        let player = game.come(Link::Datagram);
        game.say(player, format!("PLAY player {}", player.0).as_bytes());
    }
    let mut dice = Pcg64::seed_from_u64(1);
    for _ in 0..MANY {
        let key = b"hjklyubn"[dice.random_range(0..8_usize)];
        game.pass(Duration::from_micros(dice.random_range(0..8_000_000)));
        game.say(PeerId(dice.random_range(0..26)), &[b'K', b'E', b'Y', b' ', key]);
        game.settle();
    }
    let (longest, count) = longest(&mut game, &disk, |bytes| bytes.starts_with(b"KEY "));
    assert_eq!(count, MANY);
    assert!(longest <= AT_MOST, "{longest} bytes");
}

#[test]
fn a_robots_action_takes_at_most_15_bytes() {
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
    let (mut game, disk) = begin(robots::Server::new(config).unwrap());
    // Watchers connect first and take the short numbers.
    for _ in 0..1_004 {
        game.come(Link::Stream);
    }
    for player in 1_000..1_004 {
        game.say(PeerId(player), b"\x00\x03Ann");
    }
    let mut dice = Pcg64::seed_from_u64(1);
    let actions: [&[u8]; 3] = [&[1], &[2], &[3, 2]];
    for _ in 0..MANY {
        game.pass(Duration::from_micros(dice.random_range(0..8_000_000)));
        game.say(PeerId(dice.random_range(1_000..1_004)), actions[dice.random_range(0..3_usize)]);
        game.settle();
    }
    let (longest, count) = longest(&mut game, &disk, |bytes| bytes[0] != 0);
    assert_eq!(count, MANY);
    assert!(longest <= AT_MOST, "{longest} bytes");
}
