//! Hourly removal of old journals and of names that nobody plays with.

use std::{sync::Arc, time::Duration};

use journal_core::Retention;
use tokio::{task::spawn_blocking, time::sleep};
use tracing::warn;

use super::Hub;

/// How often old journals and names are looked for.
const PRUNING: Duration = Duration::from_hours(1);

impl Hub {
    /// Removes journals that are too many or too old, now and then, for as long as the hub runs.
    pub(crate) async fn prune(self: Arc<Self>, retention: Retention) {
        self.results().caught_up().await;
        loop {
            let hub = Arc::clone(&self);
            match spawn_blocking(move || hub.rooms.files.journals()).await {
                Ok(Ok(rooms)) => self.results().prune(retention, move |file| rooms.has(file)).await,
                Ok(Err(error)) => warn!(%error, "no old journals are removed, because the rooms cannot be read"),
                Err(_) => return,
            }
            sleep(PRUNING).await;
        }
    }

    /// Gives up names with which nobody has played, now and then, for as long as the hub runs.
    pub(crate) async fn give_up_names(self: Arc<Self>) {
        self.results().caught_up().await;
        loop {
            let forget = |names: &[String]| self.rooms.all().iter().for_each(|room| room.known.forget(names));
            self.results().give_up_names(forget).await;
            sleep(PRUNING).await;
        }
    }
}
