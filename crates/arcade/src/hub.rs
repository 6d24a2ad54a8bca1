//! The hub: all rooms of the process.

use std::{
    collections::{BTreeMap, HashMap},
    io::Write as _,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail};
use clientkit::Level;
use futures_util::FutureExt as _;
use journal::{JournalEnd, Retention};
use netcore::{HostId, Leave};
use rand::{TryRng as _, rngs::SysRng};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, watch},
    task::{JoinSet, spawn_blocking},
    time::{Instant, sleep, timeout_at},
};
use tracing::{error, info, warn};

use crate::{
    address::Address,
    bots::MAX_BOTS,
    games::{Game, Options},
    life,
    limits::Limits,
    lobby::Lobby,
    metrics::Metrics,
    record::{Record, Records},
    replays::Replays,
    results::Results,
    room::{Fate, Place, Room, open},
    seats::Secret,
    threads::Handles,
    warden::Bans,
};

/// Rooms that are open at the same time.
pub(crate) const MAX_ROOMS: usize = 1_000;
/// The file of the key for tokens, in the directory of the hub.
const SECRET: &str = "secret";
/// The most time that journals get to reach the disk at the end; what a room needs to go on is safe before that.
const CLOSING: Duration = Duration::from_secs(3);

/// How often old journals are looked for.
const PRUNING: Duration = Duration::from_hours(1);

/// Why a room cannot be opened.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The hub or the host has enough rooms.
    TooMany(String),
    /// The hub is about to end.
    Draining,
    /// The options do not go together, or the system refuses.
    Impossible(anyhow::Error),
}

impl Refusal {
    pub(crate) fn into_error(self) -> anyhow::Error {
        match self {
            Self::Impossible(error) => error,
            Self::TooMany(text) => anyhow::Error::msg(text),
            Self::Draining => anyhow::Error::msg("the hub is about to end"),
        }
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        Self::Impossible(error)
    }
}

/// The hub.
#[derive(Debug)]
pub(crate) struct Hub {
    data: PathBuf,
    place: Place,
    secret: Secret,
    limits: Arc<Limits>,
    records: Records,
    empty_rooms: Duration,
    handles: Handles,
    rooms: Mutex<BTreeMap<String, Arc<Room>>>,
    // Held from the check of the limits until the new room counts, and while a room is closed or begins anew.
    opening: Mutex<()>,
    tasks: Mutex<JoinSet<Option<JournalEnd>>>,
    address: OnceLock<Address>,
    draining: AtomicBool,
    // Has the process end, with the time that matches still have.
    drain: watch::Sender<Option<Duration>>,
    lobby: watch::Sender<Arc<str>>,
    // Told when a room is replaced by one with another journal, and when one is gone.
    replaced: Notify,
    replays: Replays,
}

impl Hub {
    /// A hub without rooms in `directory`, and the rooms that were open there before.
    ///
    /// # Errors
    /// When the secret can be neither read nor made, or the rooms cannot be read.
    pub(crate) fn new(
        directory: &Path,
        place: Place,
        limits: Arc<Limits>,
        empty_rooms: Duration,
        handles: Handles,
    ) -> anyhow::Result<(Arc<Self>, Vec<Record>)> {
        let secret = secret(&directory.join(SECRET))?;
        let (records, before) = Records::open(directory.join("rooms"))?;
        let hub = Self {
            replays: Replays::new(place.journals.clone()),
            data: directory.to_owned(),
            place,
            secret,
            limits,
            records,
            empty_rooms,
            handles,
            rooms: Mutex::default(),
            opening: Mutex::default(),
            tasks: Mutex::default(),
            address: OnceLock::new(),
            draining: AtomicBool::new(false),
            drain: watch::Sender::default(),
            lobby: watch::Sender::new("{}".into()),
            replaced: Notify::new(),
        };
        Ok((Arc::new(hub), before))
    }

    pub(crate) const fn secret(&self) -> &Secret {
        &self.secret
    }

    pub(crate) const fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    /// The directory of everything that is kept.
    pub(crate) const fn data(&self) -> &PathBuf {
        &self.data
    }

    /// The page listens at this address.
    pub(crate) fn listens(&self, address: Address) {
        // It is told once.
        let _ = self.address.set(address);
    }

    /// How the page is reached, once it listens.
    pub(crate) fn address(&self) -> Option<&Address> {
        self.address.get()
    }

    /// The hosts that may not enter.
    pub(crate) fn bans(&self) -> &Bans {
        &self.place.bans
    }

    /// Removes journals that are too many or too old, now and then, for as long as the hub runs.
    pub(crate) async fn prune(self: Arc<Self>, retention: Retention) {
        self.results().caught_up().await;
        loop {
            let hub = Arc::clone(&self);
            match spawn_blocking(move || hub.records.journals()).await {
                Ok(Ok(rooms)) => self.results().prune(retention, rooms).await,
                Ok(Err(error)) => warn!(%error, "no old journals are removed, because the rooms cannot be read"),
                Err(_) => return,
            }
            sleep(PRUNING).await;
        }
    }

    /// The directory of the journals.
    #[cfg(test)]
    pub(crate) const fn journals(&self) -> &PathBuf {
        &self.place.journals
    }

    /// How long a room stays that somebody made and in which nobody is.
    pub(crate) const fn empty_rooms(&self) -> Duration {
        self.empty_rooms
    }

    pub(crate) const fn results(&self) -> &Arc<Results> {
        &self.place.results
    }

    pub(crate) const fn metrics(&self) -> &Arc<Metrics> {
        &self.place.metrics
    }

    pub(crate) const fn replays(&self) -> &Replays {
        &self.replays
    }

    fn rooms(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Room>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All rooms with their names.
    pub(crate) fn by_name(&self) -> BTreeMap<String, Arc<Room>> {
        self.rooms().clone()
    }

    /// All rooms, by name.
    pub(crate) fn all(&self) -> Vec<Arc<Room>> {
        self.rooms().values().cloned().collect()
    }

    /// The room with this name.
    pub(crate) fn room(&self, id: &str) -> Option<Arc<Room>> {
        self.rooms().get(id).cloned()
    }

    /// Opens a room for a host, or for the hub itself.
    ///
    /// # Errors
    /// When there are too many, or the room cannot be opened.
    pub(crate) fn open(
        self: &Arc<Self>,
        options: &Options,
        maker: Option<HostId>,
        permanent: bool,
    ) -> Result<Arc<Room>, Refusal> {
        if self.is_draining() {
            return Err(Refusal::Draining);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let rooms = self.all();
        if rooms.len() >= MAX_ROOMS {
            let text = format!("there are {MAX_ROOMS} rooms already; wait until one is closed");
            return Err(Refusal::TooMany(text));
        }
        let most = self.limits.rooms_per_host();
        if maker.is_some() && rooms.iter().filter(|room| room.record().maker == maker).count() >= most {
            let text = format!(
                "{most} rooms from your address are open already; join one of them, or wait until one is closed"
            );
            return Err(Refusal::TooMany(text));
        }
        let mut record = Record::new(self.records.name(options.game().name())?, options.clone());
        (record.maker, record.permanent) = (maker, permanent);
        Ok(self.run(record)?)
    }

    /// Opens the rooms again that were open before; one that cannot be opened is left out, and the log says why.
    pub(crate) async fn restore(self: &Arc<Self>, before: Vec<Record>) {
        if before.len() > MAX_ROOMS {
            warn!("only {MAX_ROOMS} of {} rooms come back; the files of the others stay", before.len());
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut batches = vec![vec![]; threads];
        for (record, batch) in before.into_iter().take(MAX_ROOMS).zip((0..threads).cycle()) {
            batches[batch].push(record);
        }
        let mut tasks = JoinSet::new();
        for batch in batches {
            let hub = Arc::clone(self);
            tasks.spawn_blocking(move || {
                for record in batch {
                    let id = record.id.clone();
                    if let Err(error) = hub.run(record) {
                        error!(room = id, "the room does not come back: {error:#}");
                    }
                }
            });
        }
        tasks.join_all().await;
    }

    /// Opens the rooms that every hub has, unless they are there.
    ///
    /// # Errors
    /// When one of them cannot be opened.
    pub(crate) fn open_usual(self: &Arc<Self>) -> anyhow::Result<()> {
        for options in Options::permanent() {
            let same = |other: &Options| other.game() == options.game() && other.is_daily() == options.is_daily();
            let there = self.all().iter().map(|room| room.record()).any(|room| room.permanent && same(&room.options));
            if !there {
                self.open(&options, None, true).map_err(Refusal::into_error)?;
            }
        }
        Ok(())
    }

    // Opens a room, writes it down, and runs it until it ends.
    fn run(self: &Arc<Self>, record: Record) -> anyhow::Result<Arc<Room>> {
        let before = record.clone();
        let handle = self.handles.of(record.options.game()).clone();
        let (room, run) = {
            // Its sockets and timers are those of the runtime that runs it.
            let _context = handle.enter();
            open(record, &self.place)?
        };
        let record = room.record().clone();
        // A thousand rooms that come back as they were need no disk.
        if record != before {
            self.records.save(&room)?;
        }
        info!(room = record.id, port = record.port, "a room is open");
        self.rooms().insert(record.id.clone(), Arc::clone(&room));
        // Whatever runtime this is called on: its bots and what attends to it are not part of the room.
        let _context = self.handles.rest().enter();
        room.bots.start(&room);
        tokio::spawn(life::attend(Arc::downgrade(self), Arc::clone(&room)));
        let hub = Arc::downgrade(self);
        let ended = Arc::clone(&room);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // The results of those that have ended.
        while tasks.try_join_next().is_some() {}
        let attended = async move {
            let end = AssertUnwindSafe(run).catch_unwind().await;
            let Some(hub) = hub.upgrade() else { return end.ok() };
            match (&end, ended.fate()) {
                (Ok(_), Fate::Kept) => {}
                (Ok(_), Fate::Closed) => hub.forget(&ended),
                // The panic hook has printed the message, and the journal ends with what has led to it.
                (Ok(_), Fate::Renewed) | (Err(_), _) => tokio::task::block_in_place(|| hub.renew(&ended)),
            }
            end.ok()
        };
        tasks.spawn_on(attended, &handle);
        Ok(room)
    }

    /// Closes a room for good, and tells everybody in it why. It does not come back, even if the hub is killed now.
    pub(crate) fn close(&self, room: &Room, why: &str) {
        // It may just be beginning anew.
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let id = room.record().id.clone();
        if let Some(now) = self.room(&id) {
            now.close(why);
        }
        self.records.remove(&id);
    }

    fn forget(&self, room: &Room) {
        room.bots.dismiss();
        let id = room.record().id.clone();
        self.records.remove(&id);
        self.rooms().remove(&id);
        self.replaced.notify_waiters();
    }

    // Opens a room again with another journal.
    fn renew(self: &Arc<Self>, room: &Room) {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody has closed it since it was to begin anew.
        if room.is_to_close() {
            return self.forget(room);
        }
        room.bots.dismiss();
        let mut record = room.record().clone();
        (record.journal, record.result) = (None, None);
        record.bots.clear();
        let id = record.id.clone();
        if let Err(error) = self.run(record) {
            error!(room = id, "the room cannot begin anew: {error:#}");
            self.forget(room);
        }
        self.replaced.notify_waiters();
    }

    /// Waits until another room has taken the place of one that begins anew. Returns `None` if it is closed instead.
    pub(crate) async fn replacement(&self, room: &Arc<Room>) -> Option<Arc<Room>> {
        let id = room.record().id.clone();
        loop {
            let mut replaced = pin!(self.replaced.notified());
            // From now on, so that a room that is replaced after the look at the list is not missed.
            replaced.as_mut().enable();
            match self.room(&id) {
                Some(now) if Arc::ptr_eq(&now, room) => replaced.await,
                now => return now,
            }
        }
    }

    /// Writes a room down, and waits for the disk. If the disk refuses, it would come back as it was before.
    pub(crate) fn save(&self, room: &Room) {
        // A room that is over does not come back.
        if room.info.borrow().closing.is_some() || !self.rooms().contains_key(&room.record().id) {
            return;
        }
        if let Err(error) = self.records.save(room) {
            warn!(room = room.record().id, "a change of the room is not written down: {error:#}");
        }
    }

    /// Seats one more bot in a room.
    ///
    /// # Errors
    /// When there is no seat for it, or there are too many bots.
    pub(crate) fn seat_bot(&self, room: &Room, level: Level) -> anyhow::Result<()> {
        if self.is_draining() {
            bail!("the hub is about to end");
        }
        if self.all().iter().map(|room| room.bots.count()).sum::<usize>() >= MAX_BOTS {
            bail!("there are {MAX_BOTS} bots already");
        }
        let seating = room.bots.add(room, level)?;
        room.record().bots.push(seating);
        self.save(room);
        Ok(())
    }

    /// Has all bots leave a room.
    pub(crate) fn dismiss_bots(&self, room: &Room) {
        if room.bots.dismiss() {
            room.record().bots.clear();
            self.save(room);
        }
    }

    /// A room of a game with a free seat: of those in the lobby or open to newcomers the one with the most people, else a new one.
    ///
    /// # Errors
    /// When a new room is needed and cannot be opened.
    pub(crate) fn play(self: &Arc<Self>, game: Game, host: HostId) -> Result<Arc<Room>, Refusal> {
        let open = self.all().into_iter().filter(|room| {
            let info = room.info.borrow();
            let waits = info.phase == "lobby" || info.options.starts_at_once();
            let seated = u32::try_from(info.players.len()).unwrap_or(u32::MAX).max(info.taken);
            room.game == game && waits && !info.options.is_daily() && info.closing.is_none() && seated < info.seats
        });
        let people = |room: &Arc<Room>| room.info.borrow().people;
        // Of equal ones the first.
        let best = open.reduce(|best, room| if people(&room) > people(&best) { room } else { best });
        best.map_or_else(|| self.open(&Options::usual(game), Some(host), false), Ok)
    }

    /// The lobby as JSON; receivers are notified when it changes.
    pub(crate) fn lobby(&self) -> watch::Receiver<Arc<str>> {
        self.lobby.subscribe()
    }

    /// The lobby as it is now.
    pub(crate) fn snapshot(&self) -> Lobby {
        let rooms = self.rooms().values().map(|room| room.info.borrow().clone()).collect();
        Lobby { rooms, boards: self.results().boards().as_ref().clone() }
    }

    /// Shows pages this lobby, as JSON.
    pub(crate) fn show_lobby(&self, lobby: Arc<str>) {
        self.lobby.send_replace(lobby);
    }

    /// Whether the hub is about to end, and opens no rooms any more.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

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
        self.draining.store(true, Ordering::Release);
        let left = deadline.saturating_duration_since(Instant::now());
        let last_moves = deadline - CLOSING.min(left / 2);
        let running = self.running();
        if running > 0 {
            let seconds = left.as_secs();
            info!(
                "{running} matches go on for {seconds} s at most; they are suspended then, and a second signal does that at once"
            );
        }
        let finished = async {
            let mut lobby = self.lobby();
            while self.running() > 0 && lobby.changed().await.is_ok() {}
        };
        tokio::select! {
            _ = timeout_at(last_moves, finished) => {}
            () = hurry => {}
        }
        for room in self.all() {
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

    /// Matches in which people play.
    pub(crate) fn running(&self) -> usize {
        let plays = |room: &&Arc<Room>| {
            let info = room.info.borrow();
            info.phase == "playing" && info.players.iter().any(|player| !player.bot && !player.seat.is_empty())
        };
        self.rooms().values().filter(plays).count()
    }

    /// What the operator is shown.
    pub(crate) fn status(&self) -> Value {
        let rooms = self.all();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "status": if self.is_draining() { "draining" } else { "ready" },
            "address": self.address().map(|address| &address.here),
            "port": self.address().map(|address| address.port),
            "rooms": self.counts(),
            "running": self.running(),
            "people": rooms.iter().map(|room| room.info.borrow().people).sum::<usize>(),
            "bots": rooms.iter().map(|room| room.bots.count()).sum::<usize>(),
            "sockets": self.limits.sockets(),
            "bans": self.bans().list().len(),
            "ports": rooms.len(),
        })
    }

    /// How many rooms of each game there are.
    pub(crate) fn counts(&self) -> HashMap<&'static str, usize> {
        let mut counts = HashMap::new();
        for room in self.rooms().values() {
            *counts.entry(room.game.name()).or_default() += 1;
        }
        counts
    }
}

fn secret(path: &Path) -> anyhow::Result<Secret> {
    match std::fs::read(path) {
        Ok(bytes) => {
            let key = bytes.try_into().ok().with_context(|| format!("'{}' is damaged; remove it", path.display()))?;
            Ok(Secret::new(key))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let mut key = [0; 32];
            SysRng.try_fill_bytes(&mut key)?;
            // Only its owner can read it.
            let written = cmdkit::NewFile::create(path).and_then(|mut file| {
                file.write_all(&key)?;
                file.finish()
            });
            written.with_context(|| format!("cannot write '{}'", path.display()))?;
            Ok(Secret::new(key))
        }
        Err(error) => Err(error).with_context(|| format!("cannot read '{}'", path.display())),
    }
}

#[cfg(test)]
pub(crate) mod tests;
