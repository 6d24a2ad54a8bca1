//! Classes: members behind one address, rooms that only they enter, and the end that removes their data.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use crate::{
    admin::{done, fails},
    openapi::Description,
    support::{Browser, Hub, key},
};

pub(crate) struct Class {
    pub(crate) code: String,
    teacher: String,
}

impl Class {
    pub(crate) fn open(hub: &Hub, players: u32) -> Self {
        let text = done(hub, &["class", "Networks, group 2", "--players", &players.to_string()]);
        let link = text.lines().find_map(|line| line.strip_prefix("Teacher:")).unwrap();
        let (code, teacher) = link.split_once("/class#").unwrap().1.trim().split_once('.').unwrap();
        assert!(text.contains(&format!("/j/{code}")), "{text}");
        Self { code: code.to_owned(), teacher: teacher.to_owned() }
    }

    fn ask(&self, hub: &Hub, (method, path): (&str, &str), token: &str, body: &Value) -> (u16, Value) {
        let path = format!("/api/class{path}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = hub.raw(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nClass-Code: {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            hub.address,
            self.code,
            body.len()
        ));
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let value = if text.is_empty() { Value::Null } else { serde_json::from_str(text).unwrap_or(text.into()) };
        if !value.is_string() {
            Description::of_this_hub().check(method, &path, status, &value);
        }
        (status, value)
    }

    fn command(&self, hub: &Hub, command: &Value) -> Value {
        let (status, answer) = self.ask(hub, ("POST", "/command"), &self.teacher, command);
        assert!(status == 200 || status == 204, "{command}: {answer}");
        answer
    }

    fn room(&self, hub: &Hub, options: &Value) -> String {
        self.command(hub, &json!({ "do": "open", "options": options }))["room"].as_str().unwrap().to_owned()
    }

    fn join(&self, hub: &Hub, number: u8, name: &str) -> (u16, Value) {
        self.ask(hub, ("POST", "/join"), "", &json!({ "key": key(number), "name": name }))
    }

    fn state(&self, hub: &Hub, token: &str) -> Value {
        let (status, state) = self.ask(hub, ("GET", ""), token, &Value::Null);
        assert_eq!(status, 200, "{state}");
        state
    }
}

fn enter(hub: &Hub, room: &str, entry: &Value) -> Browser {
    hub.enter_as(&json!({ "id": room }), entry)
}

// Enters a room of nuggets with the key of a member, and joins.
fn play(hub: &Hub, room: &str, number: u8, name: &str) -> Browser {
    let mut browser = enter(hub, room, &json!({ "key": key(number) }));
    browser.until("{\"seat\"");
    browser.send(&format!("PLAY {name}"));
    browser
}

#[test]
fn members_behind_one_address_share_no_quota() {
    let hub = Hub::with(&["--sockets-per-host", "1"]);
    let class = Class::open(&hub, 40);
    for number in 1..=40 {
        assert_eq!(class.join(&hub, number, &format!("Pupil {number}")).0, 200);
    }
    let (status, full) = class.join(&hub, 41, "Pupil 41");
    assert_eq!((status, &full["code"]), (409, &json!("class_full")));
    let room = class.room(&hub, &json!({ "game": "nuggets", "countdown": 0 }));
    // More than half of the 26 seats of a match are vacated from one address.
    let _first = play(&hub, &room, 1, "Pupil 1");
    for number in 2..=15 {
        let mut pupil = play(&hub, &room, number, &format!("Pupil {number}"));
        pupil.until("OK");
        pupil.send("KEY Q");
        pupil.until("QUIT");
    }
    // Sockets of others at this address, which have shown no key, are not sockets of the class.
    let socket = || hub.socket(&format!("/rooms/{room}/socket?enter=true"), None).unwrap();
    let _outside: Vec<_> = (0..200).map(|_| socket()).collect();
    let mut second_group: Vec<_> =
        (16..=25).map(|number| play(&hub, &room, number, &format!("Pupil {number}"))).collect();
    for pupil in &mut second_group {
        pupil.until("OK");
    }
    // Each may send phrases at the rate of a host.
    for pupil in &mut second_group {
        pupil.send(r#"{"say":1}"#);
    }
    let mut senders = BTreeSet::new();
    while senders.len() < 10 {
        let said: Value = serde_json::from_str(&second_group[9].until("{\"said\"")).unwrap();
        senders.insert(said["said"]["name"].as_str().unwrap().to_owned());
    }
}

#[test]
fn class_is_visible_to_its_members_only() {
    let hub = Hub::start();
    let class = Class::open(&hub, 3);
    let shown = hub.rooms().len();
    let codeless = hub.raw(&format!("GET /api/class HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", hub.address));
    assert!(codeless.starts_with("HTTP/1.1 400"), "{codeless}");
    let room = class.room(&hub, &json!({ "game": "nuggets", "countdown": 0 }));
    assert_eq!(class.join(&hub, 1, "Żaneta").0, 200);
    assert_eq!(class.join(&hub, 1, "Eve").1["name"], "Żaneta");
    assert_eq!(class.ask(&hub, ("GET", ""), &key(2), &Value::Null).0, 403);
    assert_eq!(class.ask(&hub, ("POST", "/command"), &key(1), &json!({ "do": "end" })).0, 403);
    assert_eq!(hub.rooms().len(), shown);
    assert_eq!(hub.request_json("GET", &format!("/api/rooms/{room}"), &Value::Null).0, 404);
    for entry in [json!({}), json!({ "key": key(2) }), json!({ "key": key(2), "watch": true })] {
        assert_eq!(enter(&hub, &room, &entry).ending().0, 4011, "{entry}");
    }
    let mut wrong = play(&hub, &room, 1, "Eve");
    assert_eq!(wrong.ending().0, 4013);
    let mut pupil = play(&hub, &room, 1, "Żaneta");
    pupil.until("OK");
    let (head, _) = hub.get(&format!("/j/{}", class.code.to_uppercase()));
    assert!(head.contains(&format!("location: /class#{}", class.code)), "{head}");

    let state = class.state(&hub, &class.teacher);
    assert_eq!(state["rooms"][0]["players"][0]["name"], "Żaneta");
    assert_eq!(state["follow"], json!(room));
    assert_eq!((&state["rooms"][0]["port"], &state["rooms"][0]["rated"]), (&json!(0), &json!(false)));
    assert!(state["rooms"][0]["owner_token"].is_string());
    let state = class.state(&hub, &key(1));
    assert!(state["you"] == "Żaneta" && state["rooms"][0]["owner_token"].is_null(), "{state}");

    let invited = class.command(&hub, &json!({ "do": "invite" }));
    assert_eq!(class.state(&hub, invited["token"].as_str().unwrap())["list"], json!([]));
}

#[test]
fn names_of_a_list_are_chosen_once_and_free_after_removal() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let class = Class::open(&hub, 9);
    class.command(&hub, &json!({ "do": "names", "names": ["Ann", " Bob ", "ann"] }));
    let names = |hub: &Hub| class.ask(hub, ("POST", "/join"), "", &json!({ "key": key(9) })).1["names"].clone();
    assert_eq!(names(&hub), json!(["Ann", "Bob"]));
    assert_eq!(class.join(&hub, 1, "Ann").0, 200);
    assert_eq!(class.join(&hub, 2, "Ann").1["code"], "class_name_taken");
    assert_eq!(class.join(&hub, 2, "Cid").1["code"], "class_names");
    assert_eq!(names(&hub), json!(["Bob"]));
    let room = class.room(&hub, &json!({ "game": "nuggets" }));
    let mut windows: Vec<_> = (0..4).map(|_| enter(&hub, &room, &json!({ "key": key(1), "watch": true }))).collect();
    for window in &mut windows {
        window.until("{");
    }
    assert_eq!(enter(&hub, &room, &json!({ "key": key(1), "watch": true })).ending().0, 4003);
    let mut watcher = windows.remove(0);
    class.command(&hub, &json!({ "do": "remove", "name": "Ann" }));
    assert_eq!(class.ask(&hub, ("GET", ""), &key(1), &Value::Null).0, 403);
    while watcher.0.read().is_ok() {}
    assert_eq!(class.join(&hub, 2, "Ann").0, 200);
    assert!(fails(&hub, &["class", "two  spaces", "--players", "2"]).contains("spaces"));
    assert!(fails(&hub, &["end-class", "x"]).contains(&format!("open are {} (Networks, group 2)", class.code)));
    done(&hub, &["end-class", &class.code]);
    assert_eq!(class.ask(&hub, ("GET", ""), &class.teacher, &Value::Null).0, 404);
}

#[test]
fn tournament_opens_rooms_for_its_pairs_and_ends_with_a_table() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let class = Class::open(&hub, 9);
    let names = ["Ann", "Bob", "Cid"];
    for (number, name) in (1..).zip(names) {
        assert_eq!(class.join(&hub, number, name).0, 200);
    }
    let start = json!({ "do": "tournament", "system": "round-robin", "game": "robots" });
    class.command(&hub, &start);
    for round in 1..=3 {
        let state = class.state(&hub, &key(1));
        let cup = &state["tournament"];
        assert_eq!((&cup["round"], &cup["rounds"], &cup["running"]), (&json!(round), &json!(3), &json!(true)));
        let pairings = cup["pairings"].as_array().unwrap();
        let pairing = pairings.iter().find(|pairing| !pairing["other"].is_null()).unwrap();
        let room = pairing["room"].as_str().unwrap();
        let number = |name: &Value| u8::try_from(names.iter().position(|one| name == one).unwrap() + 1).unwrap();
        let (one, other) = (number(&pairing["one"]), number(&pairing["other"]));
        let third = enter(&hub, room, &json!({ "key": key(6 - one - other) })).ending();
        assert_eq!(third.0, 4008, "a match is for two");
        // Only the first player is present when the round ends.
        let mut present = enter(&hub, room, &json!({ "key": key(one) }));
        present.until("{\"seat\"");
        present.join(names[usize::from(one) - 1]);
        present.until("{\"own\"");
        class.command(&hub, &json!({ "do": "next-round", "round": round }));
        assert_eq!(present.ending().0, 1000);
    }
    let state = class.state(&hub, &class.teacher);
    let cup = &state["tournament"];
    assert_eq!((&cup["over"], &cup["running"], &state["rooms"]), (&json!(true), &json!(false), &json!([])));
    let points: u64 = cup["table"].as_array().unwrap().iter().map(|place| place["points"].as_u64().unwrap()).sum();
    assert_eq!(points, 12, "in each round a win and a bye, in half points");
}

#[test]
fn class_survives_a_restart_and_its_end_removes_all_data() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let class = Class::open(&hub, 9);
    let room = class.room(&hub, &json!({ "game": "robots", "players": 2, "turns": 1, "turn_duration": 20 }));
    let names = [(1, "Zaneta-Q"), (2, "Zenobia-Q")];
    for (number, name) in names {
        assert_eq!(class.join(&hub, number, name).0, 200);
    }
    let hub = Hub::again(hub.kill(), &["--no-default-rooms"]);
    let mut players = names.map(|(number, name)| {
        let mut browser = enter(&hub, &room, &json!({ "key": key(number) }));
        browser.until("{\"seat\"");
        browser.join(name);
        browser
    });
    hub.wait("result", |_| (class.state(&hub, &key(1))["scores"][0]["matches"] == 1).then_some(()));
    let (_, csv) = class.ask(&hub, ("GET", "/results.csv"), &class.teacher, &Value::Null);
    assert!(csv.as_str().unwrap().contains(",robots,"), "{csv}");
    assert_eq!(hub.json("/api/matches")["matches"], json!([]));
    // The connection remains for the next match.
    players[0].join(names[1].1);
    assert_eq!(players[0].ending().0, 4013);
    // A match that is cut off has no result.
    let cut = class.room(&hub, &json!({ "game": "robots", "players": 1, "turns": 1000 }));
    let mut alone = enter(&hub, &cut, &json!({ "key": key(2) }));
    alone.until("{\"seat\"");
    alone.join(names[1].1);
    alone.until("{\"own\"");
    let rooms = class.state(&hub, &class.teacher)["rooms"].take();
    let close = json!({ "token": rooms[1]["owner_token"], "do": "close" });
    assert_eq!(hub.request_json("POST", &format!("/api/rooms/{cut}/owner"), &close).0, 200);
    alone.ending();
    assert_eq!(class.state(&hub, &key(1))["scores"][0]["matches"], 1);
    assert_eq!(class.state(&hub, &key(1))["scores"][1]["matches"], 1);
    assert!(holds(hub.data.path(), "Zaneta-Q") > 1);

    class.command(&hub, &json!({ "do": "end" }));
    assert_eq!(class.ask(&hub, ("GET", ""), &class.teacher, &Value::Null).0, 404);
    assert_eq!(holds(hub.data.path(), "Zaneta-Q"), 0);
    let (finished, data) = hub.end();
    assert!(!finished.stderr.contains("Zaneta-Q"), "{}", finished.stderr);
    assert_eq!(holds(data.path(), "Zaneta-Q"), 0);
}

#[test]
fn present_player_wins_a_swiss_round_of_each_game() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let class = Class::open(&hub, 9);
    let names = ["Ann", "Bob"];
    for (number, name) in (1..).zip(names) {
        assert_eq!(class.join(&hub, number, name).0, 200);
    }
    for game in ["nuggets", "blackjack", "robots", "mastermind"] {
        class.command(&hub, &json!({ "do": "tournament", "system": "swiss", "game": game }));
        let state = class.state(&hub, &key(1));
        let room = state["tournament"]["pairings"][0]["room"].as_str().unwrap();
        let mut present = enter(&hub, room, &json!({ "key": key(2) }));
        present.until("{\"seat\"");
        match game {
            // It waits for the second player without a seat.
            "blackjack" => present.send("JOIN Bob"),
            "robots" => present.join("Bob"),
            _ => present.send("PLAY Bob"),
        }
        present.until("{\"own\"");
        class.command(&hub, &json!({ "do": "next-round", "round": 1 }));
        present.ending();
        let table = &class.state(&hub, &class.teacher)["tournament"]["table"];
        let points: Vec<_> = table.as_array().unwrap().iter().map(|place| (&place["name"], &place["points"])).collect();
        assert_eq!(points, [(&json!("Bob"), &json!(2)), (&json!("Ann"), &json!(0))], "{game}");
    }
}

#[test]
fn second_group_gets_the_other_seats_after_all_tabs_of_the_first_close() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let class = Class::open(&hub, 64);
    let room = class.room(&hub, &json!({ "game": "mastermind" }));
    let group = |numbers: std::ops::RangeInclusive<u8>| {
        let pupils = numbers.map(|number| {
            let name = format!("Pupil {number}");
            assert_eq!(class.join(&hub, number, &name).0, 200);
            play(&hub, &room, number, &name)
        });
        let mut pupils: Vec<_> = pupils.collect();
        for pupil in &mut pupils {
            pupil.until("OK");
        }
        pupils
    };
    // Their seats stay reserved.
    drop(group(1..=40));
    drop(group(41..=64));
}

#[test]
fn damaged_class_does_not_prevent_the_others_and_runs_once_it_is_repaired() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let classes = [(); 2].map(|()| Class::open(&hub, 9));
    for class in &classes {
        class.room(&hub, &json!({ "game": "robots" }));
    }
    let rooms = |hub: &Hub, class: &Class| {
        let (status, state) = class.ask(hub, ("GET", ""), &class.teacher, &Value::Null);
        (status, state["rooms"].as_array().map_or(0, Vec::len))
    };
    let data = hub.kill();
    let path = data.path().join(format!("classes/{}.json", classes[0].code));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let hub = Hub::again(data, &["--no-default-rooms"]);
    hub.wait("its room", |_| (rooms(&hub, &classes[1]) == (200, 1)).then_some(()));
    assert_eq!(rooms(&hub, &classes[0]), (404, 0));
    let (finished, data) = hub.end();
    assert!(finished.stderr.contains("does not run"), "{}", finished.stderr);
    fs::write(&path, &whole).unwrap();
    let hub = Hub::again(data, &["--no-default-rooms"]);
    for class in &classes {
        hub.wait("its room", |_| (rooms(&hub, class) == (200, 1)).then_some(()));
    }
}

// The number of files with this text.
fn holds(directory: &Path, text: &str) -> usize {
    let inside = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let has = |path: &Path| {
        fs::read(path).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    };
    inside.map(|path| if path.is_dir() { holds(&path, text) } else { usize::from(has(&path)) }).sum()
}
