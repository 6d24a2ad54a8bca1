//! Several hubs as one arcade, with real NATS and PostgreSQL servers. `.ci/run` runs these tests, which fail without the servers.

mod brokers;
mod cut;
mod database;
mod followed;
mod lost;
mod moved;
mod results;
mod versions;
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
use crate::support::{Browser, Hub, native};

/// Returns an environment variable that `.ci/with-nats` or `.ci/with-postgres` sets.
fn set(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `.ci/with-postgres .ci/with-nats COMMAND`"))
}

/// The arcade of a single test.
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
        options.into_iter().chain(["--advertise", "127.0.0.1"]).map(str::to_owned).collect()
    }

    fn node(&self, node: &str, more: &[&str]) -> Hub {
        self.again(node, Arc::new(TempDir::new()), more)
    }

    fn again(&self, node: &str, data: Arc<TempDir>, more: &[&str]) -> Hub {
        let options = self.options(node);
        let options: Vec<&str> = options.iter().map(String::as_str).chain(more.iter().copied()).collect();
        Hub::again(data, &options)
    }

    /// Starts two nodes without rooms.
    fn two(&self) -> (Hub, Hub) {
        (self.node("ann", &["--no-default-rooms"]), self.node("bob", &["--no-default-rooms"]))
    }
}

/// Returns the standard error of a program that must fail to start.
fn refusal(options: &[&str]) -> String {
    refusal_of(Command::new(env!("CARGO_BIN_EXE_arcade")), options)
}

fn refusal_of(mut command: Command, options: &[&str]) -> String {
    let data = TempDir::new();
    let output = command.args(["--port", "0", "--data"]).arg(data.path()).args(options).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn command(hub: &Hub, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
    let output = command.args(words).arg("--data").arg(hub.data.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that must fail, and returns its standard error.
fn refused(hub: &Hub, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
    let output = command.args(words).arg("--data").arg(hub.data.path()).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

/// Waits until a hub lists a room for which `is_so` holds.
fn shown(hub: &Hub, room: &Value, is_so: impl Fn(&Value) -> bool) -> Value {
    hub.wait("room", |rooms| rooms.iter().find(|shown| shown["id"] == room["id"] && is_so(shown)).cloned())
}

fn id(room: &Value) -> &str {
    room["id"].as_str().unwrap()
}

/// Returns the value of a metric of a hub.
fn number(hub: &Hub, name: &str) -> f64 {
    let (_, text) = hub.get("/metrics");
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// Waits until the rooms of a node are suspended (or running, if `is_so` is false).
fn is_silent(hub: &Hub, is_so: bool) {
    hub.wait("silence", |_| ((number(hub, "arcade_fleet_silent") > 0.0) == is_so).then_some(()));
}

/// Waits until the hub can locate the room, and opens a socket to a seat in it.
fn come_back(hub: &Hub, room: &Value, token: &str) -> Browser {
    hub.wait("room", |_| hub.get(&format!("/api/rooms/{}", id(room))).0.starts_with("HTTP/1.1 200").then_some(()));
    hub.come_back(room, token)
}

/// Opens a room at `ann` and returns it as `bob` lists it.
fn bob_room(ann: &Hub, bob: &Hub, options: &Value) -> Value {
    shown(bob, &ann.make(options), |_| true)
}

/// Sends a guess over `bob` to a mastermind room of `ann`. Returns the room, the socket, the seat token, and the answer.
fn guess(ann: &Hub, bob: &Hub) -> (Value, Browser, String, String) {
    let room = bob_room(ann, bob, &json!({ "game": "mastermind" }));
    let (mut breaker, seat) = bob.enter(&room);
    breaker.say("PLAY Fay");
    breaker.until("OK");
    breaker.say("GUESS 1234");
    let row = breaker.until("ROW 1 1");
    (room, breaker, seat, row)
}

/// Like `guess`, for the first card of a round of blackjack, which waits for a decision.
fn draw(ann: &Hub, bob: &Hub) -> (Value, Browser, String, String) {
    let room = bob_room(ann, bob, &json!({ "game": "blackjack", "players": 1, "rounds": 9 }));
    let (mut gambler, seat) = bob.enter(&room);
    gambler.say("JOIN Gil");
    let card = gambler.until("CARD");
    gambler.until("DECISION");
    (room, gambler, seat, card)
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn all_nodes_show_all_rooms_and_one_plays_in_them_from_any_page() {
    let (ann, bob) = Arcade::new().two();
    let room = ann.nuggets();
    let seen = shown(&bob, &room, |_| true);
    assert_eq!((&seen["node"], &seen["host"], &seen["port"]), (&json!("ann"), &json!("127.0.0.1"), &room["port"]));
    // A browser stays connected to its node, which relays its socket to the room.
    let (mut browser, token) = bob.enter(&seen);
    browser.say("PLAY Cid");
    assert_eq!(browser.until("OK"), "OK A");
    browser.until("DISPLAY");
    let peer = Peer::new(native(&seen));
    assert_eq!(peer.play("Dan").letter, 'B');
    browser.until("DISPLAY");
    browser.say("KEY h");
    browser.say("KEY l");
    peer.expect("DISPLAY");
    let mut watcher = bob.socket(&format!("/rooms/{}/socket?watch=true", id(&room)), None).unwrap();
    watcher.until("{");
    // The page, its list and the interface show both players.
    shown(&bob, &room, |room| room["players"].as_array().is_some_and(|players| players.len() == 2));
    let mut live = bob.live();
    live.find(|text| text.contains("Cid") && text.contains("Dan"));
    bob.wait("page", |_| bob.get("/").1.contains("Cid").then_some(()));
    let one: Value = serde_json::from_str(&bob.get(&format!("/api/rooms/{}", id(&room))).1).unwrap();
    assert_eq!(one["players"].as_array().unwrap().len(), 2, "{one}");
    // A new room is sent as a change of the list.
    ann.make(&json!({ "game": "robots", "room": { "name": "Friday" } }));
    assert!(!live.find(|text| text.contains("Friday")).contains("Cid"), "only what has changed is told");
    // The token gives access to the same seat from the page of the other node.
    drop(browser);
    let mut again = ann.come_back(&room, &token);
    assert_eq!(again.until("OK"), "OK A");
    let list = command(&bob, &["room", "list"]);
    assert!(list.contains(id(&room)) && list.contains("127.0.0.1 port"), "{list}");
    assert!(
        refused(&bob, &["room", "close", id(&room)]).contains("is a room of the hub 'ann'; run this command there")
    );
    let status = command(&bob, &["status"]);
    assert!(
        status.contains("this is 'bob'") && status.contains("ann at 127.0.0.1:") && status.contains("2 rooms"),
        "{status}"
    );
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn names_and_codes_are_unique_and_a_link_leads_there_from_any_node() {
    let (ann, bob) = Arcade::new().two();
    let rooms: Vec<Value> = [&ann, &bob, &ann, &bob].map(Hub::nuggets).into();
    let mut ids: Vec<&str> = rooms.iter().map(id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rooms.len());
    let hidden = ann.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "visibility": "link" } }));
    let code = hidden["code"].as_str().unwrap();
    let join = |hub: &Hub, body: &Value| hub.request("POST", "/api/join", &body.to_string());
    // The directory entry takes a moment to arrive.
    let joined: Value = bob.wait("room of a code", |_| {
        let (head, body) = join(&bob, &json!({ "code": code }));
        head.starts_with("HTTP/1.1 200").then(|| serde_json::from_str(&body).unwrap())
    });
    assert_eq!((&joined["id"], &joined["port"], &joined["node"]), (&hidden["id"], &hidden["port"], &json!("ann")));
    let (head, _) = bob.get(&format!("/j/{code}"));
    assert!(head.contains(&format!("location: /rooms/{}#{code}", id(&hidden))), "{head}");
    let mut inside = bob.enter_as(&hidden, &json!({ "code": code }));
    inside.until("{");
    inside.say("PLAY Cid");
    assert_eq!(inside.until("OK"), "OK A");
    let mut outside = bob.enter_as(&hidden, &json!({}));
    assert_eq!(outside.ending().0, 4011);
    // No list contains the hidden room.
    shown(&bob, &rooms[2], |_| true);
    assert!(bob.rooms().iter().all(|room| room["id"] != hidden["id"]));
    assert!(bob.get(&format!("/api/rooms/{}", id(&hidden))).0.starts_with("HTTP/1.1 404"));
    let word = ann.make(&json!({ "game": "robots", "room": { "visibility": "word", "word": "żółw" } }));
    assert_eq!(shown(&bob, &word, |_| true)["port"], 0);
    let (head, body) = join(&bob, &json!({ "room": id(&word), "word": "żółw" }));
    assert!(head.starts_with("HTTP/1.1 200") && body.contains(&word["port"].to_string()), "{head} {body}");
    assert!(join(&bob, &json!({ "room": id(&word), "word": "turtle" })).0.starts_with("HTTP/1.1 403"));
    // The owner may use any node.
    let close = json!({ "token": word["owner_token"], "do": "close" });
    let (head, body) = bob.request("POST", &format!("/api/rooms/{}/owner", id(&word)), &close.to_string());
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
    bob.wait("end of the room", |rooms| rooms.iter().all(|room| room["id"] != word["id"]).then_some(()));
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn play_now_leads_to_the_fullest_room_of_all_nodes_and_else_to_the_emptiest_node() {
    let (ann, bob) = Arcade::new().two();
    let play = |hub: &Hub| -> Value {
        let (head, body) = hub.request("POST", "/api/play/robots", "");
        assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
        serde_json::from_str(&body).unwrap()
    };
    // No node has players, so the node that receives the request opens the room.
    let first = play(&ann);
    assert_eq!(first["node"], "ann");
    let (mut cid, _) = ann.enter(&first);
    cid.join("Cid");
    // A room with a waiting player is preferred.
    shown(&bob, &first, |room| room["players"].as_array().is_some_and(|players| players.len() == 1));
    bob.wait("way to those who wait", |_| (play(&bob)["id"] == first["id"]).then_some(()));
    // If no node has a suitable room, the emptiest node opens one.
    let mut full = ann.make(&json!({ "game": "mastermind" }));
    let (_browser, _) = ann.enter(&full);
    full = shown(&bob, &full, |_| true);
    let (head, body) = ann.request("POST", "/api/play/blackjack", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
    let other: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&other["node"], &full["node"]), (&json!("bob"), &json!("ann")));
    // The room is already open, but the list of `ann` may lag behind.
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
    shown(&bob, &room, |_| true);
    // The node of the room applies its limit per client host.
    let held: Vec<_> = (0..2).map(|_| bob.from("192.0.2.7", &room).unwrap()).collect();
    let other = bob.from("192.0.2.8", &room).unwrap();
    assert!(bob.from("192.0.2.7", &room).is_err());
    command(&ann, &["ban", "192.0.2.8"]);
    assert!(bob.from("192.0.2.8", &room).is_err(), "the ban is that of the room's node");
    drop((held, other));
    // A forged relay header is ignored.
    let forged = "1 192.0.2.9:1 0 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let path = format!("/rooms/{}/socket", id(&room));
    let mut eve = ann.socket_with(&path, &[("arcade-relay", forged)]).unwrap();
    eve.until("{");
    eve.say("PLAY Eve");
    eve.until("OK");
    let list = command(&ann, &["room", "list"]);
    assert!(list.contains("Eve, from 127.0.0.1"), "{list}");
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn a_node_that_is_killed_is_gone_and_comes_back_with_its_rooms_and_seats() {
    let arcade = Arcade::new();
    let (ann, bob) = arcade.two();
    let room = ann.nuggets();
    let seen = shown(&bob, &room, |_| true);
    let (mut browser, token) = bob.enter(&seen);
    browser.say("PLAY Cid");
    browser.until("OK");
    browser.until("DISPLAY");
    let data = ann.kill();
    // The relayed socket is closed.
    while browser.0.read().is_ok() {}
    let (head, body) = bob.get(&format!("/api/rooms/{}", id(&room)));
    assert!(head.starts_with("HTTP/1.1 503") && body.contains("'ann'"), "{head} {body}");
    let ann = arcade.again("ann", data, &["--no-default-rooms"]);
    // The page retries until the other node has the new address.
    bob.wait("room at its new address", |_| {
        bob.get(&format!("/api/rooms/{}", id(&room))).0.starts_with("HTTP/1.1 200").then_some(())
    });
    let mut again = bob.come_back(&room, &token);
    assert_eq!(again.until("OK"), "OK A");
    again.until("DISPLAY");
    // A node that exits in an orderly way removes its rooms from the lists.
    shown(&bob, &room, |_| true);
    let (ended, _) = ann.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    bob.wait("end of the node", |rooms| rooms.is_empty().then_some(()));
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn a_broker_that_cannot_be_used_is_told_in_one_sentence() {
    let refused = |servers: &str| {
        let options = Arcade::at(servers).options("ann");
        refusal(&options.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let without = Broker::start(false);
    let text = refused(&without.address());
    assert!(text.contains("it runs without JetStream; start it with --jetstream"), "{text}");
    let nobody = "nats://127.0.0.1:9";
    let text = refused(nobody);
    assert!(text.contains("cannot connect to NATS at 127.0.0.1:9") && text.lines().count() == 1, "{text}");
    assert!(refusal(&["--nats", nobody]).contains("--node"), "the other options are needed too");
    let mut by_variable = Command::new(env!("CARGO_BIN_EXE_arcade"));
    by_variable.env("ARCADE_NATS", nobody);
    assert!(refusal_of(by_variable, &[]).contains("--node"), "the addresses were in the environment");
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
fn while_the_broker_is_away_matches_go_on_and_on_its_return_all_is_told_once() {
    let mut broker = Broker::start(true);
    let arcade = Arcade::at(&broker.address());
    let (ann, bob) = arcade.two();
    let room = ann.nuggets();
    let seen = shown(&bob, &room, |_| true);
    let (mut browser, _) = bob.enter(&seen);
    browser.say("PLAY Cid");
    browser.until("OK");
    browser.until("DISPLAY");
    broker.kill();
    let is_ready = |hub: &Hub| hub.get("/readyz").0.starts_with("HTTP/1.1 200");
    ann.wait("red light", |_| (!is_ready(&ann)).then_some(()));
    bob.wait("red light", |_| (!is_ready(&bob)).then_some(()));
    assert!(ann.get("/healthz").0.starts_with("HTTP/1.1 200"));
    let lobby: Value = serde_json::from_str(&bob.get("/api/rooms").1).unwrap();
    assert_eq!(lobby["unsure"], true, "{lobby}");
    // The match continues, also over the other node. No room can be opened.
    let peer = Peer::new(native(&seen));
    assert_eq!(peer.play("Dan").letter, 'B');
    browser.until("DISPLAY");
    let (head, body) = ann.request("POST", "/api/rooms", &json!({ "game": "robots" }).to_string());
    assert!(head.starts_with("HTTP/1.1 503") && body.contains("no_lease"), "{head} {body}");
    broker.restart();
    for hub in [&ann, &bob] {
        hub.wait("green light", |_| is_ready(hub).then_some(()));
    }
    shown(&bob, &room, |room| room["players"].as_array().is_some_and(|players| players.len() == 2));
    ann.nuggets();
}
