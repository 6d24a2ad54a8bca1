//! The end of a hub.

use std::{sync::PoisonError, time::Duration};

use netcore::Leave;
use tokio::{
    task::spawn_blocking,
    time::{Instant, timeout_at},
};
use tracing::{info, warn};

use super::Hub;
use crate::room::Fate;

/// The most time that journals get to reach the disk at the end; what a room needs to go on is safe before that.
const CLOSING: Duration = Duration::from_secs(3);

impl Hub {
    /// Has the process end, and gives running matches this long.
    pub(crate) fn ask_to_end(&self, patience: Duration) {
        self.drain.send_replace(Some(patience));
    }

    /// Resolves when somebody has asked the process to end.
    pub(crate) async fn asked_to_end(&self) -> Duration {
        let mut drain = self.drain.subscribe();
        match drain.wait_for(Option::is_some).await {
            Ok(patience) => patience.unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Lets running matches go on until none is left or the deadline is close, and then ends all rooms so that they come back. The
    /// process can end at the deadline. `hurry` ends the waiting.
    pub(crate) async fn drain(&self, deadline: Instant, hurry: impl Future<Output = ()>) {
        self.rooms.drain();
        let left = deadline.saturating_duration_since(Instant::now());
        let last_moves = deadline - CLOSING.min(left / 2);
        let running = self.rooms.running();
        if running > 0 {
            let seconds = left.as_secs();
            info!(
                "{running} matches go on for {seconds} s at most; they are suspended then, and a second signal does that at once"
            );
        }
        let finished = async {
            let mut lists = self.lists().changes();
            while self.rooms.running() > 0 && lists.changed().await.is_ok() {}
        };
        tokio::select! {
            _ = timeout_at(last_moves, finished) => {}
            () = hurry => {}
        }
        for room in self.rooms.all() {
            room.bots.abort();
            room.stop(Leave::Resumable, Fate::Kept);
        }
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let mut ends = vec![];
        let deadline = deadline.max(Instant::now() + CLOSING / 2);
        while let Ok(Some(ended)) = timeout_at(deadline, tasks.join_next()).await {
            ends.extend(ended.ok().flatten());
        }
        let closed = spawn_blocking(move || {
            ends.iter().all(|end| end.finish(deadline.saturating_duration_since(Instant::now())))
        });
        if !closed.await.unwrap_or_default() {
            warn!("not all journals were closed on disk in time; their rooms are restored all the same");
        }
    }
}
