//! Results of several hubs in one database.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Arcade, Broker, Database, bob_room, shown};
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
        // There are none as long as the database is away.
        let found = found["matches"].as_array()?;
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

/// What a result passes.
#[derive(Debug, Clone, Copy)]
enum Part {
    Node,
    Broker,
    Database,
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn each_result_counts_once_though_node_broker_and_database_die_in_any_order() {
    use Part::{Broker as B, Database as D, Node as N};
    const ORDERS: [&[Part]; 8] = [&[N], &[N, B], &[D, N], &[N, B, D], &[B, D, N], &[D, N, B], &[B, N, D], &[D, B, N]];
    let (mut broker, mut database) = (Broker::start(true), Database::start());
    let arcade = Arcade::at(&broker.address()).with(&database);
    let (mut ann, bob) = arcade.two();
    let room = short_room(&ann);
    for (count, order) in (1..).zip(ORDERS) {
        play(&ann, &room, "Gil");
        // The result may be on its way, in the queue, or in the database.
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

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn while_the_database_is_away_matches_go_on_and_their_results_count_on_its_return() {
    let mut database = Database::start();
    let (ann, bob) = Arcade::new().with(&database).two();
    let room = short_room(&ann);
    let room = shown(&bob, &room, |_| true);
    let puzzle = bob_room(&ann, &bob, &json!({ "game": "mastermind" }));
    let (mut breaker, seat) = bob.enter(&puzzle);
    breaker.say("PLAY Eve");
    breaker.until("OK");
    database.kill();
    breaker.say("GUESS 1234");
    let row = breaker.until("ROW 1 1");
    // A whole match, from another node's page.
    play(&bob, &room, "Gil");
    for hub in [&ann, &bob] {
        hub.wait("the answer", |_| hub.get("/api/matches").0.starts_with("HTTP/1.1 503").then_some(()));
        assert!(hub.get("/healthz").0.starts_with("HTTP/1.1 200"));
    }
    assert_eq!(ann.come_back(&puzzle, &seat).until("ROW 1 1"), row);
    database.restart();
    for hub in [&ann, &bob] {
        assert_eq!(matches(hub, "Gil", 1).len(), 1);
        hub.wait("green light", |_| hub.get("/readyz").0.starts_with("HTTP/1.1 200").then_some(()));
    }
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn a_result_has_its_room_and_class_though_the_database_was_away_until_its_node_was_lost() {
    let mut database = Database::start();
    let arcade = Arcade::new().with(&database);
    let (ann, bob) = arcade.two();
    for hub in [&ann, &bob] {
        hub.wait("green light", |_| hub.get("/readyz").0.starts_with("HTTP/1.1 200").then_some(()));
    }
    database.kill();
    let room = bob_room(&ann, &bob, &json!({ "game": "mastermind" }));
    let (mut breaker, _) = bob.enter(&room);
    breaker.say("PLAY Hal");
    breaker.until("OK");
    breaker.say("GUESS 1234");
    breaker.until("ROW 1 1");
    breaker.say("RESIGN");
    breaker.until("OVER 1");
    let data = ann.kill();
    // The room continues at the other node, with a journal of its own.
    shown(&bob, &room, |shown| shown["node"] == "bob");
    database.restart();
    let ann = arcade.again("ann", data, &["--no-default-rooms"]);
    for hub in [&ann, &bob] {
        let found = &matches(hub, "Hal", 1)[0];
        for (field, value) in
            [("room", &room["id"]), ("title", &room["title"]), ("class", &json!("4-repeats")), ("rated", &json!(true))]
        {
            assert_eq!(found[field], *value, "{field} of {found}");
        }
    }
}
