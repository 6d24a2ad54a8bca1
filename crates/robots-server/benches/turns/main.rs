//! Measures whether turns leave on time and how much they cost, against a floor measured in the same run.
//!
//! The floor is a minimal loop in a separate process: it sleeps until each turn is due and writes the server's bytes to
//! the same number of sockets. Server and floor run one after the other, each for several seconds.
//!
//! Deviations are from (first arrival + t x duration), at the observers that connected first and last. Sockets are
//! written one after the other, so the last of very many observers always waits for all others. On loopback, the first
//! sixteen messages of a connection cost nearly twice as much as later ones, since the system acknowledges each
//! immediately. Later turns therefore seem early to the last observer.
//!
//! Then the server is measured with and without a journal, in alternating runs.
//!
//! `cargo bench -p robots-server` prints the tables; `-- --turns N` makes them longer or shorter.

#![allow(clippy::print_stdout, reason = "the tables are what this program is for")]

mod audience;
mod floor;
mod observer;

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use netcore::wire::ShortText;
use robots::{Action, ClientMessage, Direction, protocol::encode};
use testkit::measured::Measured;

use crate::{
    audience::Audience,
    observer::{Arrivals, Observer},
};

const PLAYERS: usize = 4;
const TURN: Duration = Duration::from_millis(10);
const JOURNAL_ROUNDS: usize = 5;
/// Turns in the history for a late joiner.
const HISTORY: usize = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|word| word == "--floor") {
        return floor::run();
    }
    let value = |name: &str| arguments.iter().position(|word| word == name).and_then(|at| arguments.get(at + 1));
    let turns: usize = value("--turns").map_or(1_000, |turns| turns.parse().expect("a number of turns"));
    netshell::raise_open_files();
    println!("{PLAYERS} players, {turns} turns of {} ms", TURN.as_millis());
    for observers in [100, 1_000] {
        compare(observers, turns);
    }
    late_joiner();
}

struct Run {
    // At the observers that connected first and last.
    first: Arrivals,
    last: Arrivals,
    cpu: Duration,
    peak_memory_mb: f64,
}

fn compare(observers: usize, turns: usize) {
    let server = serve(observers, turns, None);
    let floor = floor(observers, turns, &server.last.frames);
    let rate = |run: &Run| run.last.rate();
    let cpu = |run: &Run| run.cpu.as_secs_f64() * 1_000.0 / run.last.count();
    println!("{observers} observers {:>22} {:>12} {:>7}", "ours", "floor", "ratio");
    println!("  {:<24} {:>10.2}/s {:>10.2}/s", "turns", rate(&server), rate(&floor));
    for (place, ours, bare) in [("first", &server.first, &floor.first), ("last", &server.last, &floor.last)] {
        for percent in [50, 99, 100] {
            let late = |arrivals: &Arrivals| arrivals.deviation(TURN, percent).as_secs_f64() * 1e3;
            let name = format!("deviation p{percent}, {place}");
            println!("  {name:<24} {:>9.3} ms {:>9.3} ms", late(ours), late(bare));
        }
    }
    let (ours, bare) = (cpu(&server), cpu(&floor));
    println!("  {:<24} {ours:>9.3} ms {bare:>9.3} ms {:>6.2}x", "CPU a turn", ours / bare);
    println!("  {:<24} {:>9.1} MB {:>9.1} MB", "peak memory", server.peak_memory_mb, floor.peak_memory_mb);
    journal(observers, turns, server);
}

fn journal(observers: usize, turns: usize, without: Run) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut plain = vec![without];
    let mut journalled = vec![];
    for round in 0..JOURNAL_ROUNDS {
        if round > 0 {
            plain.push(serve(observers, turns, None));
        }
        journalled.push(serve(observers, turns, Some(directory.path())));
    }
    println!("{:<26} {:>10} {:>12} {:>7}", format!("median of {JOURNAL_ROUNDS} runs"), "journal", "none", "ratio");
    let figure = |name: &str, figure: &dyn Fn(&Run) -> f64| {
        let [ours, none] = [&journalled, &plain].map(|runs| {
            let mut all: Vec<f64> = runs.iter().map(figure).collect();
            all.sort_by(f64::total_cmp);
            all
        });
        let middle = JOURNAL_ROUNDS / 2;
        let ratio = ours[middle] / none[middle];
        let range = |all: &[f64]| format!("{:.1} to {:.1}", all[0], all[all.len() - 1]);
        let (spread, without) = (range(&ours), range(&none));
        println!("  {name:<24} {:>9.3} ms {:>9.3} ms {ratio:>6.2}x   {spread}, {without}", ours[middle], none[middle]);
    };
    figure("CPU a turn", &|run| run.cpu.as_secs_f64() * 1_000.0 / run.last.count());
    figure("deviation p99, first", &|run| run.first.deviation(TURN, 99).as_secs_f64() * 1e3);
    figure("deviation p99, last", &|run| run.last.deviation(TURN, 99).as_secs_f64() * 1e3);
}

// A game on a board with free space, whose players move in each turn.
fn serve(observers: usize, turns: usize, directory: Option<&Path>) -> Run {
    let game = ["-d", &TURN.as_millis().to_string(), "-l", &turns.to_string(), "-x", "30", "-y", "30", "-k", "50"];
    let (process, address) = start(&game, directory);
    let crowd = Crowd::gather(address, observers);
    let mut players = join(address);
    crowd.watch(&process, turns, |turn| players.act(turn))
}

fn floor(observers: usize, turns: usize, frames: &[Vec<u8>]) -> Run {
    let mut process = Measured::start(Command::new(std::env::current_exe().expect("a path")).arg("--floor"));
    let address = SocketAddr::from(([127, 0, 0, 1], process.port));
    let mut script = process.stdin().expect("piped");
    floor::write_script(&mut script, observers + PLAYERS, TURN, frames);
    // Marks the end of the script.
    drop(script);
    // The last connection starts the loop.
    let crowd = Crowd::gather(address, observers + PLAYERS);
    crowd.watch(&process, turns, |_| ())
}

/// Two observers measure arrival times.
struct Crowd {
    first: Observer,
    audience: Audience,
    last: Observer,
}

impl Crowd {
    fn gather(address: SocketAddr, observers: usize) -> Self {
        let first = Observer::connect(address);
        let audience = Audience::gather(address, observers - 2);
        Self { first, audience, last: Observer::connect(address) }
    }

    fn watch(self, process: &Measured, turns: usize, act: impl FnMut(usize)) -> Run {
        let Self { mut first, audience, mut last } = self;
        let before = process.cpu();
        let watching = std::thread::spawn(move || first.watch(turns, |_| ()));
        let last = last.watch(turns, act);
        let first = watching.join().expect("the first sees what the last does");
        let cpu = process.cpu().saturating_sub(before);
        drop(audience);
        Run { first, last, cpu, peak_memory_mb: process.peak_memory_mb() }
    }
}

// Measures how soon a late joiner receives the history, and whether it delays the other clients.
fn late_joiner() {
    // Long enough for all players to move in nearly every turn, for a history of realistic length.
    let turn = Duration::from_millis(2);
    let (_process, address) =
        start(&["-d", "2", "-l", "60000", "-x", "1000", "-y", "1000", "-k", "50", "-b", "60000"], None);
    let mut observer = Observer::connect(address);
    let mut players = join(address);
    observer.watch(HISTORY, |turn| players.act(turn));
    let late = std::thread::spawn(move || {
        // The measured client joins after the observers have watched for a while.
        std::thread::sleep(Duration::from_millis(50));
        let start = Instant::now();
        let mut stream = TcpStream::connect(address).expect("loopback");
        let mut decoder = observer::Turns::default();
        let mut bytes = vec![0; 1 << 16];
        while decoder.seen <= HISTORY {
            let count = stream.read(&mut bytes).expect("history");
            decoder.take(&bytes[..count]);
        }
        (start.elapsed(), decoder.bytes)
    });
    let during = observer.watch_more(200, |turn| players.act(turn));
    let (took, bytes) = late.join().expect("measured");
    println!("a late joiner is told {HISTORY} turns ({bytes} bytes) in {:.2} ms", took.as_secs_f64() * 1e3);
    println!(
        "  meanwhile the largest deviation of a turn is {:.3} ms",
        during.deviation(turn, 100).as_secs_f64() * 1e3
    );
}

fn start(arguments: &[&str], directory: Option<&Path>) -> (Measured, SocketAddr) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_robots-server"));
    command.args(["-c", &PLAYERS.to_string(), "-p", "0", "-s", "17", "--bind", "127.0.0.1", "--log", "off"]);
    if let Some(directory) = directory {
        command.arg("--journal").arg(directory);
    }
    let process = Measured::start(command.args(arguments));
    let address = SocketAddr::from(([127, 0, 0, 1], process.port));
    (process, address)
}

struct Players {
    streams: Vec<TcpStream>,
    audience: Audience,
}

fn join(address: SocketAddr) -> Players {
    let audience = Audience::empty();
    let streams = (0..PLAYERS)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("loopback");
            audience.add(stream.try_clone().expect("a second handle"));
            let mut join = BytesMut::new();
            encode(&ClientMessage::Join { name: ShortText::try_from("bench").expect("short") }, &mut join);
            stream.write_all(&join).expect("sent");
            stream
        })
        .collect();
    Players { streams, audience }
}

impl Players {
    fn act(&mut self, turn: usize) {
        let _ = &self.audience;
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let mixed = turn.wrapping_mul(2_654_435_761).wrapping_add(index.wrapping_mul(40_503)) >> 7;
            let action = match mixed % 8 {
                0 => Action::PlaceBomb,
                1 => Action::PlaceBlock,
                other => Action::Move(Direction::ALL[other % 4]),
            };
            let mut bytes = BytesMut::new();
            encode(&ClientMessage::Action(action), &mut bytes);
            stream.write_all(&bytes).expect("sent");
        }
    }
}
