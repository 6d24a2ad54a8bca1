use testkit::{TempDir, process::Process};

use super::{CORRIDOR, Server};
use crate::programs::program;

/// Reads keys from standard input.
fn client(server: &Server, arguments: &[&str]) -> Process {
    let port = server.port.to_string();
    Process::start_with_stdin(program("nuggets-client").args(["127.0.0.1", &port]).args(arguments))
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
    let ended = server.process.wait();
    assert!(ended.code == Some(0) && ended.stdout.ends_with(over), "{}", ended.stderr);
}

#[test]
fn several_bots_share_the_gold_of_our_own_map() {
    let map = crate::programs::workspace().join("maps/brawl.txt");
    let server = Server::start(&[map.to_str().unwrap(), "5"]);
    let bots = client(&server, &["--bots", "5", "--delay-ms", "0", "robbie"]).wait_for_end().ended(0);
    let finished = server.process.wait().ended(0);
    // The final table is the same for all bots and printed once.
    let table = bots.stdout.strip_prefix("GAME OVER:\n").unwrap_or_else(|| panic!("{}", bots.stdout));
    let purses: u32 = table.lines().map(|row| row[2..12].trim().parse::<u32>().unwrap()).sum();
    assert_eq!((table.lines().count(), purses), (5, 250), "{table}");
    assert!(finished.stdout.ends_with(table), "{}", finished.stdout);
}
