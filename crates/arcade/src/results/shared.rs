//! Results of all hubs of an arcade, as messages to the common database.
//!
//! A result is submitted under its match id and acknowledged after it is committed, so no result is lost with a hub. It
//! may be delivered twice, but the database stores it once. While the broker is unavailable, results are written
//! directly to the database. A message that cannot be read or stored becomes a dead letter after
//! [`mesh::MAX_DELIVERIES`] deliveries.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use mesh::{Committed, MeshError, Name, consume_result};
use store::Match;
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};
use tracing::{error, info, warn};

use super::{LONGEST_PAUSE, PAUSE, Results, Shared};

/// How often results of other hubs are checked.
const LOOK: Duration = Duration::from_secs(1);
/// How often the newest matches and leaders are read, which other hubs change too.
const REFRESH: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
enum Uncommitted {
    #[error(transparent)]
    Queue(#[from] MeshError),
    #[error("the database does not respond")]
    Database,
}

impl Results {
    /// Must be called before [`start`](Self::start).
    pub(crate) fn share(&self, queue: Arc<dyn mesh::Results>) {
        // There is only one arcade.
        let _ = self.shared.set(Shared { queue, submitted: Notify::new() });
    }

    // Returns `false` if this hub has to store the result itself, because the queue did not accept it or already had
    // it. In the second case a crashed hub may hold the result, which is redelivered only later.
    pub(super) async fn submit(&self, new: &Match) -> bool {
        let Some(Shared { queue, submitted }) = self.shared.get() else { return false };
        let (Ok(id), Ok(body)) = (new.id.parse::<Name>(), serde_json::to_vec(new)) else { return false };
        match queue.submit(&id, &body.into()).await {
            Ok(is_new) => {
                submitted.notify_one();
                is_new
            }
            Err(error) => {
                warn!("{error}; storing this result directly in the database");
                false
            }
        }
    }
}

pub(super) async fn work(results: Weak<Results>) {
    let mut pause = PAUSE;
    let mut refreshed = Instant::now();
    let mut is_well = true;
    while let Some(results) = results.upgrade() {
        let Some(Shared { queue, submitted }) = results.shared.get() else { return };
        let dead = queue.dead_letters();
        let worked = consume_result(&**queue, async |id, body| match serde_json::from_slice::<Match>(body) {
            Ok(new) => results.commit(&new).await.ok_or(Uncommitted::Database),
            Err(error) => {
                warn!(id = %id, "cannot decode a result of the arcade: {error}");
                Ok(Committed::Rejected)
            }
        });
        let wait = match worked.await {
            Ok(more) => {
                if queue.dead_letters() > dead {
                    error!("no hub could store a result of the arcade; it was moved to the dead letters");
                }
                pause = PAUSE;
                if !std::mem::replace(&mut is_well, true) {
                    info!("results of the arcade are stored again");
                }
                if more { Duration::ZERO } else { LOOK }
            }
            Err(error) => {
                if std::mem::take(&mut is_well) {
                    warn!("cannot store a result of the arcade, which will be redelivered: {error}");
                }
                let wait = pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
                wait
            }
        };
        // The queue is empty, or cannot be processed now.
        if !wait.is_zero() {
            if refreshed.elapsed() >= REFRESH {
                // Another hub has stored the results that this hub could not store.
                if results.refresh().await && is_well && results.health().waiting == 0 {
                    results.succeeded();
                }
                refreshed = Instant::now();
            }
            let _ = timeout(wait, submitted.notified()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    use mesh::Local;
    use netcore::Time;
    use store::{MatchFilter, MatchPlayer, Store};
    use testkit::TempDir;

    use super::*;
    use crate::results::tests::prepare;

    fn over(number: u32) -> Match {
        let entry = |rank, name: &str| MatchPlayer {
            rank,
            name: name.into(),
            seat: "A".into(),
            score: 5,
            won: rank == 1,
            ..MatchPlayer::default()
        };
        Match {
            id: format!("00000000000000aa-{number}"),
            game: "robots".into(),
            title: "small".into(),
            room: "robots-1".into(),
            journal: "robots-ann-1.journal".into(),
            number,
            ends: 1,
            ended: u64::from(number),
            complete: true,
            players: vec![entry(1, "Ann"), entry(2, "Bob")],
            ..Match::default()
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn result_that_is_delivered_twice_counts_once() {
        let directory = TempDir::new();
        let start = Instant::now();
        let mesh = Local::new(move || Time::ZERO.plus(start.elapsed()));
        let hub = || {
            let store = Store::file(&directory.path().join("results.db")).unwrap();
            let results = Results::new(store, directory.path().join("journals"));
            results.share(Arc::new(mesh.clone()));
            results
        };
        // This hub ends before any commit, and submits its last result twice.
        let results = hub();
        prepare(&results.store).await;
        for (number, is_new) in [(1, true), (2, true), (3, true), (3, false)] {
            assert_eq!(results.submit(&over(number)).await, is_new);
        }
        // A hub takes a result, and ends before it is committed.
        drop(mesh::Results::take(&mesh).await.unwrap());
        drop(results);
        let results = hub();
        results.start();
        assert!(results.submit(&over(4)).await);
        let all = async || {
            let found = results.store.matches(&MatchFilter { limit: 9, ..MatchFilter::default() }).await.unwrap();
            (found.len() >= 3 && results.health().stored >= 3).then_some(found)
        };
        // That result is delivered again after its timeout, later than this test.
        let found = testkit::poll_until("three results", all).await;
        let mut numbers: Vec<u32> = found.iter().map(|found| found.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [2, 3, 4]);
        assert_eq!(results.health().stored, 3);
        assert!(!results.store.record(&over(3)).await.unwrap());
    }

    /// Of the first version with a queue. Such messages may wait while nodes are upgraded.
    const FIRST: &str = r#"{"id":"00000000000000aa-9","game":"robots","title":"small","room":"robots-1","journal":"robots-ann-1.journal",
        "number":9,"begins":0,"ends":1,"started":0,"ended":9,"complete":true,
        "players":[{"rank":1,"name":"Ann","kind":"unproven","seat":"A","score":5,"won":true,"quit":false},
                   {"rank":2,"name":"Bob","kind":"unproven","seat":"A","score":5,"won":false,"quit":false}]}"#;

    #[test]
    fn messages_of_other_versions_are_read() {
        assert_eq!(serde_json::from_str::<Match>(FIRST).unwrap(), over(9));
        let later = FIRST.replacen('{', "{\"weather\":{\"rain\":3},", 1);
        assert_eq!(serde_json::from_str::<Match>(&later).unwrap(), over(9));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn unreadable_results_delay_no_others() {
        let directory = TempDir::new();
        let (clock, submitted) = (Arc::new(AtomicU64::new(0)), AtomicU32::new(1));
        let seconds = Arc::clone(&clock);
        let mesh = Local::new(move || Time::ZERO.plus(Duration::from_secs(seconds.load(Ordering::Relaxed))));
        for number in 0..3 {
            let (id, body) = (format!("unreadable-{number}").parse().unwrap(), "[]".into());
            assert!(mesh::Results::submit(&mesh, &id, &body).await.unwrap());
        }
        let store = Store::file(&directory.path().join("results.db")).unwrap();
        let results = Results::new(store, directory.path().join("journals"));
        results.share(Arc::new(mesh.clone()));
        prepare(&results.store).await;
        results.start();
        assert!(results.submit(&over(1)).await);
        testkit::poll_until("the result", async || (results.health().stored == 1).then_some(())).await;
        assert_eq!(mesh::Results::dead_letters(&mesh), 0, "it did not wait for them");
        let all_dead = async || {
            // They are delivered again, and each submitted result triggers a check of the queue.
            clock.fetch_add(mesh::TAKEN_SECONDS, Ordering::Relaxed);
            results.submit(&over(submitted.fetch_add(1, Ordering::Relaxed) + 1)).await;
            (mesh::Results::dead_letters(&mesh) == 3).then_some(())
        };
        testkit::poll_until("dead letters", all_dead).await;
    }
}
