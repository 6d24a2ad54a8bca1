//! The results of all rooms, and the task that stores them.
//!
//! A room never waits for the database: its results go into a bounded queue, and one task writes them. While the database is
//! unavailable, results stay queued; when the queue is full, they are dropped and later recovered from the journal of the room. A
//! hub that was killed recovers unstored results in the same way at its next start.

pub(crate) mod clock;
pub(crate) mod examine;
mod ledger;
pub(crate) mod tracker;
pub(crate) mod views;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use journal::SystemDisk;
use store::{JournalNote, Kind, Known, MatchFilter, NewMatch, Store, StoreError};
use tokio::{
    sync::{mpsc, watch},
    task::{JoinHandle, spawn_blocking},
    time::{sleep, timeout},
};
use tracing::{info, warn};

use self::{
    clock::unix_now,
    examine::Examined,
    views::{Boards, LeaderView, MatchView},
};
use crate::games::Game;

/// Results and notes that wait for the database.
const MAX_WAITING: usize = 1_024;
/// Journals whose results did not fit into the queue.
const MAX_MISSED: usize = 4_096;
/// How long the task waits before it asks the database again: at first, and at most.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How often a journal is read until the end of a match has reached the file; the pause doubles each time, to 16 s in all.
const READINGS: usize = 7;
/// How long the hub waits for its database before it opens.
const WELCOME: Duration = Duration::from_secs(2);
/// How long results may take that wait when the hub ends.
const FAREWELL: Duration = Duration::from_secs(3);
/// Matches and leaders that the lobby shows.
const RECENT: u32 = 10;
const LEADERS: u32 = 5;

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

/// Something for the database.
#[derive(Debug)]
enum Job {
    /// A match is over. As far as the room knows, all that began before this are.
    Match(Box<NewMatch>, Known),
    /// A match is over whose beginning was in an earlier run: only its journal knows all of it.
    Examine { file: String, note: JournalNote, number: u32 },
    /// A journal was created or resumed.
    Journal { file: String, room: String, title: String, is_new: bool },
    /// The player at a seat owns a name, or is a bot.
    Seat { room: String, address: String, name: String, kind: Kind },
    /// Nothing follows.
    End,
}

/// Whether results are stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Health {
    /// Results and notes that wait.
    pub(crate) waiting: usize,
    /// Results that were stored since the start.
    pub(crate) stored: u64,
    /// Why they are not stored just now.
    pub(crate) error: Option<String>,
}

#[derive(Debug, Default)]
struct State {
    error: Option<String>,
    // Journals with results that the queue had no room for.
    missed: BTreeMap<String, JournalNote>,
    // There were even too many of those.
    has_lost_track: bool,
    // Of journals whose running matches are known: those that had begun when it was looked through.
    running: HashMap<String, BTreeMap<u32, Known>>,
}

/// The results of the hub.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) store: Store,
    journals: PathBuf,
    jobs: mpsc::Sender<Job>,
    state: Mutex<State>,
    stored: AtomicU64,
    // Whether the tables are there.
    prepared: watch::Sender<bool>,
    // Whether the results of earlier runs are stored.
    caught_up: watch::Sender<bool>,
    boards: watch::Sender<Arc<Boards>>,
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
            jobs,
            state: Mutex::default(),
            stored: AtomicU64::new(0),
            prepared: watch::Sender::new(false),
            caught_up: watch::Sender::new(false),
            boards: watch::Sender::new(Arc::default()),
            task: Mutex::default(),
        });
        (results, Waiting(receiver))
    }

    /// Starts the task that stores results. Matches that earlier runs did not store come first.
    pub(crate) fn start(self: &Arc<Self>, waiting: Waiting) {
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
            let _ = self.jobs.send(Job::End).await;
            let _ = (&mut task).await;
        };
        if timeout(FAREWELL, ends).await.is_err() {
            task.abort();
            warn!(
                waiting = self.health().waiting,
                "not all results could be stored; the next start finds them in the journals"
            );
        }
        self.store.close().await;
    }

    /// Copies the database into a file in this directory, which is removed when the path is dropped. None if the database is a server,
    /// which has its own tools.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub(crate) async fn copy(&self, directory: &Path) -> anyhow::Result<Option<TempPath>> {
        // A name that begins with a dot is not part of a backup.
        let path = directory.join(format!(".results-{}.db", unix_now()));
        match self.store.backup(&path).await {
            Ok(()) => Ok(Some(TempPath(path))),
            Err(StoreError::NotAFile) => Ok(None),
            Err(error) => {
                drop(TempPath(path));
                Err(error).context("the results cannot be copied")
            }
        }
    }

    /// A snapshot of the newest matches and the leaders, updated after each batch of results.
    pub(crate) fn boards(&self) -> Arc<Boards> {
        Arc::clone(&self.boards.borrow())
    }

    /// Whether results are stored.
    pub(crate) fn health(&self) -> Health {
        let state = self.state();
        let waiting = MAX_WAITING - self.jobs.capacity() + state.missed.len();
        Health { waiting, stored: self.stored.load(Ordering::Relaxed), error: state.error.clone() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Queues a job that is about the results in a journal.
    fn tell(&self, job: Job, file: &str, note: &JournalNote) {
        if self.jobs.try_send(job).is_err() {
            let mut state = self.state();
            if state.missed.len() < MAX_MISSED {
                state.missed.insert(file.to_owned(), note.clone());
            } else {
                state.has_lost_track = true;
            }
        }
    }

    async fn run(self: Arc<Self>, mut waiting: Waiting) {
        insist!(self, "prepare the database", self.store.prepare());
        self.refresh().await;
        self.prepared.send_replace(true);
        self.catch_up(|_| true).await;
        self.caught_up.send_replace(true);
        self.refresh().await;
        let mut changed = false;
        while let Some(job) = waiting.0.recv().await {
            match job {
                Job::Match(new, known) => {
                    changed |= self.record(&new).await;
                    self.note_known(&new, known).await;
                }
                Job::Examine { file, note, number } => changed |= self.find(&file, &note, number).await,
                Job::Journal { file, room, title, is_new } => {
                    insist!(self, "note a journal", self.store.note_journal(&file, &room, &title));
                    if is_new {
                        self.state().running.insert(file, BTreeMap::new());
                    }
                }
                Job::Seat { room, address, name, kind } => {
                    insist!(self, "note a seat", self.store.note_seat(&room, &address, &name, kind));
                }
                Job::End => return,
            }
            if waiting.0.is_empty() {
                changed |= self.examine_missed().await;
                if std::mem::take(&mut changed) {
                    self.refresh().await;
                }
            }
        }
    }

    fn succeeded(&self) {
        if self.state().error.take().is_some() {
            info!("results are stored again");
        }
    }

    fn failed(&self, what: &str, error: StoreError) {
        let error = format!("{:#}", anyhow::Error::from(error));
        let before = self.state().error.replace(error.clone());
        if before.is_none() {
            warn!(
                what,
                error,
                "results wait for the database, which is retried; rooms continue, and their journals keep the results"
            );
        }
    }

    // Stores a match; says whether it was new.
    async fn record(&self, new: &NewMatch) -> bool {
        let is_new = insist!(self, "store a match", self.store.record(new));
        if is_new {
            self.stored.fetch_add(1, Ordering::Relaxed);
        }
        is_new
    }

    // After a match was stored: the next start need not look for it. What was missed is not known.
    async fn note_known(&self, new: &NewMatch, known: Known) {
        let known = {
            let mut state = self.state();
            if state.has_lost_track || state.missed.contains_key(&new.journal) {
                return;
            }
            let Some(running) = state.running.get_mut(&new.journal) else { return };
            running.remove(&new.number);
            running.values().copied().fold(known, |first, other| if other.until < first.until { other } else { first })
        };
        insist!(self, "note a journal", self.store.note_known(&new.journal, known));
    }

    /// Stores the results that earlier runs did not, from all `wanted` journals that have grown since they were last examined.
    pub(crate) async fn catch_up(&self, wanted: impl Fn(&str) -> bool) {
        let directory = self.journals.clone();
        let found = spawn_blocking(move || journal::find(&SystemDisk, &directory)).await;
        let Ok(Ok(found)) = found else {
            warn!(directory = %self.journals.display(), "the journals cannot be listed; results of earlier runs may be missing");
            return;
        };
        let mut notes = insist!(self, "read what is known of journals", self.store.journals());
        for journal in found {
            let Some(file) = name_of(&journal.path).filter(|file| wanted(file)) else { continue };
            let note = notes.remove(file).unwrap_or_default();
            if journal.end != Some(note.examined) {
                self.examine(file, &note).await;
            }
        }
    }

    async fn examine_missed(&self) -> bool {
        let missed = std::mem::take(&mut self.state().missed);
        let mut changed = false;
        for (file, note) in missed {
            changed |= !self.examine(&file, &note).await.is_empty();
        }
        changed
    }

    // Looks for one match in a journal that is still written, until it is there.
    async fn find(&self, file: &str, note: &JournalNote, number: u32) -> bool {
        let mut pause = PAUSE;
        for reading in 1..=READINGS {
            if self.examine(file, note).await.contains(&number) {
                return true;
            }
            if reading < READINGS {
                sleep(pause).await;
                pause *= 2;
            }
        }
        warn!(file, number, "the end of a match does not appear in its journal; the next start looks for it again");
        false
    }

    // Stores all matches of a journal; gives their numbers.
    async fn examine(&self, file: &str, note: &JournalNote) -> BTreeSet<u32> {
        let seats = insist!(self, "read what is known of seats", self.store.seats(&note.room));
        let known = insist!(self, "read what is known of a journal", self.store.known(file));
        let (sender, mut found) = mpsc::channel(16);
        let source = examine::Source {
            path: self.journals.join(file),
            room: note.room.clone(),
            title: note.title.clone(),
            seats,
            known,
        };
        let task = spawn_blocking(move || source.read(|new| sender.blocking_send(new).is_ok()));
        let mut numbers = BTreeSet::new();
        while let Some(new) = found.recv().await {
            self.record(&new).await;
            numbers.insert(new.number);
        }
        match task.await {
            Ok(Ok(Examined { position, known, running })) => {
                insist!(self, "note a journal", self.store.note_examined(file, position, known));
                self.state().running.insert(file.to_owned(), running);
            }
            Ok(Err(error)) => {
                let error = format!("{error:#}");
                warn!(file, error, "a journal cannot be scanned for results");
            }
            Err(_) => warn!(file, "a journal makes its game panic; its results are missing from there on"),
        }
        numbers
    }

    // Reads what the lobby shows.
    async fn refresh(&self) {
        match self.read_boards().await {
            Ok(boards) => {
                self.boards.send_replace(Arc::new(boards));
            }
            Err(error) => {
                let error = format!("{:#}", anyhow::Error::from(error));
                warn!(error, "the leaders cannot be read; the lobby keeps the previous snapshot");
            }
        }
    }

    async fn read_boards(&self) -> Result<Boards, StoreError> {
        let filter = MatchFilter { limit: RECENT, ..MatchFilter::default() };
        let recent = self.store.matches(&filter).await?.into_iter().map(MatchView::from).collect();
        let mut leaders = BTreeMap::new();
        for game in Game::ALL {
            let best = self.store.leaders(game.name(), game.order(), LEADERS).await?;
            let best = best.into_iter().map(|leader| LeaderView::new(leader, game.order())).collect();
            leaders.insert(game.name(), best);
        }
        Ok(Boards { recent, leaders })
    }
}

// The name of a journal as it is stored.
fn name_of(journal: &Path) -> Option<&str> {
    journal.file_name().and_then(|name| name.to_str())
}

/// A file that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct TempPath(PathBuf);

impl std::ops::Deref for TempPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempPath {
    fn drop(&mut self) {
        // It may not be there.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The receiving end of the queue.
#[derive(Debug)]
pub(crate) struct Waiting(mpsc::Receiver<Job>);

#[cfg(test)]
mod tests;
