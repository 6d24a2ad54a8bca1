//! The hub: all rooms of the process.

pub(crate) mod address;
mod attendant;
pub(crate) mod callers;
pub(crate) mod challenges;
pub(crate) mod classes;
pub(crate) mod cluster;
pub(crate) mod codes;
pub(crate) mod files;
pub(crate) mod ladders;
pub(crate) mod lobby;
pub(crate) mod matchmaking;
pub(crate) mod metrics;
pub(crate) mod migration;
pub(crate) mod opening;
pub(crate) mod pictures;
pub(crate) mod ports;
mod pruning;
pub(crate) mod publisher;
pub(crate) mod reports;
pub(crate) mod resources;
pub(crate) mod rooms;
pub(crate) mod secret;
pub(crate) mod shares;
pub(crate) mod subscription;
pub(crate) mod threads;

use std::{
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use futures_util::FutureExt as _;
use journal_core::{Copying, JournalEnd};
use netcore::Leave;
use serde_json::{Value, json};
use tokio::{
    sync::{Mutex as AsyncMutex, watch},
    task::{JoinSet, spawn_blocking},
    time::{Instant, timeout_at},
};
use tracing::{error, info, warn};

use self::{
    address::Address,
    attendant::attend,
    classes::Classes,
    cluster::{Cluster, announce},
    codes::Tries,
    files::RoomFiles,
    ladders::board::Ladders,
    lobby::{Lists, Lobby},
    matchmaking::Players,
    metrics::Metrics,
    migration::Moves,
    pictures::Pictures,
    ports::Ports,
    reports::Reports,
    resources::{MAX_ROOMS, Resources},
    rooms::Rooms,
    secret::Secret,
    shares::Refusal,
    threads::Handles,
};
use crate::{
    fleet::{ClaimError, Fleet},
    replays::Replays,
    results::Results,
    room::{
        Room, RoomOutcome,
        bans::Bans,
        file::RoomFile,
        opening::{RoomContext, open},
    },
};

#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("{0}")]
    TooMany(Refusal),
    #[error("the hub is shutting down")]
    Draining,
    /// The directory of an arcade of several hubs does not answer, or has no name for the room.
    #[error("{0}")]
    Unclaimed(ClaimError),
    /// The options are inconsistent, or the system refuses.
    #[error(transparent)]
    Impossible(#[from] anyhow::Error),
}

#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) rooms: Arc<Rooms>,
    pub(crate) data: PathBuf,
    place: RoomContext,
    ports: Ports,
    results: Arc<Results>,
    metrics: Arc<Metrics>,
    secret: Secret,
    resources: Arc<Resources>,
    cluster: Option<Arc<Cluster>>,
    handles: Handles,
    tasks: Mutex<JoinSet<Option<JournalEnd>>>,
    address: OnceLock<Address>,
    // Ends the process. The value is the remaining time of running matches.
    drain: watch::Sender<Option<Duration>>,
    lists: Arc<Lists>,
    pictures: Arc<Pictures>,
    replays: Replays,
    pub(crate) tries: Tries,
    pub(crate) classes: Classes,
    pub(crate) reports: Reports,
    players: Players,
    ladders: OnceLock<Ladders>,
    moves: Moves,
    owner_away: Duration,
    pub(crate) examples: bool,
    disk_check: Arc<AsyncMutex<()>>,
}

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) place: RoomContext,
    pub(crate) ports: Ports,
    pub(crate) results: Arc<Results>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) resources: Arc<Resources>,
    pub(crate) fleet: Option<Arc<Fleet>>,
    pub(crate) handles: Handles,
    /// How long an empty user-created room stays open.
    pub(crate) empty_rooms: Duration,
    /// How long the owner of a room may be away before the room gets another owner.
    pub(crate) owner_away: Duration,
    pub(crate) examples: bool,
}

impl Hub {
    /// Also returns the rooms that were open in `directory` before.
    pub(crate) fn new(directory: &Path, parts: Parts) -> anyhow::Result<(Arc<Self>, Vec<RoomFile>)> {
        let Parts { place, ports, results, metrics, resources, fleet, handles, empty_rooms, owner_away, examples } =
            parts;
        let secret = Secret::open(directory)?;
        let secret = match &fleet {
            Some(fleet) => secret.shared(fleet.secret(), fleet.former_secrets()),
            None => secret,
        };
        let (files, before) = RoomFiles::open(directory.join("rooms"))?;
        let files = files.with_copies(fleet.as_ref().map(|fleet| Arc::clone(&fleet.copies)));
        let rooms = Arc::new(Rooms::new(files, empty_rooms));
        let classes = Classes::open(directory.join("classes"), &place.journals)?;
        let hub = Self {
            pictures: Pictures::new(Arc::clone(&rooms)),
            rooms,
            replays: Replays::new(place.journals.clone()),
            data: directory.to_owned(),
            place,
            ports,
            results,
            metrics,
            secret,
            resources,
            cluster: fleet.map(Cluster::new).map(Arc::new),
            handles,
            tasks: Mutex::default(),
            address: OnceLock::new(),
            drain: watch::Sender::default(),
            lists: Arc::default(),
            tries: Tries::default(),
            classes,
            players: Players::default(),
            ladders: OnceLock::new(),
            reports: Reports::open(directory.join("reports"))?,
            moves: Moves::default(),
            owner_away,
            examples,
            disk_check: Arc::default(),
        };
        Ok((Arc::new(hub), before))
    }

    /// Whether a file beside the journals can be written. One call at a time uses the disk, which may not respond.
    pub(crate) async fn disk_works(self: &Arc<Self>) -> bool {
        let (hub, turn) = (Arc::clone(self), Arc::clone(&self.disk_check).lock_owned().await);
        let check = move || {
            let _turn = turn;
            let (disk, path) = (&hub.place.writing.disk, hub.place.journals.join(DISK_CHECK));
            // From a hub that was killed.
            let _ = disk.remove(&path);
            let written = disk.create(&path).and_then(|file| {
                file.write_at(0, &[0; 4096])?;
                file.sync()
            });
            let _ = disk.remove(&path);
            written.is_ok()
        };
        spawn_blocking(check).await.unwrap_or(false)
    }

    pub(crate) const fn keep_seats(&self) -> Duration {
        self.place.keep_seats
    }

    pub(crate) const fn secret(&self) -> &Secret {
        &self.secret
    }

    pub(crate) const fn resources(&self) -> &Arc<Resources> {
        &self.resources
    }

    pub(crate) fn listens(&self, address: Address) {
        let _ = self.address.set(address);
    }

    pub(crate) fn address(&self) -> Option<&Address> {
        self.address.get()
    }

    /// Whether native clients reach rooms from this machine only.
    pub(crate) fn rooms_are_here(&self) -> bool {
        self.ports.are_here()
    }

    pub(crate) fn bans(&self) -> &Bans {
        &self.place.bans
    }

    pub(crate) const fn results(&self) -> &Arc<Results> {
        &self.results
    }

    pub(crate) const fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    pub(crate) const fn replays(&self) -> &Replays {
        &self.replays
    }

    pub(crate) const fn cluster(&self) -> Option<&Arc<Cluster>> {
        self.cluster.as_ref()
    }

    /// Whether this is an open unlisted room, on any node.
    pub(crate) fn hides(&self, id: &str) -> bool {
        lobby::hides(&self.rooms, self.cluster().map(Arc::as_ref), id)
    }

    pub(crate) async fn restore(self: &Arc<Self>, mut before: Vec<RoomFile>) {
        // Programs have lost their connections to ladder rooms and start another match.
        for room in before.extract_if(.., |room| room.ladder) {
            self.rooms.files.remove(&room.id);
        }
        let is_left = |room: &mut RoomFile| room.access.class().is_some_and(|code| self.classes.get(code).is_none());
        for room in before.extract_if(.., is_left) {
            // Otherwise, the hub was killed while the class ended.
            if !room.access.class().is_some_and(|code| self.classes.is_damaged(code)) {
                self.rooms.files.remove(&room.id);
            }
        }
        if before.len() > MAX_ROOMS {
            warn!("restoring only {MAX_ROOMS} of {} rooms; the files of the others are kept", before.len());
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut batches = vec![vec![]; threads];
        for (file, batch) in before.into_iter().take(MAX_ROOMS).zip((0..threads).cycle()) {
            batches[batch].push(file);
        }
        let mut tasks = JoinSet::new();
        for batch in batches {
            let hub = Arc::clone(self);
            tasks.spawn_blocking(move || {
                for file in batch {
                    let id = file.id.clone();
                    match hub.run(file) {
                        Ok(room) => hub.announce(&room),
                        Err(error) => error!(room = id, "cannot restore the room: {error:#}"),
                    }
                }
            });
        }
        tasks.join_all().await;
    }

    fn announce(&self, room: &Arc<Room>) {
        if let Some(cluster) = &self.cluster {
            let rooms = Arc::downgrade(&self.rooms);
            self.handles.rest.spawn(announce(Arc::clone(&cluster.fleet), rooms, Arc::clone(room)));
        }
    }

    // Opens and stores a room, and runs it until it ends.
    fn run(self: &Arc<Self>, mut file: RoomFile) -> anyhow::Result<Arc<Room>> {
        let before = file.clone();
        let handle = self.handles.of(file.options.game()).clone();
        let (room, run) = {
            // The sockets and timers of the room belong to the runtime that runs it.
            let _context = handle.enter();
            let wire = file.options.game().wire();
            let opened = if file.is_for_hub() { self.ports.open_here(wire) } else { self.ports.open(wire, file.port) };
            let (sockets, lease) = opened?;
            let keys = self.secret.keys(&file.id);
            file.shared = self.cluster.is_some();
            let cluster = self.cluster().filter(|_| !file.ladder);
            let copy = cluster.and_then(|cluster| cluster.fleet.copies.of(&file.id));
            let copy = copy.map(|copy| copy as Arc<dyn Copying>);
            open(file, (&self.place, copy), keys, sockets, lease.port, lease)?
        };
        let file = room.file().clone();
        // Unchanged rooms need no disk access.
        if file == before {
            self.rooms.files.copy(&file)?;
        } else {
            self.rooms.files.save(&room)?;
        }
        info!(room = file.id, port = file.port, "opened a room");
        self.rooms.insert(file.id, Arc::clone(&room));
        // The bots and the attendant are not part of the room, so they do not use the caller's runtime.
        let _context = self.handles.rest.enter();
        room.bots.start();
        let store = self.results.store.clone();
        tokio::spawn(attend(Arc::downgrade(&self.rooms), Arc::clone(&room), store, self.owner_away));
        let hub = Arc::downgrade(self);
        let ended = Arc::clone(&room);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // Discard the results of finished tasks.
        while tasks.try_join_next().is_some() {}
        let attended = async move {
            let end = AssertUnwindSafe(run).catch_unwind().await;
            let Some(hub) = hub.upgrade() else { return end.ok() };
            let suspended = hub.moves.take(&ended);
            match (&end, ended.outcome()) {
                (Ok(_), RoomOutcome::Suspended) => {}
                // The task that hands the room over does the rest.
                (Ok(_), RoomOutcome::Moved) => {
                    if let (Some(suspended), Ok(end)) = (suspended, end) {
                        let _ = suspended.send(end);
                    }
                    return None;
                }
                (Ok(_), RoomOutcome::Closed) => hub.rooms.remove(&ended),
                // The panic hook has printed the message, and the journal ends with the messages that led to it.
                (Ok(_), RoomOutcome::Renewed) | (Err(_), _) => tokio::task::block_in_place(|| hub.renew(&ended)),
            }
            end.ok()
        };
        tasks.spawn_on(attended, &handle);
        Ok(room)
    }

    fn renew(self: &Arc<Self>, room: &Room) {
        let _opening = self.rooms.opening();
        // The room was closed after the restart was requested.
        // A challenge has one match.
        if room.is_to_close() || room.access.challenge().is_some() {
            return self.rooms.remove(room);
        }
        room.bots.dismiss();
        let mut file = room.file().clone();
        (file.journal, file.result) = (None, None);
        file.bots.clear();
        let id = file.id.clone();
        if let Err(error) = self.run(file) {
            error!(room = id, "cannot restart the room: {error:#}");
            self.rooms.remove(room);
        }
        self.rooms.replaced.notify_waiters();
    }

    pub(crate) const fn lists(&self) -> &Arc<Lists> {
        &self.lists
    }

    pub(crate) const fn pictures(&self) -> &Arc<Pictures> {
        &self.pictures
    }

    /// The public part of the lobby, or all of it for the operator.
    pub(crate) fn snapshot(&self, all: bool) -> Lobby {
        Lobby::of(&self.rooms, &self.results, self.cluster().map(Arc::as_ref), all)
    }
}

#[cfg(test)]
pub(crate) mod tests;

/// A file beside the journals.
const DISK_CHECK: &str = "disk-check";
/// How long journals may take to reach the disk at the end; the state that rooms need is stored before.
const CLOSING: Duration = Duration::from_secs(3);

impl Hub {
    /// Requests the end of the hub. Running matches may continue for this long.
    pub(crate) fn request_shutdown(&self, patience: Duration) {
        self.drain.send_replace(Some(patience));
    }

    pub(crate) async fn shutdown_requested(&self) -> Duration {
        let mut drain = self.drain.subscribe();
        match drain.wait_for(Option::is_some).await {
            Ok(patience) => patience.unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until no match is running or the deadline is close, then ends all rooms so that they can be restored.
    /// `hurry` ends the wait early.
    pub(crate) async fn drain(&self, deadline: Instant, hurry: impl Future<Output = ()>) {
        self.rooms.drain();
        let left = deadline.saturating_duration_since(Instant::now());
        let last_moves = deadline - CLOSING.min(left / 2);
        let running = self.rooms.running();
        if running > 0 {
            let seconds = left.as_secs();
            info!(
                "{running} matches continue for at most {seconds} s, then they are suspended; a second signal \
                 suspends them immediately"
            );
        }
        let finished = async {
            let mut lists = self.lists().changes();
            while self.rooms.running() > 0 && lists.changed().await.is_ok() {}
        };
        tokio::select! {
            _ = timeout_at(last_moves, finished) => {}
            () = hurry => {}
        }
        for room in self.rooms.all() {
            room.bots.abort();
            room.stop(Leave::Resumable, RoomOutcome::Suspended);
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
            warn!("some journals were not closed on disk in time; their rooms are restored anyway");
        }
    }
}

impl Hub {
    pub(crate) fn status(&self) -> Value {
        let rooms = self.rooms.all();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "status": if self.rooms.is_draining() { "draining" } else { "ready" },
            "address": self.address().map(|address| &address.here),
            "port": self.address().map(|address| address.port),
            "rooms": self.rooms.counts(),
            "running": self.rooms.running(),
            "people": rooms.iter().map(|room| room.info.borrow().people).sum::<usize>(),
            "bots": rooms.iter().map(|room| room.bots.count()).sum::<usize>(),
            "sockets": self.resources.sockets(),
            "bans": self.bans().list().len(),
            "ports": rooms.len(),
            "fleet": self.cluster().map(|cluster| cluster.status(&self.rooms)),
        })
    }
}
