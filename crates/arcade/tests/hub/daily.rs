//! The rooms of daily challenges, and who may use them.

use serde_json::{Value, json};

use crate::support::{Browser, Hub, key};

fn start(hub: &Hub, game: &str, key: &str) -> (u16, Value) {
    hub.request_json("POST", &format!("/api/daily/{game}"), &json!({ "key": key }))
}

fn opened(hub: &Hub, game: &str, key: &str) -> Value {
    let (status, room) = start(hub, game, key);
    assert_eq!(status, 201, "{room}");
    room
}

fn enter(hub: &Hub, room: &Value, key: &str) -> Browser {
    hub.enter_as(room, &json!({ "key": key }))
}

#[test]
fn all_players_of_a_day_meet_the_same_match() {
    let hub = Hub::start();
    // The day may end during the test.
    let day = || hub.json("/api/daily/nuggets")["date"].clone();
    let starts = |game: &str| {
        let rooms = [1, 2].map(|number| (opened(&hub, game, &key(number)), key(number)));
        assert_ne!(rooms[0].0["id"], rooms[1].0["id"]);
        rooms.map(|(room, key)| {
            let mut browser = enter(&hub, &room, &key);
            if game == "robots" {
                browser.join("Ann");
                // The message about the blocks and the positions of turn 0.
                loop {
                    let message = browser.binary();
                    if message.starts_with(&[3, 0, 0]) {
                        return message.to_vec();
                    }
                }
            }
            browser.send("PLAY Ann");
            let map = browser.until("DISPLAY\n");
            browser.find(|text| {
                text.contains("\"Bot Ada\"") && text.contains("\"Bot Alan\"") && text.contains("\"Bot Grace\"")
            });
            map.into_bytes()
        })
    };
    for game in ["nuggets", "robots"] {
        let before = day();
        let [one, other] = starts(game);
        assert!(one == other || before != day(), "{game}");
    }
}

#[test]
fn challenge_is_closed_to_all_but_the_browser_of_the_attempt() {
    let hub = Hub::start();
    let (ann, eve) = (key(1), key(2));
    let room = opened(&hub, "nuggets", &ann);
    let id = room["id"].as_str().unwrap().to_owned();
    // The room is not listed, and its existence is not revealed.
    assert!(hub.rooms().iter().all(|other| other["id"] != room["id"]));
    assert_eq!(hub.request_json("GET", &format!("/api/rooms/{id}"), &Value::Null).0, 404);
    for entry in [json!({}), json!({ "key": eve }), json!({ "code": "abcdefgh" }), json!({ "key": ann, "watch": true })]
    {
        assert_eq!(hub.enter_as(&room, &entry).ending().0, 4011, "{entry}");
    }
    // Without having joined, even the browser of the attempt cannot watch.
    let mut watcher = enter(&hub, &room, &ann);
    watcher.send("SPECTATE");
    assert_eq!(watcher.ending().0, 4014);
    let mut browser = enter(&hub, &room, &ann);
    browser.send("PLAY Ann");
    browser.until("DISPLAY\n");
    for message in ["PLAY Ann", "SPECTATE"] {
        let mut tab = enter(&hub, &room, &ann);
        tab.send(message);
        assert_eq!(tab.ending().0, 4014, "{message} in another tab");
    }
    let (status, _) = hub.add_bots(&room, &json!({}));
    assert!([403, 404].contains(&status), "{status}");
    // Another request returns to the same room, also after a restart.
    assert_eq!(start(&hub, "nuggets", &ann), (200, room.clone()));
    drop(browser);
    let hub = Hub::again(hub.kill(), &[]);
    assert_eq!(start(&hub, "nuggets", &ann), (200, room.clone()));
    let mut tab = enter(&hub, &room, &ann);
    tab.send("PLAY Ann");
    assert_eq!(tab.ending().0, 4014);
}

#[test]
fn player_who_leaves_has_used_the_attempt() {
    let hub = Hub::start();
    let ann = key(1);
    let room = opened(&hub, "nuggets", &ann);
    let mut browser = enter(&hub, &room, &ann);
    browser.send("PLAY Ann");
    browser.find(|text| text.contains("\"Bot Grace\""));
    browser.send("KEY Q");
    browser.ending();
    let (status, refusal) = start(&hub, "nuggets", &ann);
    assert_eq!((status, &refusal["code"]), (409, &json!("challenge_played")));
    let shown = hub.json("/api/daily/nuggets");
    assert_eq!((&shown["scores"], &shown["own"]), (&json!([]), &Value::Null));
    assert_eq!(start(&hub, "blackjack", &ann).0, 404);
    assert_eq!(start(&hub, "nuggets", "x").0, 400);
}
