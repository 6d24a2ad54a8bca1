use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::peer::Peer;

use super::{Arcade, bob_room, draw, guess, number, reconnect};
use crate::{
    admin::done,
    support::{Hub, id, native},
};

/// 15 seconds until the node counts as dead, and the rest for the takeover.
const BACK: Duration = Duration::from_secs(20);

pub(super) fn is_copied(hub: &Hub) {
    let now = Instant::now();
    hub.wait("copies of all rooms", |_| {
        // The lag has to be shorter than the time since the call.
        let until = now.elapsed().as_secs_f64();
        (number(hub, "arcade_fleet_journal_lag_seconds") < until).then_some(())
    });
}

/// Returns the room as `bob` has it, and checks the time since `killed`.
pub(super) fn back(hub: &Hub, room: &Value, killed: Instant) -> Value {
    let found = hub.await_room(room, |room| room["node"] == "bob");
    let took = killed.elapsed();
    assert!(took < BACK, "the room is back after {took:?}");
    found
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn rooms_of_a_killed_node_resume_at_another_one() {
    let arcade = Arcade::new();
    let (ann, bob) = arcade.two();
    // At the other node: a browser and a watcher.
    let nuggets = ann.nuggets();
    let peer = Peer::new(native(&nuggets));
    let welcome = peer.play("Dan");
    assert_eq!(welcome.letter, 'A');
    let seen = bob.await_room(&nuggets, |_| true);
    let (mut browser, seat) = bob.enter(&seen);
    browser.send("PLAY Cid");
    assert_eq!(browser.until("OK"), "OK B");
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&nuggets)), None).unwrap();
    watcher.until("{");
    browser.send("KEY H");
    browser.send("KEY L");
    // Each move causes a display for all; the last one shows the current state.
    browser.until("DISPLAY");
    let robots = bob_room(&ann, &bob, &json!({ "game": "robots", "players": 1, "turns": 2000, "turn_duration": 100 }));
    let (mut driver, robots_seat) = bob.enter(&robots);
    driver.join("Eve");
    for _ in 0..10 {
        driver.binary();
    }
    let (mastermind, _breaker, mastermind_seat, row) = guess(&ann, &bob);
    let (blackjack, _gambler, blackjack_seat, card) = draw(&ann, &bob);
    is_copied(&ann);
    let killed = Instant::now();
    let data = ann.kill();
    while browser.0.read().is_ok() {}
    let mut texts = peer.pending().into_iter().filter_map(|datagram| String::from_utf8(datagram).ok());
    let before = texts.rfind(|text| text.starts_with("DISPLAY")).unwrap();
    let found = back(&bob, &nuggets, killed);
    assert_eq!((&found["port"], &found["host"]), (&nuggets["port"], &json!("127.0.0.1")), "the same address");
    assert!(killed.elapsed() > Duration::from_secs(5), "nobody is taken for dead that early");
    // The native player does not reconnect: it receives the last display again.
    assert_eq!(peer.expect("DISPLAY"), before);
    let mut browser = reconnect(&bob, &nuggets, &seat);
    assert_eq!(browser.until("OK"), "OK B");
    browser.until("DISPLAY");
    peer.send("KEY h");
    peer.send("KEY l");
    peer.expect("DISPLAY");
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&nuggets)), None).unwrap();
    watcher.until("{");
    for room in [&robots, &mastermind, &blackjack] {
        back(&bob, room, killed);
    }
    let mut driver = reconnect(&bob, &robots, &robots_seat);
    // Hello, the start, and earlier turns.
    for first in [0, 2, 3, 3, 3, 3, 3] {
        assert_eq!(driver.binary()[0], first);
    }
    let mut breaker = reconnect(&bob, &mastermind, &mastermind_seat);
    assert_eq!(breaker.until("ROW 1"), row);
    let mut gambler = reconnect(&bob, &blackjack, &blackjack_seat);
    assert_eq!(gambler.until("CARD"), card);
    assert!((number(&bob, "arcade_fleet_rooms_moved_total") - 4.0).abs() < f64::EPSILON);
    let status = done(&bob, &["status"]);
    assert!(status.contains("4 rooms of other hubs resumed here"), "{status}");
    // A node that returns late does not take its rooms back.
    let ann = arcade.again("ann", data, &["--no-default-rooms"]);
    ann.await_room(&nuggets, |room| room["node"] == "bob");
    assert!(ann.process.stderr().contains("another hub of the arcade had this room"));
}
