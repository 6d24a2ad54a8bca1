//! Nodes of different versions in one arcade.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};
use testkit::stream::connect;

use super::{Arcade, bob_room, command, number, set};
use crate::support::Hub;

/// Writes entries of a later version into the directory of an arcade.
struct Later {
    arcade: String,
    broker: BufReader<TcpStream>,
}

impl Later {
    fn of(arcade: &Arcade) -> Self {
        let servers = set("ARCADE_TEST_NATS");
        let address = servers.split(',').next().unwrap().trim_start_matches("nats://").parse().unwrap();
        let mut broker = BufReader::new(connect(address));
        broker.get_mut().write_all(b"CONNECT {\"verbose\":false,\"pedantic\":false}\r\n").unwrap();
        Self { arcade: arcade.name.clone(), broker }
    }

    /// Writes an entry that requires a reader of version `needs`.
    fn write(&mut self, key: &str, needs: u8, head: &Value) {
        let head = head.to_string();
        let length = u32::try_from(head.len()).unwrap().to_be_bytes();
        let value = [&[needs, length[1], length[2], length[3]], head.as_bytes()].concat();
        let subject = format!("$KV.{}-directory.{key}", self.arcade);
        let front = format!("PUB {subject} {}\r\n", value.len());
        self.broker.get_mut().write_all(&[front.as_bytes(), &value, b"\r\nPING\r\n"].concat()).unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(self.broker.read_line(&mut line).unwrap(), 0, "the broker has closed the connection");
            match line.trim_end() {
                "PONG" => return,
                "PING" => self.broker.get_mut().write_all(b"PONG\r\n").unwrap(),
                line => assert!(line.starts_with("INFO "), "{line}"),
            }
        }
    }
}

/// Returns the entry of a node of a later version, with other rules and fields that this version does not support.
fn later_node() -> Value {
    json!({ "node": {
        "identity": "later", "address": "127.0.0.1:9", "life": null, "draining": false, "color": "red",
        "runs": ["nuggets-999", "robots-999", "mastermind-999", "blackjack-999", "chess-1"],
    } })
}

fn is(hub: &Hub, name: &str, wanted: f64) -> bool {
    (number(hub, name) - wanted).abs() < f64::EPSILON
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn rooms_do_not_move_to_a_node_that_knows_only_later_rules() {
    let arcade = Arcade::new();
    let ann = arcade.node("ann", &["--no-default-rooms"]);
    let mut later = Later::of(&arcade);
    let room = ann.nuggets();
    later.write("node.zed", 1, &later_node());
    ann.wait("other node", |_| is(&ann, "arcade_fleet_nodes", 2.0).then_some(()));
    let (mut browser, _) = ann.enter(&room);
    browser.say("PLAY Cid");
    browser.until("DISPLAY");
    // Renews the entry, so that the node counts as running.
    later.write("node.zed", 1, &later_node());
    let text = command(&ann, &["drain", "--move", "--seconds", "60"]);
    assert!(text.contains("1 rooms stay: no other hub supports their version of the rules."), "{text}");
    browser.say("KEY h");
    browser.say("KEY l");
    browser.until("DISPLAY");
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn what_a_later_version_has_written_is_left_alone_and_counted() {
    let arcade = Arcade::new();
    let (ann, bob) = arcade.two();
    let mut later = Later::of(&arcade);
    let skipped = "arcade_fleet_skipped_total";
    assert!(is(&ann, skipped, 0.0));
    later.write("room.nuggets-40", 2, &json!({ "hall": { "rooms": ["nuggets-40"] } }));
    later.write("node.zed", 2, &json!({ "planet": { "orbit": 7 } }));
    for hub in [&ann, &bob] {
        hub.wait("skipped values", |_| (number(hub, skipped) >= 2.0).then_some(()));
    }
    // The id of the skipped room is in use.
    let room = bob_room(&ann, &bob, &json!({ "game": "nuggets", "countdown": 0 }));
    assert_eq!(room["id"], "nuggets-41");
    // Unknown fields in an entry are ignored.
    let row = json!({ "game": "nuggets", "free": 0, "people": 3, "info": { "id": "nuggets-50" }, "smell": "of roses" });
    later.write("node.yan", 1, &later_node());
    ann.wait("other node", |_| is(&ann, "arcade_fleet_nodes", 3.0).then_some(()));
    let holder = json!({ "node": "yan", "identity": "later", "life": 1 });
    let entry = json!({ "room": {
        "holder": holder, "fence": null, "durability": "node", "needs": "nuggets-999", "row": row.to_string(), "shape": "round",
    } });
    later.write("room.nuggets-50", 1, &entry);
    // The entry's holder does not match its node, so the room has no holder. Its number is still in use.
    let next = ann.wait("next number", |_| {
        let room = ann.nuggets();
        (room["id"].as_str().unwrap().rsplit_once('-').unwrap().1.parse::<u32>().unwrap() > 50).then_some(room)
    });
    assert!(next["port"].as_u64().unwrap() > 0);
}
