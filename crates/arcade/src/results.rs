//! The results of all rooms, and the task that stores them.
//!
//! A room never waits for the database: its results go into a bounded queue, and one task writes them. While the database is
//! unavailable, results stay queued; when the queue is full, they are dropped and later recovered from the journal of the room. A
//! hub that was killed recovers unstored results in the same way at its next start.

mod boards;
pub(crate) mod clock;
mod copies;
pub(crate) mod examine;
mod ledger;
mod shared;
pub(crate) mod tracker;
pub(crate) mod views;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use store::{Known, NewMatch, Store, StoreError, Trouble};
use tokio::{
    sync::{
        Notify,
        mpsc::{self, error::TrySendError},
        watch,
    },
    task::JoinHandle,
    time::{Instant, timeout},
};
use tracing::{info, warn};

use self::views::Boards;

/// Results and names that wait for the database. A result takes about a kilobyte.
const MAX_WAITING: usize = 8_192;
/// Names leave this many places to results.
const FOR_RESULTS: usize = 7_168;
/// Journals with results that are looked for.
const MAX_MISSED: usize = 4_096;
/// Matches of a journal that are looked for one by one.
const MAX_SOUGHT: usize = 1_024;
/// How long the task waits before it asks the database again: at first, and at most.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long the task waits before it looks through all journals, when it does not know which have results.
const LOOK_AT_ALL: Duration = Duration::from_secs(2);
/// How long the hub waits for its database before it opens.
const WELCOME: Duration = Duration::from_secs(2);
/// How long results may take that wait when the hub ends.
const FAREWELL: Duration = Duration::from_secs(3);

// Tries a query until it succeeds.
macro_rules! insist {
    ($results:expr, $what:literal, $query:expr) => {{
        let mut pause = PAUSE;
        loop {
            match $query.await {
                Ok(value) => {
                    $results.succeeded();
                    break value;
                }
                Err(error) => $results.failed($what, error),
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }};
}

mod pruning;
mod work;

/// Something for the database.
#[derive(Debug)]
enum Job {
    /// A match is over. As far as the room knows, all that began before this are.
    Match(Box<NewMatch>, Known),
    /// A match is over whose beginning was in an earlier run: its journal knows all of it. What the room knows is stored if the journal was
    /// cut before its end.
    Examine(Box<NewMatch>),
    /// A match was joined with this name, which is proven.
    Name(String),
    /// Nothing follows.
    End,
}

/// The queue of jobs, in which names cannot take the places of results.
#[derive(Debug)]
struct Jobs(mpsc::Sender<Job>);

impl Jobs {
    /// Queues a job, if there is a place for it.
    fn try_send(&self, job: Job) -> Result<(), Job> {
        if matches!(job, Job::Name(_)) && self.0.capacity() <= FOR_RESULTS {
            return Err(job);
        }
        self.0.try_send(job).map_err(TrySendError::into_inner)
    }

    fn waiting(&self) -> usize {
        MAX_WAITING - self.0.capacity()
    }
}

/// Whether results are stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Health {
    /// Results and names that wait.
    pub(crate) waiting: usize,
    /// Results that were stored since the start.
    pub(crate) stored: u64,
    /// Why they are not stored just now, as strangers may know it.
    pub(crate) error: Option<Trouble>,
}

/// A journal with results that are looked for.
#[derive(Debug)]
struct Missed {
    // Matches that must be in it.
    numbers: BTreeSet<u32>,
    // How often it was looked through in vain, and when it is again.
    attempts: u32,
    due: Instant,
}

impl Missed {
    fn new() -> Self {
        Self { numbers: BTreeSet::new(), attempts: 0, due: Instant::now() }
    }

    // A match must be in the journal. What is found besides is stored too, so beyond a number of them the last ones do.
    fn seek(&mut self, number: u32) {
        self.numbers.insert(number);
        if self.numbers.len() > MAX_SOUGHT {
            self.numbers.pop_first();
        }
    }
}

#[derive(Debug, Default)]
struct State {
    error: Option<Trouble>,
    // Journals with results that the queue had no room for, or that are not in them yet.
    missed: BTreeMap<String, Missed>,
    // There were even too many of those, or the journals could not be listed: when all are looked through.
    lost_track: Option<Instant>,
    // Of journals whose running matches are known: those that had begun when it was looked through.
    running: HashMap<String, BTreeMap<u32, Known>>,
    // Matches that are looked for in their journals, as far as their rooms know them; at most [`MAX_WAITING`].
    told: BTreeMap<(String, u32), Box<NewMatch>>,
}

impl State {
    // Remembers a journal with results that are looked for.
    fn miss(&mut self, file: &str) -> Option<&mut Missed> {
        if self.missed.len() >= MAX_MISSED && !self.missed.contains_key(file) {
            self.lost_track.get_or_insert_with(|| Instant::now() + LOOK_AT_ALL);
            return None;
        }
        Some(self.missed.entry(file.to_owned()).or_insert_with(Missed::new))
    }

    // Looks for the match in its journal.
    fn look_for(&mut self, mut new: Box<NewMatch>) {
        if let Some(begun) = self.running.get(&new.journal).and_then(|running| running.get(&new.number)) {
            new.begins = begun.until;
            new.started = begun.zero.saturating_add(begun.until / 1_000).min(new.ended);
        }
        if let Some(missed) = self.miss(&new.journal) {
            missed.seek(new.number);
        }
        if self.told.len() < MAX_WAITING {
            self.told.insert((new.journal.clone(), new.number), new);
        }
    }
}

/// The results of all hubs, where there are several.
struct Shared {
    queue: Arc<dyn mesh::Results>,
    submitted: Notify,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

/// The results of the hub.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) store: Store,
    journals: PathBuf,
    jobs: Jobs,
    state: Mutex<State>,
    stored: AtomicU64,
    // Whether the tables are there.
    prepared: watch::Sender<bool>,
    // Whether the results of earlier runs are stored.
    caught_up: watch::Sender<bool>,
    boards: watch::Sender<Arc<Boards>>,
    // Where results of all hubs wait for the database, if there are several.
    shared: OnceLock<Shared>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Results {
    /// Results in `store`, of matches whose journals are in the directory `journals`. They are stored from [`start`](Self::start)
    /// on.
    pub(crate) fn new(store: Store, journals: PathBuf) -> (Arc<Self>, Waiting) {
        let (jobs, receiver) = mpsc::channel(MAX_WAITING);
        let results = Arc::new(Self {
            store,
            journals,
            jobs: Jobs(jobs),
            state: Mutex::default(),
            stored: AtomicU64::new(0),
            prepared: watch::Sender::new(false),
            caught_up: watch::Sender::new(false),
            boards: watch::Sender::new(Arc::default()),
            shared: OnceLock::new(),
            task: Mutex::default(),
        });
        (results, Waiting(receiver))
    }

    /// Starts the task that stores results. Matches that earlier runs did not store come first.
    pub(crate) fn start(self: &Arc<Self>, waiting: Waiting) {
        if let Some(data) = self.journals.parent() {
            copies::remove_old(data);
        }
        if self.shared.get().is_some() {
            tokio::spawn(shared::work(Arc::downgrade(self)));
        }
        let task = tokio::spawn(Arc::clone(self).run(waiting));
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Waits a little until results can be asked for. The hub opens without its database too.
    pub(crate) async fn prepared(&self) {
        // The sender lives as long as this.
        let _ = timeout(WELCOME, self.prepared.subscribe().wait_for(|prepared| *prepared)).await;
    }

    /// Waits a little until everything is stored. What is not stored then is found in the journals at the next start.
    pub(crate) async fn finish(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut task) = task else { return };
        let ends = async {
            let _ = self.jobs.0.send(Job::End).await;
            let _ = (&mut task).await;
        };
        if timeout(FAREWELL, ends).await.is_err() {
            task.abort();
            warn!(
                waiting = self.health().waiting,
                "not all results could be stored; the next start finds them in the journals"
            );
        }
        if timeout(FAREWELL, self.store.close()).await.is_err() {
            warn!("the database does not close; what it has not finished is undone");
        }
    }

    /// A snapshot of the newest matches and the leaders, updated after each batch of results.
    pub(crate) fn boards(&self) -> Arc<Boards> {
        Arc::clone(&self.boards.borrow())
    }

    /// Whether results are stored.
    pub(crate) fn health(&self) -> Health {
        let state = self.state();
        let waiting = self.jobs.waiting() + state.missed.len();
        Health { waiting, stored: self.stored.load(Ordering::Relaxed), error: state.error }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Queues a job that is about the results in a journal.
    fn tell(&self, job: Job, file: &str) {
        let Err(job) = self.jobs.try_send(job) else { return };
        let mut state = self.state();
        match job {
            Job::Match(new, _) => {
                if let Some(missed) = state.miss(file) {
                    missed.seek(new.number);
                }
            }
            Job::Examine(new) => state.look_for(new),
            Job::Name(_) | Job::End => {}
        }
    }

    fn succeeded(&self) {
        if self.state().error.take().is_some() {
            info!("results are stored again");
        }
    }

    fn failed(&self, what: &str, error: StoreError) {
        let trouble = error.trouble();
        let before = self.state().error.replace(trouble);
        if before != Some(trouble) {
            let error = format!("{:#}", anyhow::Error::from(error));
            warn!(
                what,
                error,
                "results wait for the database, which is retried; rooms continue, and their journals keep the results"
            );
        }
    }
}

// The name of a journal as it is stored.
fn name_of(journal: &Path) -> Option<&str> {
    journal.file_name().and_then(|name| name.to_str())
}

/// The receiving end of the queue.
#[derive(Debug)]
pub(crate) struct Waiting(mpsc::Receiver<Job>);

#[cfg(test)]
mod tests;
