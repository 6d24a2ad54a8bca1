//! Removes old journals, and releases or revokes names.

use std::{io, sync::Arc, time::Duration};

use journal_core::Retention;
use store::NameChanges;
use tokio::{task::spawn_blocking, time::sleep};
use tracing::{debug, warn};

use super::{Hub, ladders::board::Ladders};
use store::unix_now;

const PRUNING: Duration = Duration::from_hours(1);
const FOLLOWING: Duration = Duration::from_secs(2);

impl Hub {
    /// Runs as long as the hub, as do the other two loops.
    pub(crate) async fn prune(self: Arc<Self>, retention: Retention) {
        self.results().caught_up().await;
        loop {
            let hub = Arc::clone(&self);
            let rooms = spawn_blocking(move || {
                let rooms = hub.rooms.files.journals()?;
                hub.classes.prune(&retention, |file| rooms.has(file));
                io::Result::Ok(rooms)
            });
            match rooms.await {
                Ok(Ok(rooms)) => self.results().prune(retention, move |file| rooms.has(file)).await,
                Ok(Err(error)) => warn!(%error, "not removing old journals, because the rooms cannot be read"),
                Err(_) => return,
            }
            sleep(PRUNING).await;
        }
    }

    pub(crate) async fn release_unused_names(self: Arc<Self>) {
        self.results().caught_up().await;
        loop {
            self.results().release_unused_names(|names| self.revoke_names(names)).await;
            sleep(PRUNING).await;
        }
    }

    /// Follows which names lost a key at other hubs of the arcade.
    pub(crate) async fn follow_name_changes(self: Arc<Self>) {
        self.results().prepared().await;
        let mut changes = NameChanges::default();
        loop {
            match self.results().store.changed_names(&mut changes, unix_now()).await {
                Ok(names) => self.revoke_names(&names),
                Err(error) => debug!(%error, "cannot read changes of names; cached names are not used until then"),
            }
            sleep(FOLLOWING).await;
        }
    }

    /// Seats and ladder programs may have used keys that lost these names.
    pub(crate) fn revoke_names(&self, names: &[String]) {
        if !names.is_empty() {
            self.rooms.all().iter().for_each(|room| room.revoke_names(names));
            self.ladders().into_iter().flat_map(Ladders::all).for_each(|board| board.revoke(names));
        }
    }
}
