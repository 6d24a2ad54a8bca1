use std::{
    collections::{BTreeMap, HashMap},
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::bail;
use netcore::{HostId, Level};
use tokio::sync::Notify;
use tracing::warn;

use super::{files::RoomFiles, resources::Resources};
use crate::{
    message::message,
    room::{Room, info::Info, reservations::Holder},
};

/// The number of bots that fill the room, if its people have requested company.
pub(super) fn missing(room: &Room) -> usize {
    let info = room.info.borrow();
    let people = info.players.iter().filter(|player| !player.bot).count().max(1);
    let wanted = usize::try_from(info.options.party(info.seats)).unwrap_or(usize::MAX);
    wanted.saturating_sub(people).saturating_sub(room.bots.count())
}

/// Free seats of a room that accepts players, including reserved ones.
pub(super) fn free(room: &Room, info: &Info) -> usize {
    let waits = info.phase == "lobby" || info.options.starts_at_once();
    let is_late = info.phase == "playing" && info.show.late;
    let is_open = room.access.is_public() && !info.locked && info.closing.is_none();
    if !is_open || !waits || is_late || info.options.is_daily() {
        return 0;
    }
    let seated = info.players.len().max(usize::try_from(info.taken).unwrap_or(usize::MAX));
    usize::try_from(info.seats).unwrap_or(usize::MAX).saturating_sub(seated)
}

pub(super) fn unreserved(room: &Room, info: &Info) -> usize {
    free(room, info).saturating_sub(room.roster.reserved_besides(Holder::Host(HostId::Other, 0)))
}

#[derive(Debug)]
pub(crate) struct Rooms {
    pub(super) files: RoomFiles,
    pub(super) empty_for: Duration,
    open: Mutex<BTreeMap<String, Arc<Room>>>,
    // Held from the check of the limits until a new room counts, and while a room is closed or restarted.
    opening: Mutex<()>,
    draining: AtomicBool,
    /// Notified when a room is closed or replaced.
    pub(super) replaced: Notify,
}

impl Rooms {
    pub(super) fn new(files: RoomFiles, empty_for: Duration) -> Self {
        Self {
            files,
            empty_for,
            open: Mutex::default(),
            opening: Mutex::default(),
            draining: AtomicBool::new(false),
            replaced: Notify::new(),
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Room>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn opening(&self) -> MutexGuard<'_, ()> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, id: String, room: Arc<Room>) {
        self.open().insert(id, room);
    }

    pub(crate) fn by_name(&self) -> BTreeMap<String, Arc<Room>> {
        self.open().clone()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Room>> {
        self.open().values().cloned().collect()
    }

    pub(crate) fn hides(&self, id: &str) -> bool {
        self.open().get(id).is_some_and(|room| !room.access.is_listed())
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Room>> {
        self.open().get(id).cloned()
    }

    /// Closes a room, even during a restart, and sends `why` to its pages. The room is not restored, even after a
    /// crash.
    pub(crate) fn close(&self, room: &Room, why: &str) {
        // Waits for a restart in progress.
        let _opening = self.opening();
        let id = room.file().id.clone();
        if let Some(now) = self.get(&id) {
            now.close(why);
        }
        self.files.remove(&id);
    }

    /// Ends a room that another hub owns, even during a restart, and removes its file, even if the room does not run.
    pub(crate) fn give_up(&self, id: &str) {
        // Waits for a restart in progress.
        let _opening = self.opening();
        if let Some(room) = self.get(id) {
            room.give_up();
        }
        self.files.remove(id);
    }

    /// Removes a room from the list before it is opened again.
    pub(super) fn withdraw(&self, room: &Room) {
        if self.is_current(room) {
            self.open().remove(&room.file().id);
        }
    }

    pub(super) fn remove(&self, room: &Room) {
        room.bots.dismiss();
        let id = room.file().id.clone();
        self.files.remove(&id);
        self.open().remove(&id);
        self.replaced.notify_waiters();
    }

    /// Waits until a restarted room is replaced. Returns `None` if it is closed instead.
    pub(crate) async fn replacement(&self, room: &Arc<Room>) -> Option<Arc<Room>> {
        let id = room.file().id.clone();
        loop {
            let mut replaced = pin!(self.replaced.notified());
            // Enabled first, so that a replacement after the look-up is not missed.
            replaced.as_mut().enable();
            match self.get(&id) {
                Some(now) if Arc::ptr_eq(&now, room) => replaced.await,
                now => return now,
            }
        }
    }

    pub(super) fn is_current(&self, room: &Room) -> bool {
        self.open().get(&room.file().id).is_some_and(|now| std::ptr::eq(Arc::as_ptr(now), room))
    }

    /// Blocks on the disk. If that fails, a restart restores the previous state.
    pub(crate) fn save(&self, room: &Room) {
        // No replacement while the room is written.
        let _opening = self.opening();
        // Finished rooms are not restored.
        if room.info.borrow().closing.is_some() || !self.is_current(room) {
            return;
        }
        if let Err(error) = self.files.save(room) {
            warn!(room = room.file().id, "cannot write a change of the room: {error:#}");
        }
    }

    /// Adds a bot for a host, or for the hub itself. Fails without a free seat, and with
    /// [`Refusal`](super::shares::Refusal) if there are too many bots.
    pub(crate) fn seat_bot(&self, room: &Room, level: Level, host: Option<HostId>) -> anyhow::Result<()> {
        if self.is_draining() {
            bail!(message!("draining", "the hub is shutting down"));
        }
        let rooms = self.all();
        let hosts = rooms.iter().flat_map(|room| room.file().bots.iter().map(|bot| bot.host).collect::<Vec<_>>());
        Resources::bot(hosts, host)?;
        let seating = room.bots.add(level, host)?;
        room.file().bots.push(seating);
        self.save(room);
        Ok(())
    }

    /// Adds bots up to the usual number of players.
    pub(crate) fn fill(&self, room: &Room, host: Option<HostId>) -> anyhow::Result<()> {
        let missing = missing(room);
        room.announce_bots(None);
        (0..missing).try_for_each(|_| self.seat_bot(room, room.roster.company_level(), host))
    }

    /// Adds or removes bots until there are `number`. New ones play at `level`; those with the last names leave first.
    /// After an error the added bots stay.
    pub(crate) fn set_bots(
        &self,
        room: &Room,
        number: usize,
        level: Level,
        host: Option<HostId>,
    ) -> anyhow::Result<()> {
        let seats = usize::try_from(room.info.borrow().seats).unwrap_or(usize::MAX);
        if number >= seats.max(1) {
            bail!(message!(
                "bots_at_most",
                "this room has at most {count} bots, since one seat is for a person",
                count = seats.saturating_sub(1)
            ));
        }
        let surplus = room.bots.count().saturating_sub(number);
        if surplus > 0 {
            let gone = room.bots.dismiss_last(surplus);
            room.file().bots.retain(|bot| !gone.contains(&bot.name));
            self.save(room);
        }
        let missing = number.saturating_sub(room.bots.count());
        (0..missing).try_for_each(|_| self.seat_bot(room, level, host))
    }

    /// Fills the room with bots, which starts the match. Fails without players, and if a match is running or starts by
    /// itself.
    pub(crate) fn start_now(&self, room: &Room, level: Level, host: Option<HostId>) -> anyhow::Result<()> {
        {
            let info = room.info.borrow();
            if info.options.starts_at_once() {
                bail!(message!(
                    "starts_itself",
                    "matches of this room start automatically after the first player has joined"
                ));
            }
            if info.phase != "lobby" {
                bail!(message!("already_running", "a match is running already"));
            }
            if !info.players.iter().any(|player| !player.bot) {
                bail!(message!("no_players", "no player has joined yet"));
            }
        }
        room.announce_bots(None);
        (0..missing(room)).try_for_each(|_| self.seat_bot(room, level, host))
    }

    pub(crate) fn dismiss_bots(&self, room: &Room) {
        if room.bots.dismiss() {
            room.file().bots.clear();
            self.save(room);
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(super) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Whether players wait for long for the disk of a journal.
    pub(crate) fn is_stalled(&self) -> bool {
        self.open().values().any(|room| room.journal.is_stalled())
    }

    /// Whether a match continues without its journal, because the disk was full or failed.
    pub(crate) fn has_cut_journal(&self) -> bool {
        self.open().values().any(|room| !room.journal.is_open())
    }

    /// Counts running matches with people.
    pub(crate) fn running(&self) -> usize {
        let plays = |room: &&Arc<Room>| {
            let info = room.info.borrow();
            info.phase == "playing" && info.players.iter().any(|player| !player.bot && !player.seat.is_empty())
        };
        self.open().values().filter(plays).count()
    }

    pub(crate) fn counts(&self) -> HashMap<&'static str, usize> {
        let mut counts = HashMap::new();
        for room in self.open().values() {
            *counts.entry(room.game.name()).or_default() += 1;
        }
        counts
    }
}
