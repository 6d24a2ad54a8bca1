use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    path::Path,
    process::Command,
    sync::Arc,
};

use serde_json::{Value, json};
use testkit::{
    PATIENCE, TempDir,
    peer::Peer,
    process::{Finished, Process},
    stream::connect,
};

use crate::{
    results::UNREACHABLE,
    support::{Hub, native},
};

pub(crate) fn arcade(data: &Path, words: &[&str]) -> Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
    Process::run(command.arg("--data").arg(data).args(words))
}

pub(crate) fn done(hub: &Hub, words: &[&str]) -> String {
    let finished = arcade(hub.data.path(), words);
    assert_eq!(finished.code, Some(0), "{words:?}: {}", finished.stderr);
    finished.stdout
}

pub(crate) fn fails(hub: &Hub, words: &[&str]) -> String {
    let finished = arcade(hub.data.path(), words);
    assert_eq!(finished.code, Some(1), "{words:?}: {}", finished.stdout);
    finished.stderr
}

#[test]
fn rooms_are_listed_opened_restarted_and_closed() {
    let hub = Hub::start();
    let usual = hub.rooms().len();
    let status = done(&hub, &["status"]);
    assert!(status.contains(", ready, http://localhost:") && status.contains("1 of nuggets"), "{status}");
    let made = done(&hub, &["room", "new", "robots", "players=2", "turns=50", "--permanent"]);
    let robots = made.split(' ').next().unwrap();
    assert!(robots.starts_with("robots-") && made.contains(" is open at port "), "{made}");
    let list = done(&hub, &["room", "list"]);
    assert!(list.lines().count() == usual + 1 && list.contains(robots), "{list}");
    let rooms: Value = serde_json::from_str(&done(&hub, &["room", "list", "--json"])).unwrap();
    let room = rooms["rooms"].as_array().unwrap().iter().find(|room| room["id"] == robots).unwrap();
    assert_eq!(room["options"]["turns"], 50);
    let made = done(&hub, &["room", "new", "mastermind", "mode=race", "repeats=false"]);
    assert!(made.starts_with("mastermind-") && made.contains(" is open at port "), "{made}");
    done(&hub, &["room", "close", made.split(' ').next().unwrap()]);
    assert!(fails(&hub, &["room", "new", "nuggets", "map=moon"]).contains("there is no map 'moon'"));
    assert_eq!(arcade(hub.data.path(), &["room", "new", "nuggets", "gold=1"]).code, Some(2));
    assert_eq!(arcade(hub.data.path(), &["room", "new", "chess"]).code, Some(2));
    let room = hub.room("nuggets");
    let port = native(&room);
    let player = Peer::new(port);
    player.play("Ann");
    done(&hub, &["room", "restart", "nuggets-1"]);
    player.expect("QUIT The server was stopped.");
    let rooms = hub.rooms();
    let now = rooms.iter().find(|now| now["id"] == room["id"]).unwrap();
    assert!(
        now["players"] == json!([]) && now["port"] == room["port"],
        "the new room is open once the command is over"
    );
    assert_eq!(Peer::new(port).play("Bob").letter, 'A');
    let journals = fs::read_dir(hub.data.path().join("journals")).unwrap();
    let nuggets =
        journals.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("nuggets-"));
    assert_eq!(nuggets.count(), 2, "the old journal is kept");
    let mut browser = hub.socket(&format!("/rooms/{robots}/socket"), None).unwrap();
    done(&hub, &["room", "close", robots, "--reason", "enough"]);
    assert!(browser.find(|text| text.contains(r#""closing":"enough""#)).starts_with(r#"{"room""#));
    assert_eq!(browser.ending().0, 1000);
    assert!(fails(&hub, &["room", "close", "robots-99"]).contains("no room 'robots-99'"));
    let hub = Hub::again(hub.kill(), &[]);
    assert_eq!(hub.rooms().len(), usual);
}

#[test]
fn removed_or_banned_player_is_notified_and_disconnected() {
    let hub = Hub::start();
    let room = hub.room("nuggets");
    let address = native(&room);
    let player = Peer::new(address);
    player.play("Ann");
    let mut browser = hub.socket("/rooms/nuggets-1/socket", None).unwrap();
    browser.send("PLAY Bob");
    browser.until("OK B");
    assert!(fails(&hub, &["kick", "nuggets-1", "Zoe"]).contains("its players are Ann (A), Bob (B)"));
    assert_eq!(done(&hub, &["kick", "nuggets-1", "A"]), "Ann (seat A) is removed from nuggets-1.\n");
    player.expect("QUIT The host of this hub has removed you.");
    done(&hub, &["kick", "nuggets-1", "Bob"]);
    browser.until("QUIT The host of this hub has removed you.");
    assert_eq!(browser.ending(), (4006, "the host of this hub has removed you from this room".to_owned()));
    hub.await_room(&room, |room| room["players"] == json!([]));

    // Mastermind sends a message as a line to a terminal and as a frame to a browser.
    let room = hub.room("mastermind");
    let (mut browser, _) = hub.enter(&room);
    browser.send("PLAY Ann");
    browser.until("OK 1");
    let mut terminal = connect(native(&room));
    terminal.write_all(b"PLAY Bob\n").unwrap();
    browser.until("SEAT 2 Bob");
    for seat in ["1", "2"] {
        done(&hub, &["kick", room["id"].as_str().unwrap(), seat]);
    }
    assert_eq!(browser.until("BYE"), "BYE The host of this hub has removed you.");
    let mut output = String::new();
    terminal.read_to_string(&mut output).unwrap();
    assert!(output.ends_with("\nBYE The host of this hub has removed you.\n"), "{output}");

    let other = Peer::new(address);
    other.play("Cid");
    let mut browser = hub.socket("/rooms/nuggets-1/socket", None).unwrap();
    browser.send("PLAY Dan");
    browser.until("OK");
    assert_eq!(done(&hub, &["ban", "127.0.0.1"]), "127.0.0.1 is banned.\n");
    assert_eq!(done(&hub, &["ban", "127.0.0.1"]), "127.0.0.1 is banned already.\n");
    other.expect("QUIT The operator of this hub has banned your address.");
    assert_eq!(browser.ending(), (4007, "the operator of this hub has banned your address".to_owned()));
    assert!(hub.get("/").0.starts_with("HTTP/1.1 403"));
    assert_eq!(done(&hub, &["ban", "--list"]), "127.0.0.1\n");
    let hub = Hub::again(hub.kill(), &[]);
    assert!(hub.get("/").0.starts_with("HTTP/1.1 403"));
    assert_eq!(done(&hub, &["ban", "--remove", "127.0.0.1"]), "The ban of 127.0.0.1 is lifted.\n");
    assert!(fails(&hub, &["ban", "--remove", "127.0.0.1"]).contains("is not banned"));
    assert!(hub.get("/").0.starts_with("HTTP/1.1 200"));
    assert_eq!(arcade(hub.data.path(), &["ban", "somebody"]).code, Some(2));
}

#[test]
fn drained_hub_exits_and_its_backup_runs_elsewhere() {
    let hub = Hub::start();
    let usual = hub.rooms().len();
    // A mastermind match starts with its first player.
    let room = hub.room("mastermind");
    let (mut player, _) = hub.enter(&room);
    player.send("PLAY Ann");
    player.until("TURN 1");
    hub.await_room(&room, |now| now["players"][0]["name"] == "Ann" && now["phase"] == "playing");
    let elsewhere = TempDir::new();
    let file = elsewhere.path().join("backup.tar");
    let output = done(&hub, &["backup", file.to_str().unwrap()]);
    assert!(output.contains("backup.tar' has "), "{output}");
    assert!(fails(&hub, &["backup", file.to_str().unwrap()]).contains("exists"));
    assert_eq!(
        done(&hub, &["drain", "--seconds", "0"]),
        "The hub is shutting down; 1 running matches continue for at most 0 s.\n"
    );
    let finished = hub.process.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let data = TempDir::new();
    let unpacked = Command::new("tar").arg("-xf").arg(&file).arg("-C").arg(data.path()).status().unwrap();
    assert!(unpacked.success());
    let hub = Hub::again(Arc::new(data), &[]);
    assert_eq!(hub.rooms().len(), usual);
    assert_eq!(hub.room("mastermind")["port"], room["port"]);
}

#[test]
fn only_the_owner_reaches_the_control_socket() {
    let hub = Hub::start();
    let socket = hub.data.path().join("control");
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    for nonsense in ["\n", "{}\n", "{\"command\": \"explode\"}\n", "\u{0}\n"] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(nonsense.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("{\"error\":\"the hub does not support this command"), "{answer}");
    }
    let mut silent = UnixStream::connect(&socket).unwrap();
    silent.write_all(b"{\"command\":").unwrap();
    done(&hub, &["status"]);
    let nobody = arcade(TempDir::new().path(), &["status"]);
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.stderr.contains("no hub runs with the data in"), "{}", nobody.stderr);
}

#[test]
fn log_has_joins_leaves_and_commands() {
    let hub = Hub::with(&["--proxy", "127.0.0.1"]);
    let room = hub.room("nuggets");
    let mut browser = hub.from("203.0.113.9", &room).unwrap();
    browser.send("PLAY Bob");
    browser.until("OK A");
    let player = Peer::new(native(&room));
    player.play("Ann");
    let robots = hub.make(&json!({ "game": "robots", "players": 2, "turns": 9 }));
    let mut terminal = connect(native(&robots));
    terminal.write_all(b"\0\x03Eve").unwrap();
    hub.await_room(&robots, |now| now["players"][0]["name"] == "Eve");
    let list = done(&hub, &["room", "list"]);
    for line in ["    A: Bob, from 203.0.113.9\n", "    B: Ann, from 127.0.0.1\n", "    0: Eve, from 127.0.0.1\n"] {
        assert!(list.contains(line), "{list}");
    }
    let rooms: Value = serde_json::from_str(&done(&hub, &["room", "list", "--json"])).unwrap();
    let shown = rooms["rooms"].as_array().unwrap().iter().find(|shown| shown["id"] == room["id"]).unwrap();
    assert_eq!(shown["players"][0]["address"], "203.0.113.9");
    assert!(!hub.get("/api/rooms").1.contains("203.0.113.9"));
    player.send("KEY Q");
    fails(&hub, &["kick", "nuggets-1", "Zoe"]);
    done(&hub, &["ban", "203.0.113.9"]);
    let log = hub.process.wait_stderr("the end of Bob", |log| {
        log.contains("left room=\"nuggets-1\" name=\"Bob\"").then(|| log.to_owned())
    });
    for line in [
        "joined room=\"nuggets-1\" name=\"Bob\" seat=\"A\" address=\"203.0.113.9\"",
        "joined room=\"nuggets-1\" name=\"Ann\" seat=\"B\" address=\"127.0.0.1\"",
        "name=\"Eve\" seat=\"0\" address=\"127.0.0.1\"",
        "left room=\"nuggets-1\" name=\"Ann\" seat=\"B\" address=\"127.0.0.1\"",
        "a command of the host failed uid=",
        "command=\"{\\\"command\\\":\\\"ban\\\"",
        "no player has the seat 'Zoe'",
    ] {
        assert!(log.contains(line), "{line} is not in\n{log}");
    }
}

#[test]
fn doctor_suggests_remedies() {
    let hub = Hub::start();
    let examine = |words: &[&str]| {
        let finished = arcade(hub.data.path(), words);
        (finished.code, finished.stdout)
    };
    fs::set_permissions(hub.data.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let (_, text) = examine(&["doctor"]);
    assert!(text.contains("ok    data") && text.contains("ok    page     the hub runs"), "{text}");
    assert!(text.contains("ok    clock") && text.lines().count() == 9, "{text}");
    fs::set_permissions(hub.data.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (code, text) = examine(&["doctor"]);
    assert!(code == Some(1) && text.contains("TO DO data") && text.contains("chmod 700"), "{text}");
    let (code, text) = examine(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let finding =
        |what: &str| report["findings"].as_array().unwrap().iter().find(|finding| finding["what"] == what).unwrap();
    assert!(code == Some(1) && report["ok"] == false && finding("data")["ok"] == false, "{text}");
    assert!(finding("database")["text"].as_str().unwrap().contains("results.db' responds, is writable, and"), "{text}");
    let (code, text) = examine(&[
        "--database",
        "postgres://ann@127.0.0.1:1/arcade",
        "--tls",
        "/nowhere.pem",
        "/nowhere.pem",
        "doctor",
    ]);
    assert!(code == Some(1) && text.contains(&format!("TO DO database {UNREACHABLE}\n")), "{text}");
    assert!(text.contains("TO DO tls      cannot read '/nowhere.pem': No such file"), "{text}");
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let finished = arcade(TempDir::new().path(), &["--port", &port, "doctor"]);
    let expected = format!("TO DO page     port {port} is in use at 127.0.0.1; choose another with --port");
    assert!(finished.code == Some(1) && finished.stdout.contains(&expected), "{}", finished.stdout);
}

#[test]
fn commands_reach_a_hub_at_a_long_path() {
    let parent = TempDir::new();
    let data = parent.path().join("x".repeat(120));
    let examine = || arcade(&data, &["doctor"]).stdout;
    assert!(examine().contains("ok    data     '"), "{}", examine());
    let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
    let hub = Process::start(command.args(["--port", "0", "--data"]).arg(&data));
    hub.port();
    for words in [&["status"][..], &["backup", parent.path().join("backup.tar").to_str().unwrap()], &["drain"]] {
        let finished = arcade(&data, words);
        assert_eq!(finished.code, Some(0), "{words:?}: {}", finished.stderr);
    }
    assert_eq!(hub.wait().code, Some(0));
}
