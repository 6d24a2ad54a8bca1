use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::peer::Peer;
use tungstenite::{Message, client::IntoClientRequest as _};

use super::{Arcade, Broker, number};
use crate::{
    admin::done,
    support::{Browser, Hub, id, native},
};

/// Messages of robots.
const HELLO: u8 = 0;
const STARTED: u8 = 2;
const TURN: u8 = 3;
const ENDED: u8 = 4;

fn robots(ann: &Hub, turns: u32) -> Value {
    ann.make(&json!({ "game": "robots", "players": 1, "turns": turns, "turn_duration": 100 }))
}

fn watch_from(hub: &Hub, room: &Value, host: &str) -> Browser {
    let path = format!("/rooms/{}/socket?watch=true", id(room));
    let mut watcher = hub.socket_with(&path, &[("X-Forwarded-For", host)]).unwrap();
    watcher.until(r#"{"room""#);
    watcher
}

fn watch(hub: &Hub, room: &Value) -> Browser {
    watch_from(hub, room, "127.0.0.1")
}

fn to_the_end(watcher: &mut Browser) -> Vec<Vec<u8>> {
    let mut messages: Vec<Vec<u8>> = vec![];
    while messages.last().is_none_or(|message| message[0] != ENDED) {
        messages.push(watcher.binary().to_vec());
    }
    messages
}

/// The ten messages after the start.
fn begin(watcher: &mut Browser) -> Vec<Vec<u8>> {
    while watcher.binary()[0] != STARTED {}
    (0..10).map(|_| watcher.binary().to_vec()).collect()
}

fn turns(messages: &[Vec<u8>]) -> Vec<u16> {
    let turns = messages.iter().filter(|message| message[0] == TURN);
    turns.map(|turn| u16::from_be_bytes([turn[1], turn[2]])).collect()
}

fn has_watchers(hub: &Hub, room: &Value, count: usize) {
    hub.await_room(room, |room| room["watchers"] == json!(count));
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn room_is_published_once_for_all_remote_watchers() {
    let (ann, bob) = Arcade::new().two();
    let room = robots(&ann, 60);
    let seen = bob.await_room(&room, |_| true);
    let mut near = watch(&ann, &room);
    let mut far: Vec<Browser> = (0..20).map(|_| watch(&bob, &seen)).collect();
    for hub in [&ann, &bob] {
        has_watchers(hub, &room, 21);
    }
    let is = |hub: &Hub, name: &str, count: f64| (number(hub, name) - count).abs() < f64::EPSILON;
    assert!(is(&ann, "arcade_fleet_published", 1.0) && is(&ann, "arcade_fleet_fed", 0.0));
    assert!(is(&bob, "arcade_fleet_followed", 1.0) && is(&bob, "arcade_fleet_fed", 20.0));
    assert!(is(&bob, "arcade_fleet_relayed", 0.0), "none has a socket of its own to the room");
    let before = number(&ann, "arcade_fleet_events_total");
    let (mut driver, _) = ann.enter(&room);
    driver.join("Eve");
    // A late watcher receives the match from the start. An unread socket does not delay the others.
    let lazy = far.pop().unwrap();
    while driver.binary()[0] != TURN {}
    let late = watch(&bob, &seen);
    let messages = to_the_end(&mut near);
    assert_eq!((messages[0][0], turns(&messages)), (HELLO, (0..=60).collect()));
    for watcher in &mut far {
        assert_eq!(to_the_end(watcher), messages);
    }
    for mut watcher in [late, lazy] {
        let received = to_the_end(&mut watcher);
        assert_eq!(received[0][0], HELLO);
        let started = received.iter().position(|message| message[0] == STARTED).unwrap();
        assert_eq!(turns(&received[started..]), (0..=60).collect::<Vec<_>>());
    }
    // At most three messages per turn, including the update for the page, for any number of watchers.
    let events = number(&ann, "arcade_fleet_events_total") - before;
    assert!((30.0..240.0).contains(&events), "{events} events for 61 turns");
    // Two remain: the watcher at the room's node, and the player, whose match has ended.
    drop(far);
    has_watchers(&ann, &room, 2);
    bob.wait("the end of following", |_| is(&bob, "arcade_fleet_followed", 0.0).then_some(()));
    ann.wait("the end of publishing", |_| is(&ann, "arcade_fleet_published", 0.0).then_some(()));
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn node_of_a_room_admits_watchers_of_other_nodes() {
    let arcade = Arcade::new();
    let ann = arcade.node("ann", &["--no-default-rooms"]);
    let bob = arcade.node("bob", &["--no-default-rooms", "--proxy", "127.0.0.1"]);
    let room = ann.nuggets();
    let seen = bob.await_room(&room, |_| true);
    let (mut one, mut other) = (watch_from(&bob, &seen, "192.0.2.1"), watch_from(&bob, &seen, "192.0.2.2"));
    has_watchers(&ann, &room, 2);
    done(&ann, &["ban", "192.0.2.1"]);
    assert_eq!(one.ending().0, 4007);
    has_watchers(&ann, &room, 1);
    let path = format!("/rooms/{}/socket?watch=true", id(&room));
    let mut again = bob.socket_with(&path, &[("X-Forwarded-For", "192.0.2.1")]).unwrap();
    assert_eq!(again.ending().0, 4007);
    let peer = Peer::new(native(&room));
    peer.play("Dan");
    other.find(|text| text.starts_with("DISPLAY") && text.contains('A'));
    // The first message is the entry of the page.
    let entered = |hub: &Hub, entry: &Value| {
        let mut browser = hub.socket(&format!("{path}&enter=true"), None).unwrap();
        browser.send(&entry.to_string());
        browser
    };
    entered(&bob, &json!({ "watch": true, "seat": null, "key": null })).find(|text| text.contains("\"room\""));
    assert_eq!(entered(&bob, &json!({ "watch": true, "owner": "x" })).ending().0, 4005);
    // A room with a link requires its code, so sockets of watchers are relayed.
    let hidden = ann.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "visibility": "link" } }));
    let code = hidden["code"].as_str().unwrap();
    let path = format!("/rooms/{}/socket?watch=true&enter=true", id(&hidden));
    // The directory entry arrives later.
    bob.wait("room with a link", |_| {
        (bob.request_json("POST", "/api/join", &json!({ "code": code })).0 == 200).then_some(())
    });
    let mut inside = bob.socket(&path, None).unwrap();
    inside.send(&json!({ "watch": true, "code": code }).to_string());
    inside.until("{");
    assert!(number(&bob, "arcade_fleet_relayed") > 0.5);
    let mut outside = bob.socket(&path, None).unwrap();
    outside.send(&json!({ "watch": true, "code": "aaaaaa" }).to_string());
    assert_eq!(outside.ending().0, 4011);
    let feed = format!("ws://{}/rooms/{}/feed", ann.address, id(&room)).into_client_request().unwrap();
    assert!(tungstenite::client(feed, ann.connect()).is_err());
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn remote_watchers_survive_a_short_outage_and_reconnect_after_a_long_one() {
    let mut broker = Broker::start(true);
    let (ann, bob) = Arcade::at(&broker.address()).two();
    let room = robots(&ann, 100);
    let seen = bob.await_room(&room, |_| true);
    let mut watcher = watch(&bob, &seen);
    let (mut driver, _) = ann.enter(&room);
    driver.join("Eve");
    let mut messages = begin(&mut watcher);
    broker.kill();
    let killed = Instant::now();
    while killed.elapsed() < Duration::from_secs(2) {
        driver.binary();
    }
    broker.restart();
    messages.extend(to_the_end(&mut watcher));
    assert_eq!(turns(&messages), (0..=100).collect::<Vec<_>>(), "{}", ann.process.stderr());
    // After a longer outage, the page reconnects and is relayed.
    broker.kill();
    while watcher.0.read().is_ok() {}
    let mut watcher = watch(&bob, &seen);
    assert!(number(&bob, "arcade_fleet_relayed") > 0.5);
    assert_eq!(watcher.binary()[0], HELLO);
    assert!(!matches!(watcher.0.read(), Ok(Message::Close(_))));
}
