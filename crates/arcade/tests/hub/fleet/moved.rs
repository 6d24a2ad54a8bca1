//! Nodes that hand over their rooms, as in a rolling upgrade.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use bytes::Bytes;
use serde_json::{Value, json};
use testkit::peer::Peer;

use super::{Arcade, bob_room, come_back, command, draw, guess, id, number, refused, shown};
use crate::support::{Browser, Hub, native};

/// Type of a robots message.
const TURN: u8 = 3;

/// Moves the rooms of a node, and returns the report of the command.
fn move_rooms(hub: &Hub, more: &[&str]) -> Value {
    let words = [&["drain", "--move", "--json"], more].concat();
    serde_json::from_str(&command(hub, &words)).unwrap()
}

/// A mastermind player after the first guess, and the answer.
struct Breaker {
    room: Value,
    seat: String,
    row: String,
}

impl Breaker {
    fn play(hub: &Hub) -> Self {
        let room = hub.make(&json!({ "game": "mastermind" }));
        let (mut browser, seat) = hub.enter(&room);
        browser.say("PLAY Fay");
        browser.until("OK");
        browser.say("GUESS 1234");
        let row = browser.until("ROW 1");
        Self { room, seat, row }
    }

    /// Checks over a page at this hub that the match continues, and sends another guess.
    fn goes_on(&self, hub: &Hub) {
        let mut browser = come_back(hub, &self.room, &self.seat);
        assert_eq!(browser.until("ROW 1"), self.row, "{}", id(&self.room));
        browser.say("GUESS 5566");
        browser.find(|text| text.starts_with("ROW 1") && *text != self.row);
    }
}

/// Returns the next turns of a robots match. A socket that reconnects receives all turns again.
fn turns(browser: &mut Browser, count: usize) -> Vec<Bytes> {
    let messages = std::iter::from_fn(|| Some(browser.binary()));
    messages.filter(|message| message[0] == TURN).take(count).collect()
}

fn join_robots(room: &Value) -> TcpStream {
    let mut stream = testkit::stream::connect(native(room));
    stream.write_all(b"\0\x03Hal").unwrap();
    let mut hello = [0; 1];
    stream.read_exact(&mut hello).unwrap();
    assert_eq!(hello, [0]);
    stream
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn rooms_of_all_games_go_on_at_another_node_when_theirs_hands_them_over() {
    let arcade = Arcade::new();
    let (ann, bob) = arcade.two();
    // A native player of nuggets, a browser and a watcher at the other node, a link, a bot, and an owner.
    let nuggets = ann.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "name": "Friday" } }));
    let peer = Peer::new(native(&nuggets));
    assert_eq!(peer.play("Dan").letter, 'A');
    let seen = shown(&bob, &nuggets, |_| true);
    let (mut browser, seat) = bob.enter(&seen);
    browser.say("PLAY Cid");
    assert_eq!(browser.until("OK"), "OK B");
    let bot = json!({ "owner": nuggets["owner_token"] }).to_string();
    assert!(ann.request("POST", &format!("/api/rooms/{}/bots", id(&nuggets)), &bot).0.starts_with("HTTP/1.1 204"));
    shown(&bob, &nuggets, |room| room["players"].as_array().is_some_and(|players| players.len() == 3));
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&nuggets)), None).unwrap();
    watcher.until("DISPLAY");
    let hidden = ann.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "visibility": "link" } }));
    let robots = bob_room(&ann, &bob, &json!({ "game": "robots", "players": 2, "turns": 2000, "turn_duration": 100 }));
    let (mut driver, robots_seat) = bob.enter(&robots);
    driver.join("Eve");
    let mut terminal = join_robots(&robots);
    let told = turns(&mut driver, 20);
    let (mastermind, _breaker, mastermind_seat, row) = guess(&ann, &bob);
    let (blackjack, _gambler, blackjack_seat, card) = draw(&ann, &bob);
    peer.send("KEY H");
    peer.send("KEY L");
    peer.expect("DISPLAY");
    let answer = move_rooms(&ann, &[]);
    let moved = &answer["moved"];
    println!("rooms stood still for {} ms", moved["pauses_ms"]);
    assert_eq!((moved["pauses_ms"].as_array().unwrap().len(), &moved["stays"]), (5, &json!({})), "{answer}");
    // The old node exits, so that the next version can start in its place.
    let ended = ann.process.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut all = peer.pending().into_iter().filter_map(|datagram| String::from_utf8(datagram).ok());
    let before = all.rfind(|text| text.starts_with("DISPLAY"));
    // The native player keeps its address and continues to play.
    let found = shown(&bob, &nuggets, |room| room["node"] == "bob");
    assert_eq!((&found["port"], &found["name"]), (&nuggets["port"], &json!("Friday")));
    let is_bot = |player: &Value| player["bot"] == true;
    shown(&bob, &nuggets, |room| room["players"].as_array().is_some_and(|players| players.iter().any(is_bot)));
    peer.send("KEY h");
    peer.send("KEY l");
    let now = peer.expect("DISPLAY");
    assert_eq!(before.map_or(now.len(), |before| before.len()), now.len(), "the same map");
    // The sockets were closed without a message that the match is over, and reconnect.
    while browser.0.read().is_ok() {}
    let mut browser = come_back(&bob, &nuggets, &seat);
    assert_eq!(browser.until("OK"), "OK B");
    browser.until("DISPLAY");
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&nuggets)), None).unwrap();
    watcher.until("DISPLAY");
    // The reconnected socket receives all earlier turns and new ones.
    let mut driver = come_back(&bob, &robots, &robots_seat);
    assert_eq!(turns(&mut driver, told.len()), told);
    turns(&mut driver, 5);
    let mut rest = vec![];
    let _ = terminal.read_to_end(&mut rest);
    let robots_now = shown(&bob, &robots, |room| room["node"] == "bob");
    assert_eq!(robots_now["port"], robots["port"]);
    join_robots(&robots_now);
    let mut breaker = come_back(&bob, &mastermind, &mastermind_seat);
    assert_eq!(breaker.until("ROW 1"), row);
    breaker.say("GUESS 5566");
    breaker.find(|text| text.starts_with("ROW 1") && *text != row);
    let mut gambler = come_back(&bob, &blackjack, &blackjack_seat);
    assert_eq!(gambler.until("CARD"), card);
    // The link and the owner token stay valid.
    let mut inside = bob.enter_as(&hidden, &json!({ "code": hidden["code"] }));
    inside.until("{");
    let close = json!({ "token": hidden["owner_token"], "do": "close" });
    let (head, body) = bob.request("POST", &format!("/api/rooms/{}/owner", id(&hidden)), &close.to_string());
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
    assert!((number(&bob, "arcade_fleet_rooms_moved_total") - 5.0).abs() < f64::EPSILON);
    // The next version starts with the name and the data of the old node but without its rooms.
    let ann = arcade.again("ann", ann.data, &["--no-default-rooms"]);
    shown(&ann, &nuggets, |room| room["node"] == "bob");
    let status = command(&ann, &["status"]);
    assert!(status.contains("Rooms:    none"), "{status}");
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn rooms_that_cannot_move_stay_and_the_host_is_told_why() {
    let alone = Hub::start();
    let text = refused(&alone, &["drain", "--move"]);
    assert!(text.contains("this hub was started without --nats") && text.lines().count() == 1, "{text}");
    assert!(alone.get("/readyz").0.starts_with("HTTP/1.1 200"), "it goes on");
    let arcade = Arcade::new();
    let ann = arcade.node("ann", &["--no-default-rooms"]);
    let breaker = Breaker::play(&ann);
    let text = command(&ann, &["drain", "--move", "--seconds", "60"]);
    assert!(text.contains("No room has moved.\n1 rooms stay: there is no other hub that takes rooms."), "{text}");
    breaker.goes_on(&ann);
    assert!(refused(&ann, &["drain", "--move"]).contains("are already being moved"));
    // After a restart, the node has its rooms again.
    let (ended, data) = ann.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    breaker.goes_on(&arcade.again("ann", data, &["--no-default-rooms"]));
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn rooms_of_the_house_do_not_become_more_with_each_upgrade() {
    let arcade = Arcade::new();
    let (ann, bob) = (arcade.node("ann", &[]), arcade.node("bob", &[]));
    let usual = bob.wait("rooms of both", |rooms| {
        let of_bob = rooms.iter().filter(|room| room["node"] == "bob").count();
        (rooms.len() == 2 * of_bob).then_some(of_bob)
    });
    let made = command(&ann, &["room", "new", "nuggets", "map=donuts", "--permanent"]);
    let made = made.split(' ').next().unwrap();
    move_rooms(&ann, &[]);
    let rooms = bob.wait("all rooms", |rooms| {
        let is_all = rooms.len() == 2 * usual + 1 && rooms.iter().all(|room| room["node"] == "bob");
        is_all.then(|| rooms.to_vec())
    });
    // Default rooms that `bob` already has are no longer permanent after the move. The room of the operator is.
    assert_eq!(rooms.iter().filter(|room| room["permanent"] == true).count(), usual + 1);
    assert!(rooms.iter().any(|room| room["id"] == made && room["permanent"] == true), "{rooms:?}");
}
