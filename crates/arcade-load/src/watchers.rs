//! Many browsers that watch one match of robots.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::Path,
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, bail};
use futures_util::StreamExt as _;
use tokio::{net::TcpStream, task::LocalSet};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use crate::{
    args::Watchers,
    hub::{Hub, Load, Room},
    lateness::{Arrivals, Distribution, Schedule},
    robots::{self, Players, ROBOTS},
    stamp::Stamped,
};

/// The first byte of a turn, and of the end of a game.
const TURN_TAG: u8 = 3;
const ENDED_TAG: u8 = 4;

/// Lets the browsers in, plays a match before them, and reports how long after its time each turn had reached the last of them.
pub(crate) async fn measure(program: Option<&Path>, args: &Watchers) -> anyhow::Result<String> {
    let mut report = String::new();
    let data = tempfile::tempdir()?;
    let hub = Hub::start(program, data.path())?;
    let room = hub.open(&robots::options(ROBOTS, args.turns))?;
    let (last, processors) = watch((&hub, &room), &hub, args.watchers, &mut report).await?;
    writeln!(report, "{} browsers watch a match of {} turns, ten a second:", args.watchers, args.turns)?;
    writeln!(report, "\n| | p50 | p99 | longest |\n| --- | --- | --- | --- |")?;
    writeln!(report, "| from a turn to its last frame, {} turns | {} |\n", last.len(), last.cells())?;
    writeln!(report, "The hub kept {processors:.2} processors busy.")?;
    Ok(report)
}

/// Plays a match in a room of robots before so many browsers with the pages of `pages`, which may be another hub. Returns how long after its
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
        let browser = open(pages, room).await.context("a browser is not let in")?;
        browsers.push(tokio::task::spawn_local(look_on(browser)));
    }
    let load = Load::start(hub)?;
    let players = Players::start(vec![room.address], Duration::ZERO)?;
    tokio::task::spawn_blocking(|| players.finish()).await??;
    let processors = load.processors(hub)?;
    // By turn: when it came to the first and to the last of them, and to how many.
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

type Browser = WebSocketStream<Stamped>;

async fn open(hub: &Hub, room: &Room) -> anyhow::Result<Browser> {
    let stream = Stamped::new(TcpStream::connect(hub.address()).await?)?;
    let url = format!("ws://{}/rooms/{}/socket?watch=true", hub.address(), room.id);
    let (browser, _) = client_async(url, stream).await?;
    Ok(browser)
}

// Receives until the match is over, and records when turns arrived.
async fn look_on(mut browser: Browser) -> anyhow::Result<Vec<(u16, SystemTime)>> {
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
