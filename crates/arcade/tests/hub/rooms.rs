mod doors;

use serde_json::{Value, json};
use testkit::peer::Peer;

use crate::support::{Browser, Hub, id, key, native};

fn order(hub: &Hub, room: &Value, token: &Value, mut what: Value) -> (u16, Value) {
    what["token"] = token.clone();
    hub.request_json("POST", &format!("/api/rooms/{}/owner", id(room)), &what)
}

fn obeyed(hub: &Hub, room: &Value, what: Value) -> Value {
    let (status, now) = order(hub, room, &room["owner_token"], what);
    assert_eq!(status, 200, "{now}");
    now
}

fn refused((found, answer): (u16, Value), status: u16, why: &str) {
    let error = answer["error"].as_str().unwrap_or_default();
    assert!(found == status && (answer["code"] == why || error.contains(why)), "{found} {answer}");
    drop(answer);
}

/// The first such field in a frame of the hub.
pub(crate) fn await_field(browser: &mut Browser, field: &str) -> Value {
    let has = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|answer| answer.get(field).is_some());
    serde_json::from_str::<Value>(&browser.find(has)).unwrap()[field].take()
}

/// Joins a nuggets room. Returns the socket and the seat token.
fn play(hub: &Hub, room: &Value, name: &str, entry: &Value) -> (Browser, Value) {
    let mut browser = hub.enter_as(room, entry);
    let seat = await_field(&mut browser, "seat");
    browser.send(&format!("PLAY {name}"));
    browser.until("OK");
    (browser, seat)
}

#[test]
fn only_the_owner_commands_a_room_even_after_a_restart() {
    let hub = Hub::start();
    let room = hub.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "name": "Friday" } }));
    assert_eq!(
        (&room["name"], &room["owned"], &room["visibility"]),
        (&json!("Friday"), &json!(true), &json!("public"))
    );
    assert!(hub.get("/api/rooms").1.contains("Friday") && !hub.get("/api/rooms").1.contains("owner_token"));
    let wrong = json!("A".repeat(22));
    refused(order(&hub, &room, &wrong, json!({ "do": "lock" })), 403, "not_room_owner");
    refused(order(&hub, &hub.room("robots"), &wrong, json!({ "do": "close" })), 403, "not_room_owner");
    refused(
        hub.request_json("POST", "/api/rooms/nuggets-99/owner", &json!({ "token": "x", "do": "lock" })),
        404,
        "no_room",
    );
    assert_eq!(order(&hub, &room, &room["owner_token"], json!({ "do": "dance" })).0, 422);
    let (mut ann, ann_seat) = play(&hub, &room, "Ann", &json!({ "owner": room["owner_token"] }));
    hub.await_room(&room, |room| room["players"][0]["owner"] == true);
    assert_eq!(obeyed(&hub, &room, json!({ "do": "lock" }))["locked"], true);
    let hub = Hub::again(hub.kill(), &[]);
    assert_eq!(hub.rooms().iter().find(|now| now["id"] == room["id"]).unwrap()["locked"], true);
    drop(ann);
    ann = hub.enter_as(&room, &json!({ "seat": ann_seat, "owner": room["owner_token"] }));
    ann.until("OK A");
    let (code, why) = hub.enter_as(&room, &json!({})).ending();
    assert!(code == 4008 && why.contains("locked"), "{code} {why}");
    let stranger = Peer::new(native(&room));
    stranger.send("PLAY Eve");
    stranger.expect("QUIT The owner of this room has locked it");
    await_field(&mut hub.enter_as(&room, &json!({ "watch": true })), "room");
    // The token of a seat in use does not admit another window as a player.
    assert_eq!(hub.enter_as(&room, &json!({ "past": ann_seat })).ending().0, 4008);
    assert_eq!(obeyed(&hub, &room, json!({ "do": "unlock" }))["locked"], false);
    let (mut eve, _) = play(&hub, &room, "Eve", &json!({}));
    assert_eq!(obeyed(&hub, &room, json!({ "do": "rename", "name": "Sunday" }))["name"], "Sunday");
    refused(
        order(&hub, &room, &room["owner_token"], json!({ "do": "rename", "name": "S\u{200b}" })),
        409,
        "name_invisible",
    );
    refused(order(&hub, &room, &room["owner_token"], json!({ "do": "start" })), 409, "starts_itself");
    refused(
        order(&hub, &room, &room["owner_token"], json!({ "do": "remove", "seat": "Z" })),
        409,
        "no player has the seat",
    );
    refused(order(&hub, &room, &room["owner_token"], json!({ "do": "remove", "seat": "A" })), 409, "own_seat");
    obeyed(&hub, &room, json!({ "do": "remove", "seat": "B" }));
    eve.until("QUIT The owner of this room has removed you.");
    assert_eq!(eve.ending(), (4006, "the owner of this room has removed you".to_owned()));
    obeyed(&hub, &room, json!({ "do": "close" }));
    hub.wait("no room", |rooms| rooms.iter().all(|now| now["id"] != room["id"]).then_some(()));
}

#[test]
fn removal_binds_to_the_player_and_only_a_block_to_the_network() {
    let hub = Hub::start();
    let room = hub.make(&json!({ "game": "nuggets", "countdown": 0 }));
    let owner = json!({ "owner": room["owner_token"] });
    let (ann, ann_seat) = play(&hub, &room, "Ann", &owner);
    let (mut eve, eve_seat) = play(&hub, &room, "Eve", &json!({ "key": key(9) }));
    let (bob, bob_seat) = play(&hub, &room, "Bob", &json!({}));
    obeyed(&hub, &room, json!({ "do": "remove", "seat": "B" }));
    assert_eq!(eve.ending().0, 4006);
    let hub = Hub::again(hub.kill(), &[]);
    drop((ann, bob));
    for again in [json!({ "seat": eve_seat }), json!({ "past": eve_seat }), json!({ "key": key(9) })] {
        assert_eq!(hub.enter_as(&room, &again).ending().0, 4006, "{again}");
    }
    let mut renamed = hub.enter_as(&room, &json!({}));
    renamed.send("PLAY Eve");
    renamed.until("QUIT The owner of this room has removed you");
    assert_eq!(renamed.ending().0, 4006);
    let mut bob = hub.reconnect(&room, bob_seat.as_str().unwrap());
    bob.until("OK C");
    let (dan, dan_seat) = play(&hub, &room, "Dan", &json!({}));
    let mut screen = hub.enter_as(&room, &json!({ "watch": true }));
    await_field(&mut screen, "room");
    let mut ann = hub.enter_as(&room, &json!({ "seat": ann_seat, "owner": room["owner_token"] }));
    ann.until("OK A");
    let block = |number: u64| json!({ "do": "block", "seat": "C", "number": number });
    let (status, others) = order(&hub, &room, &room["owner_token"], block(0));
    assert_eq!((status, &others["code"], &others["count"]), (409, &json!("blocks_others"), &json!(3)), "{others}");
    assert_eq!(order(&hub, &room, &room["owner_token"], block(2)).0, 409, "there are more others by now");
    obeyed(&hub, &room, block(3));
    assert_eq!(bob.ending().0, 4006);
    drop((ann, dan, screen));
    for entry in [json!({}), json!({ "watch": true }), json!({ "seat": bob_seat })] {
        assert_eq!(hub.enter_as(&room, &entry).ending().0, 4006, "{entry}");
    }
    hub.reconnect(&room, dan_seat.as_str().unwrap()).until("OK D");
    await_field(&mut hub.enter_as(&room, &json!({ "watch": true, "past": dan_seat })), "room");
    play(&hub, &room, "Ann", &owner);
}

#[test]
fn owner_adds_bots_starts_the_match_and_removes_them() {
    let hub = Hub::start();
    let room = hub.make(&json!({ "game": "robots", "players": 4, "turns": 9000 }));
    let (mut ann, token) = hub.enter(&room);
    refused(order(&hub, &room, &room["owner_token"], json!({ "do": "start" })), 409, "no_players");
    ann.join("Ann");
    hub.seated(&room, 1);
    // In an owned room, a seat is not enough to add bots.
    let path = format!("/api/rooms/{}/bots", id(&room));
    refused(hub.request_json("POST", &path, &json!({ "seat": token })), 403, "not_room_owner");
    let bots = |number: u8| obeyed(&hub, &room, json!({ "do": "bots", "number": number, "level": "easy" }));
    bots(2);
    hub.seated(&room, 3);
    refused(
        order(&hub, &room, &room["owner_token"], json!({ "do": "bots", "number": 9 })),
        409,
        "one seat is for a person",
    );
    obeyed(&hub, &room, json!({ "do": "start", "level": "easy" }));
    hub.await_room(&room, |room| room["phase"] == "playing");
    refused(order(&hub, &room, &room["owner_token"], json!({ "do": "start" })), 409, "already_running");
    bots(0);
    hub.await_room(&room, |room| room["players"].as_array().unwrap().iter().all(|player| player["bot"] == false));
}

#[test]
fn ownership_passes_by_command_or_to_the_longest_member() {
    let hub = Hub::with(&["--owner-away", "1"]);
    let room = hub.make(&json!({ "game": "nuggets", "countdown": 0 }));
    let first = room["owner_token"].clone();
    let (ann, _) = play(&hub, &room, "Ann", &json!({ "owner": first }));
    let (mut bob, bob_seat) = play(&hub, &room, "Bob", &json!({}));
    let (mut cid, cid_seat) = play(&hub, &room, "Cid", &json!({}));
    let dan = Peer::new(native(&room));
    dan.play("Dan");
    hub.seated(&room, 4);
    refused(order(&hub, &room, &first, json!({ "do": "hand-on", "seat": "D" })), 409, "owner_needs_page");
    let (status, answer) = order(&hub, &room, &first, json!({ "do": "hand-on", "seat": "C" }));
    assert_eq!(status, 200, "{answer}");
    let second = await_field(&mut cid, "owner");
    refused(order(&hub, &room, &first, json!({ "do": "lock" })), 403, "not_room_owner");
    assert_eq!(order(&hub, &room, &second, json!({ "do": "lock" })).0, 200);
    drop(ann);
    // The new owner disconnects too. Of the players with a page, Bob joined first.
    drop(cid);
    let third = await_field(&mut bob, "owner");
    assert_eq!(order(&hub, &room, &third, json!({ "do": "unlock" })).0, 200);
    // The absent owner remains an owner.
    let hub = Hub::again(hub.kill(), &["--owner-away", "1"]);
    for token in [&second, &third] {
        assert_eq!(order(&hub, &room, token, json!({ "do": "lock" })).0, 200, "it is written down");
    }
    let mut bob = hub.reconnect(&room, bob_seat.as_str().unwrap());
    bob.until("OK B");
    let mut cid = hub.enter_as(&room, &json!({ "seat": cid_seat, "owner": second }));
    cid.until("OK C");
    assert_eq!(order(&hub, &room, &second, json!({ "do": "hand-on", "seat": "B" })).0, 200);
    let fourth = await_field(&mut bob, "owner");
    for token in [&second, &third] {
        refused(order(&hub, &room, token, json!({ "do": "lock" })), 403, "not_room_owner");
    }
    assert_eq!(order(&hub, &room, &fourth, json!({ "do": "lock" })).0, 200);
}

#[test]
fn phrases_reach_only_pages_at_a_bounded_rate() {
    let hub = Hub::start();
    let room = hub.make(&json!({ "game": "nuggets", "countdown": 0 }));
    let (mut ann, _) = play(&hub, &room, "Ann", &json!({}));
    let bob = Peer::new(native(&room));
    bob.play("Bob");
    let mut watcher = hub.enter_as(&room, &json!({ "watch": true }));
    await_field(&mut watcher, "room");
    watcher.send(r#"{"say":1}"#);
    ann.send(r#"{"say":7}"#);
    ann.send(r#"{"say":-1}"#);
    for phrase in [6, 0, 1, 2, 3, 4] {
        ann.send(&json!({ "say": phrase }).to_string());
    }
    for phrase in [6, 0, 1, 2] {
        let event = json!({ "seat": "A", "name": "Ann", "phrase": phrase });
        assert_eq!((await_field(&mut ann, "said"), await_field(&mut watcher, "said")), (event.clone(), event));
    }
    // Further phrases exceed the limit, but malformed messages still cause errors.
    ann.send("nonsense");
    assert!(ann.find(|text| text.contains("said") || text.starts_with("ERROR")).starts_with("ERROR"));
    // A native client receives only messages of the game.
    bob.send("KEY nonsense");
    bob.expect("ERROR");
}
