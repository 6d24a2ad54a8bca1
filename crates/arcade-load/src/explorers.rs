//! All players of nuggets, on a thread of their own: what they read must not delay the clock of the turns of robots.

use std::{cell::Cell, rc::Rc, time::Duration};

use anyhow::{Context as _, anyhow};
use tokio::{sync::oneshot, task::JoinSet};

use crate::{hub::Room, nuggets::Player, worker::Worker};

/// Players of a room.
pub(crate) const PLAYERS: u32 = 8;
/// Between two keys of a player.
pub(crate) const KEY_PAUSE: Duration = Duration::from_millis(500);

/// Seats players in many rooms, who press a key each `pause` until they are stopped, and tell then how many displays they have read. Returns when all
/// have a seat.
pub(crate) async fn start(rooms: Vec<Room>, pause: Duration) -> anyhow::Result<Worker<u64>> {
    let (joined, all_joined) = oneshot::channel();
    let explorers = Worker::start("explorers", move |stopped| play(rooms, pause, joined, stopped))?;
    match all_joined.await {
        Ok(()) => Ok(explorers),
        // The thread has ended, and says why.
        Err(_) => Err(explorers.stop().err().unwrap_or_else(|| anyhow!("the players of nuggets ended early"))),
    }
}

async fn play(
    rooms: Vec<Room>,
    pause: Duration,
    joined: oneshot::Sender<()>,
    stopped: oneshot::Receiver<()>,
) -> anyhow::Result<u64> {
    let displays = Rc::new(Cell::new(0));
    let mut players = JoinSet::new();
    for (room, seed) in rooms.iter().flat_map(|room| (0..PLAYERS).map(move |seed| (room, seed))) {
        let player =
            Player::join(room.address, &format!("Load {seed}"), seed.into()).await.with_context(|| room.id.clone())?;
        let displays = Rc::clone(&displays);
        players.spawn_local(async move { player.play(pause, &displays).await });
    }
    // Whoever waits for that may have given up.
    let _ = joined.send(());
    tokio::select! {
        _ = stopped => Ok(displays.get()),
        // They never end by themselves, unless they fail.
        Some(failed) = players.join_next() => {
            failed?.context("a player of nuggets failed")?;
            Ok(displays.get())
        }
    }
}
