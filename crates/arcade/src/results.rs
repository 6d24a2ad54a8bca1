//! Stores the results of all rooms. Rooms report in a [`Ledger`] which journals have new results, and a task reads and
//! stores these. Until then, also after a crash, the results are in the journals.

mod copies;
pub(crate) mod matches;
mod shared;
pub(crate) mod views;

use std::{
    collections::{BTreeMap, HashMap},
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use journal_core::{Pruned, Retention, RetentionClass, StoredJournal, SystemDisk};
use mesh::Committed;
use store::{ALL_TIME, Board, Match, MatchFilter, Store, StoreError, Trouble, unix_now};
use tokio::{
    sync::{Notify, mpsc, watch},
    task::{JoinHandle, spawn_blocking},
    time::{Instant, sleep, timeout},
};
use tracing::{info, warn};

use self::{
    matches::{Progress, Start},
    views::{Boards, LeaderView},
};
use crate::{
    games::Game,
    room::ledger::{Ledger, Work},
};

/// The first and the longest pause before a query is retried.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long the hub waits for its database before it opens.
const WELCOME: Duration = Duration::from_secs(2);
/// How long a stopping hub waits until its results are stored.
const FAREWELL: Duration = Duration::from_secs(3);
/// The maximum age of the boards while results are stored continuously.
const REFRESH: Duration = Duration::from_secs(5);
/// The queue of matches from a journal. While it is full, the journal is not read.
const FOUND: usize = 16;
/// Bytes of all [`Progress`].
const MAX_PROGRESS: usize = 64 << 20;
const RECENT: u32 = 10;
const LEADERS: u32 = 5;
/// How long a name stays claimed without a match, in milliseconds.
const UNUSED_NAME: u64 = 24 * 3600 * 1000;

// Retries a query until it succeeds.
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

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Health {
    /// Queued journals and names.
    pub(crate) waiting: usize,
    pub(crate) stored: u64,
    /// Why results are currently not stored, without details of the machine.
    pub(crate) error: Option<Trouble>,
}

#[derive(Debug, Default)]
struct ResultsState {
    error: Option<Trouble>,
    // Where to continue reading journals.
    progress: BTreeMap<String, Progress>,
}

/// Only in an arcade of several hubs.
struct Shared {
    queue: Arc<dyn mesh::Results>,
    submitted: Notify,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) store: Store,
    pub(crate) ledger: Arc<Ledger>,
    journals: PathBuf,
    state: Mutex<ResultsState>,
    stored: AtomicU64,
    prepared: watch::Sender<bool>,
    caught_up: watch::Sender<bool>,
    boards: watch::Sender<Arc<Boards>>,
    shared: OnceLock<Shared>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Results {
    /// `journals` is the directory of journals. Nothing is stored before [`start`](Self::start).
    pub(crate) fn new(store: Store, journals: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            store,
            ledger: Arc::default(),
            journals,
            state: Mutex::default(),
            stored: AtomicU64::new(0),
            prepared: watch::Sender::new(false),
            caught_up: watch::Sender::new(false),
            boards: watch::Sender::new(Arc::default()),
            shared: OnceLock::new(),
            task: Mutex::default(),
        })
    }

    pub(crate) fn start(self: &Arc<Self>) {
        if let Some(data) = self.journals.parent() {
            copies::remove_remains(data);
        }
        if self.shared.get().is_some() {
            tokio::spawn(shared::work(Arc::downgrade(self)));
        }
        let task = tokio::spawn(Arc::clone(self).run());
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    pub(crate) async fn prepared(&self) {
        // The sender lives as long as `self`.
        let _ = timeout(WELCOME, self.prepared.subscribe().wait_for(|prepared| *prepared)).await;
    }

    /// Waits until the results of earlier runs are stored.
    pub(crate) async fn caught_up(&self) {
        let _ = self.caught_up.subscribe().wait_for(|done| *done).await;
    }

    /// Waits up to [`FAREWELL`] until all results are stored. The next start finds the rest in the journals.
    pub(crate) async fn finish(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut task) = task else { return };
        self.ledger.end();
        if timeout(FAREWELL, &mut task).await.is_err() {
            task.abort();
            warn!(
                waiting = self.health().waiting,
                "some results are not stored; the next start reads them from the journals"
            );
        }
        if timeout(FAREWELL, self.store.close()).await.is_err() {
            warn!("the database does not close; unfinished transactions are rolled back");
        }
    }

    pub(crate) fn boards(&self) -> Arc<Boards> {
        Arc::clone(&self.boards.borrow())
    }

    pub(crate) fn health(&self) -> Health {
        let error = self.state().error;
        Health { waiting: self.ledger.waiting(), stored: self.stored.load(Ordering::Relaxed), error }
    }

    fn state(&self) -> MutexGuard<'_, ResultsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    async fn run(self: Arc<Self>) {
        insist!(self, "prepare the database", self.store.prepare());
        self.refresh().await;
        self.prepared.send_replace(true);
        let mut is_changed = false;
        let mut refreshed = Instant::now();
        while let Some(work) = self.ledger.next().await {
            match &work {
                Work::Scan => {
                    if !self.catch_up(|_| true).await {
                        self.ledger.retry(work);
                    }
                    self.caught_up.send_replace(true);
                    is_changed = true;
                }
                Work::Journal(file) => match self.read(file).await {
                    Reading::Done(count) => is_changed |= count > 0,
                    Reading::Away => self.ledger.retry(work),
                    Reading::Damaged => is_changed = true,
                },
                Work::Name(name) => insist!(self, "record that a name is used", self.store.mark_name_used(name)),
            }
            if is_changed && (self.ledger.is_idle() || refreshed.elapsed() >= REFRESH) {
                is_changed = false;
                self.refresh().await;
                refreshed = Instant::now();
            }
        }
    }

    /// Stores the results that earlier runs did not store, from the `wanted` journals that have grown since. Returns
    /// `false` if the journals cannot be listed.
    pub(crate) async fn catch_up(&self, wanted: impl Fn(&str) -> bool) -> bool {
        let directory = self.journals.clone();
        let found = spawn_blocking(move || journal_core::find(&SystemDisk, &directory)).await;
        let Ok(Ok(found)) = found else {
            warn!(directory = %self.journals.display(), "the journals cannot be listed, which is retried; results of earlier runs are missing");
            return false;
        };
        let notes = insist!(self, "read the records of journals", self.store.journals());
        for journal in found {
            let Some(file) = name_of(&journal.path).filter(|file| wanted(file)) else { continue };
            if journal.end != Some(notes.get(file).map_or(0, |note| note.examined))
                && matches!(self.read(file).await, Reading::Away)
            {
                self.ledger.retry(Work::Journal(file.to_owned()));
            }
        }
        true
    }

    async fn read(&self, file: &str) -> Reading {
        let progress = self.state().progress.remove(file);
        if let Some(progress) = progress {
            let reading = self.read_from(file, Start::Progress(Box::new(progress))).await;
            if let Reading::Done(_) = reading {
                return reading;
            }
        }
        let note = insist!(self, "read the record of a journal", self.store.journal(file));
        let seats = if note.room.is_empty() {
            HashMap::new()
        } else {
            insist!(self, "read the seats of a room", self.store.seats(&note.room))
        };
        self.read_from(file, Start::Record(note, seats)).await
    }

    async fn read_from(&self, file: &str, start: Start) -> Reading {
        let (sender, mut found) = mpsc::channel(FOUND);
        let path = self.journals.join(file);
        let task = spawn_blocking(move || matches::read(&path, start, |over| sender.blocking_send(over).is_ok()));
        let mut count = 0;
        while let Some(over) = found.recv().await {
            self.record(&over).await;
            count += 1;
        }
        match task.await {
            Ok(Ok(None)) => Reading::Done(count),
            Ok(Ok(Some(progress))) => {
                let known = progress.room_time();
                insist!(self, "record a journal", self.store.note_examined(file, progress.position, known));
                if !progress.is_closed {
                    self.keep(file, progress);
                }
                Reading::Done(count)
            }
            Ok(Err(error)) => {
                let is_away = is_away(&error);
                let error = format!("{error:#}");
                warn!(file, error, "a journal cannot be scanned for results");
                if is_away { Reading::Away } else { Reading::Damaged }
            }
            Err(_) => {
                warn!(file, "a journal makes its game panic; later results of this journal are missing");
                Reading::Damaged
            }
        }
    }

    fn keep(&self, file: &str, progress: Progress) {
        let all = &mut self.state().progress;
        all.insert(file.to_owned(), progress);
        // A journal without progress is read again from the last state in its file.
        while all.values().map(Progress::size).sum::<usize>() > MAX_PROGRESS {
            all.pop_first();
        }
    }

    async fn record(&self, over: &Match) {
        if self.submit(over).await {
            return;
        }
        let mut pause = PAUSE;
        while self.commit(over).await.is_none() {
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    // Returns `None` if the database does not respond. A match that the database rejects must not delay other matches.
    async fn commit(&self, over: &Match) -> Option<Committed> {
        match self.store.record(over).await {
            Ok(is_new) => {
                self.succeeded();
                if is_new {
                    self.stored.fetch_add(1, Ordering::Relaxed);
                }
                Some(Committed::Stored)
            }
            Err(error) if error.trouble() == Trouble::Refused => {
                let error = format!("{:#}", anyhow::Error::from(error));
                warn!(
                    id = over.id,
                    error, "the database rejects this result, which is skipped; its journal contains it"
                );
                Some(Committed::Rejected)
            }
            Err(error) => {
                self.failed("store a match", error);
                None
            }
        }
    }

    // Returns whether the database has responded.
    async fn refresh(&self) -> bool {
        match self.read_boards().await {
            Ok(boards) => {
                self.boards.send_replace(Arc::new(boards));
                true
            }
            Err(error) => {
                let error = format!("{:#}", anyhow::Error::from(error));
                warn!(error, "cannot read the leaders; the lobby keeps the previous snapshot");
                false
            }
        }
    }

    async fn read_boards(&self) -> Result<Boards, StoreError> {
        let filter = MatchFilter { limit: RECENT, ..MatchFilter::default() };
        let recent = self.store.matches(&filter).await?;
        let mut leaders = BTreeMap::new();
        for game in Game::ALL {
            // The class of rooms with default options.
            let Some(class) = game.classes().into_iter().next() else { continue };
            let (order, board) = (game.order(&class), Board { game: game.name(), class: &class, season: ALL_TIME });
            let best = self.store.leaders(board, (order, true), LEADERS, unix_now()).await?;
            leaders.insert(game.name(), best.into_iter().map(|leader| LeaderView::new(leader, order)).collect());
        }
        Ok(Boards { recent, leaders })
    }

    /// Releases names without matches that were claimed more than [`UNUSED_NAME`] ago.
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

    /// Removes journals beyond the limits, after their results are stored. Journals of rooms stay; those without people
    /// or results are removed first.
    pub(crate) async fn prune(&self, retention: Retention, is_of_room: impl Fn(&str) -> bool + Send + 'static) {
        self.catch_up(|file| !is_of_room(file)).await;
        let notes = Arc::new(insist!(self, "read the records of journals", self.store.journals()));
        let (directory, known) = (self.journals.clone(), Arc::clone(&notes));
        let pruned = spawn_blocking(move || {
            let worth = |journal: &StoredJournal| {
                let Some(file) = name_of(&journal.path).filter(|file| !is_of_room(file)) else {
                    return RetentionClass::Exempt;
                };
                let stored = known.get(file).filter(|note| journal.end == Some(note.examined));
                stored.map_or(RetentionClass::Exempt, |note| RetentionClass::Removable(note.people.into()))
            };
            let now = SystemTime::now();
            (now, journal_core::prune(&SystemDisk, &directory, &retention, now, worth))
        });
        match pruned.await {
            Ok((now, Ok(Pruned { removed, failed, .. }))) => {
                for journal in removed {
                    if let Some((file, note)) = name_of(&journal.path).and_then(|file| notes.get_key_value(file)) {
                        insist!(self, "delete the record of a journal", self.store.delete_journal(file, &note.room));
                        self.state().progress.remove(file);
                    }
                    let days = journal.age(now).as_secs() / 86_400;
                    info!(journal = %journal.path.display(), bytes = journal.size, days, "removed an old journal");
                }
                for (journal, error) in failed {
                    warn!(journal = %journal.display(), %error, "cannot remove an old journal");
                }
            }
            Ok((_, Err(error))) => warn!(%error, "cannot search for old journals"),
            Err(error) => warn!(%error, "cannot remove old journals"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// All results are stored; this is their number.
    Done(usize),
    /// The file cannot be read at present.
    Away,
    /// The results before the damage are stored.
    Damaged,
}

// Whether the system could not read an existing file.
fn is_away(error: &anyhow::Error) -> bool {
    let of_system = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    of_system.is_some_and(|error| error.kind() != io::ErrorKind::NotFound)
}

// Identifies a journal in the database.
fn name_of(journal: &Path) -> Option<&str> {
    journal.file_name().and_then(|name| name.to_str())
}

#[cfg(test)]
mod tests;
