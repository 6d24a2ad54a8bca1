use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use bytes::BytesMut;
use netcore::{Input, Room as _, Time};
use serde_json::{Value, json};
use testkit::{TempDir, eventually, peer::Peer};

use crate::support::{Hub, native, record};

/// Checks that rooms and players continue after `restart`.
fn check_restart(restart: impl FnOnce(Hub) -> Hub) -> Hub {
    let hub = Hub::start();
    let usual = hub.rooms().len();
    hub.make(&json!({ "game": "robots", "players": 2, "turns": 50 }));
    let room = hub.nuggets();
    let player = Peer::new(native(&room));
    assert_eq!(player.play("Ann").letter, 'A');
    let (mut browser, token) = hub.enter(&room);
    browser.send("PLAY Bob");
    assert_eq!(browser.until("OK"), "OK B");
    // For two, of whom the second joins after the restart.
    let table = hub.room("blackjack");
    let (mut gambler, seat) = hub.enter(&table);
    gambler.send("JOIN Cid");
    let names = |rooms: &[Value]| {
        let of = |id: &Value| rooms.iter().find(|room| room["id"] == *id).map(|room| room["players"].clone());
        let name = |game: &Value, name: &str| {
            of(game).is_some_and(|players| players.as_array().unwrap().iter().any(|player| player["name"] == name))
        };
        (name(&room["id"], "Ann") && name(&room["id"], "Bob") && name(&table["id"], "Cid")).then_some(())
    };
    hub.wait("Ann, Bob and Cid", names);
    let ports =
        |hub: &Hub| hub.rooms().iter().map(|room| (room["id"].clone(), room["port"].clone())).collect::<Vec<_>>();
    let before = ports(&hub);
    assert_eq!(before.len(), usual + 2);

    let hub = restart(hub);
    assert_eq!(ports(&hub), before, "all rooms are back at their ports");
    hub.wait("Ann, Bob and Cid", names);
    player.expect("DISPLAY");
    player.send("KEY h");
    player.send("KEY l");
    player.expect("DISPLAY");
    let mut browser = hub.reconnect(&room, &token);
    assert_eq!(browser.until("OK"), "OK B");
    browser.until("DISPLAY");
    let mut gambler = hub.reconnect(&table, &seat);
    let mut other = TcpStream::connect(native(&table)).unwrap();
    other.write_all(b"JOIN Dan\0").unwrap();
    assert_eq!(gambler.until("BEGIN"), "BEGIN");
    let made = hub.make(&json!({ "game": "robots" }));
    assert!(!before.iter().any(|(id, _)| *id == made["id"]), "{made}");
    hub
}

#[test]
fn rooms_and_players_continue_after_kill_9() {
    check_restart(|hub| Hub::again(hub.kill(), &[]));
}

#[test]
fn rooms_and_players_continue_after_sigterm() {
    check_restart(|hub| {
        let (finished, data) = {
            // The first signal waits for running matches; the second one, from `end`, does not.
            hub.process.terminate();
            hub.process
                .wait_stderr("the news that matches go on", |text| text.contains("matches continue").then_some(()));
            assert!(hub.get("/readyz").0.starts_with("HTTP/1.1 503"));
            assert!(hub.get("/healthz").0.starts_with("HTTP/1.1 200"));
            assert_eq!(hub.request_json("POST", "/api/rooms", &json!({ "game": "robots" })).0, 503);
            hub.end()
        };
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        Hub::again(data, &[])
    });
}

#[test]
fn damaged_journal_loses_only_its_match() {
    let hub = Hub::start();
    let player = Peer::new(native(&hub.room("nuggets")));
    player.play("Ann");
    let before = hub.room("nuggets");
    let data = hub.kill();
    let journals: Vec<_> =
        fs::read_dir(data.path().join("journals")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let journal = journals.iter().find(|path| path.to_string_lossy().contains("/nuggets-")).unwrap();
    let mut bytes = vec![];
    fs::File::open(journal).unwrap().read_to_end(&mut bytes).unwrap();
    bytes[..8].copy_from_slice(b"nonsense");
    fs::write(journal, &bytes).unwrap();
    let hub = Hub::again(data, &[]);
    let room = hub.room("nuggets");
    assert_eq!((&room["id"], &room["port"]), (&before["id"], &before["port"]));
    assert_eq!(room["players"], json!([]));
    assert!(hub.process.stderr().contains("so its room restarts"), "{}", hub.process.stderr());
    assert_eq!(fs::read(journal).unwrap(), bytes, "the file is kept");
    assert_eq!(Peer::new(native(&room)).play("Bob").letter, 'A');
}

#[test]
fn two_hubs_do_not_share_their_data() {
    let hub = Hub::start();
    let mut other = std::process::Command::new(env!("CARGO_BIN_EXE_arcade"));
    let finished = testkit::process::Process::run(other.args(["--port", "0", "--data"]).arg(hub.data.path()));
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("another hub runs with the data in"), "{}", finished.stderr);
}

/// Returns the last match's id.
fn left_by_an_earlier_hub(data: &TempDir, matches: u32) -> String {
    let config = robots::Config {
        parameters: robots::Parameters {
            server_name: netcore::wire::ShortText::default(),
            players_count: 1,
            size_x: 5,
            size_y: 5,
            game_length: 1,
            explosion_radius: 1,
            bomb_timer: 1,
        },
        turn_duration: Duration::from_millis(100),
        initial_blocks: 0,
        seed: 5,
        max_history: robots::MAX_HISTORY,
    };
    let server = robots::Server::new(config).unwrap();
    let id = record(&data.path().join("journals"), server, |room, peer, out| {
        let mut now = Time::ZERO;
        for _ in 0..matches {
            room.receive(now, peer, &mut BytesMut::from(&b"\0\x03Ann"[..]), out);
            while let Some(due) = room.deadline() {
                now = due;
                room.input(now, Input::Elapsed, out);
            }
            out.drain().for_each(drop);
        }
    });
    format!("{id:016x}-{matches}")
}

#[test]
fn rooms_answer_before_old_journals_are_examined() {
    let data = Arc::new(TempDir::new());
    let last = left_by_an_earlier_hub(&data, 600);
    let hub = Hub::again(data, &[]);
    assert_eq!(Peer::new(native(&hub.room("nuggets"))).play("Ann").letter, 'A');
    let stored = || hub.get(&format!("/api/matches/{last}")).0.starts_with("HTTP/1.1 200");
    assert!(!stored(), "the old journal was examined before the player was answered");
    eventually("the old journal is not examined", stored);
}
