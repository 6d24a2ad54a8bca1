//! Removal of old journals, release of unused names, and names that lost a key.

use std::{sync::Arc, time::Duration};

use journal_core::Retention;
use store::NameChanges;
use tokio::{task::spawn_blocking, time::sleep};
use tracing::{debug, warn};

use super::{Hub, ladders::board::Ladders};
use store::unix_now;

/// The interval of the search for old journals and names.
const PRUNING: Duration = Duration::from_hours(1);
/// The interval at which the changes of names by other hubs are read.
const FOLLOWING: Duration = Duration::from_secs(2);

impl Hub {
    /// Removes journals above the limits of number, size and age, for as long as the hub runs.
    pub(crate) async fn prune(self: Arc<Self>, retention: Retention) {
        self.results().caught_up().await;
        loop {
            let hub = Arc::clone(&self);
            match spawn_blocking(move || hub.rooms.files.journals()).await {
                Ok(Ok(rooms)) => self.results().prune(retention, move |file| rooms.has(file)).await,
                Ok(Err(error)) => warn!(%error, "not removing old journals, because the rooms cannot be read"),
                Err(_) => return,
            }
            sleep(PRUNING).await;
        }
    }

    /// Releases unused names every hour, for as long as the hub runs.
    pub(crate) async fn release_unused_names(self: Arc<Self>) {
        self.results().caught_up().await;
        loop {
            self.results().release_unused_names(|names| self.forget_names(names)).await;
            sleep(PRUNING).await;
        }
    }

    /// Follows which names lost a key at other hubs of the arcade, for as long as the hub runs.
    pub(crate) async fn follow_name_changes(self: Arc<Self>) {
        self.results().prepared().await;
        let mut changes = NameChanges::default();
        loop {
            match self.results().store.changed_names(&mut changes, unix_now()).await {
                Ok(names) => self.forget_names(&names),
                Err(error) => debug!(%error, "cannot read changes of names; cached names are not used until then"),
            }
            sleep(FOLLOWING).await;
        }
    }

    /// Revokes the proofs of seats and ladder programs that used keys which lost these names.
    pub(crate) fn forget_names(&self, names: &[String]) {
        if !names.is_empty() {
            self.rooms.all().iter().for_each(|room| room.revoke_names(names));
            self.ladders().into_iter().flat_map(Ladders::all).for_each(|board| board.revoke(names));
        }
    }
}
