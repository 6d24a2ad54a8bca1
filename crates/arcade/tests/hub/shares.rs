//! What one host may take, and that others come to theirs.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Instant,
};

use serde_json::{Value, json};
use testkit::PATIENCE;
use tungstenite::Error;

use crate::support::{Browser, Hub};

/// Those who share one address.
const PUPILS: usize = 60;
/// Connections of one browser.
const LANES: usize = 6;

/// A socket of a browser that a reverse proxy passes on for this client.
fn socket_from(hub: &Hub, client: &str, path: &str) -> Result<Browser, Error> {
    hub.socket_with(path, &[("X-Forwarded-For", client)])
}

fn is_refused(socket: &Result<Browser, Error>, status: u16) -> bool {
    matches!(socket, Err(Error::Http(answer)) if answer.status() == status && answer.headers().contains_key("retry-after"))
}

/// The answer to a request on a connection that stays open.
fn get(stream: &mut TcpStream, host: SocketAddr, path: &str) -> (String, Vec<u8>) {
    // In one piece, or the system waits with the second.
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
    // Nothing follows the answer before the next request.
    let mut answer = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(answer.read_line(&mut head).unwrap() > 0, "{path}: {head}");
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    answer.read_exact(&mut body).unwrap();
    (head, body)
}

#[test]
fn a_class_with_one_address_opens_the_page_and_plays() {
    let hub = Hub::start();
    let mut pupils = vec![];
    for pupil in 0..PUPILS {
        let mut lanes: Vec<TcpStream> = (0..LANES).map(|_| hub.connect()).collect();
        let (head, page) = get(&mut lanes[0], hub.address, "/");
        assert!(head.starts_with("HTTP/1.1 200"), "pupil {pupil}: {head}");
        let page = String::from_utf8(page).unwrap();
        let mut files: Vec<&str> = page.split("href=\"/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        files.retain(|file| file.starts_with("js/") || file.starts_with("style/"));
        assert!(files.len() > 40, "{files:?}");
        for (number, file) in files.iter().cycle().take(80).enumerate() {
            let (head, _) = get(&mut lanes[number % LANES], hub.address, &format!("/{file}"));
            assert!(head.starts_with("HTTP/1.1 200"), "pupil {pupil}: {file}: {head}");
        }
        let live = hub.socket("/live", None).unwrap_or_else(|error| panic!("pupil {pupil} has no lobby: {error}"));
        let (head, room) = hub.request("POST", "/api/play/nuggets", "");
        assert!(head.starts_with("HTTP/1.1 200"), "pupil {pupil}: {head} {room}");
        let room: Value = serde_json::from_str(&room).unwrap();
        let (mut game, _) = hub.enter(&room);
        game.say(&format!("PLAY pupil{pupil}"));
        let answer = game.until("OK");
        pupils.push((lanes, live, game, answer));
    }
    assert_eq!(pupils.len(), PUPILS);
    // Another one comes to their school by another way.
    assert!(hub.get("/api/rooms").0.starts_with("HTTP/1.1 200"));
}

#[test]
fn a_school_makes_a_table_for_each_group() {
    let hub = Hub::with(&["--no-default-rooms"]);
    for _ in 0..20 {
        hub.make(&json!({ "game": "blackjack", "players": 2 }));
    }
}

#[test]
fn one_host_does_not_have_all_learners_and_begins_anew_only_now_and_then() {
    let hub = Hub::with(&["--no-default-rooms", "--proxy", "127.0.0.1"]);
    let learn = |client| socket_from(&hub, client, "/learn/socket");
    let mut greedy: Vec<Browser> = (0..64).map(|_| learn("198.51.100.1").unwrap()).collect();
    assert!(is_refused(&learn("198.51.100.1"), 503));
    let mut innocent = learn("198.51.100.2").unwrap();
    innocent.until("{\"best\"");
    // What it says is served in its turn, and not all of it.
    let first = &mut greedy[0];
    first.until("{\"best\"");
    let first_said = Instant::now();
    for _ in 0..20 {
        first.say(r#"{"do":"start"}"#);
        first.say(r#"{"do":"pause"}"#);
    }
    first.say("enough");
    let (mut begun, mut refused) = (0, 0);
    loop {
        let text = first.until("{");
        let told: Value = serde_json::from_str(&text).unwrap();
        match told["error"].as_str() {
            Some(error) if error.contains("twice a second") => refused += 1,
            Some(_) => break,
            None => begun += usize::from(told["running"] == true && told["rounds"] == 0),
        }
    }
    let most = 5 + 2 * (first_said.elapsed().as_secs() + 1);
    assert!(refused >= 20 - usize::try_from(most).unwrap(), "{begun} begun, {refused} refused");
    assert!(refused > 0 || first_said.elapsed().as_secs() > 5, "{begun} begun");
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
    // Others come in, and those who are there play.
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
