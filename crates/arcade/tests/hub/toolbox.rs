use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    path::Path,
    process::Command,
    sync::Arc,
    thread,
    time::Duration,
};

use bytes::BytesMut;
use mastermind::{Config, Server};
use netcore::{Room as _, Time};
use serde_json::{Value, json};
use testkit::{TempDir, peer::Peer, process::Process};

use crate::{
    admin::{arcade, done, fails},
    support::{Hub, key, native, raw, record},
};

#[test]
fn backup_is_restored_on_another_machine() {
    let hub = Hub::start();
    let room = hub.room("nuggets");
    let player = Peer::new(native(&room));
    player.play("Ann");
    done(&hub, &["ban", "192.0.2.7"]);
    assert_eq!(hub.request_json("POST", "/api/names", &json!({ "name": "Ann", "key": key(1) })).0, 204);
    let elsewhere = TempDir::new();
    let file = elsewhere.path().join("backup.tar");
    let output = done(&hub, &["backup", file.to_str().unwrap()]);
    assert!(output.contains("backup.tar' has "), "{output}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fails(&hub, &["restore", file.to_str().unwrap(), "--replace"]).contains("another hub runs"));
    let data = TempDir::new();
    let whole = fs::read(&file).unwrap();
    let cut = elsewhere.path().join("cut.tar");
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let refused = arcade(data.path(), &["restore", cut.to_str().unwrap()]);
    assert!(refused.code == Some(1) && refused.stderr.contains("truncated"), "{}", refused.stderr);
    let restored = arcade(data.path(), &["restore", file.to_str().unwrap()]);
    assert_eq!(restored.code, Some(0), "{}", restored.stderr);
    let expected = format!("'{}' has 5 rooms, 5 journals, 1 banned host, 0 matches, 1 name", data.path().display());
    assert!(restored.stdout.starts_with(&expected), "{}", restored.stdout);
    hub.kill();
    let hub = Hub::again(Arc::new(data), &[]);
    assert_eq!(hub.room("nuggets")["port"], room["port"]);
    assert_eq!(done(&hub, &["ban", "--list"]), "192.0.2.7\n");
    assert_eq!(
        hub.request_json("POST", "/api/names", &json!({ "name": "Ann", "key": key(2) })).0,
        409,
        "the name is owned"
    );
}

#[test]
fn interrupted_backup_leaves_no_file() {
    let data = TempDir::new();
    let listener = UnixListener::bind(data.path().join("control")).unwrap();
    let file = data.path().join("backup.tar");
    let hub = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        BufReader::new(&stream).read_line(&mut String::new()).unwrap();
        stream.write_all(b"{\"done\":null}\n\0\0\0\x02ab").unwrap();
    });
    let finished = arcade(data.path(), &["backup", file.to_str().unwrap()]);
    hub.join().unwrap();
    assert!(finished.code == Some(1) && finished.stderr.contains("ended before"), "{}", finished.stderr);
    assert!(!file.exists() && fs::read_dir(data.path()).unwrap().count() == 1);
}

fn get(address: std::net::SocketAddr, path: &str) -> (String, String) {
    let answer = raw(address, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Returns the process, its address and its first line of output.
fn replay(file: &Path) -> (Process, std::net::SocketAddr, String) {
    let process = Process::start(Command::new(env!("CARGO_BIN_EXE_arcade")).arg("replay").arg(file));
    let line = process.wait_stdout("its address", |text| Some(text.split_once('\n')?.0.to_owned()));
    let port = line.rsplit_once("localhost:").unwrap().1.split('/').next().unwrap().parse().unwrap();
    (process, std::net::SocketAddr::from(([127, 0, 0, 1], port)), line)
}

#[test]
fn matches_of_a_journal_are_replayed_without_a_hub() {
    let directory = TempDir::new();
    record(directory.path(), Server::new(Config::new(4, false, 7)).unwrap(), |room, peer, out| {
        let mut now = Time::ZERO;
        for message in ["PLAY Ann", "GUESS 1122", "RESIGN", "NEW", "GUESS 1234"] {
            now = now.plus(Duration::from_secs(1));
            room.receive(now, peer, &mut BytesMut::from(message), out);
            out.drain().for_each(drop);
        }
    });
    let journal = journal_core::list(directory.path()).unwrap().remove(0);
    let before: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let (process, address, line) = replay(&journal);
    assert!(line.starts_with("The replay"), "{line}");
    let (head, body) = get(address, "/api/matches");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let matches: Value = serde_json::from_str(&body).unwrap();
    let id = matches["matches"][0]["id"].as_str().unwrap().to_owned();
    let timeline: Value = serde_json::from_str(&get(address, &format!("/api/matches/{id}/timeline")).1).unwrap();
    assert_eq!(timeline["seats"][0]["name"], "Ann", "{timeline}");
    let frames: Value =
        serde_json::from_str(&get(address, &format!("/api/matches/{id}/frames?from=0&to=9000&seat=1")).1).unwrap();
    assert!(frames["frames"].to_string().contains("1122"), "{frames}");
    let (head, page) = get(address, &format!("/matches/{id}"));
    assert!(head.starts_with("HTTP/1.1 200") && page.contains("main.js") && !page.contains("<nav"), "{head}");
    assert!(get(address, "/js/main.js").0.starts_with("HTTP/1.1 200"));
    assert!(get(address, "/api/rooms").0.starts_with("HTTP/1.1 404"));
    let other = raw(address, "GET /api/matches HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!(other.starts_with("HTTP/1.1 421"), "{other}");
    process.terminate();
    assert_eq!(process.wait().code, Some(0));
    let after: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(after, before, "nothing is written");
    let fails = |path: &Path| {
        let finished = arcade(directory.path(), &["replay", path.to_str().unwrap()]);
        assert_eq!(finished.code, Some(1), "{}", finished.stdout);
        finished.stderr
    };
    assert!(fails(&directory.path().join("none.journal")).contains("cannot replay"));
    assert!(fails(directory.path()).contains("is a directory"));
    let letter = directory.path().join("letter.journal");
    fs::write(&letter, "Dear reader, this is no journal.").unwrap();
    assert!(fails(&letter).contains("cannot replay"));
}
