//! Several hubs as one arcade, with real NATS and PostgreSQL servers from `.ci/run`; the tests fail without them.

mod brokers;
mod cut;
mod database;
mod followed;
mod lost;
mod moved;
mod results;
mod watched;

use std::{
    env,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use serde_json::{Value, json};
use testkit::{TempDir, peer::Peer};

use self::{brokers::Broker, database::Database};
use crate::{
    admin::{done, fails},
    support::{Browser, Hub, id, native},
};

/// Set by `.ci/with-nats` or `.ci/with-postgres`.
fn set(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `.ci/with-postgres .ci/with-nats COMMAND`"))
}

struct Arcade {
    name: String,
    servers: String,
    database: String,
}

impl Arcade {
    fn new() -> Self {
        Self::at(&set("ARCADE_TEST_NATS"))
    }

    fn at(servers: &str) -> Self {
        static TESTS: AtomicU32 = AtomicU32::new(0);
        let name = format!("hub-{}-{}", std::process::id(), TESTS.fetch_add(1, Ordering::Relaxed));
        Self { name, servers: servers.to_owned(), database: set("ARCADE_TEST_POSTGRES") }
    }

    fn with(self, database: &Database) -> Self {
        Self { database: database.address(), ..self }
    }

    fn options(&self, node: &str) -> Vec<String> {
        let options = ["--nats", &self.servers, "--arcade", &self.name, "--database", &self.database, "--node", node];
        // Fewer streams than by default, because all tests share the servers.
        let more = ["--advertise", "127.0.0.1", "--journal-streams", "2"];
        options.into_iter().chain(more).map(str::to_owned).collect()
    }

    fn node(&self, node: &str, more: &[&str]) -> Hub {
        self.again(node, Arc::new(TempDir::new()), more)
    }

    fn again(&self, node: &str, data: Arc<TempDir>, more: &[&str]) -> Hub {
        let options = self.options(node);
        let options: Vec<&str> = options.iter().map(String::as_str).chain(more.iter().copied()).collect();
        Hub::again(data, &options)
    }

    fn two(&self) -> (Hub, Hub) {
        (self.node("ann", &["--no-default-rooms"]), self.node("bob", &["--no-default-rooms"]))
    }
}

fn refusal(mut command: Command, options: &[String]) -> String {
    let data = TempDir::new();
    let output = command.args(["--port", "0", "--data"]).arg(data.path()).args(options).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn number(hub: &Hub, name: &str) -> f64 {
    let (_, text) = hub.get("/metrics");
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// Waits until the rooms of a node are suspended, or running if `is_so` is false.
fn is_silent(hub: &Hub, is_so: bool) {
    hub.wait("silence", |_| ((number(hub, "arcade_fleet_silent") > 0.0) == is_so).then_some(()));
}

/// Waits until the hub can locate the room.
fn reconnect(hub: &Hub, room: &Value, token: &str) -> Browser {
    hub.wait("room", |_| hub.get(&format!("/api/rooms/{}", id(room))).0.starts_with("HTTP/1.1 200").then_some(()));
    hub.reconnect(room, token)
}

/// Returns the room as `bob` lists it.
fn bob_room(ann: &Hub, bob: &Hub, options: &Value) -> Value {
    bob.await_room(&ann.make(options), |_| true)
}

/// Sends a guess over `bob` to a mastermind room of `ann`. Returns the room, the socket, the seat token and the answer.
fn guess(ann: &Hub, bob: &Hub) -> (Value, Browser, String, String) {
    let room = bob_room(ann, bob, &json!({ "game": "mastermind" }));
    let (mut breaker, seat) = bob.enter(&room);
    breaker.send("PLAY Fay");
    breaker.until("OK");
    breaker.send("GUESS 1234");
    let row = breaker.until("ROW 1 1");
    (room, breaker, seat, row)
}

/// Like `guess`, for the first card of a round of blackjack, before a decision.
fn draw(ann: &Hub, bob: &Hub) -> (Value, Browser, String, String) {
    let room = bob_room(ann, bob, &json!({ "game": "blackjack", "players": 1, "rounds": 9 }));
    let (mut gambler, seat) = bob.enter(&room);
    gambler.send("JOIN Gil");
    let card = gambler.until("CARD");
    gambler.until("DECISION");
    (room, gambler, seat, card)
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn all_nodes_list_and_relay_all_rooms() {
    let (ann, bob) = Arcade::new().two();
    let room = ann.nuggets();
    let seen = bob.await_room(&room, |_| true);
    assert_eq!((&seen["node"], &seen["host"], &seen["port"]), (&json!("ann"), &json!("127.0.0.1"), &room["port"]));
    // Over `bob`, who relays the socket.
    let (mut browser, token) = bob.enter(&seen);
    browser.send("PLAY Cid");
    assert_eq!(browser.until("OK"), "OK A");
    browser.until("DISPLAY");
    let peer = Peer::new(native(&seen));
    assert_eq!(peer.play("Dan").letter, 'B');
    browser.until("DISPLAY");
    browser.send("KEY h");
    browser.send("KEY l");
    peer.expect("DISPLAY");
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&room)), None).unwrap();
    watcher.until("{");
    bob.await_room(&room, |room| room["players"].as_array().is_some_and(|players| players.len() == 2));
    let mut live = bob.live();
    live.find(|text| text.contains("Cid") && text.contains("Dan"));
    bob.wait("page", |_| bob.get("/").1.contains("Cid").then_some(()));
    let one: Value = serde_json::from_str(&bob.get(&format!("/api/rooms/{}", id(&room))).1).unwrap();
    assert_eq!(one["players"].as_array().unwrap().len(), 2, "{one}");
    ann.make(&json!({ "game": "robots", "room": { "name": "Friday" } }));
    assert!(!live.find(|text| text.contains("Friday")).contains("Cid"), "only what has changed is told");
    drop(browser);
    let mut again = ann.reconnect(&room, &token);
    assert_eq!(again.until("OK"), "OK A");
    let list = done(&bob, &["room", "list"]);
    assert!(list.contains(id(&room)) && list.contains("127.0.0.1 port"), "{list}");
    assert!(fails(&bob, &["room", "close", id(&room)]).contains("is a room of the hub 'ann'; run this command there"));
    let status = done(&bob, &["status"]);
    assert!(
        status.contains("this is 'bob'") && status.contains("ann at 127.0.0.1:") && status.contains("2 rooms"),
        "{status}"
    );
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn names_and_codes_are_unique_and_links_work_at_any_node() {
    let (ann, bob) = Arcade::new().two();
    let rooms: Vec<Value> = [&ann, &bob, &ann, &bob].map(Hub::nuggets).into();
    let mut ids: Vec<&str> = rooms.iter().map(id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rooms.len());
    let hidden = ann.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "visibility": "link" } }));
    let code = hidden["code"].as_str().unwrap();
    let join = |body: &Value| bob.request_json("POST", "/api/join", body);
    // The directory entry arrives later.
    let joined = bob.wait("room of a code", |_| {
        let (status, room) = join(&json!({ "code": code }));
        (status == 200).then_some(room)
    });
    assert_eq!((&joined["id"], &joined["port"], &joined["node"]), (&hidden["id"], &hidden["port"], &json!("ann")));
    let (head, _) = bob.get(&format!("/j/{code}"));
    assert!(head.contains(&format!("location: /rooms/{}#{code}", id(&hidden))), "{head}");
    let mut inside = bob.enter_as(&hidden, &json!({ "code": code }));
    inside.until("{");
    inside.send("PLAY Cid");
    assert_eq!(inside.until("OK"), "OK A");
    let mut outside = bob.enter_as(&hidden, &json!({}));
    assert_eq!(outside.ending().0, 4011);
    bob.await_room(&rooms[2], |_| true);
    assert!(bob.rooms().iter().all(|room| room["id"] != hidden["id"]));
    assert!(bob.get(&format!("/api/rooms/{}", id(&hidden))).0.starts_with("HTTP/1.1 404"));
    let word = ann.make(&json!({ "game": "robots", "room": { "visibility": "word", "word": "żółw" } }));
    assert_eq!(bob.await_room(&word, |_| true)["port"], 0);
    let (status, joined) = join(&json!({ "room": id(&word), "word": "żółw" }));
    assert_eq!((status, &joined["port"]), (200, &word["port"]));
    assert_eq!(join(&json!({ "room": id(&word), "word": "turtle" })).0, 403);
    let close = json!({ "token": word["owner_token"], "do": "close" });
    assert_eq!(bob.request_json("POST", &format!("/api/rooms/{}/owner", id(&word)), &close).0, 200);
    bob.wait("end of the room", |rooms| rooms.iter().all(|room| room["id"] != word["id"]).then_some(()));
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn play_now_prefers_the_fullest_room_and_then_the_emptiest_node() {
    let (ann, bob) = Arcade::new().two();
    let play = |hub: &Hub| -> Value {
        let (status, room) = hub.request_json("POST", "/api/play/robots", &Value::Null);
        assert_eq!(status, 200, "{room}");
        room
    };
    // Without players, the node that receives the request opens the room.
    let first = play(&ann);
    assert_eq!(first["node"], "ann");
    let (mut cid, _) = ann.enter(&first);
    cid.join("Cid");
    bob.await_room(&first, |room| room["players"].as_array().is_some_and(|players| players.len() == 1));
    bob.wait("way to those who wait", |_| (play(&bob)["id"] == first["id"]).then_some(()));
    // Leaves no free seat.
    let mut full = ann.make(&json!({ "game": "mastermind" }));
    let (_browser, _) = ann.enter(&full);
    full = bob.await_room(&full, |_| true);
    let (status, other) = ann.request_json("POST", "/api/play/blackjack", &Value::Null);
    assert_eq!(status, 200, "{other}");
    assert_eq!((&other["node"], &full["node"]), (&json!("bob"), &json!("ann")));
    // The list of `ann` may lag behind.
    ann.wait("room", |rooms| rooms.iter().any(|room| room["id"] == other["id"]).then_some(()));
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn forwarded_requests_carry_a_sealed_identity() {
    let arcade = Arcade::new();
    let bound = ["--no-default-rooms", "--sockets-per-host", "2"];
    let ann = arcade.node("ann", &bound);
    let bob = arcade.node("bob", &[&bound[..], &["--proxy", "127.0.0.1"]].concat());
    let room = ann.nuggets();
    bob.await_room(&room, |_| true);
    // The limit of the room's node, per client host.
    let held: Vec<_> = (0..2).map(|_| bob.from("192.0.2.7", &room).unwrap()).collect();
    let other = bob.from("192.0.2.8", &room).unwrap();
    assert!(bob.from("192.0.2.7", &room).is_err());
    done(&ann, &["ban", "192.0.2.8"]);
    assert!(bob.from("192.0.2.8", &room).is_err(), "the ban is that of the room's node");
    drop((held, other));
    let forged = "1 192.0.2.9:1 0 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let path = format!("/rooms/{}/socket", id(&room));
    let mut eve = ann.socket_with(&path, &[("arcade-relay", forged)]).unwrap();
    eve.until("{");
    eve.send("PLAY Eve");
    eve.until("OK");
    let list = done(&ann, &["room", "list"]);
    assert!(list.contains("Eve, from 127.0.0.1"), "{list}");
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn killed_node_returns_with_its_rooms_and_seats() {
    let arcade = Arcade::new();
    let (ann, bob) = arcade.two();
    let room = ann.nuggets();
    let seen = bob.await_room(&room, |_| true);
    let (mut browser, token) = bob.enter(&seen);
    browser.send("PLAY Cid");
    browser.until("OK");
    browser.until("DISPLAY");
    let data = ann.kill();
    while browser.0.read().is_ok() {}
    let (head, body) = bob.get(&format!("/api/rooms/{}", id(&room)));
    assert!(head.starts_with("HTTP/1.1 503") && body.contains("'ann'"), "{head} {body}");
    let ann = arcade.again("ann", data, &["--no-default-rooms"]);
    // The page retries until `bob` has the new address.
    bob.wait("room at its new address", |_| {
        bob.get(&format!("/api/rooms/{}", id(&room))).0.starts_with("HTTP/1.1 200").then_some(())
    });
    let mut again = bob.reconnect(&room, &token);
    assert_eq!(again.until("OK"), "OK A");
    again.until("DISPLAY");
    bob.await_room(&room, |_| true);
    let (ended, _) = ann.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    bob.wait("end of the node", |rooms| rooms.is_empty().then_some(()));
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn unusable_broker_is_reported_in_one_line() {
    let nobody = "nats://127.0.0.1:9";
    let options = Arcade::at(nobody).options("ann");
    let text = refusal(Command::new(env!("CARGO_BIN_EXE_arcade")), &options);
    assert!(text.contains("cannot connect to NATS at 127.0.0.1:9") && text.lines().count() == 1, "{text}");
    let mut by_variable = Command::new(env!("CARGO_BIN_EXE_arcade"));
    by_variable.env("ARCADE_NATS", nobody);
    assert!(refusal(by_variable, &[]).contains("--node"), "the addresses were in the environment");
    assert!(fails(&Hub::start(), &["drain", "--move"]).contains("this hub was started without --nats"));
    let doctor = |servers: &str| {
        let data = TempDir::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
        let options = Arcade::at(servers).options("ann");
        let output = command.arg("--data").arg(data.path()).args(&options).arg("doctor").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(doctor(nobody).contains("TO DO broker   cannot connect to NATS"));
    let well = doctor(&set("ARCADE_TEST_NATS"));
    assert!(well.contains("ok    broker   NATS 2."), "{well}");
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn node_with_another_number_of_streams_is_rejected() {
    let arcade = Arcade::new();
    let _ann = arcade.node("ann", &["--no-default-rooms"]);
    let mut options = arcade.options("bob");
    *options.last_mut().unwrap() = "3".to_owned();
    let text = refusal(Command::new(env!("CARGO_BIN_EXE_arcade")), &options);
    assert!(text.contains("this node has --journal-streams 3, and the arcade was created with 2"), "{text}");
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn matches_continue_during_a_broker_outage() {
    let mut broker = Broker::start(true);
    let arcade = Arcade::at(&broker.address());
    let (ann, bob) = arcade.two();
    let room = ann.nuggets();
    let seen = bob.await_room(&room, |_| true);
    let (mut browser, _) = bob.enter(&seen);
    browser.send("PLAY Cid");
    browser.until("OK");
    browser.until("DISPLAY");
    broker.kill();
    let is_degraded = |hub: &Hub| {
        let (head, body) = hub.get("/readyz");
        assert!(head.starts_with("HTTP/1.1 200"), "both nodes lack the brokers: {head} {body}");
        body.contains("\"degraded\":[\"brokers\"]")
    };
    for hub in [&ann, &bob] {
        hub.wait("degradation", |_| is_degraded(hub).then_some(()));
    }
    assert!(ann.get("/healthz").0.starts_with("HTTP/1.1 200"));
    let lobby: Value = serde_json::from_str(&bob.get("/api/rooms").1).unwrap();
    assert_eq!(lobby["unsure"], true, "{lobby}");
    // The match continues, also over the other node, but no room can be opened.
    let peer = Peer::new(native(&seen));
    assert_eq!(peer.play("Dan").letter, 'B');
    browser.until("DISPLAY");
    let (status, refused) = ann.request_json("POST", "/api/rooms", &json!({ "game": "robots" }));
    assert_eq!((status, &refused["code"]), (503, &json!("no_lease")));
    broker.restart();
    for hub in [&ann, &bob] {
        hub.wait("recovery", |_| (!is_degraded(hub)).then_some(()));
    }
    bob.await_room(&room, |room| room["players"].as_array().is_some_and(|players| players.len() == 2));
    ann.nuggets();
}
