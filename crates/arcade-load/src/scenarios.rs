//! Scenarios of one hub each: many watchers of a match, a class that opens the page, and a restart after a kill.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, anyhow, bail};
use cmdkit::whole_number;
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::{
    task::{JoinSet, LocalSet, spawn_blocking, spawn_local},
    time::timeout,
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    driver::{Arrivals, Distribution, Load, Schedule},
    hub::{Hub, Room},
    nuggets::Player,
    page::{self, Browser, Http, Stamped},
    robots::{self, Players, ROBOTS},
};

/// The first byte of a turn, and of the end of a game.
const TURN_TAG: u8 = 3;
const ENDED_TAG: u8 = 4;
/// How long a pupil waits for its game.
const PATIENCE: Duration = Duration::from_secs(60);
/// Players of a room before a restart.
const PLAYERS: u32 = 2;
/// Keys that a player presses before it waits for an answer.
const BURST: u32 = 10;
/// Rooms that are played in at the same time: enough to keep the hub busy, and few enough that no datagram is lost.
const ROOMS: usize = 8;

#[derive(Debug, clap::Args)]
pub(crate) struct Watchers {
    /// How many browsers
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=2_000_u32, 1_000))]
    pub(crate) watchers: u32,

    /// Turns of the match, ten a second
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = whole_number(10..=10_000_u16, 300))]
    pub(crate) turns: u16,
}

/// Opens the browsers, plays a match that they watch, and reports how long after its time each turn had reached the last of them.
pub(crate) async fn watchers(program: Option<&Path>, options: &Watchers) -> anyhow::Result<String> {
    let mut report = String::new();
    let hub = Hub::start(program)?;
    let room = hub.open(&robots::options(ROBOTS, options.turns))?;
    let (last, processors) = watch((&hub, &room), &hub, options.watchers, &mut report).await?;
    writeln!(report, "{} browsers watch a match of {} turns, ten a second:", options.watchers, options.turns)?;
    writeln!(report, "\n| | p50 | p99 | longest |\n| --- | --- | --- | --- |")?;
    writeln!(report, "| from a turn to its last frame, {} turns | {} |\n", last.len(), last.cells())?;
    writeln!(report, "The hub kept {processors:.2} processors busy.")?;
    Ok(report)
}

/// Plays a match in a room of robots that browsers watch with the pages of `pages`, which may be another hub. Returns how long after its
/// time each turn had reached the last of them, and the processors that the hub of the room kept busy.
pub(crate) async fn watch(
    (hub, room): (&Hub, &Room),
    pages: &Hub,
    watchers: u32,
    report: &mut String,
) -> anyhow::Result<(Distribution, f64)> {
    LocalSet::new().run_until(watch_here((hub, room), pages, watchers, report)).await
}

async fn watch_here(
    (hub, room): (&Hub, &Room),
    pages: &Hub,
    watchers: u32,
    report: &mut String,
) -> anyhow::Result<(Distribution, f64)> {
    let mut browsers = vec![];
    for _ in 0..watchers {
        browsers.push(spawn_local(look_on(page::watch(pages.address(), &room.id).await?)));
    }
    let load = Load::start(hub)?;
    let players = Players::start(vec![room.address], Duration::ZERO)?;
    spawn_blocking(|| players.finish()).await??;
    let processors = load.processors(hub)?;
    // For each turn, when it reached the first and the last of them, and how many.
    let mut turns = BTreeMap::<u16, (SystemTime, SystemTime, u32)>::new();
    for browser in browsers {
        for (turn, at) in browser.await?.context("a browser lost the match")? {
            let (first, last, count) = turns.entry(turn).or_insert((at, at, 0));
            (*first, *last, *count) = (at.min(*first), at.max(*last), *count + 1);
        }
    }
    if let Some((turn, (.., count))) = turns.iter().find(|(_, (.., count))| *count != watchers) {
        writeln!(
            report,
            "Turn {turn} reached {count} of {watchers} browsers; the others received a snapshot of the newest state instead."
        )?;
    }
    let (mut first, mut last) = (Arrivals::default(), Arrivals::default());
    for (turn, (earliest, latest, _)) in turns {
        first.push(turn, earliest);
        last.push(turn, latest);
    }
    let schedule = Schedule::of(&first, Duration::from_millis(robots::TURN));
    Ok((Distribution::new(last.lateness_by(&schedule)), processors))
}

// Receives until the match is over, and records when turns arrived.
async fn look_on(mut browser: Browser<Stamped>) -> anyhow::Result<Vec<(u16, SystemTime)>> {
    let mut turns = vec![];
    while let Some(message) = browser.next().await {
        let message = match message? {
            Message::Binary(message) => message,
            Message::Close(Some(close)) => bail!("the hub closed the socket with {}: {}", close.code, close.reason),
            _ => continue,
        };
        match message[..] {
            [TURN_TAG, high, low, ..] => turns.push((u16::from_be_bytes([high, low]), browser.get_ref().last())),
            [ENDED_TAG, ..] => return Ok(turns),
            _ => {}
        }
    }
    bail!("the hub closed the socket before the end of the match")
}

#[derive(Debug, clap::Args)]
pub(crate) struct Class {
    /// How many pupils
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = whole_number(1..=1_000_u32, 60))]
    pub(crate) pupils: u32,
}

/// Opens the page for all pupils at the same moment, and reports how long it took until each was in a game.
pub(crate) async fn class(program: Option<&Path>, options: &Class) -> anyhow::Result<String> {
    // With the quotas of every host.
    let hub = Hub::start_with(program, &[], None)?;
    let address = hub.address();
    let mut pupils = JoinSet::new();
    for pupil in 0..options.pupils {
        pupils.spawn(async move { timeout(PATIENCE, join(address, pupil)).await.context("a pupil gets no game")? });
    }
    // All sockets stay open until the last pupil is in a game.
    let (mut times, mut sockets) = (vec![], vec![]);
    while let Some(pupil) = pupils.join_next().await {
        let (took, open) = pupil?.context("a pupil is not let in")?;
        times.push(took);
        sockets.push(open);
    }
    Ok(format!(
        "{} pupils behind one address, each with the page and its files, the lobby and a seat:\n\n\
         | | p50 | p99 | longest |\n| --- | --- | --- | --- |\n\
         | from the address to the first picture of a game | {} |\n",
        options.pupils,
        Distribution::new(times).cells()
    ))
}

// One pupil: the page and its files, the lobby, a seat, and the first picture of the game.
async fn join(hub: SocketAddr, pupil: u32) -> anyhow::Result<(Duration, [Browser; 2])> {
    let start = Instant::now();
    let mut http = Http::new(Ipv4Addr::LOCALHOST, hub);
    let page = get(&mut http, "/").await?;
    let mut files = vec![];
    for file in page.split(['"', '\'']).filter(|part| part.starts_with("/js/") || part.starts_with("/style/")) {
        if !files.contains(&file) {
            get(&mut http, file).await?;
            files.push(file);
        }
    }
    let lobby = page::open(hub, "/live").await?;
    let room: Value = serde_json::from_slice(&http.post("/api/play/nuggets", "").await?.body)?;
    let id = room["id"].as_str().with_context(|| format!("no seat: {}", room["error"]))?;
    let mut socket = page::open(hub, &format!("/rooms/{id}/socket")).await?;
    page::say(&mut socket, format!("PLAY pupil{pupil}")).await.map_err(anyhow::Error::msg)?;
    let first = page::receive(&mut socket, |text| text.starts_with("DISPLAY") || text.starts_with("QUIT")).await;
    match first.map_err(|why| anyhow!("the hub closed the socket: {why}"))? {
        text if text.starts_with("QUIT") => bail!("{text}"),
        _ => Ok((start.elapsed(), [lobby, socket])),
    }
}

async fn get(http: &mut Http, path: &str) -> anyhow::Result<String> {
    let answer = http.get(path).await?;
    anyhow::ensure!(answer.status == 200, "{path}: {}", answer.status);
    Ok(String::from_utf8_lossy(&answer.body).into_owned())
}

#[derive(Debug, clap::Args)]
pub(crate) struct Restart {
    /// How many rooms, each with a journal
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=1_000_u32, 1_000))]
    pub(crate) rooms: u32,

    /// Messages that each room receives before the hub is killed
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(2..=100_000_u32, 1_000))]
    pub(crate) arrivals: u32,
}

/// Opens rooms of nuggets, plays in them, kills the hub and reports how long another one takes to open all of them again.
pub(crate) async fn restart(program: Option<&Path>, options: &Restart) -> anyhow::Result<String> {
    let mut hub = Hub::start(program)?;
    let rooms = (0..options.rooms).map(|_| hub.open_nuggets()).collect::<anyhow::Result<Vec<_>>>()?;
    LocalSet::new()
        .run_until(async {
            for batch in rooms.chunks(ROOMS) {
                let played = batch.iter().map(|room| spawn_local(play(room.address, options.arrivals)));
                for (played, room) in played.collect::<Vec<_>>().into_iter().zip(batch) {
                    played.await?.with_context(|| format!("in {}", room.id))?;
                }
            }
            anyhow::Ok(())
        })
        .await?;
    hub.kill()?;
    let killed = Instant::now();
    let hub = hub.restart(program)?;
    let open = killed.elapsed();
    let back = hub.shown()?.len();
    if back != rooms.len() {
        bail!("only {back} of {} rooms are back", rooms.len());
    }
    Ok(format!(
        "A hub with {back} rooms, each with a journal of {} arrivals, was killed. Another one had all of them open after {:.2} s.\n",
        options.arrivals,
        open.as_secs_f64()
    ))
}

async fn play(room: SocketAddr, arrivals: u32) -> anyhow::Result<()> {
    let mut players = vec![];
    for seed in 0..PLAYERS {
        players.push(Player::join(room, &format!("Load {seed}"), seed.into()).await?);
    }
    let mut left = arrivals.saturating_sub(PLAYERS);
    while left > 0 {
        for player in &mut players {
            let keys = left.min(BURST);
            if keys > 0 {
                player.keys(keys).await?;
            }
            left -= keys;
        }
    }
    Ok(())
}
