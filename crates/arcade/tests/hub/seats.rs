use std::{collections::BTreeSet, io::Write as _};

use netcore::HostId;
use serde_json::{Value, json};
use testkit::stream::connect;
use tungstenite::{Error, Message};

use crate::support::{Browser, Hub, native};

/// Trusts the `X-Forwarded-For` header.
fn proxied() -> Hub {
    Hub::with(&["--proxy", "127.0.0.1", "--no-default-rooms"])
}

#[test]
fn secrets_in_addresses_are_rejected() {
    let hub = Hub::start();
    let id = hub.room("nuggets")["id"].as_str().unwrap().to_owned();
    for query in ["seat=x", "key=x", "enter=true&seat=x", "watch=true&key=x"] {
        let refused = hub.socket(&format!("/rooms/{id}/socket?{query}"), None);
        assert!(matches!(&refused, Err(Error::Http(answer)) if answer.status() == 400), "{query}");
    }
}

#[test]
fn only_players_receive_seat_tokens() {
    let hub = Hub::start();
    let room = hub.room("nuggets");
    for entry in [json!({ "watch": true }), json!({ "watch": true, "seat": null, "key": null })] {
        let hello: Value = serde_json::from_str(&hub.enter_as(&room, &entry).until("{")).unwrap();
        assert_eq!((&hello["seat"], &hello["room"]["id"]), (&Value::Null, &room["id"]), "{hello}");
    }
    let hello: Value = serde_json::from_str(&hub.enter_as(&room, &json!({})).until("{")).unwrap();
    assert!(hello["seat"].is_string(), "{hello}");
}

#[test]
fn invalid_first_message_closes_the_socket() {
    let hub = Hub::start();
    let path = format!("/rooms/{}/socket?enter=true", hub.room("nuggets")["id"].as_str().unwrap());
    for first in ["PLAY Ann", r#"{"seats": 1}"#, r#"{"key": "x"}"#, &"x".repeat(2_000)] {
        let mut browser = hub.socket(&path, None).unwrap();
        browser.send(first);
        let Message::Close(Some(close)) = browser.0.read().unwrap() else { panic!("{first} is let in") };
        assert_eq!(u16::from(close.code), 4005, "{first}");
    }
}

#[test]
fn second_window_yields_to_the_first_while_that_is_connected() {
    let hub = Hub::start();
    let room = hub.nuggets();
    let (mut first, seat) = hub.enter(&room);
    first.send("PLAY Ann");
    first.until("OK A");
    let yielding = json!({ "seat": seat, "yields": true });
    assert_eq!(hub.enter_as(&room, &yielding).ending().0, 4012);
    let mut second = hub.reconnect(&room, &seat);
    second.until("OK A");
    assert_eq!(first.ending().0, 4001, "without the field it takes over");
    assert_eq!(hub.enter_as(&room, &yielding).ending().0, 4012);
    drop(second);
    hub.wait("a free seat", |_| {
        let mut third = hub.enter_as(&room, &yielding);
        (third.0.read().is_ok_and(|first| first.is_text())).then_some(())
    });
}

/// Names and addresses of the first `count` players that robots announces.
fn accepted(browser: &mut Browser, count: usize) -> Vec<(String, String)> {
    let mut players = vec![];
    while players.len() < count {
        let bytes = browser.binary();
        if bytes[0] == 1 {
            let text = |at: usize| {
                let end = at + 1 + usize::from(bytes[at]);
                (String::from_utf8(bytes[at + 1..end].to_vec()).unwrap(), end)
            };
            let (name, next) = text(2);
            players.push((name, text(next).0));
        }
    }
    players
}

#[test]
fn players_see_only_pseudonyms_of_addresses() {
    let hub = proxied();
    let room = hub.make(&json!({ "game": "robots", "players": 5 }));
    let mut watcher = hub.enter_as(&room, &json!({ "watch": true }));
    let mut browsers = vec![];
    for (host, name) in [("192.0.2.7", "Ann"), ("192.0.2.7", "Bob"), ("2001:db8::9", "Eve")] {
        let mut browser = hub.from(host, &room).unwrap();
        browser.join(name);
        browsers.push(browser);
    }
    let mut stream = connect(native(&room));
    stream.write_all(b"\0\x03Dan").unwrap();
    let mut players = accepted(&mut watcher, 4);
    players.sort();
    let own = stream.local_addr().unwrap();
    let mut addresses = BTreeSet::new();
    for (name, text) in &players {
        let address: std::net::SocketAddr = text.parse().unwrap_or_else(|_| panic!("{name} at {text}"));
        let std::net::IpAddr::V6(ip) = address.ip() else { panic!("{name} is at {text}") };
        assert!(ip.is_unique_local() && address.ip() != own.ip() && address.port() != 0, "{name} is at {text}");
        addresses.insert(address);
    }
    assert_eq!(addresses.len(), 4, "{players:?}");
    let hosts: Vec<HostId> = players.iter().map(|(_, address)| HostId::of(address)).collect();
    assert_eq!(hosts[0], hosts[1], "one host is one host");
    assert_eq!(hosts.iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn ban_removes_a_retained_seat_after_a_restart() {
    let options = ["--proxy", "127.0.0.1", "--no-default-rooms"];
    let hub = proxied();
    let room = hub.nuggets();
    let mut tokens = vec![];
    for (host, name) in [("192.0.2.66", "Eve"), ("192.0.2.7", "Ann")] {
        let mut browser = hub.from(host, &room).unwrap();
        let hello: Value = serde_json::from_str(&browser.until("{")).unwrap();
        browser.send(&format!("PLAY {name}"));
        browser.until("OK");
        tokens.push(hello["seat"].as_str().unwrap().to_owned());
    }
    let hub = Hub::again(hub.kill(), &options);
    let names = |rooms: &[Value]| -> Vec<String> {
        let room = rooms.iter().find(|one| one["id"] == room["id"]).unwrap();
        room["players"].as_array().unwrap().iter().map(|player| player["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&hub.rooms()), ["Eve", "Ann"]);
    let mut ban = std::process::Command::new(env!("CARGO_BIN_EXE_arcade"));
    let ban = ban.args(["ban", "192.0.2.66", "--data"]).arg(hub.data.path());
    assert_eq!(testkit::process::Process::run(ban).code, Some(0));
    hub.wait("Ann alone", |rooms| (names(rooms) == ["Ann"]).then_some(()));
    // Only the token of the banned seat is invalid.
    assert_eq!(hub.reconnect(&room, &tokens[0]).ending().0, 4002);
    assert_eq!(hub.reconnect(&room, &tokens[1]).until("OK"), "OK B");
}
