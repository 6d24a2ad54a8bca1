//! Results of several hubs in one database.

use serde_json::{Value, json};

use super::{Arcade, brokers::Broker, shown};
use crate::support::Hub;

/// A room of robots for one whose matches are over in a moment.
fn short_room(hub: &Hub) -> Value {
    hub.make(&json!({ "game": "robots", "players": 1, "columns": 5, "rows": 5, "turns": 4, "turn_duration": 20 }))
}

/// Plays a match to its end.
fn play(hub: &Hub, room: &Value, name: &str) {
    const HELLO: u8 = 0;
    const GAME_ENDED: u8 = 4;
    let (mut browser, _) = hub.enter(room);
    while browser.binary().first() != Some(&HELLO) {}
    browser.join(name);
    while browser.binary().first() != Some(&GAME_ENDED) {}
}

/// The matches of a player, once there are so many.
fn matches(hub: &Hub, name: &str, count: usize) -> Vec<Value> {
    hub.wait("matches", |_| {
        let found: Value = serde_json::from_str(&hub.get(&format!("/api/matches?player={name}")).1).unwrap();
        let found = found["matches"].as_array().unwrap();
        (found.len() >= count).then(|| found.clone())
    })
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn results_of_all_nodes_are_in_one_place_and_replayed_from_any_page() {
    let (ann, bob) = Arcade::new().two();
    // Nobody of that name has played before.
    let name = format!("Fay{}", std::process::id());
    let room = short_room(&ann);
    shown(&bob, &room, |_| true);
    play(&bob, &room, &name);
    let found = matches(&bob, &name, 1);
    let id = found[0]["id"].as_str().unwrap();
    let here: Value = serde_json::from_str(&ann.get(&format!("/api/matches/{id}")).1).unwrap();
    let there: Value = serde_json::from_str(&bob.get(&format!("/api/matches/{id}")).1).unwrap();
    assert_eq!((&here, &there["replay"]), (&there, &json!(true)));
    let timeline = bob.wait("replay", |_| {
        let (head, body) = bob.get(&format!("/api/matches/{id}/timeline"));
        head.starts_with("HTTP/1.1 200").then_some(body)
    });
    assert_eq!(timeline, ann.get(&format!("/api/matches/{id}/timeline")).1);
    // The lobby of both names it.
    for hub in [&ann, &bob] {
        hub.live().find(|text| text.contains(id));
    }
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn each_result_counts_once_though_nodes_and_brokers_die() {
    let mut broker = Broker::start(true);
    let arcade = Arcade::at(&broker.address());
    let (mut ann, bob) = arcade.two();
    let name = format!("Gil{}", std::process::id());
    let room = short_room(&ann);
    for count in 1..=4 {
        play(&ann, &room, &name);
        // The result may be on its way, in the queue, or in the database.
        if count % 2 == 0 {
            broker.kill();
            broker.restart();
        }
        ann = arcade.again("ann", ann.kill(), &["--no-default-rooms"]);
        assert_eq!(matches(&bob, &name, count).len(), count);
    }
    let mut ids: Vec<String> = matches(&ann, &name, 4).iter().map(|found| found["id"].to_string()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}
