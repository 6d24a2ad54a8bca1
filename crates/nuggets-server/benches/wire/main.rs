//! The cost of a move, compared with a floor measured in the same run.
//!
//! The floor is a bare loop in its own process: it receives one datagram and sends 27 of the size of a DISPLAY to the
//! same 27 sockets. The server sends as much for each move to 26 players and a spectator. Both are measured
//! alternately, so that a drifting machine slows both. Then the server is compared in the same way with and without a
//! journal.
//!
//! `cargo bench -p nuggets-server` prints the table; `-- --moves N` makes it longer or shorter.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

mod floor;
mod host;
mod table;

use std::path::Path;

use host::Host;
use table::{Cost, print};

const PLAYERS: usize = 26;
const CLIENTS: usize = PLAYERS + 1;
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
        let ours = Host::server(&map, None);
        let floor = Host::floor(ours.display_bytes());
        compare(name, ["ours", "floor"], ours, floor, moves);
        let ours = Host::server(&map, Some(journals.path()));
        compare("", ["journal", "none"], ours, Host::server(&map, None), moves);
    }
    throughput(&maps.join("main.txt"));
}

fn compare(map: &str, names: [&str; 2], mut server: Host, mut floor: Host, moves: usize) {
    let each = moves.div_ceil(ROUNDS);
    // A few moves warm up the processes. The server's other first moves, which compute sights and fault memory in,
    // count.
    floor.measure(50);
    server.measure(50);
    let rows: Vec<[Cost; 2]> = (0..ROUNDS)
        .map(|_| {
            let floor = floor.measure(each);
            [server.measure(each), floor]
        })
        .collect();
    print(map, names, &rows);
    println!("  {:<12} {:>9.1} MB", "peak memory", server.peak_memory_mb());
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
