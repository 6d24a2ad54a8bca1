//! How soon hubs show changes at others, what a relay costs, and what players notice when a hub moves its rooms or is
//! killed.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use clap::ValueEnum;
use cmdkit::whole_number;
use serde_json::{Value, json};
use tokio::{
    net::UdpSocket,
    sync::oneshot,
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    clients::{KEY_PAUSE, ROBOTS, explore, play_robots},
    driver::{Distribution, Load, Report, Worker},
    hub::{Hub, PROXY, TURN},
    rooms::SHOWN,
    watchers::watch,
    wire::{Browser, enter, lobby, receive, send},
};

const NODES: [&str; 3] = ["ann", "bob", "cid"];
/// So that one machine can carry three hubs, rooms play at a tenth of the usual pace.
const SLOWER: u32 = 10;
/// The turns of a match that takes hours, so that it outlasts all measurements.
const LONG: u16 = 10_000;
/// Turns that take ten seconds.
const WATCHED: u16 = 100;
const WATCHERS: u32 = 1_000;
const KEYS: u32 = 500;
const LOOK: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(120);
/// A key, and the key that leads back.
const PAIRS: [[&str; 2]; 4] = [["h", "l"], ["j", "k"], ["y", "n"], ["u", "b"]];
/// A socket receives at most 50 pictures a second.
const BETWEEN: Duration = Duration::from_millis(25);
/// Keys against a wall cause no display.
const NOTHING: Duration = Duration::from_millis(500);
const ANSWER: Duration = Duration::from_secs(30);
/// The pause between two messages of a player whose room moves.
const PROBE: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// From opening a room to the pages of all hubs
    Lobby,
    /// From a key of a browser to its display, at the hub of the room and at another one
    Relay,
    /// From a turn to the last browser that watches at another hub
    Watchers,
    /// How long rooms and players pause when the rooms of a hub move
    Move,
    /// How long it takes until the rooms of a killed hub are at others
    Kill,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// NATS servers with JetStream
    #[arg(long, value_name = "ADDRESSES")]
    nats: String,

    /// The PostgreSQL database for the results
    #[arg(long, value_name = "ADDRESS")]
    database: String,

    /// The number of rooms of all hubs together
    #[arg(long, value_name = "N", default_value_t = 3_000, value_parser = whole_number(6..=6_000_u32, 3_000))]
    rooms: u32,

    /// Measure only these parts
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    only: Vec<Part>,

    /// The durability of rooms, as the hubs' own option
    #[arg(long, value_name = "WHAT")]
    durability: Option<String>,
}

pub(crate) async fn measure(program: &Path, options: &Options) -> anyhow::Result<Report> {
    let mut fleet = Fleet { nodes: vec![] };
    // A new arcade, independent of earlier measurements with these servers.
    let arcade = format!("load-{}", process::id());
    for node in NODES {
        let mut words = PROXY.to_vec();
        words.extend(["--nats", &options.nats, "--database", &options.database]);
        words.extend(["--arcade", &arcade, "--node", node, "--advertise", "127.0.0.1"]);
        words.extend(options.durability.iter().flat_map(|durability| ["--durability", durability]));
        fleet.nodes.push(Hub::start(program, &words)?);
    }
    let (mut robots, mut nuggets) = (vec![], vec![]);
    for (room, hub) in (0..options.rooms).zip(fleet.nodes.iter().cycle()) {
        if room % 2 == 0 {
            robots.push(hub.open_robots(ROBOTS, LONG, TURN * u64::from(SLOWER)).await?.address);
        } else {
            nuggets.push(hub.open_nuggets().await?);
        }
    }
    let explorers = explore(&nuggets, KEY_PAUSE * SLOWER).await?;
    // They play until this program ends.
    let _robots = play_robots(robots, Duration::from_millis(TURN) * SLOWER / options.rooms)?;
    fleet.wait("all rooms", |rooms| rooms.len() >= options.rooms as usize).await?;
    let mut report = Report::default();
    report.line(format_args!("3 hubs with {} rooms, at a tenth of the usual pace.", options.rooms));
    report.head();
    let is_chosen = |part: &Part| options.only.is_empty() || options.only.contains(part);
    for part in Part::value_variants().iter().filter(|part| is_chosen(part)) {
        let loads = fleet.nodes.iter().map(|hub| Load::start(hub.process())).collect::<anyhow::Result<Vec<_>>>()?;
        let measured = match part {
            Part::Lobby => fleet.lobby(&mut report).await,
            Part::Relay => fleet.relay(&mut report).await,
            Part::Watchers => fleet.watchers(&mut report).await,
            Part::Move => fleet.drain(&mut report).await,
            Part::Kill => fleet.kill(&mut report).await,
        };
        if let Err(error) = measured {
            report.broken.push(format!("{part:?}: {error:#}"));
        }
        if *part != Part::Kill {
            let used = loads.iter().map(|load| Ok(format!("{:.3}", load.processors()?)));
            let used = used.collect::<anyhow::Result<Vec<_>>>()?.join(" | ");
            report.line(format_args!("| processors of the three hubs meanwhile | {used} |"));
        }
    }
    if explorers.stop().await.is_err() && !is_chosen(&Part::Kill) {
        report.broken.push("a client of nuggets lost the room".to_owned());
    }
    Ok(report)
}

struct Fleet {
    nodes: Vec<Hub>,
}

impl Fleet {
    async fn wait(&self, what: &str, is_there: impl Fn(&[(String, String)]) -> bool) -> anyhow::Result<()> {
        let begun = Instant::now();
        for hub in &self.nodes {
            while !is_there(&hub.rooms().await?) {
                ensure!(begun.elapsed() < PATIENCE, "a hub does not list {what} after {} s", PATIENCE.as_secs());
                sleep(LOOK).await;
            }
        }
        Ok(())
    }

    // Returns the rooms of a node, and those of the others, as the first hub lists them.
    async fn rooms_of(&self, node: &str) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let (own, others): (Vec<_>, Vec<_>) =
            self.nodes[0].rooms().await?.into_iter().partition(|(_, owner)| owner == node);
        let ids = |rooms: Vec<(String, String)>| rooms.into_iter().map(|(id, _)| id).collect();
        Ok((ids(own), ids(others)))
    }

    // Waits until the rooms are at other nodes than this one. Returns the time since `start`.
    async fn wait_moved(&self, rooms: &[String], node: &str, start: Instant) -> anyhow::Result<f64> {
        loop {
            sleep(LOOK).await;
            let (_, others) = self.rooms_of(node).await?;
            let left = rooms.iter().filter(|id| !others.contains(id)).count();
            if left == 0 {
                return Ok(start.elapsed().as_secs_f64());
            }
            let (all, time) = (rooms.len(), PATIENCE.as_secs());
            ensure!(start.elapsed() < PATIENCE, "{left} of {all} rooms of {node} are not at others after {time} s");
        }
    }

    // Measures one hub after the other. Waits for each room until the pages of all hubs show it.
    async fn lobby(&self, report: &mut Report) -> anyhow::Result<()> {
        // There are no other rooms of this game.
        let look = json!({ "look": { "game": "mastermind", "text": "", "from": 0, "count": SHOWN } });
        let (mut pages, mut late) = (vec![], vec![]);
        for hub in &self.nodes {
            pages.push(lobby(Ipv4Addr::LOCALHOST, hub.address, &look).await?);
        }
        for (_, hub) in (0..SHOWN).zip(self.nodes.iter().cycle()) {
            let opened = Instant::now();
            let quoted = format!("\"{}\"", hub.open(&json!({ "game": "mastermind" })).await?.id);
            for page in &mut pages {
                let shown = timeout(ANSWER, receive(page, |text| text.contains(&quoted))).await;
                shown.with_context(|| format!("no page shows {quoted}"))??;
            }
            late.push(opened.elapsed());
        }
        report.row(format_args!("from opening a room to the last of 3 pages, {SHOWN} rooms"), &Distribution::new(late));
        Ok(())
    }

    // Compares a browser at the page of the room's hub with one at another hub.
    async fn relay(&self, report: &mut Report) -> anyhow::Result<()> {
        let (mut seats, mut late) = ([self.sit(0).await?, self.sit(1).await?], [vec![], vec![]]);
        for _ in 0..KEYS {
            sleep(BETWEEN).await;
            for ((browser, keys), late) in seats.iter_mut().zip(&mut late) {
                let pressed = Instant::now();
                press(browser, keys[0], ANSWER).await.context("no display")?;
                keys.reverse();
                late.push(pressed.elapsed());
            }
        }
        for (late, what) in late.into_iter().zip(["at the hub of the room", "relayed by another hub"]) {
            let what = format_args!("from a key to its display, {what}, {KEYS} keys");
            report.row(what, &Distribution::new(late));
        }
        Ok(())
    }

    // Takes a seat at the page of this node, in a room of the first hub. Returns two keys: the first causes a display,
    // and the second leads back.
    async fn sit(&self, node: usize) -> anyhow::Result<(Browser, [&'static str; 2])> {
        let room = self.nodes[0].open_nuggets().await?;
        self.wait(&room.id, |rooms| rooms.iter().any(|(id, _)| *id == room.id)).await?;
        let mut browser = enter(Ipv4Addr::LOCALHOST, self.nodes[node].address, &room.id, None).await?;
        send(&mut browser, "PLAY Load").await?;
        timeout(ANSWER, receive(&mut browser, |text| text.starts_with("OK "))).await.context("no seat")??;
        // The first display may still be on its way.
        while timeout(NOTHING, receive(&mut browser, |text| text.starts_with("DISPLAY"))).await.is_ok() {}
        for mut keys in PAIRS {
            if press(&mut browser, keys[0], NOTHING).await.is_ok() {
                keys.reverse();
                return Ok((browser, keys));
            }
        }
        bail!("a player is surrounded by walls")
    }

    async fn watchers(&self, report: &mut Report) -> anyhow::Result<()> {
        let room = self.nodes[0].open_robots(ROBOTS, WATCHED, TURN).await?;
        self.wait(&room.id, |rooms| rooms.iter().any(|(id, _)| *id == room.id)).await?;
        let (last, _, skipped) = watch((&self.nodes[0], &room), self.nodes[1].address, WATCHERS).await?;
        ensure!(skipped.is_empty(), "{}", skipped.trim_end());
        let turns = last.len();
        let what = format_args!("from a turn to the last of {WATCHERS} browsers at another hub, {turns} turns");
        report.row(what, &last);
        Ok(())
    }

    async fn drain(&self, report: &mut Report) -> anyhow::Result<()> {
        let (hub, name) = (&self.nodes[1], NODES[1]);
        let room = hub.open_nuggets().await?.address;
        let player = Worker::start("player", async move |stopped| longest_silence(room, stopped).await)?;
        let (rooms, _) = self.rooms_of(name).await?;
        let start = Instant::now();
        let mut command = hub.command(&["drain", "--move", "--json"]);
        let ran = spawn_blocking(move || command.output()).await??;
        ensure!(ran.status.success(), "arcade drain fails: {}", String::from_utf8_lossy(&ran.stderr).trim());
        let output: Value = serde_json::from_slice(&ran.stdout)?;
        let moved = &output["moved"];
        ensure!(moved["stays"] == json!({}), "some rooms do not move: {}", moved["stays"]);
        let pauses = moved["pauses_ms"].as_array().context("the output has pauses")?;
        let pauses = Distribution::new(pauses.iter().filter_map(Value::as_u64).map(Duration::from_millis).collect());
        let all = self.wait_moved(&rooms, name, start).await?;
        // Now the other hub answers.
        sleep(Duration::from_secs(1)).await;
        let silence = player.stop().await?.as_millis();
        report.row(format_args!("for how long a room stood still that moved, {} rooms", pauses.len()), &pauses);
        let count = rooms.len();
        report.line(format_args!(
            "| `drain --move` of a hub with {count} rooms, until all were at others | | | {all:.1} s |\n\
             | the longest silence for a player of one of them | | | {silence} ms |"
        ));
        Ok(())
    }

    async fn kill(&mut self, report: &mut Report) -> anyhow::Result<()> {
        let (rooms, _) = self.rooms_of(NODES[2]).await?;
        self.nodes[2].kill()?;
        let all = self.wait_moved(&rooms, NODES[2], Instant::now()).await?;
        let count = rooms.len();
        report.line(format_args!("| until all {count} rooms of a killed hub were at others | | | {all:.1} s |"));
        Ok(())
    }
}

async fn press(browser: &mut Browser, key: &str, patience: Duration) -> anyhow::Result<()> {
    send(browser, format!("KEY {key}")).await?;
    timeout(patience, receive(browser, |text| text.starts_with("DISPLAY"))).await??;
    Ok(())
}

// The player repeats an invalid key, which is answered immediately.
async fn longest_silence(room: SocketAddr, mut stopped: oneshot::Receiver<()>) -> anyhow::Result<Duration> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    socket.connect(room).await?;
    socket.send(b"PLAY Load").await?;
    let (mut buffer, mut last, mut longest) = ([0; 64], Instant::now(), Duration::ZERO);
    while stopped.try_recv().is_err() {
        // The port is closed while the room moves.
        let _ = socket.send(b"KEY x").await;
        let answered = async {
            while !matches!(socket.recv(&mut buffer).await, Ok(count) if buffer[..count].starts_with(b"ERROR")) {}
        };
        if timeout(PROBE, answered).await.is_ok() {
            longest = longest.max(last.elapsed());
            last = Instant::now();
            sleep(PROBE).await;
        }
    }
    Ok(longest.max(last.elapsed()))
}
