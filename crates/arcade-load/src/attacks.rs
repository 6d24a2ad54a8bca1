//! Each attack has its own thread, uses all hosts at the same time, and keeps to its rate, since one that used all
//! processors would falsify the figures of the hub and the players.

use std::{
    cell::RefCell,
    fmt::Display,
    io,
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use futures_util::SinkExt as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use tokio::{
    sync::Semaphore,
    task::spawn_local,
    time::{Interval, MissedTickBehavior, interval, sleep, timeout},
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    driver::{Counts, Hub, Room, TURN, Worker, count, string},
    wire::{Visitor, Wire, word},
};

/// A match takes five seconds.
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
const PATIENCE: Duration = Duration::from_secs(10);
/// In bytes: a message that fills a journal, a body, the longest datagram, and garbage.
const LONG: usize = 64_000;
const BODY: usize = 1_900_000;
const MAX_DATAGRAM: usize = 1_400;
const MAX_GARBAGE: usize = 512;

type Headers = &'static [(&'static str, &'static str)];
const HTML: Headers = &[("Accept", "text/html")];
const GZIP: Headers = &[("Accept", "text/html"), ("Accept-Encoding", "gzip")];
const BROTLI: Headers = &[("Accept", "text/html"), ("Accept-Encoding", "br, gzip")];
const EVIL_HOST: Headers = &[("Host", "evil.example")];
const EVIL_SOCKET: Headers = &[
    ("Origin", "http://evil.example"),
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
];
/// Separated by spaces.
const QUERIES: &str = "matches?limit=100 matches?game=nuggets&kind=person&limit=100 matches?before=zzzz leaders \
    leaders?game=robots leaders?game=mastermind players/NuggetsUdp players/RobotsTcp/against/RobotsPage players/Nobody \
    blackjack/table games rooms";
/// Characters that are invisible, reverse the line or look like others.
const TRICKS: [&str; 6] = ["", "\u{200b}", "\u{202e}", "\u{430}", "\u{2060}", "\u{feff}"];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) sentence: &'static str,
    pub(crate) per_second: u32,
    // The maximum number of concurrent acts of one host.
    most: usize,
}

const fn attack(name: &'static str, sentence: &'static str, per_second: u32, most: usize) -> Attack {
    Attack { name, sentence, per_second, most }
}

/// [`Attacker::act`] performs them.
pub(crate) const ALL: [Attack; 25] = [
    attack("droppers", "takes seats of nuggets in browsers and drops the sockets", 5, 16),
    attack("quitters", "joins the match of nuggets and quits, which uses up letters", 2, 64),
    attack("rooms", "opens rooms and seats bots in them", 2, 1),
    attack("tokens", "requests seats with old tokens and with invented ones", 2, 16),
    attack("replays", "requests replays and does not read them", 2, 16),
    attack("bodies", "begins requests with long bodies and does not finish them", 2, 24),
    attack("heads", "begins requests and does not finish their heads", 2, 24),
    attack("players", "requests the matches of players", 20, 1),
    attack("queries", "requests leaderboards, players, matches and everything else that is stored", 20, 1),
    attack("learners", "restarts the learner of blackjack", 50, 1),
    attack("empty", "sends empty frames to a room", 500, 1),
    attack("pings", "sends pings to a room", 500, 1),
    attack("watchers", "watches the match of nuggets and disconnects", 5, 16),
    attack("lobbies", "opens the lobby and does not read it", 2, 8),
    attack("garbage", "sends garbage to rooms of robots, blackjack and mastermind", 5, 8),
    attack("deaf", "connects to rooms of robots, blackjack and mastermind and does not read", 2, 8),
    attack("strangers", "sends PLAY and SPECTATE from new ports each time", 50, 64),
    attack("malformed", "sends malformed datagrams", 200, 1),
    attack("journals", "sends malformed messages of 64 kB as a watcher", 10, 1),
    attack("sites", "opens pages and sockets for another site and under another name", 5, 1),
    attack("keys", "takes seats with a new key each time", 5, 16),
    attack("names", "claims new names, some with invisible characters", 10, 1),
    // Ten hosts have more connections than the hub has files.
    attack("files", "opens connections to the page and to rooms and keeps them", 20, 480),
    attack("pages", "requests the page, compressed or not", 20, 1),
    attack("missing", "requests pages that do not exist", 20, 1),
];

/// All of them without names.
pub(crate) fn named(names: &[String]) -> Vec<Attack> {
    ALL.into_iter().filter(|attack| names.is_empty() || names.iter().any(|name| name == attack.name)).collect()
}

pub(crate) fn start(attack: Attack, target: Target, seed: u64) -> io::Result<Worker<Counts>> {
    Worker::start(async move |stopped| {
        let answers = Rc::<RefCell<Counts>>::default();
        for host in 0..HOSTS {
            let attacker = Attacker {
                attack,
                visitor: Visitor::new(Ipv4Addr::new(127, 0, 0, FIRST_HOST + host), target.hub),
                target: target.clone(),
                answers: Rc::clone(&answers),
                chance: RefCell::new(Pcg64::seed_from_u64(seed ^ u64::from(host) << 32)),
            };
            spawn_local(Rc::new(attacker).run());
        }
        let _ = stopped.await;
        Ok(answers.take())
    })
}

#[derive(Debug)]
struct Attacker {
    attack: Attack,
    visitor: Visitor,
    target: Target,
    answers: Rc<RefCell<Counts>>,
    chance: RefCell<Pcg64>,
}

impl Attacker {
    async fn run(self: Rc<Self>) {
        let (free, mut pace) = (Arc::new(Semaphore::new(self.attack.most)), self.pace(1));
        for number in 0.. {
            pace.tick().await;
            let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
            let host = Rc::clone(&self);
            spawn_local(async move {
                if let Err(error) = host.act(number).await {
                    host.count(word(&error));
                }
                drop(permit);
            });
        }
    }

    async fn act(&self, number: usize) -> anyhow::Result<()> {
        let (name, key, accept) = (self.name(), self.key(), [HTML, GZIP, BROTLI][number % 3]);
        let Target { hub, nuggets, robots, .. } = &self.target;
        let (visitor, watch) = (&self.visitor, format!("/rooms/{}/socket?watch=true", nuggets.id));
        match self.attack.name {
            "droppers" => {
                let mut wire = visitor.enter(&nuggets.id, None).await?;
                wire.send(format!("PLAY {name}")).await?;
                self.first(wire, "").await?;
            }
            "watchers" => self.first(visitor.socket(&watch, None).await?, "").await?,
            "quitters" => self.first(self.datagram(format!("PLAY {name}")).await?, "KEY Q").await?,
            "strangers" => self.first(self.datagram(["SPECTATE", "PLAY "][number % 2]).await?, "").await?,
            "malformed" => self.malformed().await?,
            "tokens" => {
                let mut wire = visitor.enter(&nuggets.id, None).await?;
                let hello: Value = serde_json::from_slice(&timeout(PATIENCE, wire.receive()).await??)?;
                wire.leave().await;
                for token in [&hello["seat"], &json!(key)] {
                    self.end(visitor.enter(&nuggets.id, Some(json!({ "seat": token }))).await?, 2).await?;
                }
            }
            "keys" => self.end(visitor.enter(&robots.id, Some(json!({ "key": key }))).await?, 2).await?,
            "lobbies" => self.ignore(visitor.socket("/live", Some(json!({ "look": { "text": "" } }))).await?, 60).await,
            "learners" => {
                let start = |seed| format!(r#"{{"do": "start", "explore": "confident", "seed": {seed}}}"#);
                self.flood("/learn/socket", 1, |seed| Message::text(start(seed))).await?;
            }
            "empty" => self.flood(&watch, 50, |_| Message::text("")).await?,
            "pings" => self.flood(&watch, 50, |_| Message::Ping(Bytes::from_static(b"?"))).await?,
            "journals" => self.flood(&watch, 1, |_| Message::text("x".repeat(LONG))).await?,
            "garbage" => self.end(self.stream(self.tcp_room(), self.garbage()).await?, 30).await?,
            "deaf" => self.ignore(self.stream(self.tcp_room(), "").await?, 30).await,
            "files" => self.end(self.stream([*hub, self.tcp_room()][number % 2], "").await?, 600).await?,
            "heads" => {
                let head = format!("GET / HTTP/1.1\r\nHost: {hub}\r\nX-Slow: ");
                self.end(self.stream(*hub, head).await?, 300).await?;
            }
            "bodies" => {
                let (path, body) = [("rooms", 0), ("names", BODY)][number % 2];
                let body = " ".repeat(body);
                let head = format!(
                    "POST /api/{path} HTTP/1.1\r\nHost: {hub}\r\nContent-Type: application/json\r\n\
                     Content-Length: 2000000\r\n\r\n{body}"
                );
                self.end(self.stream(*hub, head).await?, 300).await?;
            }
            "replays" => {
                let what = ["timeline", "frames?from=0&to=60000"][number % 2];
                let request =
                    format!("GET /api/matches/{}/{what} HTTP/1.1\r\nHost: {hub}\r\n\r\n", self.any_match().await?);
                self.ignore(self.stream(*hub, request).await?, 60).await;
            }
            "rooms" => {
                let options = [
                    json!({ "game": "nuggets", "map": "main" }),
                    json!({ "game": "robots", "players": 25, "columns": 100, "rows": 100, "turns": 10_000,
                        "turn_duration": 20 }),
                    json!({ "game": "blackjack", "players": 6, "rounds": 10_000 }),
                    json!({ "game": "mastermind", "mode": "race", "players": 2 }),
                ];
                let room = self.request("", ("POST", "/api/rooms"), &[], &options[number % 4]).await?;
                let path = format!("/api/rooms/{}/bots", room["id"].as_str().context("no room")?);
                let bot = json!({ "level": "hard", "owner": room["owner_token"] });
                self.request("bot: ", ("POST", &path), &[], &bot).await?;
            }
            "names" => {
                let trick = TRICKS[number % TRICKS.len()];
                let (label, claim) =
                    (if trick.is_empty() { "plain: " } else { "trick: " }, json!({ "name": name + trick, "key": key }));
                self.request(label, ("POST", "/api/names"), &[], &claim).await?;
            }
            "sites" => {
                let (label, what, headers) = [
                    ("/: ", ("GET", "/"), EVIL_HOST),
                    ("metrics: ", ("GET", "/metrics"), EVIL_HOST),
                    ("play: ", ("POST", "/api/play/nuggets"), EVIL_HOST),
                    ("socket: ", ("GET", "/live"), EVIL_SOCKET),
                ][number % 4];
                self.request(label, what, headers, &Value::Null).await?;
            }
            "players" => {
                let player = ["NuggetsUdp", "MastermindTcp", &name][number % 3];
                self.get(&format!("/api/matches?player={player}&limit=100"), HTML).await?;
            }
            "queries" => {
                let query = QUERIES.split(' ').cycle().nth(number % 12).unwrap_or_default();
                self.get(&format!("/api/{query}"), HTML).await?;
            }
            "pages" => self.get(["/", "/rooms/nowhere", "/players", "/learn"][number % 4], accept).await?,
            "missing" => self.get(&format!("/{name}"), accept).await?,
            other => bail!("no attack is named {other}"),
        }
        Ok(())
    }

    fn count(&self, answer: impl Display) {
        count(&mut self.answers.borrow_mut(), answer);
    }

    // Ticks at the attack's rate, once for each batch.
    fn pace(&self, batch: u32) -> Interval {
        let mut pace = interval(Duration::from_secs(1) * batch / self.attack.per_second);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pace
    }

    fn below(&self, end: usize) -> usize {
        self.chance.borrow_mut().random_range(0..end)
    }

    fn bytes(&self, end: usize) -> Vec<u8> {
        let count = self.below(end);
        let mut chance = self.chance.borrow_mut();
        (0..count).map(|_| chance.random()).collect()
    }

    // In robots, 0 is Join, which would take a well-behaved player's seat.
    fn garbage(&self) -> Vec<u8> {
        let mut garbage = self.bytes(MAX_GARBAGE);
        garbage.insert(0, 0x80 | self.chance.borrow_mut().random::<u8>());
        garbage
    }

    fn name(&self) -> String {
        format!("Eve{}x{}", self.visitor.from.octets()[3], self.chance.borrow_mut().random::<u32>())
    }

    // An unused key: 32 bytes in base64url, whose digits include the decimal ones.
    fn key(&self) -> String {
        format!("{:0>42}A", self.chance.borrow_mut().random::<u128>())
    }

    fn tcp_room(&self) -> SocketAddr {
        let Target { robots, blackjack, mastermind, .. } = &self.target;
        [robots, blackjack, mastermind][self.below(3)].address
    }

    async fn get(&self, path: &str, headers: Headers) -> anyhow::Result<()> {
        self.request("", ("GET", path), headers, &Value::Null).await?;
        Ok(())
    }

    // Counts the status with the label.
    async fn request(&self, label: &str, what: (&str, &str), headers: Headers, body: &Value) -> anyhow::Result<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, body) = self.visitor.request(what, headers, &body).await?;
        self.count(format_args!("{label}{status}"));
        Ok(serde_json::from_slice(&body).unwrap_or_default())
    }

    // Sends bytes, unless there are none. The hub may respond before it has read everything.
    async fn stream(&self, to: SocketAddr, bytes: impl Into<Bytes>) -> anyhow::Result<Wire> {
        let (mut wire, bytes) = (Wire::stream(self.visitor.from, to).await?, bytes.into());
        self.count("connected");
        let _ = timeout(PATIENCE, wire.send(bytes)).await;
        Ok(wire)
    }

    async fn datagram(&self, message: impl Into<Bytes>) -> anyhow::Result<Wire> {
        let mut wire = Wire::datagrams(self.visitor.from, self.target.nuggets.address).await?;
        wire.send(message).await?;
        Ok(wire)
    }

    // Random datagrams from one port for a second.
    async fn malformed(&self) -> anyhow::Result<()> {
        let (mut wire, mut pace) = (self.datagram("").await?, self.pace(1));
        for _ in 0..self.attack.per_second {
            pace.tick().await;
            wire.send(self.bytes(MAX_DATAGRAM)).await?;
            self.count("sent");
        }
        Ok(())
    }

    async fn any_match(&self) -> anyhow::Result<String> {
        let (_, list) = self.visitor.request(("GET", "/api/matches?limit=20"), &[], "").await?;
        let list: Value = serde_json::from_slice(&list).unwrap_or_default();
        let matches = list["matches"].as_array().filter(|list| !list.is_empty()).context("no match to replay")?;
        Ok(string(&matches[self.below(matches.len())]["id"]))
    }

    // Counts the first message of the game, and sends the last one if there is one.
    async fn first(&self, mut wire: Wire, last: &'static str) -> anyhow::Result<()> {
        let patience = if let Wire::Datagrams(_) = wire { ANSWER } else { PATIENCE };
        let first = wire.find(patience, |text| !text.starts_with('{')).await;
        if !last.is_empty() {
            wire.send(last).await?;
        }
        self.count(String::from_utf8_lossy(&first?).split([' ', '\n']).next().unwrap_or_default());
        Ok(())
    }

    // Counts a response's status, or how the connection ends within these seconds, which for a socket count from its
    // first message.
    async fn end(&self, mut wire: Wire, seconds: u64) -> anyhow::Result<()> {
        let mut at_timeout = "kept";
        if let Wire::Socket(_) = wire {
            timeout(PATIENCE, wire.receive()).await??;
            at_timeout = "admitted";
        }
        let end = async {
            loop {
                match wire.receive().await {
                    Ok(head) if head.starts_with(b"HTTP/1.1 ") => {
                        return head[9..].iter().take(3).copied().map(char::from).collect();
                    }
                    Ok(_) => {}
                    Err(error) => return word(&error),
                }
            }
        };
        let end = timeout(Duration::from_secs(seconds), end).await;
        self.count(end.unwrap_or_else(|_| at_timeout.into()));
        Ok(())
    }

    async fn ignore(&self, wire: Wire, seconds: u64) {
        if let Wire::Socket(_) = wire {
            self.count("admitted");
        }
        sleep(Duration::from_secs(seconds)).await;
        drop(wire);
    }

    // Sends numbered frames in batches at the attack's rate, and reads in between.
    async fn flood(&self, path: &str, batch: u32, frame: impl Fn(u32) -> Message) -> anyhow::Result<()> {
        let sent = async {
            let mut wire = self.visitor.socket(path, None).await?;
            let (mut pace, mut numbers) = (self.pace(batch), 1..);
            loop {
                tokio::select! {
                    message = wire.receive() => drop(message?),
                    _ = pace.tick() => if let Wire::Socket(socket) = &mut wire {
                        for number in numbers.by_ref().take(batch as usize) {
                            socket.stream.feed(frame(number)).await?;
                            self.count("sent");
                        }
                        // Waits for a hub that does not read.
                        socket.stream.flush().await?;
                    }
                }
            }
        };
        let sent = sent.await;
        sleep(RETRY).await;
        sent
    }
}
