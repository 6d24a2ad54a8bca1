//! Regression tests for ways to reach the top of a leaderboard without playing well.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use mastermind::Rules;
use serde_json::{Value, json};
use testkit::eventually;

use crate::support::{Browser, Hub};

/// Registers a name, and joins a mastermind room as its owner.
fn owner(hub: &Hub, room: &Value, name: &str) -> Browser {
    let key = URL_SAFE_NO_PAD.encode([name.bytes().fold(7_u8, u8::wrapping_add); 32]);
    let (head, body) = hub.request("POST", "/api/names", &json!({ "name": name, "key": key }).to_string());
    assert!(head.starts_with("HTTP/1.1 204"), "{head} {body}");
    let mut browser = hub.enter_as(room, &json!({ "key": key }));
    browser.until("ROOM");
    browser.say(&format!("PLAY {name}"));
    browser.until("OK");
    // The hub verifies the name during the game. Polling over HTTP leaves the messages of the game to the caller.
    let is_proven = || {
        let room = hub.rooms().into_iter().find(|other| other["id"] == room["id"]).unwrap();
        room["players"].as_array().unwrap().iter().any(|player| player["name"] == name && player["proven"] == true)
    };
    eventually(&format!("{name} is not proven"), is_proven);
    browser
}

fn get(hub: &Hub, path: &str) -> Value {
    let (head, body) = hub.get(path);
    assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head} {body}");
    serde_json::from_str(&body).unwrap()
}

/// Waits until at least `count` matches are stored, and returns them, oldest first.
fn matches(hub: &Hub, count: usize) -> Vec<Value> {
    let all = || get(hub, "/api/matches?limit=100")["matches"].as_array().unwrap().clone();
    eventually(&format!("{count} matches are not stored"), || all().len() >= count);
    let mut all = all();
    all.reverse();
    all
}

/// Returns the unranked players of a mastermind leaderboard.
fn provisional(hub: &Hub, class: &str, season: &str) -> Vec<Value> {
    let found = get(hub, &format!("/api/leaders?game=mastermind&class={class}&season={season}"));
    let board =
        found["boards"].as_array().unwrap().first().cloned().unwrap_or(json!({ "players": [], "provisional": [] }));
    assert_eq!(board["players"], json!([]), "nobody has ten matches");
    board["provisional"].as_array().unwrap().clone()
}

#[test]
fn matches_with_a_chosen_seed_are_casual() {
    let hub = Hub::start();
    for game in ["nuggets", "robots"] {
        let room = hub.make(&json!({ "game": game, "seed": 7 }));
        assert_eq!(
            (&room["rated"], &room["casual"], &room["options"]["seed"]),
            (&json!(false), &json!("seed"), &Value::Null)
        );
    }
    let room = hub.make(&json!({ "game": "mastermind", "seed": 7 }));
    assert_eq!((&room["rated"], &room["casual"]), (&json!(false), &json!("seed")));
    let mut ann = owner(&hub, &room, "Ann");
    ann.say("RESIGN");
    let code = ann.until("OVER 1").split(' ').next_back().unwrap().to_owned();
    // The same seed gives the same code in another room.
    let again = hub.make(&json!({ "game": "mastermind", "seed": 7 }));
    let mut ann = owner(&hub, &again, "Ann");
    ann.say(&format!("GUESS {code}"));
    assert!(ann.until("OVER 1").starts_with("OVER 1 won 1 "));
    for told in matches(&hub, 2) {
        assert_eq!((&told["rated"], &told["casual"]), (&json!(false), &json!("seed")), "{told}");
    }
    assert_eq!(get(&hub, "/api/leaders")["boards"], json!([]));
    // A default room shows before the match that it is rated, and in which class.
    let usual = hub.room("mastermind");
    assert_eq!((&usual["rated"], &usual["class"], &usual["casual"]), (&json!(true), &json!("4-repeats"), &Value::Null));
}

#[test]
fn games_that_are_left_before_they_are_lost_are_lost_and_those_with_help_are_casual() {
    let hub = Hub::start();
    let room = hub.room("mastermind");
    for _ in 0..3 {
        let mut ann = owner(&hub, &room, "Ann");
        for turn in 1..=9 {
            // The guess is right in 1 of 4,096 games. Nine wrong guesses do not end a game.
            ann.say("GUESS 1111");
            ann.until(&format!("ROW 1 {turn} "));
        }
        ann.say("QUIT");
        ann.until("BYE");
    }
    for told in matches(&hub, 3) {
        assert_eq!((&told["rated"], &told["players"][0]["left"]), (&json!(true), &json!(true)), "{told}");
    }
    let now = get(&hub, "/api/leaders")["now"].as_str().unwrap().to_owned();
    for season in ["", &now] {
        let rows = provisional(&hub, "4-repeats", season);
        assert_eq!(
            (&rows[0]["mean"], &rows[0]["matches"], &rows[0]["rating"]),
            (&json!(11.0), &json!(3), &Value::Null)
        );
    }
    let mut bob = owner(&hub, &room, "Bob");
    bob.say("HINT");
    bob.until("HINT");
    bob.say("RESIGN");
    bob.until("OVER");
    bob.say("NEW 5 yes");
    bob.until("TURN 1");
    bob.say("RESIGN");
    bob.until("OVER");
    let casual: Vec<Value> = matches(&hub, 5)[3..].iter().map(|told| told["casual"].clone()).collect();
    assert_eq!(casual, ["hints", "rules"]);
}

#[test]
fn daily_puzzle_is_secret_and_counts_once_for_a_proven_name() {
    let hub = Hub::start();
    let room = hub.rooms().into_iter().find(|room| room["options"]["mode"] == "daily").unwrap();
    let mut codes = vec![];
    let mut play = |browser: &mut Browser| {
        browser.say("RESIGN");
        codes.push(browser.until("OVER").split(' ').next_back().unwrap().to_owned());
        browser.say("QUIT");
        browser.until("BYE");
    };
    let (mut guest, _) = hub.enter(&room);
    let date = guest.until("ROOM daily").rsplit(' ').next().unwrap().to_owned();
    guest.say("PLAY Guest");
    play(&mut guest);
    for _ in 0..2 {
        play(&mut owner(&hub, &room, "Ann"));
    }
    let told = matches(&hub, 3);
    let casual: Vec<Value> = told.iter().map(|told| told["casual"].clone()).collect();
    assert_eq!(casual, [json!("unproven"), Value::Null, json!("again")]);
    let rows = provisional(&hub, "daily", "");
    assert_eq!(
        (rows.len(), &rows[0]["name"], &rows[0]["matches"], &rows[0]["mean"]),
        (1, &json!("Ann"), &json!(1), &json!(11.0))
    );
    assert_eq!(provisional(&hub, "4-repeats", ""), [] as [Value; 0], "outside the other means");
    // All games of a day have the same puzzle, which the date alone does not determine.
    codes.dedup();
    let day = (20_000..40_000).map(mastermind::Day).find(|day| day.to_string() == date).unwrap();
    let by_date = day.puzzle(Rules::new(4, 8, true).unwrap()).to_string();
    // The day may end during the test. The puzzles are equal on 1 of 4,096 days.
    assert!(codes.len() <= 2 && codes[0] != by_date, "{codes:?} {by_date}");
}
