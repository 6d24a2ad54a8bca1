use std::{
    net::{TcpListener, UdpSocket},
    process::Command,
    time::Instant,
};

use testkit::process::Process;

use super::{
    Arcade,
    lost::{back, is_copied},
};
use crate::support::{id, native};

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn client_follows_its_room_to_another_node() {
    let (ann, bob) = Arcade::new().two();
    let room = ann.nuggets();
    let seen = bob.await_room(&room, |_| true);
    let address = native(&seen);
    let url = |hub: &crate::support::Hub| format!("http://{}/rooms/{}", hub.address, id(&room));
    let programs = testkit::programs::build(&["nuggets-client"]);
    let mut command = Command::new(programs.join("nuggets-client"));
    command.args(["127.0.0.1", &address.port().to_string(), "Dan", "--log", "info"]);
    command.args(["--directory", &url(&ann), "--directory", &url(&bob)]);
    let mut dan = Process::start_with_stdin(&mut command);
    ann.await_room(&room, |room| room["players"][0]["name"] == "Dan");
    dan.write("hl");
    is_copied(&ann);
    let killed = Instant::now();
    let _data = ann.kill();
    // Occupies the port, so that the room has to move to another one.
    let held = (UdpSocket::bind(address), TcpListener::bind(address));
    assert!(held.0.is_ok(), "{held:?}");
    dan.write("h");
    let found = back(&bob, &room, killed);
    assert_ne!(found["port"], room["port"]);
    dan.wait_stderr("the new place", |text| text.contains("the room has moved").then_some(()));
    // The client keeps its seat, and its keys reach the new node.
    let players = |room: &serde_json::Value| room["players"].as_array().map_or(0, Vec::len);
    dan.write("l");
    bob.await_room(&room, |room| players(room) == 1 && room["players"][0]["seat"] == "A");
    dan.write("Q");
    let finished = dan.wait_for_end();
    assert_eq!((finished.code, finished.stdout.trim()), (Some(0), "Thanks for playing!"), "{}", finished.stderr);
    bob.await_room(&room, |room| players(room) == 0);
}
