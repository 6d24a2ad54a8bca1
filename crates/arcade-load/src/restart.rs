use std::{path::Path, time::Instant};

use anyhow::{Context as _, ensure};
use cmdkit::whole_number;
use tokio::task::JoinSet;

use crate::{
    clients::Explorer,
    driver::Report,
    hub::{Hub, PROXY, Room},
};

/// Keys before a client waits for an answer.
const BURST: u32 = 10;
/// Rooms with activity at the same time: enough to keep the hub busy, and few enough that no datagram is lost.
const ACTIVE: usize = 8;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of rooms, each with a journal
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=1_000_u32, 1_000))]
    rooms: u32,

    /// Messages that each room receives before the hub is killed
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(2..=100_000_u32, 1_000))]
    arrivals: u32,
}

/// Plays in rooms of nuggets, kills the hub and reports how long another one takes to open all of them.
pub(crate) async fn measure(program: &Path, &Options { rooms: count, arrivals }: &Options) -> anyhow::Result<Report> {
    let mut hub = Hub::start(program, &PROXY)?;
    let mut rooms = vec![];
    for _ in 0..count {
        rooms.push(hub.open_nuggets().await?);
    }
    for batch in rooms.chunks(ACTIVE) {
        let mut playing = JoinSet::new();
        for room in batch {
            playing.spawn(play(room.clone(), arrivals));
        }
        while let Some(played) = playing.join_next().await {
            played??;
        }
    }
    hub.kill()?;
    let killed = Instant::now();
    hub.restart()?;
    let open = killed.elapsed().as_secs_f64();
    let back = hub.rooms().await?.len();
    ensure!(back == rooms.len(), "only {back} of {count} rooms are back");
    let mut report = Report::default();
    report.line(format_args!(
        "A hub with {back} rooms, each with a journal of {arrivals} arrivals, was killed. \
         Another one had all of them open after {open:.2} s."
    ));
    Ok(report)
}

async fn play(room: Room, arrivals: u32) -> anyhow::Result<()> {
    let mut players = [Explorer::join(room.address, 0).await?, Explorer::join(room.address, 1).await?];
    let mut left = arrivals.saturating_sub(2);
    while left > 0 {
        for player in &mut players {
            let keys = left.min(BURST);
            if keys > 0 {
                player.press(keys).await.with_context(|| room.id.clone())?;
            }
            left -= keys;
        }
    }
    Ok(())
}
