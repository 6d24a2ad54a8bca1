//! Measures replays and the time to resume a thousand matches: `cargo bench -p journal-core --bench replay`.
//!
//! Nuggets: eight players on the built-in map who press two keys a second each. Robots: four players, ten turns a
//! second. The lower bound for resuming reads the same files without checks.

#![allow(clippy::print_stdout, reason = "the program prints the figures")]

use std::{
    fs,
    io::Cursor,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use journal_core::{Entry, Reader, Replay, Resumable, SyncPolicy, SystemDisk, Writing};
use netcore::{Link, Outbox, PeerId, Recorded, Room as _, Time};
use nuggets::Grid;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use testkit::{by_hand::Match, disk::SimulatedDisk};

const MAP: &[u8] = include_bytes!("../../../maps/main.txt");
const STARTS: usize = 1_000;
const SHORT: usize = 1_000;
/// Arrivals of the replayed matches, at most.
const LONG: usize = 100_000;

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    let replayed = [
        replay::<nuggets::Server>("nuggets", &play_nuggets(LONG)),
        replay::<robots::Server>("robots", &play_robots(LONG)),
    ];
    println!("replaying a whole match");
    for (game, arrivals, played, took) in replayed {
        let times = played.as_secs_f64() / took.as_secs_f64();
        let (played, took) = (played.as_secs_f64(), took.as_secs_f64());
        println!(
            "  {game:<8} {arrivals:>7} arrivals, played for {played:>6.0} s, replayed in {took:>6.3} s: {times:.0} times as fast"
        );
    }
    println!("resuming {STARTS} matches of {SHORT} arrivals");
    start::<nuggets::Server>("nuggets", directory.path(), &play_nuggets(SHORT));
    start::<robots::Server>("robots", directory.path(), &play_robots(SHORT));
}

fn replay<E: Recorded>(game: &'static str, bytes: &[u8]) -> (&'static str, u64, Duration, Duration) {
    let begun = Instant::now();
    let mut reader = Reader::new(Cursor::new(bytes), bytes.len() as u64).expect("a journal");
    let mut replay = Replay::<E>::start(reader.head()).expect("a match");
    let mut out = Outbox::new();
    while let Some(entry) = reader.next().expect("whole") {
        if let Entry::Arrival(arrival) = entry {
            replay.apply(&arrival, &mut out).expect("the same");
            out.drain().for_each(drop);
        }
    }
    (game, replay.arrivals(), replay.time().since(Time::ZERO), begun.elapsed())
}

fn start<E: Recorded>(game: &str, directory: &Path, bytes: &[u8]) {
    let paths: Vec<_> = (0..STARTS).map(|number| directory.join(format!("{game}-{number}.journal"))).collect();
    for path in &paths {
        fs::write(path, bytes).expect("written");
    }
    let begun = Instant::now();
    let read: usize = paths.iter().map(|path| fs::read(path).expect("read").len()).sum();
    let floor = begun.elapsed();
    let writing = Writing::start(SyncPolicy::Interval, journal_core::MAX_SIZE).expect("threads");
    let begun = Instant::now();
    let open = |path: &PathBuf| Resumable::<E>::open(&SystemDisk, path).expect("whole");
    let rooms: Vec<_> = paths.iter().map(|path| open(path).resume(&writing).expect("writable")).collect();
    let (took, floor) = (begun.elapsed().as_secs_f64(), floor.as_secs_f64());
    println!("  {game:<8} {took:>6.3} s; reading the same {} kB takes {floor:.3} s", read >> 10);
    for (_, _, end) in &rooms {
        end.close();
    }
    assert!(rooms.iter().all(|(_, _, end)| end.finish(Duration::from_secs(60))), "closed");
}

fn begin<E: Recorded>(engine: E) -> (Match<E>, SimulatedDisk) {
    let disk = SimulatedDisk::new();
    (Match::begin(Arc::new(disk.clone()), Path::new("/games"), engine, journal_core::MAX_SIZE), disk)
}

fn finish<E: Recorded>(game: &mut Match<E>, disk: &SimulatedDisk) -> Vec<u8> {
    game.end.close();
    game.settle();
    assert_eq!(disk.files(), std::slice::from_ref(&game.path), "the match is continued in another file");
    disk.written(&game.path)
}

fn play_nuggets(arrivals: usize) -> Vec<u8> {
    const PLAYERS: u64 = 8;
    let grid = Arc::new(Grid::parse(MAP).expect("our map").0);
    let config = nuggets::Config { seed: 17, ..Default::default() };
    let (mut game, disk) = begin(nuggets::Server::new(grid, config).expect("a game"));
    for _ in 0..PLAYERS {
        let peer = game.connect(Link::Datagram);
        game.send(peer, format!("PLAY player{}", peer.0).as_bytes());
    }
    let mut dice = Pcg64::seed_from_u64(1);
    for round in 2..arrivals as u64 / PLAYERS {
        for peer in 0..PLAYERS {
            let key = b"hjklyubnHJKLYUBN"[dice.random_range(0..16)];
            game.now = Time::from_millis(round * 500 + peer * 60);
            game.send(PeerId(peer), &[b'K', b'E', b'Y', b' ', key]);
        }
        if round.is_multiple_of(64) {
            game.settle();
        }
        if game.room.outcome().is_some() {
            break;
        }
    }
    finish(&mut game, &disk)
}

fn play_robots(arrivals: usize) -> Vec<u8> {
    let config = robots::Config {
        parameters: robots::Parameters {
            server_name: "bench".try_into().expect("short"),
            players_count: 4,
            size_x: 20,
            size_y: 20,
            game_length: 1_000,
            explosion_radius: 4,
            bomb_timer: 5,
        },
        turn_duration: Duration::from_millis(100),
        initial_blocks: 50,
        seed: 17,
        max_history: robots::MAX_HISTORY,
    };
    let (mut game, disk) = begin(robots::Server::new(config).expect("a game"));
    let players = [(); 4].map(|()| game.connect(Link::Stream));
    let mut dice = Pcg64::seed_from_u64(1);
    // Each turn has a deadline too.
    for round in 1..=arrivals / (players.len() + 1) {
        for &peer in &players {
            let message: &[u8] = if game.room.room().engine().game().is_none() {
                b"\0\x03bot"
            } else {
                [&[1u8][..], &[2], &[3, 0], &[3, 1], &[3, 2], &[3, 3]][dice.random_range(0..6)]
            };
            game.send(peer, message);
        }
        game.advance(Duration::from_millis(100));
        if round.is_multiple_of(64) {
            game.settle();
        }
    }
    finish(&mut game, &disk)
}
