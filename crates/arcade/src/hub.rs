//! The hub: all rooms of the process.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail};
use netcore::Leave;
use rand::{TryRng as _, rngs::SysRng};
use serde::Serialize;
use tokio::{sync::watch, task::JoinSet, time::sleep};
use tracing::info;

use crate::{
    api::views::Boards,
    games::{Game, Options},
    replays::Replays,
    results::Results,
    room::{Info, Place, Room, open},
    seats::Secret,
};

/// Rooms that are open at the same time.
const MAX_ROOMS: usize = 1_000;
/// The maximum rate at which the lobby is told of changes.
const LOBBY_PAUSE: Duration = Duration::from_millis(250);
/// The file of the key for tokens, in the directory of the hub.
const SECRET: &str = "secret";

/// What the page of the lobby shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Lobby {
    pub(crate) rooms: Vec<Info>,
    /// The newest matches and the leaders.
    #[serde(flatten)]
    pub(crate) boards: Boards,
}

/// The hub.
#[derive(Debug)]
pub(crate) struct Hub {
    place: Place,
    secret: Secret,
    rooms: Mutex<BTreeMap<String, Arc<Room>>>,
    tasks: Mutex<JoinSet<()>>,
    next: AtomicU32,
    lobby: watch::Sender<Arc<str>>,
    replays: Replays,
}

impl Hub {
    /// A hub without rooms, whose secret is in `directory`.
    ///
    /// # Errors
    /// When the secret can be neither read nor made.
    pub(crate) fn new(directory: &Path, place: Place) -> anyhow::Result<Arc<Self>> {
        let secret = secret(&directory.join(SECRET))?;
        let (lobby, _) = watch::channel("{}".into());
        let replays = Replays::new(place.journals.clone());
        Ok(Arc::new(Self {
            replays,
            place,
            secret,
            rooms: Mutex::default(),
            tasks: Mutex::default(),
            next: AtomicU32::new(1),
            lobby,
        }))
    }

    pub(crate) const fn secret(&self) -> &Secret {
        &self.secret
    }

    pub(crate) const fn results(&self) -> &Arc<Results> {
        &self.place.results
    }

    pub(crate) const fn replays(&self) -> &Replays {
        &self.replays
    }

    fn rooms(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Room>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The room with this name.
    pub(crate) fn room(&self, id: &str) -> Option<Arc<Room>> {
        self.rooms().get(id).cloned()
    }

    /// Opens a room.
    ///
    /// # Errors
    /// When there are too many, or the room cannot be opened.
    pub(crate) fn open(self: &Arc<Self>, options: &Options) -> anyhow::Result<Arc<Room>> {
        if self.rooms().len() >= MAX_ROOMS {
            bail!("there are {MAX_ROOMS} rooms already; wait until one is over");
        }
        let id = format!("{}-{}", options.game().name(), self.next.fetch_add(1, Ordering::Relaxed));
        let (room, run) = open(id.clone(), options, &self.place)?;
        info!(room = id, port = room.info.borrow().port, "a room is open");
        self.rooms().insert(id.clone(), Arc::clone(&room));
        let hub = Arc::downgrade(self);
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
            run.await;
            if let Some(hub) = hub.upgrade() {
                hub.rooms().remove(&id);
            }
        });
        Ok(room)
    }

    /// What the lobby shows, as JSON that is told anew when it changes.
    pub(crate) fn lobby(&self) -> watch::Receiver<Arc<str>> {
        self.lobby.subscribe()
    }

    /// The lobby as it is now.
    pub(crate) fn snapshot(&self) -> Lobby {
        let rooms = self.rooms().values().map(|room| room.info.borrow().clone()).collect();
        Lobby { rooms, boards: Boards::clone(&self.results().boards()) }
    }

    /// Keeps the lobby up to date, for ever.
    pub(crate) async fn publish(self: Arc<Self>) {
        loop {
            let lobby: Arc<str> = serde_json::to_string(&self.snapshot()).unwrap_or_default().into();
            self.lobby.send_if_modified(|shown| {
                let changed = *shown != lobby;
                *shown = lobby;
                changed
            });
            sleep(LOBBY_PAUSE).await;
        }
    }

    /// Ends all rooms, and waits until they have.
    pub(crate) async fn stop(&self, leave: Leave) {
        let rooms: Vec<Arc<Room>> = self.rooms().values().cloned().collect();
        for room in rooms {
            room.stop(leave);
        }
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while tasks.join_next().await.is_some() {}
    }

    /// Opens the rooms that every hub has.
    ///
    /// # Errors
    /// When one of them cannot be opened.
    pub(crate) fn open_usual(self: &Arc<Self>) -> anyhow::Result<()> {
        for game in [Game::Nuggets, Game::Robots, Game::Blackjack] {
            self.open(&Options::usual(game))?;
        }
        Ok(())
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
            cmdkit::replace_file(path, &key).with_context(|| format!("cannot write '{}'", path.display()))?;
            Ok(Secret::new(key))
        }
        Err(error) => Err(error).with_context(|| format!("cannot read '{}'", path.display())),
    }
}
