//! Nodes that fail, and nodes that take over their rooms.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{TempDir, peer::Peer};

use super::{Arcade, bob_room, come_back, command, draw, guess, id, number, shown};
use crate::support::{Hub, native};

/// Time limit until a room resumes: 15 seconds until its node is considered dead, and the rest for the takeover.
const BACK: Duration = Duration::from_secs(20);

/// Waits until all journal entries of a hub are copied.
pub(super) fn is_copied(hub: &Hub) {
    let now = Instant::now();
    hub.wait("copies of all rooms", |_| {
        // The lag has to be shorter than the time since the call.
        let until = now.elapsed().as_secs_f64();
        (number(hub, "arcade_fleet_journal_lag_seconds") < until).then_some(())
    });
}

/// Waits until `bob` has taken over a room, and checks the time since `killed`.
pub(super) fn back(hub: &Hub, room: &Value, killed: Instant) -> Value {
    let found = shown(hub, room, |room| room["node"] == "bob");
    let took = killed.elapsed();
    assert!(took < BACK, "the room is back after {took:?}");
    found
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn rooms_of_all_games_go_on_at_another_node_when_theirs_is_killed() {
    let (ann, bob) = Arcade::new().two();
    // A native player of nuggets, and a browser and a watcher at the other node.
    let nuggets = ann.nuggets();
    let peer = Peer::new(native(&nuggets));
    let welcome = peer.play("Dan");
    assert_eq!(welcome.letter, 'A');
    let seen = shown(&bob, &nuggets, |_| true);
    let (mut browser, seat) = bob.enter(&seen);
    browser.say("PLAY Cid");
    assert_eq!(browser.until("OK"), "OK B");
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&nuggets)), None).unwrap();
    watcher.until("{");
    browser.say("KEY H");
    browser.say("KEY L");
    // Each key that moves a player causes a display for all. The last display shows the current state.
    browser.until("DISPLAY");
    // A match of robots, a guess of mastermind, and a card of blackjack.
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
    let _data = ann.kill();
    while browser.0.read().is_ok() {}
    let mut told = peer.pending().into_iter().filter_map(|datagram| String::from_utf8(datagram).ok());
    let before = told.rfind(|text| text.starts_with("DISPLAY")).unwrap();
    let found = back(&bob, &nuggets, killed);
    assert_eq!((&found["port"], &found["host"]), (&nuggets["port"], &json!("127.0.0.1")), "the same address");
    assert!(killed.elapsed() > Duration::from_secs(5), "nobody is taken for dead that early");
    // The native player needs no reconnect: it receives the last display again and keeps playing.
    assert_eq!(peer.expect("DISPLAY"), before);
    let mut browser = come_back(&bob, &nuggets, &seat);
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
    let mut driver = come_back(&bob, &robots, &robots_seat);
    // Hello, the start of the match, and earlier turns.
    for first in [0, 2, 3, 3, 3, 3, 3] {
        assert_eq!(driver.binary()[0], first);
    }
    let mut breaker = come_back(&bob, &mastermind, &mastermind_seat);
    assert_eq!(breaker.until("ROW 1"), row);
    let mut gambler = come_back(&bob, &blackjack, &blackjack_seat);
    assert_eq!(gambler.until("CARD"), card);
    assert!((number(&bob, "arcade_fleet_rooms_moved_total") - 4.0).abs() < f64::EPSILON);
    let status = command(&bob, &["status"]);
    assert!(status.contains("4 rooms of other hubs resumed here"), "{status}");
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn a_node_that_comes_back_late_leaves_its_rooms_to_the_one_that_has_them() {
    let arcade = Arcade::new();
    let (ann, bob) = arcade.two();
    let room = ann.nuggets();
    let peer = Peer::new(native(&room));
    assert_eq!(peer.play("Dan").letter, 'A');
    is_copied(&ann);
    let killed = Instant::now();
    let data = ann.kill();
    back(&bob, &room, killed);
    let ann = arcade.again("ann", data, &["--no-default-rooms"]);
    shown(&ann, &room, |room| room["node"] == "bob");
    assert!(ann.process.stderr().contains("another hub of the arcade had this room"));
    // The room also moves back, with the players who have joined in between.
    let other = Peer::new(native(&room));
    assert_eq!(other.play("Eve").letter, 'B');
    is_copied(&bob);
    let killed = Instant::now();
    let data: Arc<TempDir> = bob.kill();
    ann.wait("room", |rooms| rooms.iter().any(|now| now["id"] == room["id"] && now["node"] == "ann").then_some(()));
    assert!(killed.elapsed() < BACK);
    ann.wait("players", |rooms| {
        let now = rooms.iter().find(|now| now["id"] == room["id"])?;
        (now["players"].as_array()?.len() == 2).then_some(())
    });
    drop(data);
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn with_the_durability_of_the_cluster_nothing_told_is_lost() {
    let arcade = Arcade::new();
    let options = ["--no-default-rooms", "--durability", "cluster"];
    let (ann, bob) = (arcade.node("ann", &options), arcade.node("bob", &options));
    let room = ann.make(&json!({ "game": "mastermind" }));
    let seen = shown(&bob, &room, |_| true);
    let (mut browser, seat) = bob.enter(&seen);
    browser.say("PLAY Cid");
    browser.until("OK");
    let mut rows = vec![];
    for guess in ["1234", "5678", "1122"] {
        browser.say(&format!("GUESS {guess}"));
        rows.push(browser.until("ROW 1"));
    }
    // Kills the node directly after the last answer.
    let killed = Instant::now();
    let data = ann.kill();
    back(&bob, &room, killed);
    let mut browser = come_back(&bob, &room, &seat);
    for row in rows {
        assert_eq!(browser.until("ROW 1"), row);
    }
    drop(data);
}
