//! Attempts to lead a leaderboard without playing well.

use mastermind::Rules;
use serde_json::{Value, json};

use crate::support::{Browser, Hub, key};

/// Joins a mastermind room as the owner of a name.
fn owner(hub: &Hub, room: &Value, name: &str) -> Browser {
    let key = key(name.bytes().fold(7, u8::wrapping_add));
    assert_eq!(hub.request_json("POST", "/api/names", &json!({ "name": name, "key": key })).0, 204);
    let mut browser = hub.enter_as(room, &json!({ "key": key }));
    browser.until("ROOM");
    browser.send(&format!("PLAY {name}"));
    browser.until("OK");
    // The name is verified during the game. Polling over HTTP leaves the messages of the game to the caller.
    let is_proven = |player: &Value| player["name"] == name && player["proven"] == true;
    hub.await_room(room, |room| room["players"].as_array().unwrap().iter().any(is_proven));
    browser
}

fn provisional(hub: &Hub, class: &str, season: &str) -> Vec<Value> {
    let found = hub.json(&format!("/api/leaders?game=mastermind&class={class}&season={season}"));
    let board =
        found["boards"].as_array().unwrap().first().cloned().unwrap_or(json!({ "players": [], "provisional": [] }));
    assert_eq!(board["players"], json!([]), "nobody has ten matches");
    board["provisional"].as_array().unwrap().clone()
}

#[test]
fn room_states_before_a_match_that_players_of_one_host_are_not_rated() {
    let hub = Hub::start();
    let room = hub.room("nuggets");
    let (mut ann, seat) = hub.enter(&room);
    ann.send("PLAY Ann");
    let expect = |reason: Value, players: usize| {
        hub.await_room(&room, |room| {
            room["rated"] == true && room["casual"] == reason && room["players"].as_array().unwrap().len() >= players
        });
    };
    expect(Value::Null, 1);
    let (mut bob, _) = hub.enter(&room);
    bob.send("PLAY Bob");
    expect(json!("network"), 2);
    // Each of them is compared with the bots.
    assert_eq!(hub.add_bots(&room, &json!({ "fill": true, "seat": seat })).0, 204);
    expect(Value::Null, 3);
}

#[test]
fn left_games_count_as_lost_and_games_with_hints_are_casual() {
    let hub = Hub::start();
    let room = hub.room("mastermind");
    for _ in 0..3 {
        let mut ann = owner(&hub, &room, "Ann");
        for turn in 1..=9 {
            // Right in 1 of 4,096 games. Nine wrong guesses do not end a game.
            ann.send("GUESS 1111");
            ann.until(&format!("ROW 1 {turn} "));
        }
        ann.send("QUIT");
        ann.until("BYE");
    }
    for played in hub.matches(3) {
        assert_eq!((&played["rated"], &played["players"][0]["left"]), (&json!(true), &json!(true)), "{played}");
    }
    let now = hub.json("/api/leaders")["now"].as_str().unwrap().to_owned();
    for season in ["", &now] {
        let rows = provisional(&hub, "4-repeats", season);
        assert_eq!(
            (&rows[0]["mean"], &rows[0]["matches"], &rows[0]["rating"]),
            (&json!(11.0), &json!(3), &Value::Null)
        );
    }
    let mut bob = owner(&hub, &room, "Bob");
    bob.send("HINT");
    bob.until("HINT");
    bob.send("RESIGN");
    bob.until("OVER");
    bob.send("NEW 5 yes");
    bob.until("TURN 1");
    bob.send("RESIGN");
    bob.until("OVER");
    let casual: Vec<Value> = hub.matches(5)[3..].iter().map(|played| played["casual"].clone()).collect();
    assert_eq!(casual, ["hints", "rules"]);
}

#[test]
fn daily_puzzle_is_secret_and_counts_once_for_a_proven_name() {
    let hub = Hub::start();
    let room = hub.rooms().into_iter().find(|room| room["options"]["mode"] == "daily").unwrap();
    let mut codes = vec![];
    let mut play = |browser: &mut Browser| {
        browser.send("RESIGN");
        codes.push(browser.until("OVER").split(' ').next_back().unwrap().to_owned());
        browser.send("QUIT");
        browser.until("BYE");
    };
    let (mut guest, _) = hub.enter(&room);
    let date = guest.until("ROOM daily").rsplit(' ').next().unwrap().to_owned();
    guest.send("PLAY Guest");
    play(&mut guest);
    for _ in 0..2 {
        play(&mut owner(&hub, &room, "Ann"));
    }
    let played = hub.matches(3);
    let casual: Vec<Value> = played.iter().map(|played| played["casual"].clone()).collect();
    assert_eq!(casual, [json!("unproven"), Value::Null, json!("again")]);
    let rows = provisional(&hub, "daily", "");
    assert_eq!(
        (rows.len(), &rows[0]["name"], &rows[0]["matches"], &rows[0]["mean"]),
        (1, &json!("Ann"), &json!(1), &json!(11.0))
    );
    assert_eq!(provisional(&hub, "4-repeats", ""), [] as [Value; 0], "outside the other means");
    // The puzzle is the same for all games of a day, and the date alone does not determine it.
    codes.dedup();
    let day = (20_000..40_000).map(mastermind::Day).find(|day| day.to_string() == date).unwrap();
    let by_date = day.puzzle(Rules::new(4, 8, true).unwrap()).to_string();
    // The day may end during the test. Two puzzles are equal on 1 of 4,096 days.
    assert!(codes.len() <= 2 && codes[0] != by_date, "{codes:?} {by_date}");
}
