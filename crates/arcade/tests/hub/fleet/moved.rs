//! Nodes that hand over their rooms, as in a rolling upgrade.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use bytes::Bytes;
use serde_json::{Value, json};
use testkit::peer::Peer;

use super::{Arcade, bob_room, draw, guess, number, reconnect};
use crate::{
    admin::done,
    support::{Browser, Hub, id, native},
};

/// A message of robots.
const TURN: u8 = 3;

fn move_rooms(hub: &Hub, more: &[&str]) -> Value {
    let words = [&["drain", "--move", "--json"], more].concat();
    serde_json::from_str(&done(hub, &words)).unwrap()
}

/// A socket that reconnects receives all turns again.
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
fn rooms_that_are_handed_over_resume_at_another_node() {
    let arcade = Arcade::new();
    let (ann, bob) = arcade.two();
    // A native player, a browser and a watcher at the other node, a link, a bot, and an owner.
    let nuggets = ann.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "name": "Friday" } }));
    let peer = Peer::new(native(&nuggets));
    assert_eq!(peer.play("Dan").letter, 'A');
    let seen = bob.await_room(&nuggets, |_| true);
    let (mut browser, seat) = bob.enter(&seen);
    browser.send("PLAY Cid");
    assert_eq!(browser.until("OK"), "OK B");
    assert_eq!(ann.add_bots(&nuggets, &json!({ "owner": nuggets["owner_token"] })).0, 204);
    bob.await_room(&nuggets, |room| room["players"].as_array().is_some_and(|players| players.len() == 3));
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&nuggets)), None).unwrap();
    watcher.until("DISPLAY");
    let hidden = ann.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "visibility": "link" } }));
    let robots = bob_room(&ann, &bob, &json!({ "game": "robots", "players": 2, "turns": 2000, "turn_duration": 100 }));
    let (mut driver, robots_seat) = bob.enter(&robots);
    driver.join("Eve");
    let mut terminal = join_robots(&robots);
    let earlier = turns(&mut driver, 20);
    let (mastermind, _breaker, mastermind_seat, row) = guess(&ann, &bob);
    let (blackjack, _gambler, blackjack_seat, card) = draw(&ann, &bob);
    peer.send("KEY H");
    peer.send("KEY L");
    peer.expect("DISPLAY");
    let answer = move_rooms(&ann, &[]);
    let moved = &answer["moved"];
    println!("rooms stood still for {} ms", moved["pauses_ms"]);
    assert_eq!((moved["pauses_ms"].as_array().unwrap().len(), &moved["stays"]), (5, &json!({})), "{answer}");
    let ended = ann.process.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut all = peer.pending().into_iter().filter_map(|datagram| String::from_utf8(datagram).ok());
    let before = all.rfind(|text| text.starts_with("DISPLAY"));
    let found = bob.await_room(&nuggets, |room| room["node"] == "bob");
    assert_eq!((&found["port"], &found["name"]), (&nuggets["port"], &json!("Friday")));
    let is_bot = |player: &Value| player["bot"] == true;
    bob.await_room(&nuggets, |room| room["players"].as_array().is_some_and(|players| players.iter().any(is_bot)));
    peer.send("KEY h");
    peer.send("KEY l");
    let now = peer.expect("DISPLAY");
    assert_eq!(before.map_or(now.len(), |before| before.len()), now.len(), "the same map");
    // The sockets are closed without a message that the match is over.
    while browser.0.read().is_ok() {}
    let mut browser = reconnect(&bob, &nuggets, &seat);
    assert_eq!(browser.until("OK"), "OK B");
    browser.until("DISPLAY");
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&nuggets)), None).unwrap();
    watcher.until("DISPLAY");
    let mut driver = reconnect(&bob, &robots, &robots_seat);
    assert_eq!(turns(&mut driver, earlier.len()), earlier);
    turns(&mut driver, 5);
    let mut rest = vec![];
    let _ = terminal.read_to_end(&mut rest);
    let robots_now = bob.await_room(&robots, |room| room["node"] == "bob");
    assert_eq!(robots_now["port"], robots["port"]);
    join_robots(&robots_now);
    let mut breaker = reconnect(&bob, &mastermind, &mastermind_seat);
    assert_eq!(breaker.until("ROW 1"), row);
    breaker.send("GUESS 5566");
    breaker.find(|text| text.starts_with("ROW 1") && *text != row);
    let mut gambler = reconnect(&bob, &blackjack, &blackjack_seat);
    assert_eq!(gambler.until("CARD"), card);
    let mut inside = bob.enter_as(&hidden, &json!({ "code": hidden["code"] }));
    inside.until("{");
    let close = json!({ "token": hidden["owner_token"], "do": "close" });
    assert_eq!(bob.request_json("POST", &format!("/api/rooms/{}/owner", id(&hidden)), &close).0, 200);
    assert!((number(&bob, "arcade_fleet_rooms_moved_total") - 5.0).abs() < f64::EPSILON);
    // The next version starts with the name and data of the old node, but without its rooms.
    let ann = arcade.again("ann", ann.data, &["--no-default-rooms"]);
    ann.await_room(&nuggets, |room| room["node"] == "bob");
    let status = done(&ann, &["status"]);
    assert!(status.contains("Rooms:    none"), "{status}");
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn moved_default_rooms_do_not_accumulate() {
    let arcade = Arcade::new();
    let (ann, bob) = (arcade.node("ann", &[]), arcade.node("bob", &[]));
    let usual = bob.wait("rooms of both", |rooms| {
        let of_bob = rooms.iter().filter(|room| room["node"] == "bob").count();
        (rooms.len() == 2 * of_bob).then_some(of_bob)
    });
    let made = done(&ann, &["room", "new", "nuggets", "map=donuts", "--permanent"]);
    let made = made.split(' ').next().unwrap();
    move_rooms(&ann, &[]);
    let rooms = bob.wait("all rooms", |rooms| {
        let is_all = rooms.len() == 2 * usual + 1 && rooms.iter().all(|room| room["node"] == "bob");
        is_all.then(|| rooms.to_vec())
    });
    // Default rooms that `bob` already has are not permanent after the move; the operator's room is.
    assert_eq!(rooms.iter().filter(|room| room["permanent"] == true).count(), usual + 1);
    assert!(rooms.iter().any(|room| room["id"] == made && room["permanent"] == true), "{rooms:?}");
}
