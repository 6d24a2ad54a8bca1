//! Results of all hubs of an arcade of several, as messages on their way to the one database.
//!
//! A result is submitted by its match id and acknowledged after it is committed, so none is lost with a hub. It may be delivered twice; the
//! database stores it once. While the broker is away results go into the database directly, which is the same for whoever reads them.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use mesh::{MeshError, Name, work_off};
use store::NewMatch;
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};
use tracing::{info, warn};

use super::{LONGEST_PAUSE, PAUSE, Results, Shared};

/// How long a hub waits at most before it looks for results of others.
const LOOK: Duration = Duration::from_secs(1);
/// How often a hub reads the newest matches and leaders, which others change too.
const REFRESH: Duration = Duration::from_secs(5);

/// Why a result is not committed now.
#[derive(Debug, thiserror::Error)]
enum Uncommitted {
    #[error(transparent)]
    Queue(#[from] MeshError),
    #[error("it is not understood: {0}")]
    Unread(#[from] serde_json::Error),
    #[error("the database does not answer")]
    Database,
}

impl Results {
    /// Shares results with other hubs. Called before [`start`](Self::start).
    pub(crate) fn share(&self, queue: Arc<dyn mesh::Results>) {
        // There is one arcade.
        let _ = self.shared.set(Shared { queue, submitted: Notify::new() });
    }

    // Submits a result. Returns false if this hub has to store it itself: the queue did not take it, or already had it. In the second case
    // a hub that died may hold it, and it would be delivered again only later.
    pub(super) async fn submit(&self, new: &NewMatch) -> bool {
        let Some(Shared { queue, submitted }) = self.shared.get() else { return false };
        let (Ok(id), Ok(body)) = (new.id.parse::<Name>(), serde_json::to_vec(new)) else { return false };
        match queue.submit(&id, &body.into()).await {
            Ok(is_new) => {
                submitted.notify_one();
                is_new
            }
            Err(error) => {
                warn!("{error}; this result goes into the database directly");
                false
            }
        }
    }
}

/// Commits results of all hubs as long as this one is there.
pub(super) async fn work(results: Weak<Results>) {
    let mut pause = PAUSE;
    let mut refreshed = Instant::now();
    let mut is_well = true;
    while let Some(results) = results.upgrade() {
        let Some(Shared { queue, submitted }) = results.shared.get() else { return };
        let worked = work_off(&**queue, async |_, body| {
            let new: NewMatch = serde_json::from_slice(body)?;
            results.commit(&new).await.map(drop).ok_or(Uncommitted::Database)
        });
        let wait = match worked.await {
            Ok(more) => {
                pause = PAUSE;
                if !std::mem::replace(&mut is_well, true) {
                    info!("results of the arcade are stored again");
                }
                if more { Duration::ZERO } else { LOOK }
            }
            Err(error) => {
                if std::mem::take(&mut is_well) {
                    warn!("a result of the arcade is not stored, and comes again: {error}");
                }
                let wait = pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
                wait
            }
        };
        // The queue is empty, or cannot be worked off now.
        if !wait.is_zero() {
            if refreshed.elapsed() >= REFRESH {
                // What this hub could not store, another one has.
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
    use mesh::Local;
    use netcore::Time;
    use store::{Entry, Kind, MatchFilter, Store};
    use testkit::TempDir;

    use super::*;

    fn over(number: u32) -> NewMatch {
        let entry = |rank, name: &str| Entry {
            rank,
            name: name.into(),
            kind: Kind::Unproven,
            seat: "A".into(),
            score: 5,
            won: rank == 1,
            quit: false,
            host: String::new(),
            level: String::new(),
        };
        NewMatch {
            id: format!("00000000000000aa-{number}"),
            game: "robots".into(),
            title: "small".into(),
            room: "robots-1".into(),
            journal: "robots-ann-1.journal".into(),
            number,
            begins: 0,
            ends: 1,
            started: 0,
            ended: u64::from(number),
            complete: true,
            class: String::new(),
            casual: String::new(),
            players: vec![entry(1, "Ann"), entry(2, "Bob")],
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn each_result_counts_once_though_it_is_told_twice_and_hubs_end() {
        let directory = TempDir::new();
        let start = Instant::now();
        let mesh = Local::new(move || Time::ZERO.plus(start.elapsed()));
        let hub = || {
            let store = Store::file(&directory.path().join("results.db")).unwrap();
            let (results, waiting) = Results::new(store, directory.path().join("journals"));
            results.share(Arc::new(mesh.clone()));
            (results, waiting)
        };
        // One that ends before anything is committed, and says the last thing twice.
        let (results, _waiting) = hub();
        results.store.prepare().await.unwrap();
        for (number, is_new) in [(1, true), (2, true), (3, true), (3, false)] {
            assert_eq!(results.submit(&over(number)).await, is_new);
        }
        // One that took a result and ended before it was committed.
        drop(mesh::Results::take(&mesh).await.unwrap());
        drop(results);
        let (results, waiting) = hub();
        results.start(waiting);
        assert!(results.submit(&over(4)).await);
        let all = async || {
            let found = results.store.matches(&MatchFilter { limit: 9, ..MatchFilter::default() }).await.unwrap();
            (found.len() >= 3 && results.health().stored >= 3).then_some(found)
        };
        // That one comes again when its time is over, which is later than this test.
        let found = testkit::found("three results", all).await;
        let mut numbers: Vec<u32> = found.iter().map(|found| found.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [2, 3, 4]);
        assert_eq!(results.health().stored, 3);
        assert!(!results.store.record(&over(3)).await.unwrap());
    }
}
