//! Limits per host, which keep resources free for other hosts.

use std::time::Instant;

use testkit::PATIENCE;
use tungstenite::Error;

use crate::support::{Browser, Hub};

/// Opens a socket as a reverse proxy forwards it for this client.
fn socket_from(hub: &Hub, client: &str, path: &str) -> Result<Browser, Error> {
    hub.socket_with(path, &[("X-Forwarded-For", client)])
}

fn is_refused(socket: &Result<Browser, Error>, status: u16) -> bool {
    matches!(socket, Err(Error::Http(answer)) if answer.status() == status && answer.headers().contains_key("retry-after"))
}

#[test]
fn one_host_does_not_have_all_sockets_and_open_files() {
    let hub = Hub::with_files(512, &["--proxy", "127.0.0.1"]);
    let id = hub.room("nuggets")["id"].as_str().unwrap().to_owned();
    let mut innocent = socket_from(&hub, "198.51.100.2", &format!("/rooms/{id}/socket")).unwrap();
    innocent.say("PLAY Ann");
    innocent.until("OK A");
    let mut greedy = vec![];
    let until = Instant::now() + PATIENCE;
    let refused = loop {
        let socket = socket_from(&hub, "198.51.100.1", "/live");
        match socket {
            Ok(socket) => greedy.push(socket),
            refused => break refused,
        }
        assert!(Instant::now() < until && greedy.len() < 400, "{} sockets", greedy.len());
    };
    assert!(is_refused(&refused, 429), "{refused:?}");
    // Other clients can connect, and connected clients can play.
    let mut other = socket_from(&hub, "198.51.100.3", &format!("/rooms/{id}/socket")).unwrap();
    other.say("PLAY Bob");
    other.until("OK B");
    assert!(hub.get("/api/rooms").0.starts_with("HTTP/1.1 200"));
    innocent.say("nonsense");
    innocent.until("ERROR");
    let (head, numbers) = hub.get("/metrics");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let counted = numbers.lines().find(|line| line.starts_with("arcade_refused_total{what=\"files\"}"));
    assert!(counted.is_some_and(|line| !line.ends_with(" 0")), "{counted:?}");
}

#[test]
fn a_body_longer_than_any_request_is_refused() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let (head, _) = hub.request("POST", "/api/rooms", &" ".repeat((16 << 10) + 1));
    assert!(head.starts_with("HTTP/1.1 413"), "{head}");
}
