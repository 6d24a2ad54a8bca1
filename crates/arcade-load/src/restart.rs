//! Starting a hub that was killed.

use std::{path::Path, time::Instant};

use anyhow::{Context as _, bail};
use tokio::task::LocalSet;

use crate::{args::Restart, hub::Hub, nuggets::Player};

/// Players of each room.
const PLAYERS: u32 = 2;
/// Keys that a player presses before it waits for an answer.
const BURST: u32 = 10;
/// Rooms that are played in at the same time: so many that the hub is busy, and so few that no datagram is lost.
const ROOMS: usize = 8;

/// Opens rooms of nuggets, plays in them, kills the hub and reports how long it takes until another one has all of them open again.
pub(crate) async fn measure(program: Option<&Path>, args: &Restart) -> anyhow::Result<String> {
    let data = tempfile::tempdir()?;
    let mut hub = Hub::start(program, data.path())?;
    let rooms = (0..args.rooms).map(|_| hub.open_nuggets()).collect::<anyhow::Result<Vec<_>>>()?;
    LocalSet::new()
        .run_until(async {
            for batch in rooms.chunks(ROOMS) {
                let played = batch.iter().map(|room| tokio::task::spawn_local(play(room.address, args.arrivals)));
                for (played, room) in played.collect::<Vec<_>>().into_iter().zip(batch) {
                    played.await?.with_context(|| format!("in {}", room.id))?;
                }
            }
            anyhow::Ok(())
        })
        .await?;
    hub.kill()?;
    let killed = Instant::now();
    let hub = Hub::start(program, data.path())?;
    let open = killed.elapsed();
    let back = hub.rooms()?;
    if back != rooms.len() {
        bail!("only {back} of {} rooms are back", rooms.len());
    }
    Ok(format!(
        "A hub with {back} rooms, each with a journal of {} arrivals, was killed. Another one had all of them open after {:.2} s.\n",
        args.arrivals,
        open.as_secs_f64()
    ))
}

async fn play(room: std::net::SocketAddr, arrivals: u32) -> anyhow::Result<()> {
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
