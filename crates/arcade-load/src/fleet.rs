//! Three hubs as one arcade: how soon each shows what happens at the others, what a relay costs, and what players notice when a hub moves
//! its rooms or is killed.

use std::{
    fmt::Write as _,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    path::Path,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum;
use cmdkit::whole_number;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    driver::{Distribution, Load},
    hub::{Hub, Room},
    nuggets,
    page::{self, Browser, SHOWN},
    robots::{self, Players, ROBOTS},
    scenarios::watch,
};

/// Hubs of the arcade.
const NODES: [&str; 3] = ["ann", "bob", "cid"];
/// Rooms play at a tenth of the usual pace, so that three times as many as one hub holds go on at one machine.
const SLOWER: u32 = 10;
/// Turns of a match that outlasts all measurements: hours.
const LONG: u16 = 10_000;
/// Turns of a match for watchers, ten a second.
const WATCHED: u16 = 100;
/// How often to check whether rooms are back.
const LOOK: Duration = Duration::from_millis(250);
/// How long to wait for rooms to come back.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pairs of keys of which the second leads back.
const PAIRS: [[&str; 2]; 4] = [["h", "l"], ["j", "k"], ["y", "n"], ["u", "b"]];
/// The pause between two keys: a socket is sent at most 50 pictures a second.
const BETWEEN: Duration = Duration::from_millis(25);
/// A key against a wall has no display.
const NOTHING: Duration = Duration::from_millis(500);
/// How long a display or a page may take.
const ANSWER: Duration = Duration::from_secs(30);
/// The pause between two messages of a player whose room moves.
const PROBE: Duration = Duration::from_millis(10);
/// The head of a table of durations.
const HEAD: &str = "| | p50 | p99 | longest |\n| --- | --- | --- | --- |";

/// What is measured of several hubs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// From opening a room to the pages of all hubs.
    Lobby,
    /// From a key of a browser to its display, at the hub of the room and at another one.
    Relay,
    /// From a turn to the last browser that watches at another hub.
    Watchers,
    /// How long the players of a hub hear nothing when its rooms move away.
    Move,
    /// How long it takes until the rooms of a killed hub are at others.
    Kill,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// NATS servers with JetStream
    #[arg(long, value_name = "ADDRESSES")]
    pub(crate) nats: String,

    /// The PostgreSQL database for the results
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) database: String,

    /// Rooms of all hubs together, which are there all the time
    #[arg(long, value_name = "N", default_value_t = 3_000, value_parser = whole_number(6..=6_000_u32, 3_000))]
    pub(crate) rooms: u32,

    /// Browsers that watch a match at another hub
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=2_000_u32, 1_000))]
    pub(crate) watchers: u32,

    /// Keys that each browser presses, and rooms that are opened while pages look at the lobby
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = whole_number(10..=10_000_u32, 500))]
    pub(crate) keys: u32,

    /// Measure only these parts
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    pub(crate) only: Vec<Part>,

    /// The durability of rooms, as the hubs' own option
    #[arg(long, value_name = "WHAT")]
    pub(crate) durability: Option<String>,
}

struct Fleet {
    nodes: Vec<Hub>,
}

impl Fleet {
    fn start(program: Option<&Path>, options: &Options) -> anyhow::Result<Self> {
        // An arcade of its own, whatever was measured with these servers before.
        let arcade = format!("load-{}", process::id());
        let mut fleet = Self { nodes: vec![] };
        for node in NODES {
            let mut words = vec!["--proxy", "127.0.0.1", "--nats", &options.nats, "--database", &options.database];
            words.extend(["--arcade", &arcade, "--node", node, "--advertise", "127.0.0.1"]);
            if let Some(durability) = &options.durability {
                words.extend(["--durability", durability]);
            }
            fleet.nodes.push(Hub::start_with(program, &words, None)?);
        }
        Ok(fleet)
    }

    /// Waits until each hub shows the rooms of all.
    async fn settle(&self, rooms: usize) -> anyhow::Result<()> {
        self.wait(&format!("{rooms} rooms"), |shown| shown.len() >= rooms).await
    }

    /// Waits until each hub shows a room.
    async fn shows(&self, room: &Room) -> anyhow::Result<()> {
        self.wait(&room.id, |shown| shown.iter().any(|(id, _)| *id == room.id)).await
    }

    async fn wait(&self, what: &str, is_there: impl Fn(&[(String, String)]) -> bool) -> anyhow::Result<()> {
        let begun = Instant::now();
        for hub in &self.nodes {
            while !is_there(&hub.shown()?) {
                if begun.elapsed() > PATIENCE {
                    bail!("a hub does not show {what} after {} s", PATIENCE.as_secs());
                }
                sleep(LOOK).await;
            }
        }
        Ok(())
    }

    fn hub(&self, node: usize) -> &Hub {
        &self.nodes[node]
    }
}

/// Starts the hubs, fills them with rooms, and measures. Returns the report, and what could not be measured.
pub(crate) async fn measure(program: Option<&Path>, options: &Options) -> anyhow::Result<(String, Vec<String>)> {
    let (mut report, mut broken) = (String::new(), vec![]);
    let mut fleet = Fleet::start(program, options)?;
    let (robots, nuggets) = fill(&fleet, options.rooms)?;
    let explorers = nuggets::explore(nuggets, nuggets::KEY_PAUSE * SLOWER).await?;
    // They play until this program ends.
    let _players = Players::start(robots, Duration::from_millis(robots::TURN) * SLOWER / options.rooms.max(1))?;
    fleet.settle(options.rooms as usize).await?;
    writeln!(report, "3 hubs with {} rooms, at a tenth of the usual pace.\n\n{HEAD}", options.rooms)?;
    for part in Part::value_variants().iter().filter(|part| options.only.is_empty() || options.only.contains(part)) {
        let loads = fleet.nodes.iter().map(Load::start).collect::<anyhow::Result<Vec<_>>>()?;
        match part.measure(program, &mut fleet, options).await {
            Ok(lines) => report += &lines,
            Err(error) => broken.push(format!("{part:?}: {error:#}")),
        }
        if *part != Part::Kill {
            let used = loads.iter().zip(&fleet.nodes).map(|(load, hub)| load.processors(hub));
            let used: Vec<String> = used.map(|used| anyhow::Ok(format!("{:.3}", used?))).collect::<Result<_, _>>()?;
            writeln!(report, "| processors of the three hubs meanwhile | {} |", used.join(" | "))?;
        }
    }
    if explorers.stop().is_err() && !options.only.is_empty() && !options.only.contains(&Part::Kill) {
        broken.push("a player of nuggets lost the room".to_owned());
    }
    Ok((report, broken))
}

impl Part {
    // Measures, and returns lines of a table.
    async fn measure(self, program: Option<&Path>, fleet: &mut Fleet, options: &Options) -> anyhow::Result<String> {
        let mut lines = String::new();
        match self {
            Self::Lobby => {
                let late = lobby(fleet, options.keys.min(SHOWN)).await?;
                writeln!(
                    lines,
                    "| from opening a room to the last of 3 pages, {} rooms | {} |",
                    late.len(),
                    late.cells()
                )?;
            }
            Self::Relay => {
                let late = keys(fleet, options.keys).await?;
                for (what, late) in ["at the hub of the room", "relayed by another hub"].into_iter().zip(late) {
                    writeln!(lines, "| from a key to its display, {what}, {} keys | {} |", late.len(), late.cells())?;
                }
            }
            Self::Watchers => {
                let room = fleet.hub(0).open(&robots::options(ROBOTS, WATCHED))?;
                fleet.shows(&room).await?;
                let mut said = String::new();
                let (last, _) = watch((fleet.hub(0), &room), fleet.hub(1), options.watchers, &mut said).await?;
                let what = format!("from a turn to the last of {} browsers at another hub", options.watchers);
                writeln!(lines, "| {what}, {} turns | {} |", last.len(), last.cells())?;
                if !said.is_empty() {
                    bail!("{}", said.trim_end());
                }
            }
            Self::Move => {
                let Moved { rooms, pauses, silence, all } = moved(program, fleet).await?;
                let (silence, all) = (silence.as_secs_f64(), all.as_secs_f64());
                writeln!(
                    lines,
                    "| for how long a room stood still that moved, {} rooms | {} |",
                    pauses.len(),
                    pauses.cells()
                )?;
                writeln!(
                    lines,
                    "| `drain --move` of a hub with {rooms} rooms, until all were at others | | | {all:.1} s |"
                )?;
                writeln!(
                    lines,
                    "| what a player of one of them heard nothing for | | | {:.0} ms |",
                    silence * 1_000.0
                )?;
            }
            Self::Kill => {
                let (rooms, gone) = kill(fleet).await?;
                let gone = gone.as_secs_f64();
                writeln!(lines, "| until all {rooms} rooms of a killed hub were at others | | | {gone:.1} s |")?;
            }
        }
        Ok(lines)
    }
}

// Opens rooms at all hubs, half robots and half nuggets. Returns the addresses of the former.
fn fill(fleet: &Fleet, rooms: u32) -> anyhow::Result<(Vec<SocketAddr>, Vec<Room>)> {
    let (mut robots, mut nuggets) = (vec![], vec![]);
    let turn = robots::TURN * u64::from(SLOWER);
    for (room, node) in (0..rooms).zip((0..NODES.len()).cycle()) {
        let hub = fleet.hub(node);
        if room % 2 == 0 {
            robots.push(hub.open(&robots::options_at(ROBOTS, LONG, turn))?.address);
        } else {
            nuggets.push(hub.open_nuggets()?);
        }
    }
    Ok((robots, nuggets))
}

// Kills the last hub, and waits until the others have its rooms.
async fn kill(fleet: &mut Fleet) -> anyhow::Result<(usize, Duration)> {
    let name = NODES[2];
    let of_it = |shown: Vec<(String, String)>| -> Vec<String> {
        shown.into_iter().filter(|(_, node)| node == name).map(|(id, _)| id).collect()
    };
    let before = of_it(fleet.hub(0).shown()?);
    fleet.nodes[2].kill()?;
    let killed = Instant::now();
    loop {
        sleep(LOOK).await;
        let shown = fleet.hub(0).shown()?;
        let elsewhere = |id: &String| shown.iter().any(|(shown, node)| shown == id && node != name);
        if before.iter().all(elsewhere) {
            return Ok((before.len(), killed.elapsed()));
        }
        if killed.elapsed() > PATIENCE {
            let lost = before.iter().filter(|id| !elsewhere(id)).count();
            bail!("{lost} of {} rooms of a killed hub are not at others after {} s", before.len(), PATIENCE.as_secs());
        }
    }
}

/// Presses keys in two rooms of nuggets of the first hub, one after another in turn, in a browser with its page and in one with the page of the
/// second hub.
async fn keys(fleet: &Fleet, keys: u32) -> anyhow::Result<[Distribution; 2]> {
    let mut players = [Seat::take(fleet, 0).await?, Seat::take(fleet, 1).await?];
    let mut waited = [vec![], vec![]];
    for _ in 0..keys {
        sleep(BETWEEN).await;
        for (player, waited) in players.iter_mut().zip(&mut waited) {
            waited.push(player.press().await?);
        }
    }
    Ok(waited.map(Distribution::new))
}

/// A seat in a browser, with a key that leads to a display and one that leads back.
struct Seat {
    browser: Browser,
    next: &'static str,
    then: &'static str,
}

impl Seat {
    // Takes a seat in a room of the first hub, with the page of the hub `pages`.
    async fn take(fleet: &Fleet, pages: usize) -> anyhow::Result<Self> {
        let room = fleet.hub(0).open_nuggets()?;
        fleet.shows(&room).await?;
        let mut browser = page::open(fleet.hub(pages).address(), &format!("/rooms/{}/socket", room.id)).await?;
        send(&mut browser, "PLAY Load").await?;
        timeout(ANSWER, text(&mut browser, "OK ")).await.context("no seat")??;
        // The first display may still be on its way.
        while timeout(NOTHING, text(&mut browser, "DISPLAY")).await.is_ok() {}
        for [there, back] in PAIRS {
            send(&mut browser, &format!("KEY {there}")).await?;
            if let Ok(display) = timeout(NOTHING, text(&mut browser, "DISPLAY")).await {
                display?;
                return Ok(Self { browser, next: back, then: there });
            }
        }
        bail!("a player is surrounded by walls")
    }

    // How long it takes from a key to its display.
    async fn press(&mut self) -> anyhow::Result<Duration> {
        let pressed = Instant::now();
        send(&mut self.browser, &format!("KEY {}", self.next)).await?;
        timeout(ANSWER, text(&mut self.browser, "DISPLAY")).await.context("no display")??;
        std::mem::swap(&mut self.next, &mut self.then);
        Ok(pressed.elapsed())
    }
}

async fn send(browser: &mut Browser, message: &str) -> anyhow::Result<()> {
    page::say(browser, message.to_owned()).await.map_err(anyhow::Error::msg)
}

// Receives until a message starts with this.
async fn text(browser: &mut Browser, start: &str) -> anyhow::Result<()> {
    let received = page::receive(browser, |text| text.starts_with(start)).await;
    received.map(drop).map_err(|why| anyhow!("the hub closed the socket: {why}"))
}

/// Opens rooms at one hub after the other, and waits for each until the pages of all hubs show it.
async fn lobby(fleet: &Fleet, rooms: u32) -> anyhow::Result<Distribution> {
    let mut pages = vec![];
    for hub in &fleet.nodes {
        let mut page = page::open(hub.address(), "/live").await?;
        let look = json!({ "look": { "game": "mastermind", "text": "", "from": 0, "count": SHOWN } });
        send(&mut page, &look.to_string()).await?;
        pages.push(page);
    }
    let mut late = vec![];
    for (_, node) in (0..rooms).zip((0..NODES.len()).cycle()) {
        let opened = Instant::now();
        // The only rooms of this game, so a page receives only these.
        let room = fleet.hub(node).open(&json!({ "game": "mastermind" }))?;
        let quoted = format!("\"{}\"", room.id);
        for page in &mut pages {
            let shown = timeout(ANSWER, page::receive(page, |text| text.contains(&quoted))).await;
            let shown = shown.with_context(|| format!("no page shows {}", room.id))?;
            shown.map_err(|why| anyhow!("the hub closed the socket of a page: {why}"))?;
        }
        late.push(opened.elapsed());
    }
    Ok(Distribution::new(late))
}

/// What was measured of a hub that moves its rooms.
struct Moved {
    /// The number of its rooms.
    rooms: usize,
    /// How long each moved room stood still.
    pauses: Distribution,
    /// How long a player of one of them was without an answer.
    silence: Duration,
    /// The time until all were at other hubs.
    all: Duration,
}

/// Moves the rooms of the second hub.
async fn moved(program: Option<&Path>, fleet: &Fleet) -> anyhow::Result<Moved> {
    let (hub, name) = (fleet.hub(1), NODES[1]);
    let player = Player::start(&hub.open_nuggets()?)?;
    let of_it = || anyhow::Ok(fleet.hub(0).shown()?.iter().filter(|(_, node)| node == name).count());
    let rooms = of_it()?;
    let asked = Instant::now();
    let words = ["drain", "--move", "--json"];
    let answer: Value = serde_json::from_str(&hub.command(program, &words)?)?;
    let pauses = answer["moved"]["pauses_ms"].as_array().context("an answer says how long rooms stood still")?;
    let pauses = pauses.iter().filter_map(Value::as_u64).map(Duration::from_millis).collect();
    if answer["moved"]["stays"] != json!({}) {
        bail!("some rooms do not move: {}", answer["moved"]["stays"]);
    }
    while of_it()? > 0 {
        sleep(LOOK).await;
        if asked.elapsed() > PATIENCE {
            bail!("{} of {rooms} rooms have not moved after {} s", of_it()?, PATIENCE.as_secs());
        }
    }
    let all = asked.elapsed();
    // From now on the other hub answers.
    sleep(Duration::from_secs(1)).await;
    Ok(Moved { rooms, pauses: Distribution::new(pauses), silence: player.stop()?, all })
}

/// A player who repeats a key without a meaning, which is answered immediately.
struct Player {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<Duration>>,
}

impl Player {
    fn start(room: &Room) -> anyhow::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(room.address)?;
        socket.set_read_timeout(Some(PROBE))?;
        socket.send(b"PLAY Load")?;
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut buffer = [0; 64];
            let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
            while !stopped.load(Ordering::Relaxed) {
                // The port is closed while the room moves.
                let _ = socket.send(b"KEY x");
                while let Ok(count) = socket.recv(&mut buffer) {
                    if buffer[..count].starts_with(b"ERROR") {
                        longest = longest.max(last.elapsed());
                        last = Instant::now();
                        thread::sleep(PROBE);
                        break;
                    }
                }
            }
            Ok(longest.max(last.elapsed()))
        });
        Ok(Self { stop, thread })
    }

    fn stop(self) -> anyhow::Result<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the player panicked"))?
    }
}
