//! Measures the speed of replays, and the time to resume a thousand matches.
//!
//! The nuggets match has eight players on the built-in map who press two keys a second each; the robots match has four
//! players and ten turns a second. As a lower bound for resuming, the same files are read without checking anything.
//!
//! `cargo bench -p journal-core --bench replay` prints the figures.

#![allow(clippy::print_stdout, reason = "the program prints the figures")]

use std::{
    fs,
    io::Cursor,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use journal_core::{Entry, Reader, Replay, Resumable, Scribe, SyncPolicy, SystemDisk, Writing};
use netcore::{Hosted, Input, Link, Outbox, PeerId, Recorded, Role, Room, Time};
use nuggets::Grid;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const MAP: &[u8] = include_bytes!("../../../maps/main.txt");
/// Journals that are resumed.
const STARTS: usize = 1_000;
/// Arrivals of each of them.
const SHORT: usize = 1_000;
/// Arrivals of the replayed matches, unless they end earlier.
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

// The duration of the match, and of its replay.
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
    let rooms: Vec<_> = paths
        .iter()
        .map(|path| {
            let resumable = Resumable::<E>::open(&SystemDisk, path).expect("whole");
            resumable.resume(&writing).expect("writable")
        })
        .collect();
    let took = begun.elapsed();
    println!(
        "  {game:<8} {:>6.3} s; reading the same {} kB takes {:.3} s",
        took.as_secs_f64(),
        read >> 10,
        floor.as_secs_f64()
    );
    for (_, _, end) in &rooms {
        end.close();
    }
    assert!(rooms.iter().all(|(_, _, end)| end.finish(Duration::from_secs(60))), "closed");
}

/// Records a match like a server, in memory.
struct Match<E: Recorded> {
    room: journal_core::Journalled<E>,
    scribe: Scribe,
    hold: journal_core::JournalHold,
    end: journal_core::JournalEnd,
    out: Outbox,
    arrivals: usize,
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl<E: Recorded> Match<E> {
    fn new(engine: E) -> Self {
        let (sync, max) = (SyncPolicy::Interval, journal_core::MAX_SIZE);
        let writing = Writing { disk: Arc::new(SystemDisk), scribe: Scribe::by_hand(), sync, max };
        let directory = tempfile::tempdir().expect("a directory");
        let head = journal_core::Head::new(&engine, "bench", vec![], 0);
        let (path, (room, hold, end)) = writing.create(directory.path(), Hosted::new(engine), head).expect("begun");
        Self { room, scribe: writing.scribe, hold, end, out: Outbox::new(), arrivals: 0, path, _directory: directory }
    }

    fn input(&mut self, millis: u64, input: Input<'_, &[u8]>) {
        self.room.input(Time::from_millis(millis), input, &mut self.out);
        self.out.drain().for_each(drop);
        self.arrivals += 1;
        if self.arrivals.is_multiple_of(64) {
            netcore::Hold::flush(&mut self.hold);
            while self.scribe.write() || self.scribe.keep() {}
        }
    }

    fn bytes(&mut self, millis: u64, peer: u64, message: &[u8]) {
        let message = BytesMut::from(message);
        self.input(millis, Input::Message { peer: PeerId(peer), message: &message });
    }

    fn connect(&mut self, peer: u64, link: Link) {
        let address = format!("10.0.0.{peer}:5000");
        self.input(0, Input::Connected { peer: PeerId(peer), role: Role::Player, link, address: (&address).into() });
    }

    // The journal of a suspended server.
    fn finish(self) -> Vec<u8> {
        self.end.close();
        while self.scribe.write() || self.scribe.keep() {}
        // A match that is continued in another file would be measured in part.
        let files = fs::read_dir(self.path.parent().expect("a directory")).expect("read").count();
        assert_eq!(files, 1, "the match is continued in another file");
        fs::read(&self.path).expect("a file")
    }
}

fn play_nuggets(arrivals: usize) -> Vec<u8> {
    const PLAYERS: u64 = 8;
    let grid = Arc::new(Grid::parse(MAP).expect("our map").0);
    let config = nuggets::Config { seed: 17, ..Default::default() };
    let mut game = Match::new(nuggets::Server::new(grid, config).expect("a game"));
    for peer in 0..PLAYERS {
        game.connect(peer, Link::Datagram);
        game.bytes(0, peer, format!("PLAY player{peer}").as_bytes());
    }
    let mut dice = Pcg64::seed_from_u64(1);
    let mut millis = 0;
    while game.arrivals < arrivals && game.room.outcome().is_none() {
        for peer in 0..PLAYERS {
            let key = b"hjklyubnHJKLYUBN"[dice.random_range(0..16)];
            game.bytes(millis + peer * 60, peer, &[b'K', b'E', b'Y', b' ', key]);
        }
        millis += 500;
    }
    game.finish()
}

fn play_robots(arrivals: usize) -> Vec<u8> {
    const PLAYERS: u8 = 4;
    let config = robots::Config {
        parameters: robots::Parameters {
            server_name: "bench".try_into().expect("short"),
            players_count: PLAYERS,
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
    let mut game = Match::new(robots::Server::new(config).expect("a game"));
    for peer in 0..PLAYERS {
        game.connect(peer.into(), Link::Stream);
    }
    let mut dice = Pcg64::seed_from_u64(1);
    let mut millis = 0;
    while game.arrivals < arrivals {
        for peer in 0..PLAYERS {
            let message: &[u8] = if game.room.room().engine().game().is_none() {
                b"\0\x03bot"
            } else {
                [&[1u8][..], &[2], &[3, 0], &[3, 1], &[3, 2], &[3, 3]][dice.random_range(0..6)]
            };
            game.bytes(millis, peer.into(), message);
        }
        while game.room.deadline().is_some_and(|due| due <= Time::from_millis(millis)) && game.arrivals < arrivals {
            game.input(millis, Input::Elapsed);
        }
        millis += 100;
    }
    game.finish()
}
