//! A class behind one address that opens the page and sits down.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use cmdkit::whole_number;
use serde_json::Value;
use tokio::{task::JoinSet, time::timeout};

use crate::{
    driver::{Distribution, Report},
    hub::Hub,
    wire::{Browser, Http, enter, receive, send, socket},
};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of pupils
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = whole_number(1..=1_000_u32, 60))]
    pupils: u32,
}

/// Reports how long it took until each pupil was in a game.
pub(crate) async fn measure(program: &Path, &Options { pupils }: &Options) -> anyhow::Result<Report> {
    let hub = Hub::start(program, &[])?;
    let address = hub.address;
    let mut joining = JoinSet::new();
    for pupil in 0..pupils {
        joining.spawn(
            async move { timeout(PATIENCE, join(address, pupil)).await.context("a pupil has no game in time")? },
        );
    }
    // All sockets stay open until the last pupil is in a game.
    let (mut times, mut sockets) = (vec![], vec![]);
    while let Some(pupil) = joining.join_next().await {
        let (took, open) = pupil?.context("a pupil cannot join")?;
        times.push(took);
        sockets.push(open);
    }
    let mut report = Report::default();
    report.line(format_args!(
        "{pupils} pupils behind one address, each with the page and its files, the lobby and a seat:"
    ));
    report.head();
    report.row("from the address to the first picture of a game", &Distribution::new(times));
    Ok(report)
}

// The page and its files, the lobby, a seat, and the first picture.
async fn join(hub: SocketAddr, pupil: u32) -> anyhow::Result<(Duration, [Browser; 2])> {
    let (start, from) = (Instant::now(), Ipv4Addr::LOCALHOST);
    let http = Http::new(from, hub);
    let page = get(&http, "/").await?;
    let mut files: Vec<&str> = page.split(['"', '\'']).collect();
    files.retain(|part| part.starts_with("/js/") || part.starts_with("/style/"));
    files.sort_unstable();
    files.dedup();
    for file in files {
        get(&http, file).await?;
    }
    let lobby = socket(from, hub, "/live").await?;
    let (_, room) = http.request("POST", "/api/play/nuggets", &[], "").await?;
    let room: Value = serde_json::from_slice(&room)?;
    let id = room["id"].as_str().with_context(|| format!("no seat: {}", room["error"]))?;
    let mut browser = enter(from, hub, id, None).await?;
    send(&mut browser, format!("PLAY pupil{pupil}")).await?;
    match receive(&mut browser, |text| text.starts_with("DISPLAY") || text.starts_with("QUIT")).await? {
        text if text.starts_with("QUIT") => bail!("{text}"),
        _ => Ok((start.elapsed(), [lobby, browser])),
    }
}

async fn get(http: &Http, path: &str) -> anyhow::Result<String> {
    let (status, body) = http.request("GET", path, &[], "").await?;
    ensure!(status == 200, "{path}: {status}");
    Ok(String::from_utf8_lossy(&body).into_owned())
}
