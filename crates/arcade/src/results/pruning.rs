//! Removes old journals whose results are stored, and releases unused names.

use std::{sync::Arc, time::SystemTime};

use journal_core::{Found, Pruned, Retention, SystemDisk, Worth};
use tokio::{task::spawn_blocking, time::sleep};
use tracing::{info, warn};

use super::{LONGEST_PAUSE, PAUSE, Results, clock::unix_now, name_of};

/// How long a name is kept with which no match is joined, in milliseconds.
const UNUSED_NAME: u64 = 24 * 3600 * 1000;

impl Results {
    /// Waits until the results of earlier runs are stored.
    pub(crate) async fn caught_up(&self) {
        // The sender lives as long as this.
        let _ = self.caught_up.subscribe().wait_for(|done| *done).await;
    }

    /// Releases names that were claimed more than a day ago and are not used in any match. Passes them to `released`.
    pub(crate) async fn release_unused_names(&self, released: impl Fn(&[String])) {
        let now = unix_now();
        loop {
            let limit = now.saturating_sub(UNUSED_NAME);
            let names = insist!(self, "release unused names", self.store.release_unused_names(limit, now));
            if names.is_empty() {
                return;
            }
            released(&names);
        }
    }

    /// Removes journals that are too many or too old, after their results were stored. Those of rooms stay; those of matches
    /// without people or without a result go first.
    pub(crate) async fn prune(&self, retention: Retention, is_of_room: impl Fn(&str) -> bool + Send + 'static) {
        self.catch_up(|file| !is_of_room(file)).await;
        let notes = Arc::new(insist!(self, "read what is known of journals", self.store.journals()));
        let with_people = insist!(self, "read which matches people played", self.store.journals_with_people());
        let (directory, known) = (self.journals.clone(), Arc::clone(&notes));
        let pruned = spawn_blocking(move || {
            let worth = |journal: &Found| {
                let Some(file) = name_of(&journal.path).filter(|file| !is_of_room(file)) else { return Worth::Apart };
                let is_stored = known.get(file).is_some_and(|note| journal.end == Some(note.examined));
                if is_stored { Worth::Spare(with_people.contains(file).into()) } else { Worth::Apart }
            };
            let now = SystemTime::now();
            (now, journal_core::prune(&SystemDisk, &directory, &retention, now, worth))
        });
        match pruned.await {
            Ok((now, Ok(Pruned { removed, failed, .. }))) => {
                for journal in removed {
                    if let Some((file, note)) = name_of(&journal.path).and_then(|file| notes.get_key_value(file)) {
                        insist!(self, "forget a journal", self.store.forget_journal(file, &note.room));
                    }
                    let days = journal.age(now).as_secs() / 86_400;
                    info!(journal = %journal.path.display(), bytes = journal.size, days, "an old journal is removed");
                }
                for (journal, error) in failed {
                    warn!(journal = %journal.display(), %error, "an old journal cannot be removed");
                }
            }
            Ok((_, Err(error))) => warn!(%error, "old journals cannot be looked for"),
            Err(error) => warn!(%error, "old journals cannot be removed"),
        }
    }
}
