use std::{collections::BTreeSet, fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use testkit::TempDir;

use crate::{
    openapi::Description,
    support::{Browser, Hub, id, key},
};

/// Messages of robots.
const GAME_ENDED: u8 = 4;
const HELLO: u8 = 0;
const ACCEPTED: u8 = 1;

const NO_DATABASE: &str = "postgres://nobody@127.0.0.1:1/none";
pub(crate) const UNREACHABLE: &str =
    "no PostgreSQL server listens at 127.0.0.1:1; start it, or correct the host and the port of the address";

fn until_kind(browser: &mut Browser, kind: u8) {
    while browser.binary().first() != Some(&kind) {}
}

#[test]
fn returning_browser_proves_its_name_after_a_restart() {
    let hub = Hub::start();
    assert_eq!(hub.request_json("POST", "/api/names", &json!({ "name": "Ann", "key": key(1) })).0, 204);
    let room = hub.room("mastermind");
    let mut browser = hub.enter_as(&room, &json!({ "key": key(1) }));
    let hello: Value = serde_json::from_str(&browser.until("{")).unwrap();
    browser.send("PLAY Ann");
    browser.until("TURN 1");
    let is_proven = |room: &Value| room["players"][0]["proven"] == true;
    hub.await_room(&room, is_proven);
    // Until the proof of the name is stored.
    hub.wait("nothing to write", |_| hub.get("/readyz").1.contains("\"waiting\":0").then_some(()));
    assert_eq!(hub.request_json("POST", "/api/names", &json!({ "name": "Bob", "key": key(2) })).0, 204);
    let hub = Hub::again(hub.kill(), &[]);
    assert_eq!(hub.room("mastermind")["players"][0]["name"], "Ann");
    let mut browser = hub.enter_as(&room, &json!({ "key": key(1), "seat": hello["seat"] }));
    browser.until("TURN 1");
    hub.await_room(&room, is_proven);
    // Another game in the seat from before the restart.
    browser.send("RESIGN");
    browser.until("OVER 1");
    hub.matches(1);
    browser.send("NEW");
    browser.until("TURN 1");
    browser.send("RESIGN");
    for found in hub.matches(2) {
        assert_eq!(
            (&found["players"][0]["name"], &found["players"][0]["proven"]),
            (&json!("Ann"), &json!(true)),
            "{found}"
        );
    }
}

fn match_is_served_in_all_forms(options: &[&str]) {
    let hub = Hub::with(options);
    assert_eq!(hub.request_json("POST", "/api/names", &json!({ "name": "Ann", "key": key(1) })).0, 204);
    let (status, answer) = hub.request_json("POST", "/api/names", &json!({ "name": "Ann", "key": key(2) }));
    assert_eq!((status, answer["code"].as_str()), (409, Some("name_taken")));
    assert_eq!(hub.request_json("POST", "/api/names", &json!({ "name": "Bill", "key": key(2) })).0, 204);
    let (status, answer) = hub.request_json("POST", "/api/names", &json!({ "name": "BiIl", "key": key(1) }));
    assert_eq!((status, answer["code"].as_str()), (409, Some("name_resembles_one")), "no player has seen Bill yet");
    for wrong in [json!({ "name": "Ann" }), json!({ "name": "", "key": key(1) }), json!({ "name": "Ann", "key": "x" })]
    {
        assert!((400..500).contains(&hub.request_json("POST", "/api/names", &wrong).0), "{wrong}");
    }
    let room =
        hub.make(&json!({ "game": "robots", "players": 2, "columns": 5, "rows": 5, "turns": 4, "turn_duration": 20 }));
    let mut ann = hub.enter_as(&room, &json!({ "key": key(1) }));
    ann.join("Ann");
    until_kind(&mut ann, ACCEPTED);
    hub.await_room(&room, |room| room["players"][0]["proven"] == true);
    let mut other = hub.enter_as(&room, &json!({ "key": key(2) }));
    other.join("Ann");
    until_kind(&mut ann, GAME_ENDED);
    let found = hub.matches(1).remove(0);
    let mut proven: Vec<_> = found["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|player| (player["seat"].clone(), player["proven"].clone()))
        .collect();
    proven.sort_by_key(|(seat, _)| seat.to_string());
    assert_eq!(proven, [(json!("0"), json!(true)), (json!("1"), json!(false))]);
    assert_eq!((&found["game"], &found["room"], &found["complete"]), (&json!("robots"), &room["id"], &json!(true)));

    let id = found["id"].as_str().unwrap();
    assert_eq!(hub.json(&format!("/api/matches/{id}"))["replay"], true);
    let timeline = hub.json(&format!("/api/matches/{id}/timeline"));
    assert_eq!(timeline["seats"], json!([{ "seat": "0", "name": "Ann" }, { "seat": "1", "name": "Ann" }]));
    let length = timeline["length"].as_u64().unwrap();
    assert!((60..10_000).contains(&length), "{length}");
    for seat in ["", "&seat=0"] {
        let frames = hub.json(&format!("/api/matches/{id}/frames?from=0&to={length}{seat}"));
        assert_eq!(frames["until"], length);
        let kinds: Vec<u8> = frames["frames"]
            .as_array()
            .unwrap()
            .iter()
            .map(|frame| {
                let text = frame[1]["b"].as_str().unwrap();
                STANDARD.decode(text).unwrap()[0]
            })
            .collect();
        assert_eq!((kinds[0], kinds.last()), (HELLO, Some(&GAME_ENDED)), "{kinds:?}");
        // Each section starts with the full history.
        let later = hub.json(&format!("/api/matches/{id}/frames?from={length}&to={length}{seat}"));
        assert_eq!(later["frames"][0][0], length);
    }

    // Results with these options are not comparable.
    assert_eq!((&found["casual"], &found["rated"]), (&json!("options"), &json!(false)));
    assert_eq!(hub.json("/api/leaders?game=robots&season=2026-4")["boards"], json!([]));
    let player = hub.json("/api/players/Ann?season=2026-4");
    assert_eq!((&player["proven"], &player["games"]), (&json!(true), &json!({})));
    assert_eq!(hub.json("/api/players/Ann?kind=unproven")["proven"], false);
    let against = hub.json("/api/players/Ann/against/Ann?kind=proven&other_kind=unproven");
    let ties = &against["games"]["robots"];
    assert_eq!(ties["wins"].as_u64().unwrap() + ties["losses"].as_u64().unwrap() + ties["ties"].as_u64().unwrap(), 1);
    assert_eq!(hub.json("/api/matches?game=robots&player=Ann&kind=proven")["matches"].as_array().unwrap().len(), 1);
    assert_eq!(hub.json(&format!("/api/matches?before={id}"))["matches"], json!([]));
    // The lobby shows a match later than the database.
    hub.wait("match in the lobby", |_| hub.get("/").1.contains(id).then_some(()));
    let (head, page) = hub.get(&format!("/matches/{id}"));
    assert!(
        head.starts_with("HTTP/1.1 200") && page.contains(r#"property="og:title" content="Robots: "#),
        "{head} {page}"
    );
    assert!(page.contains(&format!("/matches/{id}/picture.png\"")), "{page}");
    let (head, _) = hub.request("HEAD", &format!("/matches/{id}/picture.png"), "");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("content-type: image/png"), "{head}");
    assert!(!hub.get("/matches/none").1.contains("og:title"));
    let lobby: Value = serde_json::from_str(&hub.live().until("{")).unwrap();
    assert_eq!((&lobby["recent"][0]["id"], lobby["leaders"]["robots"].as_array().unwrap().len()), (&json!(id), 0));
    for (path, status) in [
        ("/api/matches?limit=0".to_owned(), 400),
        ("/api/matches?limit=x".to_owned(), 400),
        ("/api/matches?colour=red".to_owned(), 400),
        ("/api/matches?game=chess".to_owned(), 404),
        ("/api/matches?player=%00".to_owned(), 400),
        ("/api/matches/none".to_owned(), 404),
        ("/api/matches/none/timeline".to_owned(), 404),
        (format!("/api/matches/{id}/frames?from=5&to=4"), 400),
        (format!("/api/matches/{id}/frames?from=0&to=400000"), 400),
        (format!("/api/matches/{id}/frames?from=0"), 400),
        (format!("/api/matches/{id}/frames?from=0&to=9&seat=7"), 404),
        ("/api/leaders?game=chess".to_owned(), 404),
        ("/api/leaders?season=2026".to_owned(), 400),
        ("/api/players/Nobody".to_owned(), 404),
        ("/api/players/Ann?kind=good".to_owned(), 400),
        ("/api/players/Ann/against/Nobody".to_owned(), 404),
    ] {
        assert_eq!(hub.request_json("GET", &path, &Value::Null).0, status, "{path}");
    }
}

#[test]
fn match_is_served_in_all_forms_from_sqlite() {
    match_is_served_in_all_forms(&[]);
}

#[test]
fn match_is_served_in_all_forms_from_postgresql() {
    let Ok(server) = std::env::var("ARCADE_TEST_POSTGRES") else {
        eprintln!("left out: ARCADE_TEST_POSTGRES is not set");
        return;
    };
    // No other test uses this database.
    match_is_served_in_all_forms(&["--database", &server]);
}

#[test]
fn file_that_cannot_be_written_makes_a_hub_unready() {
    let data = TempDir::new();
    fs::write(data.path().join("results.db"), "not a database ".repeat(100)).unwrap();
    let hub = Hub::again(data.into(), &[]);
    hub.wait("red light", |_| hub.get("/readyz").0.starts_with("HTTP/1.1 503").then_some(()));
}

#[test]
fn missing_server_degrades_a_hub_and_is_logged_once() {
    let hub = Hub::with(&["--database", NO_DATABASE]);
    hub.wait("degradation", |_| {
        let (head, body) = hub.get("/readyz");
        assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
        (body.contains("\"degraded\":[\"database\"]") && hub.get("/metrics").1.contains("arcade_results_away 1"))
            .then_some(())
    });
    let (finished, _) = hub.end();
    assert_eq!(finished.stderr.matches(UNREACHABLE).count(), 1, "{}", finished.stderr);
}

#[test]
fn room_is_found_by_its_id() {
    let hub = Hub::start();
    for room in hub.rooms() {
        let (status, found) = hub.request_json("GET", &format!("/api/rooms/{}", id(&room)), &Value::Null);
        assert_eq!((status, &found["id"], &found["title"]), (200, &room["id"], &room["title"]));
    }
    let (status, found) = hub.request_json("GET", "/api/rooms/nuggets-999", &Value::Null);
    assert_eq!((status, found["code"].as_str()), (404, Some("no_room")));
}

#[test]
fn routes_match_the_description() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web");
    let mut routes = BTreeSet::new();
    for entry in fs::read_dir(web).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_file() {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        for route in text.split(".route(\"").skip(1) {
            let (path, rest) = route.split_once('"').unwrap();
            let handlers = rest.split(".route(").next().unwrap();
            for method in ["get", "post", "put", "delete"] {
                let first = format!(", {method}(");
                let next = format!(").{method}(");
                if path.starts_with("/api/") && (handlers.starts_with(&first) || handlers.contains(&next)) {
                    routes.insert((path.to_owned(), method.to_owned()));
                }
            }
        }
    }
    assert_eq!(routes, Description::of_this_hub().routes());
    let hub = Hub::with(&["--no-default-rooms"]);
    assert_eq!(hub.json("/api/openapi.json"), Description::of_this_hub().0);
}
