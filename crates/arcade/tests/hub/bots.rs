use serde_json::{Value, json};

use crate::support::{Hub, id};

fn players(room: &Value) -> Vec<(String, bool)> {
    let player = |player: &Value| (player["name"].as_str().unwrap().to_owned(), player["bot"].as_bool().unwrap());
    room["players"].as_array().unwrap().iter().map(player).collect()
}

#[test]
fn bots_take_seats_and_survive_a_restart() {
    let hub = Hub::start();
    let room = hub.nuggets();
    let (mut browser, token) = hub.enter(&room);
    browser.send("PLAY Ann");
    browser.until("OK A");
    for level in ["easy", "hard"] {
        assert_eq!(hub.add_bots(&room, &json!({ "level": level, "owner": room["owner_token"] })).0, 204);
    }
    assert_eq!(hub.add_bots(&room, &json!({ "level": "divine" })).0, 422);
    let all = [("Ann".to_owned(), false), ("Bot Ada".to_owned(), true), ("Bot Alan".to_owned(), true)];
    let is_seated = |room: &Value| {
        let mut players = players(room);
        players.sort();
        players == all
    };
    hub.await_room(&room, is_seated);
    for _ in 0..5 {
        browser.until("DISPLAY");
    }
    let hub = Hub::again(hub.kill(), &[]);
    hub.await_room(&room, is_seated);
    let mut browser = hub.reconnect(&room, &token);
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
    browser.send("PLAY Ann");
    browser.until("OK A");
    assert_eq!(hub.add_bots(&room, &json!({ "level": "easy", "owner": room["owner_token"] })).0, 204);
    hub.seated(&room, 2);
    browser.send("KEY Q");
    browser.until("QUIT");
    drop(browser);
    hub.seated(&room, 0);
}

#[test]
fn one_click_is_enough_to_play_robots_alone() {
    let hub = Hub::start();
    let (status, room) = hub.request_json("POST", "/api/play/robots?fill=true", &Value::Null);
    assert!(status == 200 && room["id"] == hub.room("robots")["id"], "{room}");
    let (mut browser, token) = hub.enter(&room);
    browser.join("Ann");
    let playing = hub.await_room(&room, |room| room["phase"] == "playing");
    assert_eq!(players(&playing).iter().filter(|(_, bot)| *bot).count(), 3, "{playing}");
    let (status, refused) = hub.add_bots(&room, &json!({ "seat": token }));
    assert_eq!((status, &refused["code"]), (409, &json!("seat_for_person")));
    assert_eq!(hub.request_json("POST", "/api/play/chess", &Value::Null).0, 404);
}

#[test]
fn players_fill_free_seats_with_bots() {
    let hub = Hub::start();
    let room = hub.room("robots");
    let (mut browser, token) = hub.enter(&room);
    browser.join("Ann");
    hub.seated(&room, 1);
    let path = format!("/api/rooms/{}/bots", id(&room));
    // A client without a seat.
    let (_passer, other) = hub.enter(&room);
    for wanted in
        [json!({ "fill": true }), json!({ "fill": true, "seat": other }), json!({ "seat": format!("{token}x") })]
    {
        let (status, refused) = hub.add_bots(&room, &wanted);
        assert_eq!((status, &refused["code"]), (403, &json!("not_player")));
        assert_eq!(hub.request_json("DELETE", &path, &json!({ "seat": wanted["seat"] })).0, 403);
    }
    assert_eq!(hub.add_bots(&room, &json!({ "fill": true, "seat": token })).0, 204);
    hub.await_room(&room, |room| room["phase"] == "playing");
}

#[test]
fn bots_of_blackjack_have_names_with_spaces_besides_those_on_the_wire() {
    let hub = Hub::start();
    let room = hub.room("blackjack");
    let (mut browser, token) = hub.enter(&room);
    browser.send("JOIN Ann");
    hub.seated(&room, 1);
    assert_eq!(hub.add_bots(&room, &json!({ "fill": true, "seat": token })).0, 204);
    let playing = hub.await_room(&room, |room| room["phase"] == "playing");
    let bot = playing["players"].as_array().unwrap().iter().find(|player| player["bot"] == true).unwrap();
    assert_eq!((&bot["name"], &bot["wire"]), (&json!("Bot Ada"), &json!("Bot-Ada")));
}

#[test]
fn pages_receive_scores_and_all_hands_of_finished_rounds() {
    let hub = Hub::start();
    let room = hub.make(&json!({ "game": "blackjack", "players": 1, "rounds": 2 }));
    // The messages of the next round may arrive before the news of a round, which the watcher awaits.
    let mut watcher = hub.socket(&format!("/rooms/{}/socket?watch=true", room["id"].as_str().unwrap()), None).unwrap();
    let (mut browser, _) = hub.enter(&room);
    browser.send("JOIN Ann");
    for number in 1..=2 {
        let cards = [browser.until("CARD "), browser.until("CARD ")].map(|card| card["CARD ".len()..].to_owned());
        let upcard = browser.until("DEALER ");
        let is_next = |text: &str| text == "DECISION" || text.starts_with("RESULT ");
        let mut result = browser.find(is_next);
        // A hand of 21 ends the round without a decision.
        if result == "DECISION" {
            browser.send("STAND");
            result = browser.until("RESULT ");
        }
        // The last round is shown after the end of its table, too.
        let is_shown = |text: &str| {
            let news = serde_json::from_str::<Value>(text).unwrap_or_default();
            news["room"]["rounds"][0]["round"].as_u64() >= Some(number)
        };
        let news: Value = serde_json::from_str(&watcher.find(is_shown)).unwrap();
        let round = &news["room"]["rounds"][0];
        // Two hands of 21 end two rounds at once.
        if round["round"] != number {
            continue;
        }
        assert_eq!(round["dealer"][1], upcard["DEALER ".len()..], "the second card is the one that lay face up");
        assert_eq!(round["hands"], json!({ "table 1, seat 1": cards }), "{news}");
        if number == 1 {
            let won = i64::from(result == "RESULT WIN");
            assert_eq!(news["room"]["scores"], json!({ "table 1, seat 1": won }), "{result}");
        }
    }
    // In the form that the description of the API promises.
    let listed = hub.rooms().into_iter().find(|other| other["id"] == room["id"]).unwrap();
    assert_eq!(listed["rounds"][0]["round"], 2);
}
