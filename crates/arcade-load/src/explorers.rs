//! All players of nuggets, on a thread of their own: what they read must not delay the clock of the turns of robots.

use std::{
    cell::Cell,
    rc::Rc,
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use tokio::{
    sync::oneshot,
    task::{JoinSet, LocalSet},
};

use crate::{hub::Room, nuggets::Player};

/// Players of a room.
pub(crate) const PLAYERS: u32 = 8;
/// Between two keys of a player.
const KEY_PAUSE: Duration = Duration::from_millis(500);

/// The players of many rooms, who press keys until they are stopped.
#[derive(Debug)]
pub(crate) struct Explorers {
    thread: JoinHandle<anyhow::Result<u64>>,
    stop: oneshot::Sender<()>,
}

impl Explorers {
    /// Returns when all have a seat.
    ///
    /// # Errors
    /// When one gets none.
    pub(crate) async fn start(rooms: Vec<Room>) -> anyhow::Result<Self> {
        let (joined, all_joined) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("explorers".into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            LocalSet::new().block_on(&runtime, play(&rooms, joined, stopped))
        })?;
        let explorers = Self { thread, stop };
        match all_joined.await {
            Ok(()) => Ok(explorers),
            // The thread has ended, and says why.
            Err(_) => Err(explorers.stop().err().unwrap_or_else(|| anyhow!("the players of nuggets ended early"))),
        }
    }

    /// Stops them, and returns how many displays they have read.
    ///
    /// # Errors
    /// When a player has failed.
    pub(crate) fn stop(self) -> anyhow::Result<u64> {
        // If nobody listens, the thread has failed already.
        let _ = self.stop.send(());
        self.thread.join().map_err(|_| anyhow!("the players of nuggets panicked"))?
    }
}

async fn play(rooms: &[Room], joined: oneshot::Sender<()>, stopped: oneshot::Receiver<()>) -> anyhow::Result<u64> {
    let displays = Rc::new(Cell::new(0));
    let mut players = JoinSet::new();
    for (room, seed) in rooms.iter().flat_map(|room| (0..PLAYERS).map(move |seed| (room, seed))) {
        let player =
            Player::join(room.address, &format!("Load {seed}"), seed.into()).await.with_context(|| room.id.clone())?;
        let displays = Rc::clone(&displays);
        players.spawn_local(async move { player.play(KEY_PAUSE, &displays).await });
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
