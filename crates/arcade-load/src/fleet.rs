//! How soon hubs show changes at other hubs, what a relay costs, and what players notice when a hub moves its rooms or
//! is killed.

use std::{
    net::SocketAddr,
    process::{self, Command},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use clap::builder::PossibleValuesParser;
use cmdkit::whole_number;
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::spawn_blocking, time::sleep};

use crate::{
    brokers,
    clients::{Explorer, KEY_PAUSE, ROBOTS, explore, play_robots},
    driver::{Distribution, Hub, PROXY, Report, Room, TURN, Worker},
    pages::watch,
    rooms::SHOWN,
    wire::Wire,
};

const NODES: [&str; 3] = ["ann", "bob", "cid"];
/// Rooms play at a tenth of the usual pace, so that one machine can carry three hubs.
const SLOWER: u32 = 10;
/// Takes hours, so that the match outlasts all measurements.
const LONG: u16 = 10_000;
/// Takes ten seconds.
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
/// Between two messages of a player whose room moves.
const PROBE: Duration = Duration::from_millis(10);

/// Measured, in order: records of copies, before the hubs start; messages about rooms; from opening a room to the pages
/// of all hubs; from a browser's key to its display, at the hub of the room and at another one; from a turn to the last
/// browser that watches at another hub; the pauses when a hub's rooms move; the time until other hubs have the rooms of
/// a killed one.
const PARTS: [&str; 7] = ["records", "directory", "lobby", "relay", "watchers", "move", "kill"];

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
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = PossibleValuesParser::new(PARTS))]
    only: Vec<String>,

    /// The durability of rooms, as the hubs' own option
    #[arg(long, value_name = "WHAT")]
    durability: Option<String>,
}

pub(crate) async fn measure(program: Command, options: &Options) -> anyhow::Result<Report> {
    let mut fleet = Fleet { nodes: vec![], report: Report::default() };
    // A new arcade, independent of earlier measurements with these servers.
    let arcade = format!("load-{}", process::id());
    let is_chosen = |part: &str| options.only.is_empty() || options.only.iter().any(|only| only == part);
    if is_chosen("records") {
        brokers::records(&options.nats, &arcade, &mut fleet.report).await?;
        fleet.report.line("");
    }
    if PARTS[1..].iter().all(|part| !is_chosen(part)) {
        return Ok(fleet.report);
    }
    for node in NODES {
        let mut words = PROXY.to_vec();
        words.extend(["--nats", &options.nats, "--database", &options.database]);
        words.extend(["--arcade", &arcade, "--node", node, "--advertise", "127.0.0.1"]);
        words.extend(options.durability.iter().flat_map(|durability| ["--durability", durability]));
        fleet.nodes.push(Hub::start(Command::new(program.get_program()), &words)?);
    }
    let (mut robots, mut nuggets) = (vec![], vec![]);
    for (room, hub) in (0..options.rooms).zip(fleet.nodes.iter().cycle()) {
        if room % 2 == 0 {
            robots.push(hub.open_robots(ROBOTS, LONG, TURN * SLOWER).await?);
        } else {
            nuggets.push(hub.open_nuggets().await?);
        }
    }
    let explorers = explore(&nuggets, KEY_PAUSE * SLOWER).await?;
    // They play until this program ends.
    let _robots = play_robots(&robots, TURN * SLOWER / options.rooms)?;
    let ids: Vec<String> = robots.into_iter().chain(nuggets).map(|room| room.id).collect();
    Fleet::wait(&fleet.nodes, &ids, "", Instant::now()).await?;
    if is_chosen("directory") {
        brokers::directory(&options.nats, &arcade, &mut fleet.report).await?;
    }
    if PARTS[2..].iter().all(|part| !is_chosen(part)) {
        return Ok(fleet.report);
    }
    fleet.report.head(format_args!("3 hubs with {} rooms, at a tenth of the usual pace.", options.rooms));
    for part in PARTS[2..].iter().copied().filter(|part| is_chosen(part)) {
        let usages = fleet.nodes.iter().map(Hub::usage).collect::<anyhow::Result<Vec<_>>>()?;
        let measured = match part {
            "lobby" => fleet.lobby().await,
            "relay" => fleet.relay().await,
            "watchers" => fleet.watchers().await,
            "move" => fleet.drain().await,
            _ => fleet.kill().await,
        };
        if let Err(error) = measured {
            fleet.report.broken.push(format!("{part}: {error:#}"));
        }
        if part != "kill" {
            let used = usages.iter().map(|usage| Ok(format!("{:.3}", usage.processors()?)));
            let used = used.collect::<anyhow::Result<Vec<_>>>()?.join(" | ");
            fleet.report.line(format_args!("| processors of the three hubs meanwhile | {used} |"));
        }
    }
    if explorers.finish().await.is_err() && !is_chosen("kill") {
        fleet.report.broken.push("a client of nuggets lost the room".to_owned());
    }
    Ok(fleet.report)
}

struct Fleet {
    nodes: Vec<Hub>,
    report: Report,
}

impl Fleet {
    // Waits until these hubs list the rooms, none of them at this node. Returns the seconds since `start`.
    async fn wait(hubs: &[Hub], ids: &[String], node: &str, start: Instant) -> anyhow::Result<f64> {
        for hub in hubs {
            loop {
                let rooms = hub.rooms().await?;
                let left = ids.iter().filter(|id| rooms.get(*id).is_none_or(|owner| owner == node)).count();
                if left == 0 {
                    break;
                }
                let (all, time) = (ids.len(), PATIENCE.as_secs());
                ensure!(
                    start.elapsed() < PATIENCE,
                    "{left} of {all} rooms are not at other nodes than '{node}' after {time} s"
                );
                sleep(LOOK).await;
            }
        }
        Ok(start.elapsed().as_secs_f64())
    }

    async fn rooms_of(&self, node: &str) -> anyhow::Result<Vec<String>> {
        let rooms = self.nodes[0].rooms().await?.into_iter();
        Ok(rooms.filter(|(_, owner)| owner == node).map(|(id, _)| id).collect())
    }

    async fn listed(&self, room: Room) -> anyhow::Result<Room> {
        Self::wait(&self.nodes, std::slice::from_ref(&room.id), "", Instant::now()).await?;
        Ok(room)
    }

    // Measures one hub after the other, and waits for each room until the pages of all hubs show it.
    async fn lobby(&mut self) -> anyhow::Result<()> {
        // There are no other rooms of this game.
        let look = json!({ "look": { "game": "mastermind", "text": "", "from": 0, "count": SHOWN } });
        let (mut pages, mut late) = (vec![], vec![]);
        for hub in &self.nodes {
            pages.push(hub.visitor().socket("/live", Some(look.clone())).await?);
        }
        for (_, hub) in (0..SHOWN).zip(self.nodes.iter().cycle()) {
            let opened = Instant::now();
            let quoted = format!("\"{}\"", hub.open(&json!({ "game": "mastermind" })).await?.id);
            for page in &mut pages {
                let shown = page.find(ANSWER, |text| text.contains(&quoted)).await;
                shown.with_context(|| format!("no page shows {quoted}"))?;
            }
            late.push(opened.elapsed());
        }
        let late = Distribution::new(late);
        self.report.row(format_args!("from opening a room to the last of 3 pages, {SHOWN} rooms"), &late);
        Ok(())
    }

    // Compares a browser at the page of the room's hub with one at another hub.
    async fn relay(&mut self) -> anyhow::Result<()> {
        let (mut seats, mut late) = ([self.sit(0).await?, self.sit(1).await?], [vec![], vec![]]);
        for _ in 0..KEYS {
            sleep(BETWEEN).await;
            for ((browser, keys), late) in seats.iter_mut().zip(&mut late) {
                let pressed = Instant::now();
                press(browser, keys, ANSWER).await.context("no display")?;
                late.push(pressed.elapsed());
            }
        }
        for (late, what) in late.into_iter().zip(["at the hub of the room", "relayed by another hub"]) {
            let what = format_args!("from a key to its display, {what}, {KEYS} keys");
            self.report.row(what, &Distribution::new(late));
        }
        Ok(())
    }

    // Takes a seat at this node's page, in a room of the first hub. Returns two keys: the first causes a display, and
    // the second leads back.
    async fn sit(&self, node: usize) -> anyhow::Result<(Wire, [&'static str; 2])> {
        let room = self.listed(self.nodes[0].open_nuggets().await?).await?;
        let mut browser = self.nodes[node].visitor().enter(&room.id, None).await?;
        browser.send("PLAY Load").await?;
        browser.find(ANSWER, |text| text.starts_with("OK ")).await.context("no seat")?;
        // The first display may still be on its way.
        while browser.find(NOTHING, |text| text.starts_with("DISPLAY")).await.is_ok() {}
        for mut keys in PAIRS {
            if press(&mut browser, &mut keys, NOTHING).await.is_ok() {
                return Ok((browser, keys));
            }
        }
        bail!("a player is surrounded by walls")
    }

    async fn watchers(&mut self) -> anyhow::Result<()> {
        let room = self.listed(self.nodes[0].open_robots(ROBOTS, WATCHED, TURN).await?).await?;
        let (last, _, skipped) = watch((&self.nodes[0], &room), &self.nodes[1], WATCHERS).await?;
        ensure!(skipped.is_empty(), "{}", skipped.trim_end());
        let turns = last.len();
        self.report
            .row(format_args!("from a turn to the last of {WATCHERS} browsers at another hub, {turns} turns"), &last);
        Ok(())
    }

    async fn drain(&mut self) -> anyhow::Result<()> {
        let (hub, name) = (&self.nodes[1], NODES[1]);
        let room = hub.open_nuggets().await?.address;
        let player = Worker::start(async move |stopped| longest_silence(room, stopped).await)?;
        let rooms = self.rooms_of(name).await?;
        let start = Instant::now();
        let mut command = hub.subcommand(&["drain", "--move", "--json"]);
        let ran = spawn_blocking(move || command.output()).await??;
        ensure!(ran.status.success(), "arcade drain fails: {}", String::from_utf8_lossy(&ran.stderr).trim());
        let output: Value = serde_json::from_slice(&ran.stdout)?;
        let moved = &output["moved"];
        ensure!(moved["stays"] == json!({}), "some rooms do not move: {}", moved["stays"]);
        let pauses = moved["pauses_ms"].as_array().context("the output has pauses")?;
        let pauses = Distribution::new(pauses.iter().filter_map(Value::as_u64).map(Duration::from_millis).collect());
        let all = Self::wait(&self.nodes[..1], &rooms, name, start).await?;
        // From here on, the other hub answers.
        sleep(Duration::from_secs(1)).await;
        let silence = player.finish().await?.as_millis();
        self.report.row(format_args!("for how long a room stood still that moved, {} rooms", pauses.len()), &pauses);
        let count = rooms.len();
        self.report.line(format_args!(
            "| `drain --move` of a hub with {count} rooms, until all were at others | | | {all:.1} s |\n\
             | the longest silence for a player of one of them | | | {silence} ms |"
        ));
        Ok(())
    }

    async fn kill(&mut self) -> anyhow::Result<()> {
        let rooms = self.rooms_of(NODES[2]).await?;
        self.nodes[2].kill()?;
        let (all, count) = (Self::wait(&self.nodes[..1], &rooms, NODES[2], Instant::now()).await?, rooms.len());
        self.report.line(format_args!("| until all {count} rooms of a killed hub were at others | | | {all:.1} s |"));
        Ok(())
    }
}

// The other key is next.
async fn press(browser: &mut Wire, keys: &mut [&str; 2], patience: Duration) -> anyhow::Result<()> {
    browser.send(format!("KEY {}", keys[0])).await?;
    browser.find(patience, |text| text.starts_with("DISPLAY")).await?;
    keys.reverse();
    Ok(())
}

async fn longest_silence(room: SocketAddr, mut stopped: oneshot::Receiver<()>) -> anyhow::Result<Duration> {
    let mut player = Explorer::join(room, 0).await?;
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    while stopped.try_recv().is_err() {
        player.probe(PROBE).await?;
        longest = longest.max(last.elapsed());
        last = Instant::now();
        sleep(PROBE).await;
    }
    Ok(longest)
}
