//! The ladder with real programs: the examples for students, and programs that crash or hang.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value, json};
use testkit::{
    PATIENCE,
    process::Process,
    programs::{python, workspace},
    stream::connect,
};

use tungstenite::Error;

use crate::{
    admin::done,
    support::{Hub, native},
};

/// Returns the login.
fn join(hub: &Hub, name: &str) -> String {
    let (status, answer) = hub.request_json("POST", "/api/ladder/join", &json!({ "name": name }));
    assert_eq!((status, &answer["name"]), (200, &json!(name)), "{answer}");
    answer["login"].as_str().unwrap().to_owned()
}

/// Where programs join the ladder of a game.
fn door(hub: &Hub, game: &str) -> SocketAddr {
    let (_, all) = hub.request_json("GET", "/api/ladder", &Value::Null);
    let found = all["games"].as_array().unwrap().iter().find(|one| one["game"] == game).unwrap().clone();
    SocketAddr::from((Ipv4Addr::LOCALHOST, u16::try_from(found["port"].as_u64().unwrap()).unwrap()))
}

fn ladder(hub: &Hub, game: &str) -> Value {
    hub.request_json("GET", &format!("/api/ladder/{game}"), &Value::Null).1
}

fn await_program(hub: &Hub, game: &str) {
    hub.wait("program on the ladder", |_| {
        let now = ladder(hub, game);
        let some = |what: &str| now[what].as_array().is_some_and(|programs| !programs.is_empty());
        (some("waiting") || some("playing")).then_some(())
    });
}

struct Again {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Again {
    fn and_again(mut once: impl FnMut(&AtomicBool) + Send + 'static) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                once(&stopped);
                // A delay as in a shell loop.
                thread::sleep(Duration::from_millis(50));
            }
        });
        Self { stop, thread: Some(thread) }
    }

    fn example(file: &str, arguments: &[String]) -> Self {
        let path = workspace().join("crates/conformance/examples").join(file);
        let (python, arguments) = (python().expect("Python"), arguments.to_vec());
        Self::and_again(move |_| {
            let mut command = Command::new(&python);
            command.arg(&path).args(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // The ladder ignores the exit status.
            let _ = command.status();
        })
    }
}

impl Drop for Again {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Not joined: its connection may last until the hub is dropped.
        drop(self.thread.take());
    }
}

/// `None` if the connection ends before `until` arrives.
fn join_dealer(door: SocketAddr, login: &str, until: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(door).ok()?;
    stream.write_all(format!("JOIN {login}\0").as_bytes()).ok()?;
    let mut received = vec![];
    let mut byte = [0];
    while !String::from_utf8_lossy(&received).contains(until) {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        received.push(byte[0]);
    }
    Some(stream)
}

fn lost(recent: &Value, name: &str) -> usize {
    let players = recent.as_array().unwrap().iter().flat_map(|one| one["players"].as_array().unwrap());
    players.filter(|player| player["name"] == name && player["lost"] == true).count()
}

#[test]
#[ignore = "plays for half a minute in real time; .ci/run runs it"]
fn sound_programs_rank_above_programs_that_crash_and_hang() {
    let hub = Hub::with(&["--no-default-rooms", "--ladder", "blackjack"]);
    let at = door(&hub, "blackjack");
    let mut programs: Vec<Again> = ["Ann", "Bob"]
        .iter()
        .map(|name| Again::example("player.py", &[join(&hub, name), "127.0.0.1".into(), at.port().to_string()]))
        .collect();
    let login = join(&hub, "Crash");
    programs.push(Again::and_again(move |_| drop(join_dealer(at, &login, "DECISION"))));
    let login = join(&hub, "Hang");
    programs.push(Again::and_again(move |_| {
        if let Some(mut stream) = join_dealer(at, &login, "DECISION") {
            let _ = stream.read_to_end(&mut vec![]);
        }
    }));
    let board = hub.wait("four matches of each, two of them lost by Crash and by Hang", |_| {
        let now = ladder(&hub, "blackjack");
        let matches = |name: &str| {
            let all = [&now["players"], &now["provisional"]].into_iter().flat_map(|part| part.as_array().unwrap());
            all.filter(|row| row["name"] == name).map(|row| row["matches"].as_u64().unwrap()).sum::<u64>()
        };
        let back = ["Crash", "Hang"].iter().all(|name| lost(&now["recent"], name) >= 2);
        (back && ["Ann", "Bob"].iter().all(|name| matches(name) >= 4)).then_some(now)
    });
    let row = |name: &str| {
        let mut all = [&board["players"], &board["provisional"]].into_iter().flat_map(|part| part.as_array().unwrap());
        all.find(|row| row["name"] == name).cloned().unwrap_or_else(|| panic!("{name} in {board:#}"))
    };
    for sound in ["Ann", "Bob"] {
        assert_eq!(lost(&board["recent"], sound), 0, "{board:#}");
        // Only Crash certainly rates lower: Hang wins a match in which Crash crashes first.
        assert!(row(sound)["rating"].as_i64() > row("Crash")["rating"].as_i64(), "{board:#}");
        assert_eq!(row(sound)["proven"], true);
    }
    let id = board["recent"][0]["id"].as_str().unwrap();
    let (_, found) = hub.request_json("GET", &format!("/api/matches/{id}"), &Value::Null);
    assert_eq!((&found["class"], &found["rated"], &found["replay"]), (&json!("ladder"), &json!(true), &json!(true)));
    assert_eq!(hub.request_json("POST", "/api/ladder/join", &json!({ "name": "Ann" })).0, 409);
    let (_, numbers) = hub.get("/metrics");
    let number = |name: &str| -> f64 {
        let line = numbers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {numbers}")).parse().unwrap()
    };
    assert!(number("arcade_ladder_matches_total{game=\"blackjack\"}") >= 8.0, "{numbers}");
    for why in ["gone", "silent"] {
        let name = format!("arcade_ladder_lost_total{{game=\"blackjack\",why=\"{why}\"}}");
        assert!(number(&name) >= 2.0, "{numbers}");
    }
    assert!(number("arcade_ladder_matches_total{game=\"robots\"}") < 1.0, "{numbers}");
    drop(programs);
    // Recent matches are restored with their ranks and losses.
    let before = board["recent"].as_array().unwrap().clone();
    let hub = Hub::again(hub.kill(), &["--no-default-rooms", "--ladder", "blackjack"]);
    let after = hub.wait("matches of before", |_| {
        let now = ladder(&hub, "blackjack");
        let ids: Vec<_> = now["recent"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
        before.iter().all(|one| ids.contains(&&one["id"])).then(|| now["recent"].clone())
    });
    let times: Vec<_> = after.as_array().unwrap().iter().map(|one| one["ended"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|one, other| one >= other), "{after:#}");
    for old in &before {
        let new = after.as_array().unwrap().iter().find(|one| one["id"] == old["id"]).unwrap();
        let shown = |of: &Value| -> Vec<_> {
            let players = of["players"].as_array().unwrap();
            players
                .iter()
                .map(|player| (player["rank"].clone(), player["bot"].clone(), player["lost"].clone()))
                .collect()
        };
        assert_eq!(shown(new), shown(old), "{new:#}");
    }
}

#[test]
fn lone_program_plays_bots_with_replays() {
    let hub = Hub::with(&["--no-default-rooms", "--ladder", "mastermind"]);
    let port = door(&hub, "mastermind").port().to_string();
    let login = join(&hub, "Ann");
    let _program = Again::example("mastermind_client.py", &[login.clone(), "127.0.0.1".into(), port]);
    let (id, ann) = hub.wait("match", |_| {
        let now = ladder(&hub, "mastermind");
        assert_eq!(lost(&now["recent"], "Ann"), 0, "{now:#}\n{}", hub.process.stderr());
        let last = &now["recent"][0];
        let ann = last["players"].as_array()?.iter().find(|player| player["name"] == "Ann")?.clone();
        Some((last["id"].as_str()?.to_owned(), ann))
    });
    let answers = ann["latency"]["answers"].as_u64().unwrap();
    assert!(ann["latency"]["longest_micros"].as_u64() >= ann["latency"]["mean_micros"].as_u64(), "{ann}");
    let found = hub.wait("stored match", |_| {
        let (status, found) = hub.request_json("GET", &format!("/api/matches/{id}"), &Value::Null);
        (status == 200).then_some(found)
    });
    assert_eq!((&found["class"], &found["rated"], &found["replay"]), (&json!("ladder"), &json!(true), &json!(true)));
    assert_eq!(hub.json(&format!("/api/matches/{id}/timeline"))["seats"].as_array().unwrap().len(), 2);
    // The download has each guess with its latency, but no login.
    let (head, text) = hub.get(&format!("/api/matches/{id}/lines"));
    assert!(head.starts_with("HTTP/1.1 200") && head.contains(&format!("filename=\"{id}.jsonl\"")), "{head}");
    for secret in [&*login, "PLAY", "127.0.0.1", "seed"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["kind"], &lines[0]["id"]), (&json!("match"), &json!(id)));
    let seat =
        lines[0]["players"].as_array().unwrap().iter().find(|player| player["name"] == "Ann").unwrap()["seat"].clone();
    let is_guess =
        |line: &&Value| line["seat"] == seat && line["text"].as_str().is_some_and(|text| text.starts_with("GUESS "));
    let guesses: Vec<_> = lines.iter().filter(is_guess).collect();
    assert_eq!(guesses.len() as u64, answers, "{text}");
    assert!(guesses.iter().all(|line| line["latency"].is_f64()), "{text}");
}

#[test]
fn wrong_key_is_rejected_with_the_reason() {
    let hub = Hub::with(&["--no-default-rooms", "--ladder", "nuggets,mastermind,robots"]);
    let login = join(&hub, "Ann");
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.connect(door(&hub, "nuggets")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let send = |text: &str| {
        socket.send(text.as_bytes()).unwrap();
        let mut answer = [0; 1024];
        let length = socket.recv(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..length]).into_owned()
    };
    let answer = send("PLAY Ann#aaaaaaaaaaaaaaaa");
    assert!(answer.starts_with("QUIT this key does not prove the name Ann"), "{answer}");
    let answer = send("PLAY Ann");
    assert!(answer.starts_with("QUIT say your name as NAME#KEY"), "{answer}");
    let other = join(&hub, "Bob").replace("Bob", "Ann");
    let answer = send(&format!("PLAY {other}"));
    assert!(answer.starts_with("QUIT this key does not prove the name Ann"), "{answer}");
    let mut stream = connect(door(&hub, "mastermind"));
    stream.write_all(b"PLAY Ann#aaaaaaaaaaaaaaaa\n").unwrap();
    let mut received = String::new();
    stream.read_to_string(&mut received).unwrap();
    assert!(received.starts_with("ROOM race 4 8 yes 2\nBYE this key does not prove the name Ann"), "{received}");
    // The source of a datagram can be forged, so its wrong keys are not counted for the host.
    for _ in 0..30 {
        assert!(send(&format!("PLAY {other}")).starts_with("QUIT this key does not prove the name Ann"));
    }
    let mut socket = hub.socket("/ladder/nuggets/socket", None).unwrap();
    socket.send(&format!("PLAY {other}"));
    assert!(socket.binary().starts_with(b"QUIT this key does not prove the name Ann"));
    // Robots has no message for reasons, so a second Hello contains the reason as the name of the server.
    let mut stream = connect(door(&hub, "robots"));
    stream.write_all(b"\x00\x03Ann").unwrap();
    let mut received = vec![];
    stream.read_to_end(&mut received).unwrap();
    assert!(String::from_utf8_lossy(&received).contains("say your name as NAME#KEY"), "{received:?}");
    // The key of a released name is invalid, also for a waiting program.
    let (name, key) = login.split_once('#').unwrap();
    let mut waiting = connect(door(&hub, "mastermind"));
    waiting.write_all(format!("PLAY {login}\n").as_bytes()).unwrap();
    await_program(&hub, "mastermind");
    let wrong = json!({ "name": name, "key": "aaaaaaaaaaaaaaaa" });
    assert_eq!(hub.request_json("POST", "/api/ladder/leave", &wrong).0, 403);
    assert_eq!(hub.request_json("POST", "/api/ladder/leave", &json!({ "name": name, "key": key })).0, 204);
    let mut received = String::new();
    waiting.read_to_string(&mut received).unwrap();
    assert!(received.contains("BYE this key no longer owns this name"), "{received}");
    let answer = send(&format!("PLAY {login}"));
    assert!(answer.starts_with("QUIT this key does not prove the name Ann"), "{answer}");
    assert_eq!(hub.request_json("POST", "/api/ladder/join", &json!({ "name": "no name" })).0, 400);
}

#[test]
fn program_on_the_host_of_the_hub_takes_no_seat_at_the_port_of_a_match() {
    const LOCKED: &str = "The owner of this room has locked it";
    let hub = Hub::with(&["--no-default-rooms", "--ladder", "nuggets,mastermind"]);
    let [ann, bob] = ["Ann", "Bob"].map(|name| join(&hub, name));
    let room = |game: &str| native(&hub.wait("match", |rooms| rooms.iter().find(|room| room["game"] == game).cloned()));

    // The intruders run on the same host as the two programs.
    let players = [&ann, &bob].map(|login| {
        let mut player = BufReader::new(connect(door(&hub, "mastermind")));
        player.get_mut().write_all(format!("PLAY {login}\n").as_bytes()).unwrap();
        player
    });
    let until = |player: &mut BufReader<TcpStream>, word: &str| {
        let mut line = String::new();
        while !line.starts_with(word) {
            line.clear();
            assert_ne!(player.read_line(&mut line).unwrap(), 0, "{word} does not come");
        }
    };
    let mut players = players.map(|mut player| {
        until(&mut player, "TURN 1");
        player
    });
    for message in ["PLAY Ann\n".to_owned(), format!("PLAY {ann}\n"), "GUESS 1122\n".to_owned()] {
        let mut intruder = connect(room("mastermind"));
        intruder.write_all(message.as_bytes()).unwrap();
        let mut answer = String::new();
        intruder.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(LOCKED) && !answer.contains("TURN"), "{message}: {answer}");
    }
    for player in &mut players {
        player.get_mut().write_all(b"GUESS 1122\n").unwrap();
        until(player, "TURN 2");
    }

    let sockets = [ann.clone(), "Ann".into(), ann].map(|name| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        (socket, name)
    });
    let receive_until = |socket: &UdpSocket, word: &str| {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let length = socket.recv(&mut buffer).unwrap();
            let text = String::from_utf8_lossy(&buffer[..length]);
            if text.starts_with(word) {
                return text.into_owned();
            }
            assert!(!text.starts_with("QUIT"), "{text}");
        }
    };
    let [(player, login), intruders @ ..] = sockets;
    player.connect(door(&hub, "nuggets")).unwrap();
    player.send(format!("PLAY {login}").as_bytes()).unwrap();
    receive_until(&player, "OK");
    for (intruder, name) in intruders {
        intruder.connect(room("nuggets")).unwrap();
        intruder.send(format!("PLAY {name}").as_bytes()).unwrap();
        let answer = receive_until(&intruder, "QUIT");
        assert!(answer.contains(LOCKED), "{answer}");
    }
    for key in ["KEY h", "KEY l"] {
        player.send(key.as_bytes()).unwrap();
    }
    receive_until(&player, "DISPLAY");
}

// Returns the text up to and including `end`.
fn read_until(stream: &mut TcpStream, end: &[u8]) -> String {
    let mut received = vec![];
    let mut byte = [0];
    while !received.windows(end.len()).any(|bytes| bytes == end) {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&received));
        received.push(byte[0]);
    }
    String::from_utf8_lossy(&received).into_owned()
}

#[test]
fn program_reconnects_to_its_match() {
    let games = "blackjack,mastermind,nuggets,robots";
    let hub = Hub::with(&["--no-default-rooms", "--ladder", games]);
    let login = join(&hub, "Ann");
    let first = [b"\0" as &[u8], &[u8::try_from(login.len()).unwrap()], login.as_bytes()].concat();
    thread::scope(|scope| {
        for (game, join, start, state) in [
            ("blackjack", format!("JOIN {login}\0").into_bytes(), b"DECISION\0" as &[u8], b"DECISION\0" as &[u8]),
            ("mastermind", format!("PLAY {login}\n").into_bytes(), b"TURN 1 ", b"TURN 1 "),
            ("robots", first, b"\x03Ann", b"\x03Ann"),
        ] {
            let hub = &hub;
            scope.spawn(move || {
                let connect = || {
                    let mut stream = connect(door(hub, game));
                    stream.write_all(&join).unwrap();
                    stream
                };
                let mut program = connect();
                read_until(&mut program, start);
                drop(program);
                let received = read_until(&mut connect(), state);
                let greeting = ["BEGIN", "ROOM", "\0\u{6}Arcade"].map(|text| received.matches(text).count());
                assert_eq!(greeting.iter().sum::<usize>(), 1, "{received:?}");
            });
        }
        let join = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            socket.send_to(format!("PLAY {login}").as_bytes(), door(&hub, "nuggets")).unwrap();
            let mut buffer = vec![0; 1 << 16];
            let mut next = move || {
                let length = socket.recv(&mut buffer).unwrap();
                String::from_utf8_lossy(&buffer[..length]).into_owned()
            };
            while next() != "OK A" {}
            assert!(next().starts_with("GRID "));
        };
        join();
        // The first connection is silent, so the new one replaces it.
        join();
        assert_eq!(lost(&ladder(&hub, "nuggets")["recent"], "Ann"), 0);
    });
}

#[test]
fn sixty_programs_enter_from_one_address() {
    let hub = Hub::with(&["--no-default-rooms", "--ladder", "mastermind"]);
    let mut programs: Vec<TcpStream> = (1..=60)
        .map(|number| {
            let login = join(&hub, &format!("Program-{number}"));
            let mut program = connect(door(&hub, "mastermind"));
            program.write_all(format!("PLAY {login}\n").as_bytes()).unwrap();
            program
        })
        .collect();
    for program in &mut programs {
        read_until(program, b"ROOM race");
    }
    // Eight matches of two are played at once.
    hub.wait("44 programs wait", |_| {
        let waiting = ladder(&hub, "mastermind")["waiting"].as_array().map_or(0, Vec::len);
        (waiting >= 44).then_some(())
    });
}

#[test]
fn program_connects_by_websocket() {
    let hub = Hub::with(&["--no-default-rooms", "--ladder", "mastermind,nuggets"]);
    let login = join(&hub, "Ann");
    let mut socket = hub.socket("/ladder/mastermind/socket", None).unwrap();
    let mut text = String::new();
    // Frames may split a stream protocol anywhere.
    socket.send("PLAY ");
    socket.send(&format!("{login}\n"));
    while !text.contains("TURN 1") {
        text += std::str::from_utf8(&socket.binary()).unwrap();
    }
    assert!(text.starts_with("ROOM race 4 8 yes 2\n") && text.matches("ROOM").count() == 1, "{text}");
    assert!(text.contains(" Ann\n") && !text.contains('#'), "{text}");
    // For a datagram protocol, each frame is a datagram.
    let mut socket = hub.socket("/ladder/nuggets/socket", None).unwrap();
    socket.send("PLAY Ann");
    assert!(socket.binary().starts_with(b"QUIT say your name as NAME#KEY"));
    assert!(matches!(hub.socket("/ladder/robots/socket", None), Err(Error::Http(answer)) if answer.status() == 404));
}

#[test]
fn banned_host_loses_its_programs_and_its_learner() {
    let hub = Hub::with(&["--no-default-rooms", "--ladder", "nuggets,mastermind"]);
    let mut program = hub.socket("/ladder/nuggets/socket", None).unwrap();
    program.send(&format!("PLAY {}", join(&hub, "Ann")));
    let mut stream = connect(door(&hub, "mastermind"));
    stream.write_all(format!("PLAY {}\n", join(&hub, "Bob")).as_bytes()).unwrap();
    let mut learner = hub.socket("/learn/socket", None).unwrap();
    learner.until("{");
    for game in ["nuggets", "mastermind"] {
        await_program(&hub, game);
    }
    done(&hub, &["ban", "127.0.0.1"]);
    // If the match has started, the room may send the reason first.
    let is_farewell =
        |received: &str| received.to_lowercase().contains("he operator of this hub has banned your address");
    while !is_farewell(&String::from_utf8_lossy(&program.binary())) {}
    let mut received = String::new();
    stream.read_to_string(&mut received).unwrap();
    assert!(is_farewell(received.lines().last().unwrap()), "{received}");
    assert_eq!(learner.ending(), (4007, "the operator of this hub has banned your address".to_owned()));
    assert!(matches!(hub.socket("/learn/socket", None), Err(Error::Http(answer)) if answer.status() == 403));
}

#[test]
fn ladder_commands_query_a_remote_hub() {
    let hub = Hub::with(&["--no-default-rooms", "--ladder", "robots"]);
    let server = hub.address.to_string();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
        Process::run(command.arg("ladder").args(arguments).args(["--server", &server]))
    };
    let joined = run(&["join", "Ann"]).ended(0).stdout;
    let login = joined.lines().map(str::trim).find(|line| line.starts_with("Ann#")).unwrap();
    assert!(joined.contains(&format!("127.0.0.1:{} (TCP)", door(&hub, "robots").port())), "{joined}");
    assert!(run(&["join", "Ann"]).ended(1).stderr.contains("is taken"));
    assert!(run(&["show"]).ended(0).stdout.starts_with("robots"), "the game");
    assert!(run(&["show", "robots"]).ended(0).stdout.contains("No matches yet"));
    assert!(run(&["show", "nuggets"]).ended(1).stderr.contains("no ladder for this game"));
    let (name, key) = login.split_once('#').unwrap();
    assert!(run(&["leave", name, key]).ended(0).stdout.contains("Ann is free again"));
    assert!(run(&["leave", name, key]).ended(1).stderr.contains("does not own"));
    let without = Hub::with(&["--no-default-rooms"]);
    let (status, answer) = without.request_json("GET", "/api/ladder", &Value::Null);
    assert!(status == 404 && answer["error"].as_str().unwrap().contains("--ladder"), "{answer}");
}
