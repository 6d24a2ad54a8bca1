//! Many browsers that watch one match.

use std::{collections::BTreeMap, process::Command, time::Duration};

use anyhow::Context as _;
use cmdkit::whole_number;
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    clients::{ROBOTS, play_robots, robot},
    driver::{Distribution, Hub, PROXY, Report, Room, TURN, lateness},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of browsers
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=2_000_u32, 1_000))]
    watchers: u32,

    /// Turns of the match, ten a second
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = whole_number(10..=10_000_u16, 300))]
    turns: u16,
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
