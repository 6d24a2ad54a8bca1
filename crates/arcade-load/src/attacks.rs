//! Each attack has its own thread, comes from all hosts at the same time, and keeps to its rate: an attacker that used
//! all processors would falsify the figures of the hub and the players.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UdpSocket,
    sync::Semaphore,
    task::spawn_local,
    time::{Interval, MissedTickBehavior, interval, sleep, timeout},
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    driver::Worker,
    hub::{Hub, Room, TURN},
    wire::{self, Http, PATIENCE, Stamped, connect, word},
};

/// The turns of a match of five seconds.
const TURNS: u16 = 50;
const ROUNDS: u32 = 20;

#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) hub: SocketAddr,
    pub(crate) nuggets: Room,
    pub(crate) robots: Room,
    pub(crate) blackjack: Room,
    pub(crate) mastermind: Room,
}

impl Target {
    pub(crate) async fn open(hub: &Hub) -> anyhow::Result<Self> {
        Ok(Self {
            hub: hub.address,
            nuggets: hub.open_nuggets().await?,
            robots: hub.open_robots(2, TURNS, TURN).await?,
            blackjack: hub.open(&json!({ "game": "blackjack", "players": 1, "rounds": ROUNDS })).await?,
            mastermind: hub.open(&json!({ "game": "mastermind" })).await?,
        })
    }
}

/// The hosts of each attack: 127.0.0.10 and the following ones.
pub(crate) const HOSTS: u8 = 10;
const FIRST_HOST: u8 = 10;
const RETRY: Duration = Duration::from_secs(1);
const ANSWER: Duration = Duration::from_secs(1);
/// Bytes of a message that fills a journal, of a body, of the longest datagram and of garbage.
const LONG: usize = 64_000;
const BODY: usize = 1_900_000;
const MAX_DATAGRAM: usize = 1_400;
const MAX_GARBAGE: usize = 512;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) sentence: &'static str,
    pub(crate) per_second: u32,
    // Concurrent acts of one host.
    most: usize,
    acts: &'static [Act],
}

/// What one host does at a time. Texts have [placeholders](Attacker::fill).
#[derive(Debug, Clone, Copy)]
enum Act {
    /// Method, path, headers and body. The status is counted behind the first text.
    Request(&'static str, &'static str, &'static str, Headers, &'static str),
    /// A path, the first message, and what follows.
    Socket(&'static str, &'static str, Then),
    /// Frames are sent in batches.
    Flood(&'static str, u32, fn(u32) -> Message),
    /// To the hub or to a room: the bytes, and what follows.
    Stream(Port, &'static str, Then),
    /// To the room of nuggets from a new port, and another one after the answer.
    Datagram(&'static str, &'static str),
    /// Random, from one port for a second.
    Malformed,
}

type Headers = &'static [(&'static str, &'static str)];

#[derive(Debug, Clone, Copy)]
enum Port {
    Hub,
    Room,
}

#[derive(Debug, Clone, Copy)]
enum Then {
    /// For this number of seconds, from the first message of a WebSocket on. Counts how the connection ends.
    Read(u64),
    /// Does not read for this number of seconds.
    Ignore(u64),
    /// Counts the first message of the game.
    First,
    /// Stores the token of the seat, and leaves permanently.
    Leave,
}

use Act::{Datagram, Flood, Malformed, Request, Socket, Stream};
use Then::{First, Ignore, Leave, Read};

const HTML: Headers = &[("Accept", "text/html")];
const GZIP: Headers = &[("Accept", "text/html"), ("Accept-Encoding", "gzip")];
const BROTLI: Headers = &[("Accept", "text/html"), ("Accept-Encoding", "br, gzip")];
const EVIL_HOST: Headers = &[("Host", "evil.example")];
const EVIL_SITE: Headers = &[("Host", "evil.example"), ("Origin", "http://evil.example")];
const EVIL_SOCKET: Headers = &[
    ("Origin", "http://evil.example"),
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
];
const ROOM: &str = "/rooms/$nuggets/socket";
const ENTER: &str = "/rooms/$nuggets/socket?enter=true";
const WATCH: &str = "/rooms/$nuggets/socket?watch=true";

macro_rules! get {
    ($($path:literal),*) => { [$(get!(HTML, $path)),*] };
    ($headers:expr, $path:literal) => { Request("", "GET", $path, $headers, "") };
}

macro_rules! post {
    ($label:literal, $path:literal, $body:expr) => {
        Request($label, "POST", $path, &[], $body)
    };
}

macro_rules! attacks {
    ($($name:literal: $sentence:literal, $per_second:literal times a second, up to $most:literal $acts:expr;)*) => {
        [$(Attack { name: $name, sentence: $sentence, per_second: $per_second, most: $most, acts: &$acts }),*]
    };
}

pub(crate) const ALL: [Attack; 25] = attacks![
    "droppers": "takes seats of nuggets in browsers and drops the sockets", 5 times a second, up to 16
        [Socket(ROOM, "PLAY $name", First)];
    "quitters": "joins the match of nuggets and quits, which uses up letters", 2 times a second, up to 64
        [Datagram("PLAY $name", "KEY Q")];
    "rooms": "opens rooms and seats bots in them", 4 times a second, up to 1 [
        post!("", "/api/rooms", r#"{"game": "nuggets", "map": "main"}"#), BOT,
        post!("", "/api/rooms", r#"{"game": "robots", "players": 25, "columns": 100, "rows": 100, "turns": 10000,
            "turn_duration": 20}"#), BOT,
        post!("", "/api/rooms", r#"{"game": "blackjack", "players": 6, "rounds": 10000}"#), BOT,
        post!("", "/api/rooms", r#"{"game": "mastermind", "mode": "race", "players": 2}"#), BOT,
    ];
    "tokens": "requests seats with old tokens and with invented ones", 5 times a second, up to 16 [
        Socket(ROOM, "", Leave),
        Socket(ENTER, r#"{"seat": "$old"}"#, Read(2)),
        Socket(ENTER, r#"{"seat": "$key"}"#, Read(2)),
    ];
    "replays": "requests replays and does not read them", 2 times a second, up to 16 [
        Stream(Port::Hub, "GET /api/matches/$match/timeline HTTP/1.1\r\nHost: $hub\r\n\r\n", Ignore(60)),
        Stream(Port::Hub, "GET /api/matches/$match/frames?from=0&to=60000 HTTP/1.1\r\nHost: $hub\r\n\r\n", Ignore(60)),
    ];
    "bodies": "begins requests with long bodies and does not finish them", 2 times a second, up to 24 [
        Stream(Port::Hub, "POST /api/rooms HTTP/1.1\r\nHost: $hub\r\nContent-Type: application/json\r\n\
            Content-Length: 2000000\r\n\r\n", Read(300)),
        Stream(Port::Hub, "POST /api/names HTTP/1.1\r\nHost: $hub\r\nContent-Type: application/json\r\n\
            Content-Length: 2000000\r\n\r\n$body", Read(300)),
    ];
    "heads": "begins requests and does not finish their heads", 2 times a second, up to 24
        [Stream(Port::Hub, "GET / HTTP/1.1\r\nHost: $hub\r\nX-Slow: ", Read(300))];
    "players": "requests the matches of players", 20 times a second, up to 1 get![
        "/api/matches?player=NuggetsUdp&limit=100", "/api/matches?player=MastermindTcp&limit=100",
        "/api/matches?player=$name&limit=100"
    ];
    "queries": "requests leaderboards, players, matches and everything else that is stored", 20 times a second, up to 1 get![
        "/api/matches?limit=100", "/api/matches?game=nuggets&kind=person&limit=100", "/api/matches?before=zzzz",
        "/api/leaders", "/api/leaders?game=robots", "/api/leaders?game=mastermind", "/api/players/NuggetsUdp",
        "/api/players/RobotsTcp/against/RobotsPage", "/api/players/Nobody", "/api/blackjack/table", "/api/games", "/api/rooms"
    ];
    "learners": "restarts the learner of blackjack", 50 times a second, up to 1
        [Flood("/learn/socket", 1, |number| {
            Message::text(format!(r#"{{"do": "start", "explore": "confident", "seed": {number}}}"#))
        })];
    "empty": "sends empty frames to a room", 500 times a second, up to 1 [Flood(WATCH, 50, |_| Message::text(""))];
    "pings": "sends pings to a room", 500 times a second, up to 1
        [Flood(WATCH, 50, |_| Message::Ping(Bytes::from_static(b"?")))];
    "watchers": "watches the match of nuggets and disconnects", 5 times a second, up to 16 [Socket(WATCH, "", First)];
    "lobbies": "opens the lobby and does not read it", 2 times a second, up to 8
        [Socket("/live", r#"{"look": {"text": ""}}"#, Ignore(60))];
    "garbage": "sends garbage to rooms of robots, blackjack and mastermind", 5 times a second, up to 8
        [Stream(Port::Room, "$garbage", Read(30))];
    "deaf": "connects to rooms of robots, blackjack and mastermind and does not read", 2 times a second, up to 8
        [Stream(Port::Room, "", Ignore(30))];
    "strangers": "sends PLAY and SPECTATE from new ports each time", 50 times a second, up to 64
        [Datagram("SPECTATE", ""), Datagram("PLAY ", "")];
    "malformed": "sends malformed datagrams", 200 times a second, up to 1 [Malformed];
    "journals": "sends malformed messages of 64 kB as a watcher", 10 times a second, up to 1
        [Flood(WATCH, 1, |_| Message::text("x".repeat(LONG)))];
    "sites": "opens pages and sockets for another site and under another name", 5 times a second, up to 1 [
        Request("/: ", "GET", "/", EVIL_HOST, ""), Request("metrics: ", "GET", "/metrics", EVIL_HOST, ""),
        Request("play: ", "POST", "/api/play/nuggets", EVIL_SITE, ""), Request("socket: ", "GET", "/live", EVIL_SOCKET, ""),
    ];
    "keys": "takes seats with a new key each time", 5 times a second, up to 16
        [Socket("/rooms/$robots/socket?enter=true", r#"{"key": "$key"}"#, Read(2))];
    // Characters that are invisible, reverse the line or look like others.
    "names": "claims new names, some with invisible characters", 10 times a second, up to 1 [
        post!("plain: ", "/api/names", r#"{"name": "$name", "key": "$key"}"#),
        post!("trick: ", "/api/names", "{\"name\": \"$name\u{200b}\", \"key\": \"$key\"}"),
        post!("trick: ", "/api/names", "{\"name\": \"$name\u{202e}\", \"key\": \"$key\"}"),
        post!("trick: ", "/api/names", "{\"name\": \"$name\u{430}\", \"key\": \"$key\"}"),
        post!("trick: ", "/api/names", "{\"name\": \"$name\u{2060}\", \"key\": \"$key\"}"),
        post!("trick: ", "/api/names", "{\"name\": \"$name\u{feff}\", \"key\": \"$key\"}"),
    ];
    // Ten hosts have more connections than the hub has files.
    "files": "opens connections to the page and to rooms and keeps them", 20 times a second, up to 480
        [Stream(Port::Hub, "", Read(600)), Stream(Port::Room, "", Read(600))];
    "pages": "requests the page, compressed or not", 20 times a second, up to 1 [
        get!(HTML, "/"), get!(GZIP, "/"), get!(BROTLI, "/"), get!(GZIP, "/rooms/nowhere"), get!(BROTLI, "/players"),
        get!(HTML, "/learn"), get!(GZIP, "/learn"),
    ];
    "missing": "requests pages that do not exist", 20 times a second, up to 1
        [get!(HTML, "/$name"), get!(GZIP, "/$name"), get!(BROTLI, "/$name")];
];
const BOT: Act = post!("bot: ", "/api/rooms/$opened/bots", r#"{"level": "hard", "owner": "$owner"}"#);

/// The attacks with these names, or all of them without names.
pub(crate) fn named(names: &[String]) -> Vec<Attack> {
    ALL.into_iter().filter(|attack| names.is_empty() || names.iter().any(|name| name == attack.name)).collect()
}

/// Counts of status codes, close codes and the like.
pub(crate) type Answers = BTreeMap<String, u64>;

pub(crate) fn start(attack: Attack, target: Target, seed: u64) -> io::Result<Worker<Answers>> {
    Worker::start(attack.name, async move |stopped| {
        let answers = Rc::<RefCell<Answers>>::default();
        for host in 0..HOSTS {
            let from = Ipv4Addr::new(127, 0, 0, FIRST_HOST + host);
            spawn_local(
                Rc::new(Attacker {
                    from,
                    target: target.clone(),
                    http: Http::new(from, target.hub),
                    answers: Rc::clone(&answers),
                    per_second: attack.per_second,
                    chance: RefCell::new(Pcg64::seed_from_u64(seed ^ u64::from(host) << 32)),
                    next: Cell::new(0),
                    token: RefCell::default(),
                    room: RefCell::default(),
                })
                .attack(attack),
            );
        }
        // The sender is dropped if the measurement has failed.
        let _ = stopped.await;
        Ok(answers.take())
    })
}

#[derive(Debug)]
struct Attacker {
    from: Ipv4Addr,
    target: Target,
    http: Http,
    answers: Rc<RefCell<Answers>>,
    per_second: u32,
    chance: RefCell<Pcg64>,
    next: Cell<u64>,
    token: RefCell<String>,
    // The last response, which may describe a room.
    room: RefCell<Value>,
}

impl Attacker {
    async fn attack(self: Rc<Self>, attack: Attack) {
        let (free, mut pace) = (Arc::new(Semaphore::new(attack.most)), self.pace(1));
        for &act in attack.acts.iter().cycle() {
            pace.tick().await;
            let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
            let host = Rc::clone(&self);
            spawn_local(async move {
                if let Err(error) = host.act(act).await {
                    host.count(word(&error));
                }
                drop(permit);
            });
        }
    }

    async fn act(&self, act: Act) -> anyhow::Result<()> {
        match act {
            Request(label, method, path, headers, body) => {
                let (path, body) = (self.fill(path).await?, self.fill(body).await?);
                let (status, body) = self.http.request(method, &path, headers, &body).await?;
                self.count(format!("{label}{status}"));
                self.room.replace(serde_json::from_slice(&body).unwrap_or_default());
            }
            Socket(path, message, then) => {
                let mut browser = wire::socket(self.from, self.target.hub, &self.fill(path).await?).await?;
                if !message.is_empty() {
                    wire::send(&mut browser, self.fill(message).await?).await?;
                }
                match then {
                    Read(seconds) => {
                        timeout(PATIENCE, wire::next(&mut browser)).await??;
                        let end = timeout(Duration::from_secs(seconds), wire::ended(&mut browser)).await;
                        self.count(end.unwrap_or_else(|_| "admitted".into()));
                    }
                    Ignore(seconds) => {
                        self.count("admitted");
                        sleep(Duration::from_secs(seconds)).await;
                    }
                    First => {
                        let first = wire::receive(&mut browser, |text| !text.starts_with('{'));
                        self.count(first_word(timeout(PATIENCE, first).await??.as_bytes()));
                    }
                    Leave => {
                        let hello = timeout(PATIENCE, wire::next(&mut browser)).await??;
                        self.token.replace(wire::token(&hello.into_data()).unwrap_or_default());
                        wire::leave(browser).await;
                    }
                }
            }
            Flood(path, batch, frame) => {
                let flooded = self.flood(&self.fill(path).await?, batch, frame).await;
                sleep(RETRY).await;
                flooded?;
            }
            Stream(port, bytes, then) => {
                let to = if let Port::Hub = port { self.target.hub } else { self.room() };
                let mut stream = connect(self.from, to).await?;
                self.count("connected");
                let bytes = if bytes == "$garbage" { self.garbage() } else { self.fill(bytes).await?.into_bytes() };
                let (Read(seconds) | Ignore(seconds)) = then else { return Ok(()) };
                let time = Duration::from_secs(seconds);
                // The hub may respond before it has read everything.
                let _ = timeout(time, stream.write_all(&bytes)).await;
                if let Read(_) = then {
                    self.count(read_to_end(&mut stream, time).await);
                } else {
                    sleep(time).await;
                }
            }
            Datagram(message, last) => {
                let (socket, mut buffer) = (self.datagrams().await?, [0; 256]);
                socket.send(self.fill(message).await?.as_bytes()).await?;
                let received = timeout(ANSWER, socket.recv(&mut buffer)).await;
                // It does not matter whether that arrives.
                let _ = socket.send(last.as_bytes()).await;
                self.count(first_word(&buffer[..received??]));
            }
            Malformed => {
                let (socket, mut pace) = (self.datagrams().await?, self.pace(1));
                for _ in 0..self.per_second {
                    pace.tick().await;
                    socket.send(&self.bytes(MAX_DATAGRAM)).await?;
                    self.count("sent");
                }
            }
        }
        Ok(())
    }

    fn count(&self, answer: impl Into<String>) {
        *self.answers.borrow_mut().entry(answer.into()).or_default() += 1;
    }

    // Ticks at the attack's rate, once for each batch.
    fn pace(&self, batch: u32) -> Interval {
        let mut pace = interval(Duration::from_secs(1) * batch / self.per_second);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pace
    }

    fn below(&self, end: usize) -> usize {
        self.chance.borrow_mut().random_range(0..end.max(1))
    }

    // Random bytes, fewer than `end`.
    fn bytes(&self, end: usize) -> Vec<u8> {
        let count = self.below(end);
        let mut chance = self.chance.borrow_mut();
        (0..count).map(|_| chance.random()).collect()
    }

    // In robots, the message with the number 0 is Join, which would take the seat of a well-behaved player.
    fn garbage(&self) -> Vec<u8> {
        [vec![0x80 | u8::try_from(self.below(0x80)).unwrap_or(0)], self.bytes(MAX_GARBAGE)].concat()
    }

    // Replaces placeholders.
    async fn fill(&self, text: &str) -> anyhow::Result<String> {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let mut filled = text.to_owned();
        if text.contains("$name") {
            let number = self.next.replace(self.next.get() + 1);
            filled = filled.replace("$name", &format!("Eve{}x{number}", self.from.octets()[3]));
        }
        if text.contains("$key") {
            // An unused key: 32 bytes in base64url. The last of 43 digits has two bits without meaning.
            let digits = (0..43).map(|place| if place < 42 { self.below(64) } else { self.below(16) * 4 });
            filled = filled.replace("$key", &digits.map(|digit| char::from(DIGITS[digit])).collect::<String>());
        }
        if text.contains("$match") {
            let (_, list) = self.http.request("GET", "/api/matches?limit=20", &[], "").await?;
            let list: Value = serde_json::from_slice(&list).unwrap_or_default();
            let matches = list["matches"].as_array().filter(|list| !list.is_empty()).context("no match to replay")?;
            filled = filled.replace("$match", matches[self.below(matches.len())]["id"].as_str().unwrap_or_default());
        }
        if text.ends_with("$body") {
            filled = filled.replace("$body", &" ".repeat(BODY));
        }
        let (target, room) = (&self.target, self.room.borrow());
        if text.contains("$opened") {
            filled = filled.replace("$opened", room["id"].as_str().context("no room")?);
        }
        Ok(filled
            .replace("$hub", &target.hub.to_string())
            .replace("$nuggets", &target.nuggets.id)
            .replace("$robots", &target.robots.id)
            .replace("$old", &self.token.borrow())
            .replace("$owner", room["owner_token"].as_str().unwrap_or_default()))
    }

    fn room(&self) -> SocketAddr {
        let Target { robots, blackjack, mastermind, .. } = &self.target;
        [robots.address, blackjack.address, mastermind.address][self.below(3)]
    }

    async fn datagrams(&self) -> anyhow::Result<UdpSocket> {
        let socket = UdpSocket::bind((self.from, 0)).await?;
        socket.connect(self.target.nuggets.address).await?;
        Ok(socket)
    }

    // Sends numbered frames at the attack's rate, and reads.
    async fn flood(&self, path: &str, batch: u32, frame: fn(u32) -> Message) -> anyhow::Result<()> {
        let (mut sink, mut stream) = wire::socket(self.from, self.target.hub, path).await?.split();
        let mut sending = async || -> anyhow::Result<()> {
            let (mut pace, mut number) = (self.pace(batch), 0_u32);
            loop {
                pace.tick().await;
                for _ in 0..batch {
                    number = number.wrapping_add(1);
                    sink.feed(frame(number)).await?;
                    self.count("sent");
                }
                // Waits for a hub that does not read.
                sink.flush().await?;
            }
        };
        tokio::select! {
            result = sending() => result,
            why = wire::ended(&mut stream) => bail!(why),
        }
    }
}

fn first_word(message: &[u8]) -> String {
    let word = message.split(|byte| b" \n".contains(byte)).next().unwrap_or_default();
    String::from_utf8_lossy(word).into_owned()
}

// Returns the status of a response, or how the connection ended.
async fn read_to_end(stream: &mut Stamped, at_most: Duration) -> String {
    let mut buffer = [0; 4096];
    let end = async {
        loop {
            match stream.read(&mut buffer).await {
                Ok(0) => return "closed".to_owned(),
                Ok(12..) if buffer.starts_with(b"HTTP/1.1 ") => return String::from_utf8_lossy(&buffer[9..12]).into(),
                Ok(_) => {}
                Err(error) => return word(&error.into()),
            }
        }
    };
    timeout(at_most, end).await.unwrap_or_else(|_| "kept".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_have_unique_names_by_which_they_are_chosen() {
        assert_eq!(named(&[]).len(), ALL.len());
        let chosen = named(&["pings".into(), "rooms".into()]);
        assert_eq!(chosen.iter().map(|attack| attack.name).collect::<Vec<_>>(), ["rooms", "pings"]);
        let names: std::collections::BTreeSet<&str> = ALL.iter().map(|attack| attack.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
