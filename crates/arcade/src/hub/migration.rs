//! Live migration of rooms to other hubs, for upgrades. The hub suspends a room and copies the rest of its journal;
//! then the directory releases it, and the next owner resumes it. If a step fails, the room resumes here.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail};
use journal_core::JournalEnd;
use mesh::HandoverRefusal;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{Semaphore, mpsc::Receiver, oneshot},
    task::{JoinSet, spawn_blocking},
    time::{Instant, sleep, timeout},
};
use tracing::{error, info, warn};

use super::{
    Hub,
    cluster::{Cluster, Row},
    files::parse,
};
use crate::{
    fleet::{
        Event, Fleet, HandoverError, Settled,
        copies::{Read, Unreadable},
    },
    games::Options,
    room::Room,
};

/// Concurrent hand-overs. Few keep the pauses short.
const AT_ONCE: usize = 4;
/// How far the copy may lag behind when a room is suspended.
const LATE: Duration = Duration::from_millis(100);
/// How long a copy may take to catch up, before and after the room is suspended.
const COPYING: Duration = Duration::from_secs(3);
/// How long the journal may take to be closed on disk, and the hub to drop the old room.
const CLOSING: Duration = Duration::from_secs(5);
/// How often to check whether the old room is dropped.
const LOOK: Duration = Duration::from_millis(20);
/// How long another hub may take to resume the room. Dead nodes are detected sooner.
const SETTLING: Duration = Duration::from_secs(40);

#[derive(Debug, Default)]
pub(crate) struct Moves {
    pub(super) begun: AtomicBool,
    // Why all remaining rooms stay, if there is a common reason.
    pub(super) stopped: OnceLock<StayReason>,
    // Receive the end of a room's journal, by room id.
    ends: Mutex<BTreeMap<String, oneshot::Sender<JournalEnd>>>,
    // Rooms that were suspended here and not closed since.
    handed: Mutex<BTreeSet<String>>,
}

impl Moves {
    pub(super) fn expect(&self, id: &str) -> oneshot::Receiver<JournalEnd> {
        let (ended, end) = oneshot::channel();
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), ended);
        end
    }

    pub(super) fn take(&self, room: &Room) -> Option<oneshot::Sender<JournalEnd>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).remove(&room.file().id)
    }

    pub(super) fn hand(&self, id: &str) {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
    }

    pub(super) fn keep(&self, id: &str) {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    pub(super) fn has_handed(&self, id: &str) -> bool {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StayReason {
    NoHub,
    NoRules,
    Ladder,
    NoJournal,
    NoCopy,
    Away,
    NotTaken,
    /// No hub has reported that the room resumed.
    Unheard,
}

impl StayReason {
    /// A clause at the end of a sentence about rooms.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::NoHub => "there is no other hub that takes rooms",
            Self::NoRules => "no other hub supports their version of the rules",
            Self::Ladder => "matches of the ladder do not move",
            Self::NoJournal => "their journals were cut, so no hub can resume them",
            Self::NoCopy => "their latest events are not replicated",
            Self::Away => "the directory of the arcade does not respond",
            Self::NotTaken => "the other hubs accepted none of the rooms",
            Self::Unheard => "they were handed over, but no other hub has confirmed that they resumed",
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moved {
    pub(crate) pauses_ms: Vec<u64>,
    pub(crate) stays: BTreeMap<StayReason, usize>,
}

enum Outcome {
    Moved(Duration),
    Stays(StayReason),
    /// The room was closed, or another hub has it.
    Gone,
}

impl Hub {
    /// Hands over the open rooms and accepts no more. Rooms that cannot move keep running. Fails without `--nats`, and
    /// while rooms are already being moved.
    pub(crate) async fn move_rooms(self: &Arc<Self>) -> anyhow::Result<Moved> {
        let Some(cluster) = self.cluster() else {
            bail!(
                "rooms move only between the hubs of one arcade, but this hub was started without --nats; end it \
                 with `arcade drain`"
            );
        };
        if self.moves.begun.swap(true, Ordering::AcqRel) {
            bail!("the rooms of this hub are already being moved; `arcade status` shows how many are left");
        }
        self.rooms.drain();
        cluster.fleet.drain().await;
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let mut tasks = JoinSet::new();
        for room in self.rooms.all() {
            let (hub, fleet, turns) = (Arc::clone(self), Arc::clone(&cluster.fleet), Arc::clone(&turns));
            tasks.spawn(async move {
                let _turn = turns.acquire().await;
                hub.move_room(&fleet, room).await
            });
        }
        let mut moved = Moved::default();
        while let Some(outcome) = tasks.join_next().await {
            match outcome {
                Ok(Outcome::Moved(pause)) => {
                    moved.pauses_ms.push(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
                }
                Ok(Outcome::Stays(why)) => *moved.stays.entry(why).or_default() += 1,
                Ok(Outcome::Gone) => {}
                Err(error) => error!("cannot move a room: {error}"),
            }
        }
        moved.pauses_ms.sort_unstable();
        info!(
            moved = moved.pauses_ms.len(),
            stay = moved.stays.values().sum::<usize>(),
            "rooms have moved to other hubs"
        );
        Ok(moved)
    }

    async fn move_room(self: &Arc<Self>, fleet: &Fleet, room: Arc<Room>) -> Outcome {
        let (id, is_ladder) = {
            let file = room.file();
            (file.id.clone(), file.ladder)
        };
        if is_ladder {
            return Outcome::Stays(StayReason::Ladder);
        }
        if !room.journal.is_open() {
            return Outcome::Stays(StayReason::NoJournal);
        }
        if let Some(why) = self.moves.stopped.get() {
            return Outcome::Stays(*why);
        }
        match fleet.hand_over(&id).await {
            Some(Ok(())) => {}
            Some(Err(kept)) => return kept.into(),
            None => return self.stop_moving(StayReason::Away),
        }
        if !fleet.copies.catch_up(&id, LATE, COPYING).await {
            fleet.cancel_hand_over(&id).await;
            return Outcome::Stays(StayReason::NoCopy);
        }
        let (began, ended) = (Instant::now(), self.moves.expect(&id));
        if !room.suspend() {
            drop(self.moves.take(&room));
            fleet.cancel_hand_over(&id).await;
            return Outcome::Gone;
        }
        self.moves.hand(&id);
        // With cluster durability, the room ends after everything that its last outputs depend on is copied.
        let Ok(end) = ended.await else {
            self.moves.keep(&id);
            fleet.cancel_hand_over(&id).await;
            return Outcome::Gone;
        };
        if room.is_to_close() {
            self.moves.keep(&id);
            fleet.cancel_hand_over(&id).await;
            self.rooms.remove(&room);
            fleet.close(&id).await;
            return Outcome::Gone;
        }
        if !fleet.copies.catch_up(&id, Duration::ZERO, COPYING).await {
            fleet.cancel_hand_over(&id).await;
            self.resume_here(room, end).await;
            return Outcome::Stays(StayReason::NoCopy);
        }
        let is_handed = fleet.suspended(&id).await;
        self.let_go(room).await;
        if !is_handed {
            return Outcome::Gone;
        }
        match timeout(SETTLING, fleet.follow(&id)).await {
            Ok(Some(Settled::At(node))) => {
                let pause = began.elapsed();
                info!(room = id, node = node.as_str(), ?pause, "the room has moved");
                fleet.copies.count_handed_over();
                Outcome::Moved(pause)
            }
            Ok(Some(Settled::Back)) => {
                warn!(room = id, "no other hub took the room, so it continues here");
                self.stop_moving(StayReason::NotTaken)
            }
            Ok(None) | Err(_) => Outcome::Stays(StayReason::Unheard),
        }
    }

    fn stop_moving(&self, why: StayReason) -> Outcome {
        let _ = self.moves.stopped.set(why);
        Outcome::Stays(why)
    }

    async fn let_go(self: &Arc<Self>, room: Arc<Room>) {
        let hub = Arc::clone(self);
        let _ = spawn_blocking(move || {
            // The room may have returned.
            let _opening = hub.rooms.opening();
            if hub.rooms.is_current(&room) {
                hub.rooms.remove(&room);
            }
        })
        .await;
    }

    // Resumes a suspended room. Its journal is free once no part of the hub holds the old room.
    async fn resume_here(self: &Arc<Self>, room: Arc<Room>, end: JournalEnd) {
        let file = room.file().clone();
        let is_closed = spawn_blocking(move || end.finish(CLOSING)).await.unwrap_or_default();
        self.rooms.withdraw(&room);
        let before = Arc::downgrade(&room);
        drop(room);
        let free = async {
            while before.strong_count() > 0 {
                sleep(LOOK).await;
            }
        };
        if !is_closed || timeout(CLOSING, free).await.is_err() {
            return error!(room = file.id, "the room cannot continue now; the next start of the hub restores it");
        }
        let hub = Arc::clone(self);
        let _ = spawn_blocking(move || {
            let _opening = hub.rooms.opening();
            let id = file.id.clone();
            match hub.run(file) {
                Ok(room) => hub.announce(&room),
                Err(error) => error!(room = id, "the next start of the hub restores the room: {error:#}"),
            }
        })
        .await;
    }

    /// Whether the room is moving between hubs, so that clients have to retry.
    pub(crate) fn is_moving(&self, id: &str) -> bool {
        let Some(cluster) = self.cluster() else { return false };
        match self.rooms.get(id) {
            Some(room) => room.is_suspended(),
            // The directory may not have published the new owner yet.
            None => cluster.fleet.is_moving(id) || self.moves.has_handed(id) && cluster.fleet.owner_of(id).is_none(),
        }
    }
}

impl From<HandoverError> for Outcome {
    fn from(kept: HandoverError) -> Self {
        match kept {
            HandoverError::Refused(HandoverRefusal::NoNode) => Self::Stays(StayReason::NoHub),
            HandoverError::Refused(HandoverRefusal::NoRules) => Self::Stays(StayReason::NoRules),
            HandoverError::Lost => Self::Gone,
        }
    }
}

/// Concurrent restores. The limit lets the first of hundreds resume early.
const RESTORES_AT_ONCE: usize = 16;

impl Hub {
    /// Applies the directory's decisions about rooms of this node.
    pub(crate) async fn obey(self: Arc<Self>, mut events: Receiver<Event>) {
        let turns = Arc::new(Semaphore::new(RESTORES_AT_ONCE));
        while let Some(event) = events.recv().await {
            match event {
                Event::Lost(room) => {
                    let rooms = Arc::clone(&self.rooms);
                    if rooms.get(room.as_str()).is_some() {
                        warn!(room = %room, "the room has moved to another hub and ends here");
                    }
                    let _ = spawn_blocking(move || rooms.give_up(room.as_str())).await;
                }
                Event::TakenOver(room) => {
                    let (hub, turns) = (Arc::clone(&self), Arc::clone(&turns));
                    tokio::spawn(async move {
                        let _turn = turns.acquire().await;
                        if let Some(cluster) = hub.cluster().cloned() {
                            hub.take_over(&cluster, room.as_str()).await;
                        }
                    });
                }
            }
        }
    }

    async fn take_over(self: &Arc<Self>, cluster: &Cluster, id: &str) {
        let fleet = &cluster.fleet;
        let read = match fleet.copies.read(id).await {
            Ok(read) => read,
            Err(Unreadable::Gone) => return,
            Err(Unreadable::Later) => {
                return error!(
                    room = id,
                    "the copy of this room was written by a later version of arcade; it resumes when this hub is \
                     upgraded"
                );
            }
        };
        let Some(read) = read else {
            info!(room = id, "closing the room, since no copy was stored before its hub was lost");
            return fleet.close(id).await;
        };
        let (hub, room) = (Arc::clone(self), id.to_owned());
        match spawn_blocking(move || hub.resume_copy(&room, &read)).await.map_err(Into::into).flatten() {
            Ok(room) => {
                // The directory needs the address before the room is announced as restored.
                self.show(fleet, &room).await;
                fleet.restored(id).await;
                // A room that returned from its hand-over has not moved.
                if !self.moves.has_handed(id) {
                    fleet.copies.count_moved();
                }
                self.announce(&room);
            }
            Err(error) => {
                error!(room = id, "closing the room of another hub, since it cannot resume here: {error:#}");
                fleet.close(id).await;
            }
        }
    }

    // Blocks on the disk.
    fn resume_copy(self: &Arc<Self>, id: &str, read: &Read) -> anyhow::Result<Arc<Room>> {
        let mut file = parse(&read.room, id).context("its description is damaged")?;
        let _opening = self.rooms.opening();
        anyhow::ensure!(!self.rooms.is_draining() || self.moves.has_handed(id), "this hub is shutting down");
        let front = self.place.front(file.options.game().name());
        let disk = &*self.place.writing.disk;
        let journal = read.journal.as_ref().map(|journal| journal.write(disk, &self.place.journals, &front));
        file.journal = match journal.transpose() {
            Ok(path) => path.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
            Err(error) => {
                warn!(room = id, "lost its match: {error}");
                None
            }
        };
        // Every hub opens the usual rooms when it starts, so duplicates would accumulate with each upgrade.
        if file.permanent
            && Options::permanent(self.examples).any(|usual| usual == file.options)
            && self.has_permanent(&file.options)
        {
            file.permanent = false;
        }
        let room = self.run(file)?;
        info!(room = id, port = room.file().port, "resumed a room of another hub");
        Ok(room)
    }

    async fn show(&self, fleet: &Fleet, room: &Room) {
        let (id, row) = (room.file().id.clone(), Row::of(room, &room.info.borrow()));
        match row {
            Ok(row) => fleet.show(&id, row).await,
            Err(error) => warn!("cannot publish the state of a room to other hubs: {error}"),
        }
    }
}
