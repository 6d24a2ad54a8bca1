//! What a move costs, against a floor measured in the same run.
//!
//! The floor is a bare loop in a process of its own: it takes in one datagram and sends 27 of the size of a DISPLAY to
//! the same 27 sockets. The server under test has 26 players and a spectator, so it sends as many datagrams of the same
//! size for each move. Both are driven in turn, so that a machine whose speed drifts slows both.
//!
//! Then the server with a journal is compared in the same way with itself without one.
//!
//! `cargo bench -p nuggets-server` prints the table; `-- --moves N` makes it longer or shorter.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

mod floor;
mod host;
mod table;

use std::path::Path;

use host::Host;
use table::{Row, print};

/// Players at the table; a spectator looks on.
const PLAYERS: usize = 26;
/// Everybody who is sent a DISPLAY for each move.
const CLIENTS: usize = PLAYERS + 1;
/// How often server and floor take turns.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|word| word == name).and_then(|at| arguments.get(at + 1));
    if let Some(bytes) = value("--floor") {
        return floor::run(bytes.parse().expect("a number of bytes"));
    }
    let moves: usize = value("--moves").map_or(10_000, |moves| moves.parse().expect("a number of moves"));
    let maps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../maps");
    println!("{CLIENTS} clients, {moves} moves on each map, in {ROUNDS} rounds by turns with the floor");
    let journals = tempfile::tempdir().expect("a directory");
    for name in ["main.txt", "continent.txt"] {
        let map = maps.join(name);
        let (rows, memory) = compare(&mut Host::server(&map, None), Floor::Loop, moves);
        print(name, ["ours", "floor"], &rows);
        println!("  {:<12} {memory:>9.1} MB", "peak memory");
        let (rows, memory) = compare(&mut Host::server(&map, Some(journals.path())), Floor::Server(&map), moves);
        print("", ["journal", "none"], &rows);
        println!("  {:<12} {memory:>9.1} MB", "peak memory");
    }
    throughput(&maps.join("main.txt"));
}

/// What a server is compared with.
#[derive(Clone, Copy)]
enum Floor<'a> {
    /// The bare loop.
    Loop,
    /// The server itself on this map, without a journal.
    Server(&'a Path),
}

// One row of figures for each round, and the most memory that the server held.
fn compare(server: &mut Host, floor: Floor<'_>, moves: usize) -> (Vec<Row>, f64) {
    let mut floor = match floor {
        Floor::Loop => Host::floor(server.display_bytes()),
        Floor::Server(map) => Host::server(map, None),
    };
    let each = moves.div_ceil(ROUNDS);
    // The first moves compute sights and fault memory in; they count for the server all the same, but the processes
    // themselves are warmed up by a few.
    floor.measure(50);
    server.measure(50);
    let rows = (0..ROUNDS)
        .map(|_| {
            let floor = floor.measure(each);
            Row { ours: server.measure(each), floor }
        })
        .collect();
    (rows, server.peak_memory_mb())
}

fn throughput(map: &Path) {
    let mut server = Host::server(map, None);
    println!(
        "moving keys a second, 8 in flight, each told to all {CLIENTS}: {:.0}",
        server.moving_keys_per_second(20_000)
    );
    let (idle, answered, seconds) = server.mixed_keys(40_000, 20_000);
    println!("20,000 keys a second for {seconds:.1} s, one in ten moves: {answered} of the other {idle} answered");
}
