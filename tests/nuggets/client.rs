use testkit::{TempDir, peer::Peer, process::Process};

use super::{CORRIDOR, HALL, Server};
use crate::programs::program;

/// Starts a client of `server`; what is written to it are keys.
fn client(server: &Server, arguments: &[&str]) -> Process {
    let port = server.port.to_string();
    Process::start_with_stdin(program("nuggets-client").args(["127.0.0.1", &port]).args(arguments))
}

/// Waits until the server has told `watcher` that somebody has joined, which it does after it has told the newcomer.
fn joined(watcher: &Peer) {
    while !watcher.expect("DISPLAY\n").contains('A') {}
}

#[test]
fn keys_from_a_pipe_play_a_game_to_its_end() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("corridor.txt", CORRIDOR), "1"]);
    let watcher = server.peer();
    watcher.spectate();
    let mut ann = client(&server, &["Ann"]);
    ann.write("HLHL");
    let finished = ann.wait_for_end();
    let over = "GAME OVER:\nA        250 Ann\n";
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), over), "{}", finished.stderr);
    assert_eq!(watcher.expect("QUIT "), format!("QUIT {}", over.trim_end()));
    assert!(server.process.wait().stdout.ends_with(over));
}

#[test]
fn the_end_of_the_keys_is_the_end_of_the_part() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL)]);
    let mut ann = client(&server, &["Ann"]);
    ann.write("h");
    let finished = ann.wait();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "Thanks for playing!\n"), "{}", finished.stderr);
    let watcher = client(&server, &[]).wait();
    assert_eq!(watcher.code, Some(0), "{}", watcher.stderr);
    assert!(server.process.is_running());
}

#[test]
fn a_server_that_is_stopped_says_so_to_its_clients() {
    let server = Server::start(&[]);
    let watcher = server.peer();
    watcher.spectate();
    let ann = client(&server, &["Ann"]);
    joined(&watcher);
    server.process.terminate();
    let finished = ann.wait_for_end();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.contains("stopped") && finished.stdout.contains("0 Ann"), "{}", finished.stdout);
}

#[test]
fn a_server_that_is_killed_is_missed() {
    let server = Server::start(&[]);
    let watcher = server.peer();
    watcher.spectate();
    let mut ann = client(&server, &["Ann"]);
    joined(&watcher);
    server.process.kill();
    let port = server.port.to_string();
    assert_eq!(server.process.wait().code, None);
    ann.write("hjkl");
    let finished = ann.wait();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    let last = finished.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("nuggets-client: ") && last.contains(&port), "{}", finished.stderr);
}

#[test]
fn a_bot_plays_a_game_to_its_end() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL), "3"]);
    let bot = client(&server, &["--headless", "robbie"]).wait_for_end();
    let over = "GAME OVER:\nA        250 robbie\n";
    assert_eq!((bot.code, bot.stdout.as_str()), (Some(0), over), "{}", bot.stderr);
    let finished = server.process.wait();
    assert_eq!(finished.code, Some(0));
    assert!(finished.stdout.ends_with(over), "{}", finished.stdout);
}

#[test]
fn several_bots_share_the_gold_of_our_own_map() {
    let map = crate::programs::workspace().join("maps/brawl.txt");
    let server = Server::start(&[map.to_str().unwrap(), "5"]);
    let bots = client(&server, &["--bots", "5", "--delay-ms", "0", "robbie"]).wait_for_end();
    assert_eq!(bots.code, Some(0), "{}", bots.stderr);
    let finished = server.process.wait();
    assert_eq!(finished.code, Some(0));
    // The last words are the same for all, and are printed once.
    let table = bots.stdout.strip_prefix("GAME OVER:\n").unwrap_or_else(|| panic!("{}", bots.stdout));
    let purses: u32 = table.lines().map(|row| row[2..12].trim().parse::<u32>().unwrap()).sum();
    assert_eq!((table.lines().count(), purses), (5, 250), "{table}");
    assert!(finished.stdout.ends_with(table), "{}", finished.stdout);
}

/// All maps but the largest, whose thousands of keys are played without sockets elsewhere.
#[test]
fn a_bot_finishes_our_maps_over_the_wire() {
    let folder = crate::programs::workspace().join("maps");
    for name in ["alcoves", "brawl", "donuts", "edges", "gold", "main", "panorama", "shaft", "spiral", "warren"] {
        let map = folder.join(name).with_extension("txt");
        let server = Server::start(&[map.to_str().unwrap(), "1"]);
        let bot = client(&server, &["robbie", "--bot", "--headless", "--delay-ms", "0"]).wait_for_end();
        assert_eq!(bot.code, Some(0), "{name}: {}", bot.stderr);
        assert_eq!(bot.stdout, "GAME OVER:\nA        250 robbie\n", "{name}");
        println!("{name}, seed 1: {}", bot.stderr.trim());
    }
}
