use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Arcade, Broker, Database};
use crate::support::Hub;

fn short_room(hub: &Hub) -> Value {
    hub.make(&json!({ "game": "robots", "players": 1, "columns": 5, "rows": 5, "turns": 4, "turn_duration": 20 }))
}

fn play(hub: &Hub, room: &Value, name: &str) {
    const HELLO: u8 = 0;
    const GAME_ENDED: u8 = 4;
    let (mut browser, _) = hub.enter(room);
    while browser.binary().first() != Some(&HELLO) {}
    browser.join(name);
    while browser.binary().first() != Some(&GAME_ENDED) {}
}

/// At least `count` matches of a player.
fn matches(hub: &Hub, name: &str, count: usize) -> Vec<Value> {
    hub.wait("matches", |_| {
        let found: Value = serde_json::from_str(&hub.get(&format!("/api/matches?player={name}")).1).unwrap();
        // None while the database is unavailable.
        let found = found["matches"].as_array()?;
        (found.len() >= count).then(|| found.clone())
    })
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn results_and_replays_of_all_nodes_are_available_at_any_node() {
    let (ann, bob) = Arcade::new().two();
    let name = format!("Fay{}", std::process::id());
    let room = short_room(&ann);
    bob.await_room(&room, |_| true);
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
    for hub in [&ann, &bob] {
        hub.live().find(|text| text.contains(id));
    }
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Node,
    Broker,
    Database,
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn results_count_once_after_any_order_of_failures() {
    use Part::{Broker as B, Database as D, Node as N};
    const ORDERS: [&[Part]; 8] = [&[N], &[N, B], &[D, N], &[N, B, D], &[B, D, N], &[D, N, B], &[B, N, D], &[D, B, N]];
    let (mut broker, mut database) = (Broker::start(true), Database::start());
    let arcade = Arcade::at(&broker.address()).with(&database);
    let (mut ann, bob) = arcade.two();
    let room = short_room(&ann);
    for (count, order) in (1..).zip(ORDERS) {
        play(&ann, &room, "Gil");
        // The result may be in transit, queued, or in the database.
        let (mut running, mut data) = (Some(ann), None);
        for part in order {
            match part {
                N => data = running.take().map(Hub::kill),
                B => broker.kill(),
                D => database.kill(),
            }
        }
        for part in order {
            match part {
                B => broker.restart(),
                D => database.restart(),
                N => {}
            }
        }
        ann = arcade.again("ann", data.unwrap(), &["--no-default-rooms"]);
        let found = matches(&bob, "Gil", count);
        let ids: BTreeSet<&str> = found.iter().map(|found| found["id"].as_str().unwrap()).collect();
        assert_eq!((found.len(), ids.len()), (count, count), "after {order:?}: {found:?}");
    }
}
