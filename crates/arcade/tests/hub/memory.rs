//! The memory that the hub uses for clients that do not read their answers.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    sync::Arc,
    time::Instant,
};

use bytes::BytesMut;
use netcore::{Input, Leave, Room as _, Time};
use serde_json::Value;
use testkit::{PATIENCE, TempDir};

use crate::support::{Hub, record};

/// Answers that nobody reads. Together they are 640 MiB.
const ANSWERS: usize = 640;
/// The length of one at least, in bytes.
const LENGTH: usize = 1 << 20;
/// Requests on each connection. The system takes up to 4 MiB of answers by itself.
const IN_A_ROW: usize = 6;
/// Hosts that send them.
const HOSTS: usize = 4;
/// What they may add to the memory of the hub, in bytes: the 64 MiB of all answers, what making them takes, and what the allocator keeps of that.
const MOST: f64 = 220e6;

/// Records a match of nuggets on a map of 30 kB, which is sent to a watcher after each of 100 moves.
fn record_match(journals: &Path) {
    let wall = format!("+{}+\n", "-".repeat(298));
    let map = format!("{wall}{}{wall}", format!("|{}|\n", ".".repeat(298)).repeat(98));
    let (grid, _) = nuggets::Grid::parse(map.as_bytes()).unwrap();
    let rules = nuggets::Rules { gold: 250, min_piles: 1, max_piles: 1, ..Default::default() };
    let config = nuggets::Config { rules, seed: 1, ..nuggets::Config::default() };
    record(journals, nuggets::Server::new(Arc::new(grid), config).unwrap(), |room, peer, out| {
        room.receive(Time::ZERO, peer, &mut BytesMut::from("PLAY Ann"), out);
        for step in 1..=100 {
            let key = if step % 2 == 0 { "KEY h" } else { "KEY l" };
            room.receive(Time::from_millis(100 * step), peer, &mut BytesMut::from(key), out);
            drop(out.drain());
        }
        room.input(Time::from_millis(10_100), Input::Stop(Leave::Over), out);
    });
}

/// Sends a request that a proxy passes on for this client.
fn ask(hub: &Hub, client: &str, path: &str) -> TcpStream {
    let mut stream = hub.connect();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nX-Forwarded-For: {client}\r\n", hub.address);
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
    stream
}

/// Sends more requests than the system has memory for answers on one connection, so that the hub has to hold one.
fn ask_on_and_on(hub: &Hub, client: &str, path: &str) -> TcpStream {
    let mut stream = hub.connect();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nX-Forwarded-For: {client}\r\n\r\n", hub.address);
    stream.write_all(head.repeat(IN_A_ROW).as_bytes()).unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = vec![];
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// The memory of the process, which it reads from the system.
fn resident(hub: &Hub) -> f64 {
    let (_, numbers) = hub.get("/metrics");
    let line = numbers.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes ")).unwrap();
    line.parse().unwrap()
}

#[test]
#[ignore = "writing gigabytes of JSON takes a debug build most of a minute; .ci/run runs it"]
fn unread_responses_take_bounded_memory() {
    let data = Arc::new(TempDir::new());
    record_match(&data.path().join("journals"));
    let hub = Hub::again(data, &["--no-default-rooms", "--proxy", "127.0.0.1"]);
    let until = Instant::now() + PATIENCE;
    let id = loop {
        let found: Value = serde_json::from_str(&hub.get("/api/matches").1).unwrap();
        if let Some(id) = found["matches"][0]["id"].as_str() {
            break id.to_owned();
        }
        assert!(Instant::now() < until, "{found}");
    };
    let path = format!("/api/matches/{id}/frames?from=0&to=300000");
    let whole = answer(ask(&hub, "198.51.100.9", &path));
    assert!(whole.starts_with("HTTP/1.1 200") && whole.len() > LENGTH, "{} bytes", whole.len());
    let before = resident(&hub);
    let greedy: Vec<TcpStream> =
        (0..ANSWERS).map(|number| ask_on_and_on(&hub, &format!("198.51.100.{}", 10 + number % HOSTS), &path)).collect();
    let (mut most, mut begun) = (before, 0);
    for (number, stream) in greedy.iter().enumerate() {
        // Its answer begins, or says that it was refused, or it is closed.
        let mut first = [0; 12];
        begun += usize::from(stream.peek(&mut first).unwrap() == first.len() && first.ends_with(b"200"));
        if number % 16 == 0 {
            for path in ["/", "/api/rooms", &format!("/api/matches/{id}"), &format!("/api/matches/{id}/timeline")] {
                let told = answer(ask(&hub, "198.51.100.1", path));
                assert!(told.starts_with("HTTP/1.1 200"), "{path}: {told}");
            }
            most = most.max(resident(&hub));
        }
    }
    assert!(begun > 4, "{begun} answers have begun");
    assert!(most - before < MOST, "{} more bytes, {begun} answers", most - before);
}
