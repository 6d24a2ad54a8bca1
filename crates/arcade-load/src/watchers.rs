use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use anyhow::Context as _;
use cmdkit::whole_number;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

use crate::{
    clients::{ROBOTS, play_robots},
    driver::{Arrival, Distribution, Load, Report, lateness},
    hub::{Hub, PROXY, Room, TURN},
    wire::{Browser, enter, next},
};

const TURN_TAG: u8 = 3;
const ENDED_TAG: u8 = 4;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of browsers
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=2_000_u32, 1_000))]
    watchers: u32,

    /// Turns of the match, ten a second
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = whole_number(10..=10_000_u16, 300))]
    turns: u16,
}

/// Reports how late each turn reached the last browser.
pub(crate) async fn measure(program: &Path, &Options { watchers, turns }: &Options) -> anyhow::Result<Report> {
    let hub = Hub::start(program, &PROXY)?;
    let room = hub.open_robots(ROBOTS, turns, TURN).await?;
    let (last, processors, skipped) = watch((&hub, &room), hub.address, watchers).await?;
    let mut report = Report { text: skipped, ..Report::default() };
    report.line(format_args!("{watchers} browsers watch a match of {turns} turns, ten a second:"));
    report.head();
    report.row(format_args!("from a turn to its last frame, {} turns", last.len()), &last);
    report.line(format_args!("\nThe hub kept {processors:.2} processors busy."));
    Ok(report)
}

/// Browsers watch at the page of this hub, which may be another one than that of the room. Returns how late each turn
/// reached the last of them, the processors that the hub of the room kept busy, and a line if a turn did not reach all
/// browsers.
pub(crate) async fn watch(
    (hub, room): (&Hub, &Room),
    page: SocketAddr,
    watchers: u32,
) -> anyhow::Result<(Distribution, f64, String)> {
    let mut browsers = JoinSet::new();
    for _ in 0..watchers {
        let browser = enter(Ipv4Addr::LOCALHOST, page, &room.id, Some(json!({ "watch": true }))).await;
        browsers.spawn(turns(browser.context("a browser cannot enter")?));
    }
    let load = Load::start(hub.process())?;
    play_robots(vec![room.address], Duration::ZERO)?.join().await?;
    let processors = load.processors()?;
    let mut arrivals = vec![];
    while let Some(browser) = browsers.join_next().await {
        arrivals.extend(browser?.context("a browser lost the match")?);
    }
    // For each turn, how late it reached the last browser, and how many it reached.
    let mut last = BTreeMap::<u16, (Duration, u32)>::new();
    for (&(turn, _), late) in arrivals.iter().zip(lateness(&arrivals, Duration::from_millis(TURN))) {
        let (longest, count) = last.entry(turn).or_default();
        (*longest, *count) = (late.max(*longest), *count + 1);
    }
    let skipped =
        last.iter().find(|(_, (_, count))| *count != watchers).map_or_else(String::new, |(turn, (_, count))| {
            format!(
                "Turn {turn} reached {count} of {watchers} browsers; the others received a newer snapshot instead.\n"
            )
        });
    Ok((Distribution::new(last.into_values().map(|(longest, _)| longest).collect()), processors, skipped))
}

// Until the match is over.
async fn turns(mut browser: Browser) -> anyhow::Result<Vec<Arrival>> {
    let mut turns = vec![];
    loop {
        let Message::Binary(message) = next(&mut browser).await? else { continue };
        match message[..] {
            [TURN_TAG, high, low, ..] => turns.push((u16::from_be_bytes([high, low]), browser.get_ref().arrived)),
            [ENDED_TAG, ..] => return Ok(turns),
            _ => {}
        }
    }
}
