use serde_json::{Value, json};
use testkit::{TempDir, peer::Peer};

use super::{await_field, obeyed, play, refused};
use crate::{
    classes::Class,
    support::{Hub, id, key, native},
};

#[test]
fn room_with_a_link_is_found_by_its_code_only() {
    let hub = Hub::start();
    let room = hub.make(
        &json!({ "game": "robots", "players": 1, "turns": 2, "turn_duration": 20, "room": { "visibility": "link" } }),
    );
    let (name, code) = (id(&room).to_owned(), room["code"].as_str().unwrap().to_owned());
    assert!(code.len() == 8 && room["port"].as_u64().unwrap() > 0, "{room}");
    let lists = ["/api/rooms", "/", "/api/matches", "/metrics"];
    let nowhere = |hub: &Hub| {
        for path in lists {
            let (head, body) = hub.get(path);
            assert!(head.starts_with("HTTP/1.1 200") && !body.contains(&name), "{path}: {body}");
        }
        for path in [format!("/api/rooms/{name}"), format!("/api/rooms/{name}/qr")] {
            assert!(hub.get(&path).0.starts_with("HTTP/1.1 404"), "{path}");
        }
        let mut live = hub.live();
        live.send(&json!({ "pictures": [name] }).to_string());
        let message = live.until("{\"look\"");
        assert!(!message.contains(&name), "{message}");
    };
    nowhere(&hub);
    // Without the code in the first message.
    for wrong in [json!({}), json!({ "watch": true }), json!({ "code": "abcdef" }), json!({ "word": code })] {
        assert_eq!(hub.enter_as(&room, &wrong).ending().0, 4011, "{wrong}");
    }
    let mut ann = hub.enter_as(&room, &json!({ "code": code }));
    let message = await_field(&mut ann, "room");
    assert_eq!(
        (&message["code"], &message["port"]),
        (&room["code"], &room["port"]),
        "whoever is inside may invite others"
    );
    ann.join("Ann");
    while ann.binary().first() != Some(&4) {}
    await_field(&mut hub.enter_as(&room, &json!({ "code": code.to_uppercase(), "watch": true })), "room");
    // Matches are not listed while their hidden room is open.
    hub.wait("a stored result", |_| hub.get("/metrics").1.contains("arcade_results_stored_total 1").then_some(()));
    nowhere(&hub);
    // In the fragment, which browsers do not send.
    let (head, _) = hub.get(&format!("/j/{code}"));
    assert!(head.starts_with("HTTP/1.1 303") && head.contains(&format!("location: /rooms/{name}#{code}")), "{head}");
    let (status, joined) = hub.request_json("POST", "/api/join", &json!({ "code": code }));
    assert_eq!((status, &joined["port"]), (200, &room["port"]));
    let qr = |proof: &str| {
        let address = hub.address;
        hub.raw(&format!("GET /api/rooms/{name}/qr HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {proof}\r\n\r\n"))
    };
    assert!(qr(&code).contains("<svg") && qr(room["owner_token"].as_str().unwrap()).contains("<svg"));
    assert!(qr("abcdeg").starts_with("HTTP/1.1 404"));
    assert!(hub.get("/api/rooms/nuggets-1/qr").1.contains("<svg"));
    let hub = Hub::again(hub.kill(), &[]);
    assert_eq!(hub.request_json("POST", "/api/join", &json!({ "code": code })).1["id"], room["id"]);
    // Wrong guesses block neither the right code nor a token.
    for _ in 0..21 {
        refused(hub.request_json("POST", "/api/join", &json!({ "code": "zzzzzzzz" })), 404, "unknown_code");
    }
    assert_eq!(hub.request_json("POST", "/api/join", &json!({ "code": code })).0, 200);
    assert!(hub.get(&format!("/j/{code}")).0.starts_with("HTTP/1.1 303"));
    await_field(&mut hub.enter_as(&room, &json!({ "code": code })), "room");
    let mut owner = hub.enter_as(&room, &json!({ "owner": room["owner_token"] }));
    await_field(&mut owner, "room");
}

#[test]
fn wrong_codes_do_not_lock_out_a_class_behind_one_address() {
    const SCHOOL: (&str, &str) = ("X-Forwarded-For", "198.51.100.7");
    let hub = Hub::with(&["--proxy", "127.0.0.1"]);
    let room = hub.make(&json!({ "game": "nuggets", "room": { "visibility": "link" } }));
    let (code, class) = (room["code"].as_str().unwrap(), Class::open(&hub, 200));
    let ask = |request: &str, body: &str| {
        let (address, (header, host)) = (hub.address, SCHOOL);
        hub.raw(&format!(
            "{request}\r\nHost: {address}\r\nConnection: close\r\n{header}: {host}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    let follow = |path: &str| ask(&format!("GET /j/{path} HTTP/1.1"), "");
    for _ in 0..30 {
        for harmless in [format!("{code}/"), format!("{}%20", code.to_uppercase())] {
            assert!(follow(&harmless).starts_with("HTTP/1.1 303"), "{harmless}");
        }
    }
    for _ in 0..22 {
        assert!(follow("zzzzzzzz").starts_with("HTTP/1.1 404"), "yesterday's link");
    }
    // More pupils than may wait.
    let all = |request: &(dyn Fn(u8) -> String + Sync), status: &str| {
        std::thread::scope(|scope| {
            let pupils: Vec<_> = (0..200).map(|number| scope.spawn(move || request(number))).collect();
            for pupil in pupils {
                let answer = pupil.join().unwrap();
                assert!(answer.starts_with(status), "{answer}");
            }
        });
    };
    for code in [code, &class.code] {
        all(&|_| follow(code), "HTTP/1.1 303");
    }
    let join = |number| json!({ "key": key(number), "name": format!("Pupil {number}") }).to_string();
    let entry = format!("POST /api/class/join HTTP/1.1\r\nClass-Code: {}", class.code);
    all(&|number| ask(&entry, &join(number)), "HTTP/1.1 200");
    let path = format!("/rooms/{}/socket?enter=true", id(&room));
    let mut pupil = hub.socket_with(&path, &[SCHOOL]).unwrap();
    pupil.send(&json!({ "code": code }).to_string());
    await_field(&mut pupil, "room");
}

#[test]
fn request_from_another_site_reveals_nothing_about_a_code() {
    let hub = Hub::start();
    let room = hub.make(&json!({ "game": "nuggets", "room": { "visibility": "link" } }));
    let follow = |code: &str, site: &str| {
        let address = hub.address;
        hub.raw(&format!(
            "GET /j/{code} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nSec-Fetch-Site: {site}\r\n\r\n"
        ))
    };
    let code = room["code"].as_str().unwrap();
    for site in ["cross-site", "same-site"] {
        let right = follow(code, site);
        assert!(right.starts_with("HTTP/1.1 200") && right.contains("<html"), "{right}");
        for _ in 0..30 {
            let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
            let wrong = follow("zzzzzzzz", site);
            assert!(wrong.starts_with("HTTP/1.1 200") && body(&wrong) == body(&right), "{wrong}");
        }
    }
    for site in ["none", "same-origin"] {
        assert!(follow(code, site).starts_with("HTTP/1.1 303"));
        assert!(follow("zzzzzzzz", site).starts_with("HTTP/1.1 404"), "not counted before");
    }
}

#[test]
fn unlisted_room_is_reported_as_missing() {
    let hub = Hub::start();
    let room = hub.make(&json!({ "game": "nuggets", "countdown": 0, "room": { "visibility": "link" } }));
    let (_ann, seat) = play(&hub, &room, "Ann", &json!({ "code": room["code"] }));
    let requests = [
        ("GET", "", Value::Null),
        ("GET", "/qr", Value::Null),
        ("POST", "/bots", json!({})),
        ("POST", "/bots", json!({ "seat": "x", "owner": "y" })),
        ("POST", "/bots", json!({ "level": 7 })),
        ("DELETE", "/bots", json!({})),
        ("DELETE", "/bots", json!({ "seat": 7 })),
        ("POST", "/owner", json!({ "token": "x", "do": "close" })),
        ("POST", "/owner", json!({ "token": "x", "do": "fly" })),
    ];
    for (method, path, body) in requests {
        let answer = |id: &str| hub.request_json(method, &format!("/api/rooms/{id}{path}"), &body);
        assert_eq!(answer(id(&room)), answer("nuggets-999"), "{method} {path} {body}");
    }
    let join = |id: &str| hub.request_json("POST", "/api/join", &json!({ "room": id, "word": "x" }));
    assert_eq!(join(id(&room)), join("nuggets-999"));
    for query in ["", "?watch=true", "?seat=x", "?key=x&enter=true"] {
        let answer = |id: &str| match hub.socket(&format!("/rooms/{id}/socket{query}"), None) {
            Err(tungstenite::Error::Http(answer)) => (answer.status(), answer.body().clone()),
            _ => panic!("{id}{query}: a socket"),
        };
        assert_eq!(answer(id(&room)), answer("nuggets-999"), "{query}");
    }
    for entry in [json!({}), json!({ "code": "zzzzzzzz" }), json!({ "seat": "x", "owner": "y" }), json!({ "key": "x" })]
    {
        let ending = |room: &Value| hub.enter_as(room, &entry).ending();
        assert_eq!(ending(&room), ending(&json!({ "id": "nuggets-999" })), "{entry}");
    }
    // A valid seat reveals the actual reason.
    let path = format!("/api/rooms/{}/bots", id(&room));
    refused(hub.request_json("POST", &path, &json!({ "seat": seat })), 403, "not_room_owner");
}

#[test]
fn room_with_a_password_is_listed_without_its_port() {
    let hub = Hub::start();
    let options = |visibility: &str, word: Option<&str>| json!({ "game": "nuggets", "countdown": 0, "room": { "visibility": visibility, "word": word } });
    for (visibility, word) in
        [("word", None), ("word", Some("")), ("word", Some(&*"x".repeat(65))), ("link", Some("x"))]
    {
        assert_eq!(hub.request_json("POST", "/api/rooms", &options(visibility, word)).0, 422, "{visibility} {word:?}");
    }
    assert_eq!(
        hub.request_json("POST", "/api/rooms", &json!({ "game": "nuggets", "room": { "name": "a  b" } })).0,
        422
    );
    assert_eq!(hub.request_json("POST", "/api/rooms", &json!({ "game": "nuggets", "room": { "owner": 1 } })).0, 422);
    let room = hub.make(&options("word", Some("żółw")));
    let listed = hub.rooms().into_iter().find(|now| now["id"] == room["id"]).unwrap();
    assert_eq!((&listed["visibility"], &listed["port"]), (&json!("word"), &json!(0)));
    assert_eq!(hub.request_json("GET", &format!("/api/rooms/{}", id(&room)), &Value::Null).1["port"], 0);
    let file = std::fs::read_to_string(hub.data.path().join("rooms").join(format!("{}.json", id(&room)))).unwrap();
    assert!(!file.contains("żółw") && !file.contains(room["owner_token"].as_str().unwrap()), "{file}");
    let join = |word: &str| hub.request_json("POST", "/api/join", &json!({ "room": room["id"], "word": word }));
    refused(join("zolw"), 403, "wrong_word");
    // Wrong passwords for one room do not block another room.
    let other = hub.make(&options("word", Some("turtle")));
    let guess = |word: &str| hub.request_json("POST", "/api/join", &json!({ "room": other["id"], "word": word }));
    for _ in 0..20 {
        refused(guess("tortoise"), 403, "wrong_word");
    }
    refused(guess("turtle"), 429, "too_many_tries");
    let (status, joined) = join("żółw");
    assert_eq!((status, &joined["port"]), (200, &room["port"]));
    assert_eq!(hub.request_json("POST", "/api/join", &json!({ "room": room["id"] })).0, 400);
    for harmless in ["Żółw ", "z\u{307}o\u{301}łw"] {
        assert_eq!(join(harmless).0, 200, "{harmless}");
    }
    assert_eq!(hub.enter_as(&room, &json!({ "word": "zolw" })).ending().0, 4009);
    let (_ann, seat) = play(&hub, &room, "Ann", &json!({ "word": "żółw" }));
    await_field(&mut hub.enter_as(&room, &json!({ "seat": seat })), "room");
    // The port requires no password.
    assert_eq!(Peer::new(native(&room)).play("Bob").letter, 'B');
}

#[test]
fn offered_and_custom_maps_can_be_played() {
    let maps = TempDir::new();
    std::fs::write(maps.path().join("hall.txt"), nuggets::BUILT_IN_MAP).unwrap();
    std::fs::write(maps.path().join("bad.txt"), "").unwrap();
    let options = ["--maps", maps.path().to_str().unwrap()];
    let hub = Hub::with(&options);
    hub.process.wait_stderr("the bad one", |log| log.contains("ignoring the map ").then_some(()));
    let (_, games) = hub.request_json("GET", "/api/games", &Value::Null);
    let offered = &games["games"][0]["options"][0]["choices"];
    assert!(offered.as_array().unwrap().contains(&json!("hall")), "{offered}");
    hub.make(&json!({ "game": "nuggets", "map": "hall" }));
    refused(hub.request_json("POST", "/api/rooms", &json!({ "game": "nuggets", "map": "../hall" })), 422, "no_map");
    let wrong = nuggets::check_map(b"+--+\n|.x|\n+--+\n").breaches[0].to_string();
    let drawn = |text: &str| {
        hub.request_json("POST", "/api/rooms", &json!({ "game": "nuggets", "countdown": 0, "own_map": text }))
    };
    refused(drawn("+--+\n|.x|\n+--+\n"), 422, &wrong);
    refused(drawn(&".".repeat(13 << 10)), 422, "map_too_large");
    let text = std::str::from_utf8(nuggets::BUILT_IN_MAP).unwrap();
    let (status, room) = drawn(text);
    assert!(status == 201 && room["title"] == "a map of its own" && room["options"].get("own_map").is_none(), "{room}");
    let (mut ann, seat) = play(&hub, &room, "Ann", &json!({}));
    let shown = ann.until("DISPLAY");
    let file = hub.data.path().join("rooms").join(format!("{}.json", id(&room)));
    assert!(std::fs::read_to_string(&file).unwrap().contains("own_map"));
    let hub = Hub::again(hub.kill(), &options);
    let mut ann = hub.enter_as(&room, &json!({ "seat": seat }));
    assert_eq!(ann.until("DISPLAY"), shown, "the same map");
    obeyed(&hub, &room, json!({ "do": "close" }));
    assert!(!file.exists(), "it is gone with its room");
}
