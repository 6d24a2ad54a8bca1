use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::json;
use testkit::stream::connect;

use crate::support::{Hub, native};

#[test]
fn example_games_are_played_in_hubs_that_offer_them() {
    let hub = Hub::with(&["--examples"]);
    assert_eq!(hub.room("four-in-a-row")["permanent"], true);
    let room = hub.make(&json!({ "game": "four-in-a-row" }));
    let mut terminal = BufReader::new(connect(native(&room)));
    terminal.get_mut().write_all(b"PLAY Ann\n").unwrap();
    assert_eq!(hub.add_bots(&room, &json!({ "level": "easy", "owner": room["owner_token"] })).0, 204);
    let over = loop {
        let mut line = String::new();
        assert!(terminal.read_line(&mut line).unwrap() > 0, "the connection has ended before the game");
        if line.starts_with("OVER ") {
            break line;
        }
        if let Some(action) = line.strip_prefix("TURN ").and_then(|words| words.split_whitespace().nth(1)) {
            terminal.get_mut().write_all(format!("MOVE {action}\n").as_bytes()).unwrap();
        }
    };
    assert!(over.starts_with("OVER played "), "{over}");
    let shown = hub.await_room(&room, |room| !room["result"].is_null());
    assert_eq!(shown["result"].as_array().unwrap().len(), 2);
    let (head, _) = hub.get("/js/games/four-in-a-row/index.js");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
}

#[test]
fn hub_without_examples_neither_lists_nor_opens_them() {
    let hub = Hub::start();
    assert!(hub.rooms().iter().all(|room| room["game"] != "four-in-a-row"));
    let (_, games) = hub.get("/api/games");
    assert!(!games.contains("four-in-a-row"), "{games}");
    let (status, refused) = hub.request_json("POST", "/api/rooms", &json!({ "game": "four-in-a-row" }));
    assert!(status == 422 && refused["error"].as_str().unwrap().contains("--examples"), "{refused}");
}
