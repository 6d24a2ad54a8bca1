use std::process::Command;

use serde_json::{Value, json};
use testkit::{peer::Peer, process::Process};

use crate::{
    rooms::await_field,
    support::{Hub, id, key, native},
};

#[test]
fn name_moves_to_another_device_and_is_released() {
    let hub = Hub::start();
    let post = |path: &str, body: Value| hub.request_json("POST", path, &body);
    assert_eq!(post("/api/names", json!({ "name": "Ann", "key": key(1) })).0, 204);
    assert_eq!(post("/api/names/link", json!({ "name": "Ann", "key": key(2) })).0, 403);
    assert_eq!(post("/api/names/link", json!({ "name": "Ann", "key": "short" })).0, 400);
    let link = |number: u8| post("/api/names/link", json!({ "name": "Ann", "key": key(number) })).1;
    let linked = link(1);
    assert_eq!(linked["seconds"], 600);
    let address = format!("/#name={}", linked["code"].as_str().unwrap());
    assert!(
        linked["url"].as_str().unwrap().ends_with(&address) && linked["qr"].as_str().unwrap().contains("<svg"),
        "{linked}"
    );
    let redeem = |code: &Value, number: u8| post("/api/names/redeem", json!({ "code": code, "key": key(number) }));
    assert_eq!(redeem(&linked["code"], 2), (200, json!({ "name": "Ann" })));
    assert_eq!(redeem(&linked["code"], 3).0, 404, "it is valid once");
    assert_eq!(post("/api/names", json!({ "name": "Ann", "key": key(2) })).0, 204);
    let room = hub.nuggets();
    let mut browser = hub.enter_as(&room, &json!({ "key": key(2) }));
    await_field(&mut browser, "seat");
    browser.send("PLAY Ann");
    browser.until("OK A");
    let is_proven = |proven: bool| {
        move |rooms: &[Value]| {
            let room = rooms.iter().find(|room| room["game"] == "nuggets" && room["players"] != json!([]))?;
            (room["players"][0]["proven"] == proven).then_some(())
        }
    };
    hub.wait("a proven name", is_proven(true));
    for number in [3, 4] {
        assert_eq!(redeem(&link(2)["code"], number).0, 200);
    }
    let (status, why) = redeem(&link(1)["code"], 5);
    assert!(status == 409 && why["error"].as_str().unwrap().contains("4 devices"), "{why}");
    assert_eq!(post("/api/names/key", json!({ "name": "Ann", "key": key(9), "new": key(6) })).0, 403);
    assert_eq!(post("/api/names/key", json!({ "name": "Ann", "key": key(3), "new": key(6) })).0, 204);
    hub.wait("a name that its seat does not prove any more", is_proven(false));
    for old in [1, 2, 3, 4] {
        assert_eq!(post("/api/names", json!({ "name": "Ann", "key": key(old) })).0, 409, "{old}");
    }
    assert_eq!(post("/api/names", json!({ "name": "Ann", "key": key(6) })).0, 204);
    assert_eq!(post("/api/names/release", json!({ "name": "Ann", "key": key(1) })).0, 403);
    assert_eq!(post("/api/names/release", json!({ "name": "Ann", "key": key(6) })).0, 204);
    assert_eq!(post("/api/names", json!({ "name": "Ann", "key": key(7) })).0, 204, "it is free at once");
    // Wrong codes do not block the right one.
    for _ in 0..21 {
        assert_eq!(redeem(&json!("abcdef-abcdef"), 8).0, 404);
    }
    let linked = post("/api/names/link", json!({ "name": "Ann", "key": key(7) })).1;
    assert_eq!(redeem(&linked["code"], 8), (200, json!({ "name": "Ann" })));
}

#[test]
fn name_in_its_own_letters_survives_a_restart_and_is_in_results() {
    let hub = Hub::start();
    assert_eq!(hub.request_json("POST", "/api/names", &json!({ "name": "Łukasz", "key": key(1) })).0, 204);
    let room = hub.nuggets();
    let mut sara = hub.enter_as(&room, &json!({}));
    await_field(&mut sara, "seat");
    sara.send("PLAY שרה");
    sara.until("OK A");
    let mut browser = hub.enter_as(&room, &json!({ "key": key(1) }));
    let hello = await_field(&mut browser, "seat");
    browser.send("PLAY Łukasz");
    browser.until("OK B");
    let players = json!([["שרה", "shrh", false], ["Łukasz", "Lukasz", true]]);
    let is_shown = |room: &Value| {
        let all = room["players"].as_array().unwrap().iter();
        players == all.map(|player| json!([player["name"], player["wire"], player["proven"]])).collect::<Value>()
    };
    hub.await_room(&room, is_shown);
    hub.wait("nothing to write", |_| hub.get("/readyz").1.contains("\"waiting\":0").then_some(()));
    let hub = Hub::again(hub.kill(), &[]);
    let mut browser = hub.enter_as(&room, &json!({ "key": key(1), "seat": hello }));
    browser.until("OK B");
    hub.await_room(&room, is_shown);
    // A native player may have this wire name.
    let bob = Peer::new(native(&room));
    bob.send("PLAY Lukasz");
    bob.expect("OK C");
    browser.send("KEY Q");
    bob.send("KEY Q");
    drop(sara);
    let token = json!({ "do": "close", "token": room["owner_token"] });
    assert_eq!(hub.request_json("POST", &format!("/api/rooms/{}/owner", id(&room)), &token).0, 200);
    let found = hub.matches(1).remove(0);
    let mut all: Vec<_> = found["players"].as_array().unwrap().iter().map(|of| (&of["seat"], &of["name"])).collect();
    all.sort_by_key(|(seat, _)| seat.to_string());
    assert_eq!(json!(all), json!([["A", "שרה"], ["B", "Łukasz"], ["C", "Lukasz"]]));
    let timeline = hub.json(&format!("/api/matches/{}/timeline", found["id"].as_str().unwrap()));
    assert_eq!(timeline["seats"][1], json!({ "seat": "B", "name": "Łukasz", "wire": "Lukasz" }));
    assert!(timeline["marks"].to_string().contains("Łukasz"), "{timeline}");
    assert_eq!(hub.json("/api/players/%C5%81ukasz")["proven"], true);
}

fn post(hub: &Hub, path: &str, body: &Value) -> (u16, Value) {
    hub.request_json("POST", &format!("/api/names{path}"), body)
}

fn redeem(hub: &Hub, code: &Value, number: u8) -> u16 {
    post(hub, "/redeem", &json!({ "code": code, "key": key(number) })).0
}

#[test]
fn device_code_survives_a_restart_and_a_refused_device() {
    let hub = Hub::start();
    assert_eq!(post(&hub, "", &json!({ "name": "Ann", "key": key(1) })).0, 204);
    let code = post(&hub, "/link", &json!({ "name": "Ann", "key": key(1) })).1["code"].clone();
    let hub = Hub::again(hub.kill(), &[]);
    for letter in 'a'..='p' {
        let name = format!("Bob {letter}");
        assert_eq!(post(&hub, "", &json!({ "name": name, "key": key(2) })).0, 204, "{name}");
    }
    assert_eq!(redeem(&hub, &code, 2), 409, "a key owns 16 names at most");
    assert_eq!(post(&hub, "/release", &json!({ "name": "Bob a", "key": key(2) })).0, 204);
    assert_eq!(redeem(&hub, &code, 2), 200);
    assert_eq!(redeem(&hub, &code, 2), 404);
}

#[test]
fn report_about_a_player_reaches_the_operator() {
    let hub = Hub::start();
    let room =
        hub.make(&json!({ "game": "robots", "players": 1, "columns": 5, "rows": 5, "turns": 2, "turn_duration": 20 }));
    let (mut eve, _) = hub.enter(&room);
    eve.join("Eve\u{1b}[2J");
    while eve.binary().first() != Some(&4) {}
    hub.wait("a stored result", |_| hub.get("/metrics").1.contains("arcade_results_stored_total 1").then_some(()));
    let (_, found) = hub.request_json("GET", "/api/matches", &Value::Null);
    let path = format!("/api/matches/{}/report", found["matches"][0]["id"].as_str().unwrap());
    let report = |seat: &str, reason: &str, text: &str| {
        hub.request_json("POST", &path, &json!({ "seat": seat, "reason": reason, "text": text })).0
    };
    assert_eq!(report("0", "name", "such a name"), 204);
    assert_eq!(
        [report("7", "name", ""), report("0", "ugly", ""), report("0", "talk", &"x".repeat(501))],
        [404, 422, 400]
    );
    assert_eq!(
        hub.request_json("POST", "/api/matches/none-1/report", &json!({ "seat": "0", "reason": "name" })).0,
        404
    );
    let arcade = |hub: &Hub, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
        Process::run(command.arg("--data").arg(hub.data.path()).args(words))
    };
    let hub = Hub::again(hub.kill(), &[]);
    let listed = arcade(&hub, &["report", "list"]).stdout;
    assert!(listed.starts_with("1  ") && listed.contains("(seat 0): name  http://localhost:"), "{listed}");
    assert!(listed.contains("such a name") && !listed.contains('\u{1b}') && listed.contains("/matches/"), "{listed}");
    let all: Value = serde_json::from_str(&arcade(&hub, &["report", "list", "--json"]).stdout).unwrap();
    assert_eq!((&all[0]["reason"], &all[0]["room"]), (&json!("name"), &room["id"]));
    assert_eq!(arcade(&hub, &["report", "clear", "1"]).stdout, "Report 1 is cleared.\n");
    assert_eq!(arcade(&hub, &["report", "list"]).stdout, "No reports.\n");
    let finished = arcade(&hub, &["report", "clear", "1"]);
    assert!(finished.code == Some(1) && finished.stderr.contains("no report 1"), "{}", finished.stderr);
}
