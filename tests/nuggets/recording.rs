use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use testkit::{TempDir, peer::Peer};

use super::{HALL, Server, other_host};

/// Bytes per second that a journal may grow because of one host.
const RATE: u64 = 300_000;
/// Bytes that a host may cause at once.
const BURST: u64 = 600_000;
/// What else is in a journal, for each byte of records: a mark after 256 arrivals, and snapshots of a small state.
const BESIDES: u64 = 20;
/// Datagrams per second of the flood, and in all. They hold more than twice of what may be recorded.
const FLOOD: u64 = 20_000;
const DATAGRAMS: u64 = 60_000;
/// Datagrams between two questions of the neighbours.
const BETWEEN: u64 = 2_000;

fn length(games: &Path) -> u64 {
    let journal = fs::read_dir(games).unwrap().next().expect("a journal is there").unwrap();
    journal.metadata().unwrap().len()
}

/// Floods a server with these datagrams of a seated player, and compares its journal with the time that passed. Returns how
/// much it has grown.
fn flood(messages: &[&str]) -> u64 {
    let place = TempDir::new();
    let (map, games) = (place.file("map.txt", HALL), place.path().join("games"));
    let server = Server::start(&[&map, "7", "--log", "error", "--journal", &games.display().to_string()]);
    let eve = server.peer();
    eve.play("Eve");
    // One on the machine of the flood, and one elsewhere.
    let mut neighbours = vec![server.peer()];
    neighbours.extend(other_host(2).map(|elsewhere| Peer::at(elsewhere, server.v4())));
    for neighbour in &neighbours {
        neighbour.play("Neighbour");
    }
    let before = length(&games);
    let start = Instant::now();
    for sent in 0..DATAGRAMS {
        while start.elapsed() < Duration::from_secs(1) * u32::try_from(sent).unwrap() / u32::try_from(FLOOD).unwrap() {
            thread::yield_now();
        }
        eve.send(messages[usize::try_from(sent).unwrap() % messages.len()]);
        if sent % 64 == 0 {
            eve.pending();
        }
        if sent % BETWEEN == 0 {
            for neighbour in &neighbours {
                neighbour.ask("KEY ?", "ERROR unknown keystroke");
            }
        }
    }
    // At its end everything is in the journal.
    server.process.terminate();
    assert_eq!(server.process.wait().code, Some(0));
    let elapsed = start.elapsed();
    let grown = length(&games) - before;
    let recorded = BURST + RATE * u64::try_from(elapsed.as_millis()).unwrap() / 1_000;
    let most = recorded + recorded / BESIDES;
    assert!(grown <= most, "{grown} bytes were written within {elapsed:?}, {most} are allowed");
    grown
}

#[test]
fn malformed_messages_of_a_flood_are_recorded_at_the_rate_of_one_host() {
    let grown = flood(&["KEY and then fifty-four more characters that mean nothing at all"]);
    assert!(grown > DATAGRAMS, "the server has taken in hardly anything of the flood: {grown} bytes");
}

#[test]
fn moves_of_a_flood_are_recorded_at_the_rate_of_one_host() {
    let grown = flood(&["KEY h", "KEY l"]);
    assert!(grown > DATAGRAMS, "the server has taken in hardly anything of the flood: {grown} bytes");
}

#[test]
fn what_changes_nothing_is_not_recorded() {
    let again = format!("PLAY {:e<59}", "Eve");
    let grown = flood(&[&again]);
    assert!(grown < DATAGRAMS, "{grown} bytes are recorded of messages that changed nothing");
}
