//! Bots in free seats, and limits on the rooms and sockets of a host.

use serde_json::{Value, json};

use crate::support::Hub;

fn players(room: &Value) -> Vec<(String, bool)> {
    let player = |player: &Value| (player["name"].as_str().unwrap().to_owned(), player["bot"].as_bool().unwrap());
    room["players"].as_array().unwrap().iter().map(player).collect()
}

fn find<'a>(rooms: &'a [Value], id: &Value) -> Option<&'a Value> {
    rooms.iter().find(|room| room["id"] == *id)
}

#[test]
fn bots_take_seats_and_play_on_after_a_restart() {
    let hub = Hub::start();
    let room = hub.nuggets();
    let path = format!("/api/rooms/{}/bots", room["id"].as_str().unwrap());
    let (mut browser, token) = hub.enter(&room);
    browser.say("PLAY Ann");
    browser.until("OK A");
    for level in ["easy", "hard"] {
        let body = json!({ "level": level, "owner": room["owner_token"] }).to_string();
        let (head, body) = hub.request("POST", &path, &body);
        assert!(head.starts_with("HTTP/1.1 204"), "{head} {body}");
    }
    assert!(hub.request("POST", &path, r#"{"level": "divine"}"#).0.starts_with("HTTP/1.1 422"));
    let all = [("Ann".to_owned(), false), ("Bot Ada".to_owned(), true), ("Bot Alan".to_owned(), true)];
    let seated = |rooms: &[Value]| {
        let mut players = players(find(rooms, &room["id"])?);
        players.sort();
        (players == all).then_some(())
    };
    hub.wait("Ann and two bots", seated);
    // The bots move.
    for _ in 0..5 {
        browser.until("DISPLAY");
    }
    let hub = Hub::again(hub.kill(), &[]);
    hub.wait("Ann and two bots", seated);
    let mut browser = hub.come_back(&room, &token);
    browser.until("OK A");
    for _ in 0..5 {
        browser.until("DISPLAY");
    }
}

#[test]
#[ignore = "they stay for fifteen seconds, in case that the person comes back; .ci/run runs it"]
fn bots_leave_after_the_last_person() {
    let hub = Hub::start();
    let room = hub.nuggets();
    let (mut browser, _) = hub.enter(&room);
    browser.say("PLAY Ann");
    browser.until("OK A");
    let body = json!({ "level": "easy", "owner": room["owner_token"] }).to_string();
    let (head, _) = hub.request("POST", &format!("/api/rooms/{}/bots", room["id"].as_str().unwrap()), &body);
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    hub.wait("Ann and a bot", |rooms| (players(find(rooms, &room["id"])?).len() == 2).then_some(()));
    browser.say("KEY Q");
    browser.until("QUIT");
    drop(browser);
    hub.wait("an empty room", |rooms| players(find(rooms, &room["id"])?).is_empty().then_some(()));
}

#[test]
fn one_click_is_enough_to_play_robots_alone() {
    let hub = Hub::start();
    let answer = hub.request("POST", "/api/play/robots?fill=true", "");
    let room: Value = serde_json::from_str(&answer.1).unwrap();
    assert!(answer.0.starts_with("HTTP/1.1 200") && room["id"] == hub.room("robots")["id"], "{answer:?}");
    let (mut browser, token) = hub.enter(&room);
    browser.join("Ann");
    let playing =
        hub.wait("a game", |rooms| find(rooms, &room["id"]).filter(|room| room["phase"] == "playing").cloned());
    assert_eq!(players(&playing).iter().filter(|(_, bot)| *bot).count(), 3, "{playing}");
    let wanted = json!({ "seat": token }).to_string();
    let (head, body) = hub.request("POST", &format!("/api/rooms/{}/bots", room["id"].as_str().unwrap()), &wanted);
    assert!(head.starts_with("HTTP/1.1 409") && body.contains("seat_for_person"), "{head} {body}");
    assert!(hub.request("POST", "/api/play/chess", "").0.starts_with("HTTP/1.1 404"));
}

#[test]
fn players_fill_free_seats_with_bots() {
    let hub = Hub::start();
    let room = hub.room("robots");
    let (mut browser, token) = hub.enter(&room);
    browser.join("Ann");
    hub.seated(&room, 1);
    let path = format!("/api/rooms/{}/bots", room["id"].as_str().unwrap());
    // Only a client with a seat in the room can add or remove bots.
    let (_passer, other) = hub.enter(&room);
    for wanted in
        [json!({ "fill": true }), json!({ "fill": true, "seat": other }), json!({ "seat": format!("{token}x") })]
    {
        let (head, body) = hub.request("POST", &path, &wanted.to_string());
        assert!(head.starts_with("HTTP/1.1 403") && body.contains("not_player"), "{head} {body}");
        assert!(
            hub.request("DELETE", &path, &json!({ "seat": wanted["seat"] }).to_string()).0.starts_with("HTTP/1.1 403")
        );
    }
    let (head, body) = hub.request("POST", &path, &json!({ "fill": true, "seat": token }).to_string());
    assert!(head.starts_with("HTTP/1.1 204"), "{head} {body}");
    hub.wait("a game", |rooms| (find(rooms, &room["id"])?["phase"] == "playing").then_some(()));
}

#[test]
fn pages_are_told_scores_and_the_hand_that_the_dealer_had() {
    let hub = Hub::start();
    let room = hub.make(&json!({ "game": "blackjack", "players": 1, "rounds": 3 }));
    let (mut browser, _) = hub.enter(&room);
    browser.say("JOIN Ann");
    let upcard = browser.until("DEALER ");
    browser.until("DECISION");
    browser.say("STAND");
    let result = browser.until("RESULT ");
    let told = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|news| !news["room"]["dealers"].is_null());
    let news: Value = serde_json::from_str(&browser.find(told)).unwrap();
    let dealer = &news["room"]["dealers"][0];
    assert_eq!((&dealer["table"], &dealer["round"]), (&json!(1), &json!(1)), "{news}");
    assert_eq!(dealer["cards"][1], upcard["DEALER ".len()..], "the second card is the one that lay face up");
    let won = i64::from(result == "RESULT WIN");
    assert_eq!(news["room"]["scores"], json!({ "table 1, seat 1": won }), "{result}");
}

#[test]
fn a_bot_of_blackjack_makes_a_table_for_two_begin() {
    let hub = Hub::start();
    let room = hub.room("blackjack");
    let id = room["id"].as_str().unwrap();
    let (mut browser, token) = hub.enter(&room);
    browser.say("JOIN Ann");
    hub.seated(&room, 1);
    let wanted = json!({ "seat": token }).to_string();
    assert!(hub.request("POST", &format!("/api/rooms/{id}/bots"), &wanted).0.starts_with("HTTP/1.1 204"));
    browser.until("BEGIN");
    let playing =
        hub.wait("a game", |rooms| find(rooms, &room["id"]).filter(|room| room["phase"] == "playing").cloned());
    assert!(players(&playing).contains(&("Bot-Ada".into(), true)), "{playing}");
}

#[test]
fn one_host_opens_only_so_many_rooms_and_sockets() {
    let hub = Hub::with(&["--rooms-per-host", "1", "--sockets-per-host", "2", "--no-default-rooms"]);
    assert_eq!(hub.rooms(), Vec::<Value>::new());
    let make = || hub.request("POST", "/api/rooms", r#"{"game": "nuggets"}"#);
    assert!(make().0.starts_with("HTTP/1.1 201"));
    let (head, body) = make();
    assert!(
        head.starts_with("HTTP/1.1 429") && head.contains("retry-after:") && body.contains("too_many_rooms"),
        "{head} {body}"
    );
    let _sockets = [hub.socket("/live", None).unwrap(), hub.socket("/live", None).unwrap()];
    let third = hub.socket("/live", None);
    assert!(matches!(&third, Err(tungstenite::Error::Http(answer)) if answer.status() == 429));
    let games: Value = serde_json::from_str(&hub.get("/api/games").1).unwrap();
    assert_eq!(games["games"][0]["options"][0]["name"], "map");
}
