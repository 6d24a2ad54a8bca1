//! The attacks. Each has a thread of its own, comes from all hosts at the same time, and keeps to its rate: the hub, the innocents and
//! the attackers share the processors, and an attacker that used them all would measure nothing.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use futures_util::{SinkExt as _, StreamExt as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
    sync::{Semaphore, oneshot},
    task::spawn_local,
    time::{Interval, MissedTickBehavior, interval, sleep, timeout},
};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use crate::{
    driver::Worker,
    hub::{Hub, Room},
    page::{self, Browser, Entry, Http, PATIENCE, connect, read_to_end, word},
    robots,
};

/// Turns of a match of robots: five seconds.
const TURNS: u16 = 50;
/// Rounds of blackjack.
const ROUNDS: u32 = 20;

/// The hub that is attacked, and the rooms in which the innocents play.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) hub: SocketAddr,
    pub(crate) nuggets: Room,
    pub(crate) robots: Room,
    pub(crate) blackjack: Room,
    pub(crate) mastermind: Room,
}

impl Target {
    pub(crate) fn open(hub: &Hub) -> anyhow::Result<Self> {
        Ok(Self {
            hub: hub.address(),
            nuggets: hub.open_nuggets()?,
            robots: hub.open(&robots::options(2, TURNS))?,
            blackjack: hub.open(&json!({ "game": "blackjack", "players": 1, "rounds": ROUNDS }))?,
            mastermind: hub.open(&json!({ "game": "mastermind" }))?,
        })
    }
}

/// The hosts of the attackers are 127.0.0.10 and the following ones.
const FIRST_HOST: u8 = 10;
/// Attempts of one host that wait for an answer.
const MAX_SOCKETS: usize = 16;
/// A socket that stays open for this long is let in.
const SEATED: Duration = Duration::from_secs(2);
/// Lobbies of one host that are not read, and how long.
const MAX_LOBBIES: usize = 8;
const LOBBY_TIME: Duration = Duration::from_secs(60);
/// Answers of one host that are not read, and how long.
const MAX_REPLAYS: usize = 16;
const REPLAY_TIME: Duration = Duration::from_secs(60);
/// What is stored, asked for in turn.
const QUERIES: [&str; 12] = [
    "/api/matches?limit=100",
    "/api/matches?game=nuggets&kind=person&limit=100",
    "/api/matches?before=zzzz",
    "/api/leaders",
    "/api/leaders?game=robots",
    "/api/leaders?game=mastermind",
    "/api/players/NuggetsUdp",
    "/api/players/RobotsTcp/against/RobotsPage",
    "/api/players/Nobody",
    "/api/blackjack/table",
    "/api/games",
    "/api/rooms",
];
/// Rooms that are requested in turn.
const ROOMS: [&str; 4] = [
    r#"{"game": "nuggets", "map": "main"}"#,
    r#"{"game": "robots", "players": 25, "columns": 100, "rows": 100, "turns": 10000, "turn_duration": 20}"#,
    r#"{"game": "blackjack", "players": 6, "rounds": 10000}"#,
    r#"{"game": "mastermind", "mode": "race", "players": 2}"#,
];
/// Requests of one host that are not finished.
const MAX_REQUESTS: usize = 24;
/// How long one is kept, unless the hub ends it.
const REQUEST_TIME: Duration = Duration::from_secs(300);
/// The length that is announced, and what is sent of it.
const ANNOUNCED: usize = 2_000_000;
const SENT: usize = 1_900_000;
/// Between two attempts to get a socket.
const RETRY: Duration = Duration::from_secs(1);
/// Frames that are sent at a time, at most.
const BATCH: u32 = 50;
/// Bytes of a message that fills a journal.
const LONG: usize = 64_000;
/// How long an answer is waited for.
const ANSWER: Duration = Duration::from_secs(1);
/// Ports of one host that wait for an answer.
const MAX_PORTS: usize = 64;
/// The longest datagram.
const MAX_DATAGRAM: usize = 1_400;
/// Connections of one host.
const MAX_STREAMS: usize = 8;
/// How long one is kept.
const STREAM_TIME: Duration = Duration::from_secs(30);
/// The longest garbage, in bytes.
const MAX_GARBAGE: usize = 512;
/// Connections of one host. Ten hosts have more than the hub has files.
const MAX_FILES: usize = 480;
/// How long one is kept, unless the hub ends it.
const FILE_TIME: Duration = Duration::from_secs(600);
/// Characters that cannot be seen, turn the line around or look like others.
const TRICKS: [&str; 6] = ["", "\u{200b}", "\u{202e}", "\u{430}", "\u{2060}", "\u{feff}"];

/// One kind of attack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// What one host does.
    pub(crate) sentence: &'static str,
    /// How often a second one host does that.
    pub(crate) per_second: u32,
    run: fn(Rc<Attacker>) -> Acts,
}

/// What one host of an attack does until it is stopped.
type Acts = Pin<Box<dyn Future<Output = ()>>>;

/// The entry of an attack in [`ALL`], which makes one request after the other, acts several times at once, or has a loop of its own.
macro_rules! attack {
    ($name:literal, $per_second:literal, requests $act:path, $sentence:literal) => {
        attack!(@ $name, $per_second, $sentence, |attacker| Box::pin(attacker.requests($act)))
    };
    ($name:literal, $per_second:literal, $most:path => $act:path, $sentence:literal) => {
        attack!(@ $name, $per_second, $sentence, |attacker| Box::pin(attacker.repeat($most, $act)))
    };
    ($name:literal, $per_second:literal, $run:path, $sentence:literal) => {
        attack!(@ $name, $per_second, $sentence, |attacker| Box::pin($run(attacker)))
    };
    (@ $name:literal, $per_second:literal, $sentence:literal, $run:expr) => {
        Attack { name: $name, sentence: $sentence, per_second: $per_second, run: $run }
    };
}

pub(crate) const ALL: [Attack; 25] = [
    attack!("droppers", 5, MAX_SOCKETS => drop_seat,
        "takes seats of nuggets in browsers and drops the sockets"),
    attack!("quitters", 2, MAX_PORTS => join_and_quit,
        "joins the match of nuggets and quits, which uses up letters"),
    attack!("rooms", 2, requests open_room, "opens rooms and seats bots in them"),
    attack!("tokens", 5, MAX_SOCKETS => reuse_token,
        "asks for seats with old tokens and with made up ones"),
    attack!("replays", 2, MAX_REPLAYS => ask_for_replay, "asks for replays and does not read them"),
    attack!("bodies", 2, MAX_REQUESTS => leave_body,
        "begins requests with long bodies and does not finish them"),
    attack!("heads", 2, MAX_REQUESTS => leave_head, "begins requests and does not finish their heads"),
    attack!("players", 20, requests search_players, "asks for the matches of players"),
    attack!("queries", 20, requests ask_everything,
        "asks for leaderboards, players, matches and everything else that is stored"),
    attack!("learners", 50, start_learning, "restarts the learner of blackjack"),
    attack!("empty", 500, send_nothing, "sends empty frames to a room"),
    attack!("pings", 500, ping, "sends pings to a room"),
    attack!("watchers", 5, MAX_SOCKETS => look_in, "looks at the match of nuggets and goes"),
    attack!("lobbies", 2, MAX_LOBBIES => ignore_lobby, "opens the lobby and does not read it"),
    attack!("garbage", 5, MAX_STREAMS => send_garbage,
        "sends garbage to rooms of robots, blackjack and mastermind"),
    attack!("deaf", 2, MAX_STREAMS => never_read,
        "connects to rooms of robots, blackjack and mastermind and does not read"),
    attack!("strangers", 50, MAX_PORTS => ask_for_seat,
        "sends PLAY and SPECTATE from ever new ports"),
    attack!("malformed", 200, send_malformed, "sends datagrams that are no messages"),
    attack!("journals", 10, fill_journals, "sends malformed messages of 64 kB as a watcher"),
    attack!("sites", 5, requests come_from_elsewhere,
        "opens pages and sockets for another site and under another name"),
    attack!("keys", 5, MAX_SOCKETS => prove_nothing, "takes seats with ever new keys"),
    attack!("names", 10, requests claim, "claims ever new names, some with characters that cannot be seen"),
    attack!("files", 20, MAX_FILES => use_up, "opens connections to the page and to rooms and keeps them"),
    attack!("pages", 20, requests get_page, "gets the page, compressed or not"),
    attack!("missing", 20, requests get_missing, "gets pages that do not exist"),
];

/// The attacks with these names; all without names.
pub(crate) fn named(names: &[String]) -> Vec<Attack> {
    ALL.into_iter().filter(|attack| names.is_empty() || names.iter().any(|name| name == attack.name)).collect()
}

/// The answers to an attack, such as status and close codes, and how often each came.
pub(crate) type Answers = BTreeMap<String, u64>;

/// The result of an act. Its answer is counted already.
type Act = Result<(), Failed>;

/// Why an act failed, in a word for a table.
#[derive(Debug)]
struct Failed(String);

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self(word(&error).to_owned())
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(page::failure(&error))
    }
}

impl From<String> for Failed {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// One host of an attack.
#[derive(Debug)]
struct Attacker {
    from: Ipv4Addr,
    target: Target,
    answers: Rc<RefCell<Answers>>,
    per_second: u32,
    chance: RefCell<Pcg64>,
    next: Cell<u64>,
    // The token of a former seat.
    token: RefCell<Option<String>>,
}

impl Attack {
    /// What one host does, and how often.
    pub(crate) fn summary(&self) -> String {
        format!("{}, {} times a second", self.sentence, self.per_second)
    }
}

impl Attacker {
    /// Notes an answer.
    fn count(&self, answer: impl Into<String>) {
        *self.answers.borrow_mut().entry(answer.into()).or_default() += 1;
    }

    /// Ticks at its rate, once for each batch of acts.
    fn pace(&self, batch: u32) -> Interval {
        let mut pace = interval(Duration::from_secs(1) * batch / self.per_second.max(1));
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pace
    }

    /// A number below this one.
    fn below(&self, end: usize) -> usize {
        self.chance.borrow_mut().random_range(0..end.max(1))
    }

    /// Random bytes.
    fn bytes(&self, count: usize) -> Vec<u8> {
        let mut chance = self.chance.borrow_mut();
        (0..count).map(|_| chance.random()).collect()
    }

    /// A new name.
    fn name(&self) -> String {
        let number = self.next.replace(self.next.get() + 1);
        format!("Eve{}x{number}", self.from.octets()[3])
    }

    /// Notes why an act failed, if it did.
    fn note(&self, act: Act) {
        if let Err(Failed(why)) = act {
            self.count(why);
        }
    }

    /// Makes numbered requests one after the other at its rate.
    async fn requests(self: Rc<Self>, act: impl AsyncFn(&Self, &mut Http, usize) -> Act) {
        let mut http = Http::new(self.from, self.target.hub);
        let mut pace = self.pace(1);
        for number in 0.. {
            pace.tick().await;
            self.note(act(&self, &mut http, number).await);
        }
    }

    /// Repeats an act at its rate, at most `most` at the same time.
    async fn repeat<F: Future<Output = Act> + 'static>(self: Rc<Self>, most: usize, act: impl Fn(Rc<Self>) -> F) {
        let free = Arc::new(Semaphore::new(most));
        let mut pace = self.pace(1);
        loop {
            pace.tick().await;
            let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
            let (attacker, acts) = (Rc::clone(&self), act(Rc::clone(&self)));
            spawn_local(async move {
                attacker.note(acts.await);
                drop(permit);
            });
        }
    }
}

/// Starts an attack from this number of hosts. When it is stopped, it returns the answers.
pub(crate) fn start(attack: Attack, target: Target, hosts: u8, seed: u64) -> io::Result<Worker<Answers>> {
    Worker::start(attack.name, move |stopped| act(attack, target, hosts, seed, stopped))
}

async fn act(
    attack: Attack,
    target: Target,
    hosts: u8,
    seed: u64,
    stopped: oneshot::Receiver<()>,
) -> anyhow::Result<Answers> {
    let answers = Rc::<RefCell<Answers>>::default();
    for host in 0..hosts {
        let attacker = Attacker {
            from: Ipv4Addr::new(127, 0, 0, FIRST_HOST + host),
            target: target.clone(),
            answers: Rc::clone(&answers),
            per_second: attack.per_second,
            chance: RefCell::new(Pcg64::seed_from_u64(seed ^ u64::from(host) << 32)),
            next: Cell::new(0),
            token: RefCell::default(),
        };
        spawn_local((attack.run)(Rc::new(attacker)));
    }
    // The sender is dropped if the measurement has failed.
    let _ = stopped.await;
    Ok(answers.take())
}

/// A line for each attack.
pub(crate) fn list() -> String {
    let line = |attack: &Attack| format!("{:<10} {}\n", attack.name, attack.summary());
    ALL.iter().map(line).collect()
}

// Enters the room of nuggets.
async fn enter(attacker: &Attacker, entry: &Entry) -> Result<Browser, Failed> {
    Ok(page::enter(attacker.from, attacker.target.hub, &attacker.target.nuggets.id, entry).await?)
}

// The first word of the game, or how the socket ended before.
async fn first(browser: &mut Browser) -> String {
    let word = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    match timeout(PATIENCE, page::receive(browser, |text| !page::is_from_hub(text))).await {
        Ok(Ok(text)) => word(&text),
        Ok(Err(end)) => end,
        Err(_) => "no answer".into(),
    }
}

/// Takes a seat and drops the socket without a word, so that the seat is kept.
async fn drop_seat(attacker: Rc<Attacker>) -> Act {
    let mut browser = enter(&attacker, &Entry::default()).await?;
    page::say(&mut browser, format!("PLAY {}", attacker.name())).await?;
    attacker.count(first(&mut browser).await);
    Ok(())
}

/// Returns with the token of a seat that it gave up, or with a made up one.
async fn reuse_token(attacker: Rc<Attacker>) -> Act {
    let old = attacker.token.borrow().clone();
    let known = old.clone().filter(|_| attacker.below(2) == 0);
    let made_up = known.is_none() && old.is_some();
    let seat = if made_up { Some(key(&attacker)) } else { known };
    let what = if made_up { "made up" } else { "old" };
    let is_first = seat.is_none();
    let mut browser = enter(&attacker, &Entry { seat, ..Entry::default() }).await?;
    let message = timeout(PATIENCE, browser.next()).await.map_err(|_| "no answer".to_owned())?;
    match message {
        Some(Ok(Message::Text(text))) if is_first => {
            attacker.token.replace(page::token(&text));
            page::leave(browser).await;
        }
        message => {
            // The hub tells of the room first, and then whether the seat is still there.
            let end = match page::end(message.as_ref()) {
                Some(end) => end,
                None => timeout(SEATED, page::ended(&mut browser)).await.unwrap_or_else(|_| "let in".into()),
            };
            attacker.count(format!("{what}: {end}"));
        }
    }
    Ok(())
}

/// Looks on for a moment.
async fn look_in(attacker: Rc<Attacker>) -> Act {
    let mut browser = enter(&attacker, &Entry { watch: true, ..Entry::default() }).await?;
    attacker.count(first(&mut browser).await);
    Ok(())
}

/// Opens a lobby and reads nothing.
async fn ignore_lobby(attacker: Rc<Attacker>) -> Act {
    let _lobby = page::lobby(attacker.from, attacker.target.hub, "", None).await?;
    attacker.count("let in");
    sleep(LOBBY_TIME).await;
    Ok(())
}

async fn get(attacker: &Attacker, http: &mut Http, path: &str, headers: &[(&str, &str)]) -> Act {
    attacker.count(http.request("GET", path, headers, "").await?.status.to_string());
    Ok(())
}

/// Asks for the matches of a player who may exist.
async fn search_players(attacker: &Attacker, http: &mut Http, _: usize) -> Act {
    let name = ["NuggetsUdp".into(), "MastermindTcp".into(), attacker.name()];
    let path = format!("/api/matches?player={}&limit=100", name[attacker.below(name.len())]);
    get(attacker, http, &path, &[]).await
}

/// Asks for everything that is stored.
async fn ask_everything(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    get(attacker, http, QUERIES[number % QUERIES.len()], &[]).await
}

/// Asks for a replay and reads nothing.
async fn ask_for_replay(attacker: Rc<Attacker>) -> Act {
    let hub = attacker.target.hub;
    let list = Http::new(attacker.from, hub).get("/api/matches?limit=20").await;
    let list = list.map_err(|_| "no list of matches".to_owned())?;
    let list: Value = serde_json::from_slice(&list.body).unwrap_or_default();
    let matches = list["matches"].as_array().filter(|matches| !matches.is_empty());
    let matches = matches.ok_or_else(|| "no match to replay".to_owned())?;
    let id = matches[attacker.below(matches.len())]["id"].as_str().unwrap_or_default();
    let path = ["timeline", "frames?from=0&to=60000"][attacker.below(2)];
    let mut stream = connect(attacker.from, hub).await?;
    let request = format!("GET /api/matches/{id}/{path} HTTP/1.1\r\nHost: {hub}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    attacker.count("not read");
    sleep(REPLAY_TIME).await;
    Ok(())
}

async fn get_page(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    let path = ["/", "/rooms/nowhere", "/players", "/learn"][attacker.below(4)];
    get(attacker, http, path, accepting(number)).await
}

/// Gets a page that does not exist.
async fn get_missing(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    get(attacker, http, &format!("/{}", attacker.name()), accepting(number)).await
}

// Headers for a page, compressed or not.
fn accepting(number: usize) -> &'static [(&'static str, &'static str)] {
    const HEADERS: [(&str, &str); 2] = [("Accept", "text/html"), ("Accept-Encoding", "br, gzip")];
    const GZIP: [(&str, &str); 2] = [("Accept", "text/html"), ("Accept-Encoding", "gzip")];
    [&HEADERS[..1], &HEADERS, &GZIP][number % 3]
}

/// Makes requests under the name of another site, and from its pages.
async fn come_from_elsewhere(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    const ORIGIN: &str = "http://evil.example";
    const HEADERS: [(&str, &str); 2] = [("Host", "evil.example"), ("Origin", ORIGIN)];
    let (method, path, headers) = match number % 4 {
        0 => ("GET", "/", &HEADERS[..1]),
        1 => ("GET", "/metrics", &HEADERS[..1]),
        2 => ("POST", "/api/play/nuggets", &HEADERS[..]),
        _ => {
            let lobby = page::lobby(attacker.from, attacker.target.hub, "", Some(ORIGIN)).await;
            attacker.count(format!("socket: {}", lobby.map_or_else(|why| why, |_| "let in".to_owned())));
            return Ok(());
        }
    };
    let answer = http.request(method, path, headers, "").await?;
    attacker.count(format!("{method} {path}: {}", answer.status));
    Ok(())
}

/// Opens a room, and seats a bot in it.
async fn open_room(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    let answer = http.post("/api/rooms", ROOMS[number % ROOMS.len()]).await?;
    attacker.count(answer.status.to_string());
    let room: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if let Some(id) = room["id"].as_str()
        && let bot = json!({ "level": "hard", "owner": room["owner_token"] }).to_string()
        && let Ok(answer) = http.post(&format!("/api/rooms/{id}/bots"), &bot).await
    {
        attacker.count(format!("bot: {}", answer.status));
    }
    Ok(())
}

/// Announces a body and keeps its end back. Every second one sends nearly all of it.
async fn leave_body(attacker: Rc<Attacker>) -> Act {
    let sent = if attacker.below(2) == 0 { SENT } else { 0 };
    let hub = attacker.target.hub;
    let path = ["/api/rooms", "/api/names"][attacker.below(2)];
    let head = format!("POST {path} HTTP/1.1\r\nHost: {hub}\r\nContent-Type: application/json\r\n");
    let mut request = format!("{head}Content-Length: {ANNOUNCED}\r\n\r\n").into_bytes();
    request.resize(request.len() + sent, b' ');
    leave(&attacker, &request).await
}

/// Sends half a head.
async fn leave_head(attacker: Rc<Attacker>) -> Act {
    let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nX-Slow: ", attacker.target.hub);
    leave(&attacker, head.as_bytes()).await
}

// Sends this and waits for the end.
async fn leave(attacker: &Attacker, request: &[u8]) -> Act {
    let mut stream = connect(attacker.from, attacker.target.hub).await?;
    attacker.count("begun");
    // The hub may refuse before it has read everything, and that is read then.
    let _ = timeout(REQUEST_TIME, stream.write_all(request)).await;
    attacker.count(status(&mut stream).await);
    Ok(())
}

// The status with which the hub answers at last, or how it ends the connection.
async fn status(stream: &mut TcpStream) -> String {
    let mut start = [0; 12];
    match timeout(REQUEST_TIME, stream.read_exact(&mut start)).await {
        Ok(Ok(_)) => String::from_utf8_lossy(&start[9..]).into_owned(),
        Ok(Err(error)) => word(&error).into(),
        Err(_) => format!("kept for {} s", REQUEST_TIME.as_secs()),
    }
}

// Sends frames at its rate over sockets from `open`, and reads them.
async fn flood(
    attacker: &Attacker,
    open: impl AsyncFn() -> Result<Browser, String>,
    batch: u32,
    frame: impl Fn(u32) -> Message,
) {
    loop {
        let (mut sink, mut stream) = match open().await {
            Ok(browser) => browser.split(),
            Err(why) => {
                attacker.count(why);
                sleep(RETRY).await;
                continue;
            }
        };
        let send = async {
            let mut pauses = attacker.pace(batch);
            let mut number = 0_u32;
            loop {
                pauses.tick().await;
                for _ in 0..batch {
                    number = number.wrapping_add(1);
                    if let Err(error) = sink.feed(frame(number)).await {
                        return page::failure(&error);
                    }
                    attacker.count("sent");
                }
                // Waits for a hub that does not read.
                if let Err(error) = sink.flush().await {
                    return page::failure(&error);
                }
            }
        };
        let end = tokio::select! {
            end = send => end,
            end = page::ended(&mut stream) => end,
        };
        attacker.count(end);
        sleep(RETRY).await;
    }
}

async fn watch(attacker: &Attacker) -> Result<Browser, String> {
    let entry = Entry { watch: true, ..Entry::default() };
    page::enter(attacker.from, attacker.target.hub, &attacker.target.nuggets.id, &entry).await
}

/// Restarts the learner.
async fn start_learning(attacker: Rc<Attacker>) {
    let open = async || page::socket(attacker.from, attacker.target.hub, page::LEARNER, None).await;
    let start = |number| Message::text(format!(r#"{{"do": "start", "explore": "confident", "seed": {number}}}"#));
    flood(&attacker, open, 1, start).await;
}

/// Sends frames without content.
async fn send_nothing(attacker: Rc<Attacker>) {
    flood(&attacker, async || watch(&attacker).await, BATCH, |_| Message::text("")).await;
}

/// Sends pings.
async fn ping(attacker: Rc<Attacker>) {
    flood(&attacker, async || watch(&attacker).await, BATCH, |_| Message::Ping(Bytes::from_static(b"?"))).await;
}

/// Sends long messages that mean nothing.
async fn fill_journals(attacker: Rc<Attacker>) {
    let long = "x".repeat(LONG);
    flood(&attacker, async || watch(&attacker).await, 1, |_| Message::text(long.as_str())).await;
}

async fn socket(attacker: &Attacker) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((attacker.from, 0)).await?;
    socket.connect(attacker.target.nuggets.address).await?;
    Ok(socket)
}

// The first word of the answer to this.
async fn ask(socket: &UdpSocket, message: &str) -> String {
    let mut buffer = [0; 256];
    let answer = async {
        socket.send(message.as_bytes()).await?;
        socket.recv(&mut buffer).await
    };
    match timeout(ANSWER, answer).await {
        Ok(Ok(count)) => {
            String::from_utf8_lossy(&buffer[..count]).split([' ', '\n']).next().unwrap_or_default().to_owned()
        }
        Ok(Err(error)) => word(&error).into(),
        Err(_) => "no answer".into(),
    }
}

async fn join_and_quit(attacker: Rc<Attacker>) -> Act {
    let socket = socket(&attacker).await?;
    attacker.count(ask(&socket, &format!("PLAY {}", attacker.name())).await);
    // It does not matter whether that arrives.
    let _ = socket.send(b"KEY Q").await;
    Ok(())
}

/// Asks for a place from a new port: to look on, or without a name, which no server grants.
async fn ask_for_seat(attacker: Rc<Attacker>) -> Act {
    let socket = socket(&attacker).await?;
    attacker.count(ask(&socket, ["SPECTATE", "PLAY "][attacker.below(2)]).await);
    Ok(())
}

/// Sends what is no message.
async fn send_malformed(attacker: Rc<Attacker>) {
    let mut pace = attacker.pace(1);
    loop {
        let socket = match socket(&attacker).await {
            Ok(socket) => socket,
            Err(error) => {
                attacker.count(word(&error));
                pace.tick().await;
                continue;
            }
        };
        for _ in 0..attacker.per_second {
            pace.tick().await;
            let garbage = attacker.bytes(attacker.below(MAX_DATAGRAM));
            attacker.count(socket.send(&garbage).await.map_or_else(|error| word(&error), |_| "sent"));
        }
    }
}

fn room(attacker: &Attacker) -> SocketAddr {
    let target = &attacker.target;
    [target.robots.address, target.blackjack.address, target.mastermind.address][attacker.below(3)]
}

async fn send_garbage(attacker: Rc<Attacker>) -> Act {
    let mut stream = connect(attacker.from, room(&attacker)).await?;
    let mut garbage = attacker.bytes(attacker.below(MAX_GARBAGE) + 1);
    // The first message of robots with the number 0 is Join, and no attacker may take the seat of an innocent.
    garbage[0] |= 0x80;
    stream.write_all(&garbage).await?;
    attacker.count(read_to_end(&mut stream, STREAM_TIME).await);
    Ok(())
}

/// Reads nothing.
async fn never_read(attacker: Rc<Attacker>) -> Act {
    let _stream = connect(attacker.from, room(&attacker)).await?;
    attacker.count("connected");
    sleep(STREAM_TIME).await;
    Ok(())
}

/// Opens a connection and keeps it: to the page, or to a room that has connections.
async fn use_up(attacker: Rc<Attacker>) -> Act {
    let target = &attacker.target;
    let doors = [target.hub, target.robots.address, target.blackjack.address, target.mastermind.address];
    let door = attacker.below(doors.len());
    let what = ["page", "robots", "blackjack", "mastermind"][door];
    let opened = connect(attacker.from, doors[door]).await;
    let mut stream = opened.map_err(|error| format!("{what}: {}", word(&error)))?;
    attacker.count(format!("{what}: opened"));
    attacker.count(format!("{what}: {}", read_to_end(&mut stream, FILE_TIME).await));
    Ok(())
}

/// A key that nobody has: 32 bytes in base64url.
fn key(attacker: &Attacker) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    // The last of 43 digits has two bits that say nothing.
    let digits = (0..43).map(|place| if place < 42 { attacker.below(64) } else { attacker.below(16) * 4 });
    digits.map(|digit| char::from(DIGITS[digit])).collect()
}

/// Claims a name.
async fn claim(attacker: &Attacker, http: &mut Http, _: usize) -> Act {
    let trick = TRICKS[attacker.below(TRICKS.len())];
    let body = json!({ "name": format!("{}{trick}", attacker.name()), "key": key(attacker) }).to_string();
    let what = if trick.is_empty() { "plain" } else { "trick" };
    let answer = http.post("/api/names", &body).await?;
    attacker.count(format!("{what}: {}", answer.status));
    Ok(())
}

/// Takes a seat with a key that owns no name.
async fn prove_nothing(attacker: Rc<Attacker>) -> Act {
    let entry = Entry { key: Some(key(&attacker)), ..Entry::default() };
    let mut browser = page::enter(attacker.from, attacker.target.hub, &attacker.target.robots.id, &entry).await?;
    let message = timeout(PATIENCE, browser.next()).await;
    let end = message.map_or_else(|_| Some("no answer".into()), |message| page::end(message.as_ref()));
    attacker.count(end.unwrap_or_else(|| "let in".into()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_have_unique_names_by_which_they_are_chosen() {
        assert_eq!(named(&[]).len(), ALL.len());
        let chosen = named(&["pings".into(), "rooms".into()]);
        assert_eq!(chosen.iter().map(|attack| attack.name).collect::<Vec<_>>(), ["rooms", "pings"]);
        let mut names: Vec<&str> = ALL.iter().map(|attack| attack.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
