//! Many browsers: some watch one match, and some open the page and sit down.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use cmdkit::whole_number;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    clients::{ROBOTS, play_robots, robot},
    driver::{Distribution, Hub, PROXY, Report, Room, TURN, lateness},
    wire::{Visitor, Wire},
};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of browsers
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=2_000_u32, 1_000))]
    watchers: u32,

    /// Turns of the match, ten a second
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = whole_number(10..=10_000_u16, 300))]
    turns: u16,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClassOptions {
    /// The number of pupils
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = whole_number(1..=1_000_u32, 60))]
    pupils: u32,
}

pub(crate) async fn watchers(program: Command, &Options { watchers, turns }: &Options) -> anyhow::Result<Report> {
    let hub = Hub::start(program, &PROXY)?;
    let room = hub.open_robots(ROBOTS, turns, TURN).await?;
    let (last, processors, skipped) = watch((&hub, &room), &hub, watchers).await?;
    let mut report = Report { text: skipped, ..Report::default() };
    report.head(format_args!("{watchers} browsers watch a match of {turns} turns, ten a second:"));
    report.row(format_args!("from a turn to its last frame, {} turns", last.len()), &last);
    report.line(format_args!("\nThe hub kept {processors:.2} processors busy."));
    Ok(report)
}

/// Browsers watch at the page of `hub`, which may not be the room's. Returns how late each turn reached the last one,
/// the processors that the room's hub kept busy, and a line if a turn did not reach all.
pub(crate) async fn watch(
    (hub, room): (&Hub, &Room),
    page: &Hub,
    watchers: u32,
) -> anyhow::Result<(Distribution, f64, String)> {
    let (visitor, mut browsers) = (page.visitor(), JoinSet::new());
    for _ in 0..watchers {
        let browser = visitor.enter(&room.id, Some(json!({ "watch": true }))).await;
        let mut wire = browser.context("a browser cannot enter")?;
        browsers.spawn(async move { robot(&mut wire, None, 0, Some).await });
    }
    let usage = hub.usage()?;
    play_robots(std::slice::from_ref(room), Duration::ZERO)?.finish().await?;
    let (processors, mut arrivals) = (usage.processors()?, vec![]);
    while let Some(browser) = browsers.join_next().await {
        arrivals.extend(browser?.context("a browser lost the match")?);
    }
    let mut last = BTreeMap::<u16, (Duration, u32)>::new();
    for (&(turn, _), late) in arrivals.iter().zip(lateness(&arrivals)) {
        let (longest, count) = last.entry(turn).or_default();
        (*longest, *count) = (late.max(*longest), *count + 1);
    }
    let skipped = last.iter().find(|(_, (_, count))| *count != watchers).map(|(turn, (_, count))| {
        format!("Turn {turn} reached {count} of {watchers} browsers; the others received a newer snapshot instead.\n")
    });
    let last = Distribution::new(last.into_values().map(|(longest, _)| longest).collect());
    Ok((last, processors, skipped.unwrap_or_default()))
}

pub(crate) async fn class(program: Command, &ClassOptions { pupils }: &ClassOptions) -> anyhow::Result<Report> {
    let hub = Hub::start(program, &[])?;
    let mut joining = JoinSet::new();
    for pupil in 0..pupils {
        let joined = timeout(PATIENCE, join(hub.visitor(), pupil));
        joining.spawn(async move { joined.await.context("a pupil has no game in time")? });
    }
    // All sockets stay open until the last pupil is in a game.
    let joined: Vec<_> =
        joining.join_all().await.into_iter().collect::<anyhow::Result<_>>().context("a pupil cannot join")?;
    let mut report = Report::default();
    report.head(format_args!(
        "{pupils} pupils behind one address, each with the page and its files, the lobby and a seat:"
    ));
    let times = joined.iter().map(|(took, _)| *took).collect();
    report.row("from the address to the first picture of a game", &Distribution::new(times));
    Ok(report)
}

// The page and its files, the lobby, a seat, and the first picture.
async fn join(visitor: Visitor, pupil: u32) -> anyhow::Result<(Duration, [Wire; 2])> {
    let start = Instant::now();
    let page = get(&visitor, "/").await?;
    let files: BTreeSet<&str> =
        page.split(['"', '\'']).filter(|part| part.starts_with("/js/") || part.starts_with("/style/")).collect();
    for file in files {
        get(&visitor, file).await?;
    }
    let lobby = visitor.socket("/live", None).await?;
    let (_, room) = visitor.request(("POST", "/api/play/nuggets"), &[], "").await?;
    let room: Value = serde_json::from_slice(&room)?;
    let id = room["id"].as_str().with_context(|| format!("no seat: {}", room["error"]))?;
    let mut browser = visitor.enter(id, None).await?;
    browser.send(format!("PLAY pupil{pupil}")).await?;
    let text = browser.find(PATIENCE, |text| text.starts_with("DISPLAY") || text.starts_with("QUIT")).await?;
    ensure!(!text.starts_with(b"QUIT"), "{}", text.escape_ascii());
    Ok((start.elapsed(), [lobby, browser]))
}

async fn get(visitor: &Visitor, path: &str) -> anyhow::Result<String> {
    let (status, body) = visitor.request(("GET", path), &[], "").await?;
    ensure!(status == 200, "{path}: {status}");
    Ok(String::from_utf8_lossy(&body).into_owned())
}
