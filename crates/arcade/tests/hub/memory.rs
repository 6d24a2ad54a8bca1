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

/// One unread response per connection is 640 MiB in total.
const ANSWERS: usize = 640;
/// In bytes.
const LENGTH: usize = 1 << 20;
/// More than the kernel buffers, which hold up to 4 MiB.
const IN_A_ROW: usize = 6;
const HOSTS: usize = 4;
/// In bytes: 64 MiB for all responses, the memory to create them, and what the allocator retains.
const MOST: f64 = 220e6;

/// A map of 30 kB, sent to a watcher after each of 100 moves.
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

/// As a proxy forwards it for this client.
fn send_request(hub: &Hub, client: &str, path: &str) -> TcpStream {
    let mut stream = hub.connect();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nX-Forwarded-For: {client}\r\n", hub.address);
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
    stream
}

/// Exceeds the kernel buffers, so that the hub has to hold a response.
fn send_requests(hub: &Hub, client: &str, path: &str) -> TcpStream {
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

/// In bytes.
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
    let whole = answer(send_request(&hub, "198.51.100.9", &path));
    assert!(whole.starts_with("HTTP/1.1 200") && whole.len() > LENGTH, "{} bytes", whole.len());
    let before = resident(&hub);
    let greedy: Vec<TcpStream> =
        (0..ANSWERS).map(|number| send_requests(&hub, &format!("198.51.100.{}", 10 + number % HOSTS), &path)).collect();
    let (mut most, mut begun) = (before, 0);
    for (number, stream) in greedy.iter().enumerate() {
        // A response, a rejection, or the end of the connection.
        let mut first = [0; 12];
        begun += usize::from(stream.peek(&mut first).unwrap() == first.len() && first.ends_with(b"200"));
        if number % 16 == 0 {
            for path in ["/", "/api/rooms", &format!("/api/matches/{id}"), &format!("/api/matches/{id}/timeline")] {
                let response = answer(send_request(&hub, "198.51.100.1", path));
                assert!(response.starts_with("HTTP/1.1 200"), "{path}: {response}");
            }
            most = most.max(resident(&hub));
        }
    }
    assert!(begun > 4, "{begun} answers have begun");
    assert!(most - before < MOST, "{} more bytes, {begun} answers", most - before);
}
