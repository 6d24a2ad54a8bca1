//! Copies of the rooms of this node in the mesh, from which another node goes on if this one does not come back.
//!
//! A copy follows the journal on the disk of the node, and never holds its room up, unless the durability is that of the cluster.

mod common;
mod copy;
mod piece;
mod quota;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use mesh::{Directory, Durability, Fence, Journals, Key, LogReply, MeshError, Name, Trouble};
use netcore::HostId;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};
use tracing::{debug, warn};

use self::{
    common::Common,
    copy::Step,
    piece::{Later, put_together},
    quota::MAX_COPIES,
};
pub(crate) use self::{copy::RoomCopy, piece::Read};
use super::shared::Event;

/// Questions to the broker at the same time, so that those about the node itself do not wait behind those of a thousand rooms.
const MAX_ASKS: usize = 64;
/// How often it is tried to remove the copy of a room that is over, and the first pause, which doubles each time: for a quarter of an hour.
const REMOVALS: u32 = 10;
const REMOVAL_PAUSE: Duration = Duration::from_secs(1);

/// The copies of all rooms of this node.
pub(crate) struct Copies {
    common: Arc<Common>,
    journals: Arc<dyn Journals>,
    events: mpsc::Sender<Event>,
    rooms: Mutex<BTreeMap<Name, Arc<RoomCopy>>>,
    fenced: Arc<AtomicU64>,
    moved: AtomicU64,
    handed: AtomicU64,
    skipped: AtomicU64,
}

impl fmt::Debug for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copies").field("common", &self.common).finish_non_exhaustive()
    }
}

impl Copies {
    pub(super) fn new(durability: Durability, journals: Arc<dyn Journals>, events: mpsc::Sender<Event>) -> Self {
        Self::with_most(durability, journals, events, MAX_COPIES)
    }

    fn with_most(
        durability: Durability,
        journals: Arc<dyn Journals>,
        events: mpsc::Sender<Event>,
        most_bytes: usize,
    ) -> Self {
        let common = Arc::new(Common::new(durability, MAX_ASKS, most_bytes));
        let (rooms, fenced, moved, handed, skipped) = Default::default();
        Self { common, journals, events, rooms, fenced, moved, handed, skipped }
    }

    fn rooms(&self) -> MutexGuard<'_, BTreeMap<Name, Arc<RoomCopy>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How durable rooms are.
    pub(super) fn durability(&self) -> Durability {
        self.common.durability
    }

    /// The node owns a room; `reads` if the mesh has its state.
    pub(super) fn own(&self, room: &Name, fence: Fence, reads: bool) {
        let mut rooms = self.rooms();
        if let Some(copy) = rooms.get(room) {
            return copy.own(fence);
        }
        let copy = Arc::new(RoomCopy::new(Arc::clone(&self.common), fence, reads));
        rooms.insert(room.clone(), Arc::clone(&copy));
        let (journals, events, fenced) = (Arc::clone(&self.journals), self.events.clone(), Arc::clone(&self.fenced));
        let common = Arc::clone(&self.common);
        tokio::spawn(drive((copy, common), room.clone(), journals, (events, fenced)));
    }

    /// The node may tell of its rooms for so long.
    pub(super) fn set_lease(&self, until: Option<Duration>) {
        let until = until.map_or(0, |until| {
            let until = self.common.now().plus(until);
            until.as_nanos()
        });
        let was_over = !self.common.is_leased();
        self.common.lease.store(until, Ordering::Relaxed);
        if was_over && self.common.is_leased() {
            self.rooms().values().for_each(|copy| copy.wake_waiting());
        }
    }

    /// Whether rooms of this node may tell anybody anything. Otherwise another node may have them.
    pub(crate) fn may_tell(&self) -> bool {
        self.common.is_leased()
    }

    /// The copy of a room.
    pub(crate) fn of(&self, room: &str) -> Option<Arc<RoomCopy>> {
        self.rooms().get(&room.parse().ok()?).cloned()
    }

    /// What is written down of a room has changed. Its copy takes a part of the share of the host that has opened it.
    pub(crate) fn note(&self, room: &str, text: Vec<u8>, maker: Option<HostId>) {
        if let Some(copy) = self.of(room) {
            copy.note(text.into(), maker.unwrap_or(HostId::Other));
        }
    }

    /// Whether the stream has refused a record since this was asked last, because it is full.
    pub(super) fn take_full(&self) -> bool {
        self.common.is_stream_full.swap(false, Ordering::Relaxed)
    }

    /// What removes copies of rooms that are over from the stream.
    pub(super) fn discard_ended(
        &self,
        directory: Arc<dyn Directory>,
    ) -> impl Future<Output = Result<usize, MeshError>> + Send + use<> {
        discard_ended(Arc::clone(&self.journals), directory)
    }

    /// The state of a room that was taken over. None if there is nothing of which a room can be made.
    ///
    /// # Errors
    /// When the room is another node's meanwhile, was asked for before, or a later version has written its copy.
    pub(crate) async fn read(&self, room: &str) -> Result<Option<Read>, Unreadable> {
        let taken = self.of(room).and_then(|copy| copy.taken()).ok_or(Unreadable::Gone)?;
        let pieces = taken.await.map_err(|_| Unreadable::Gone)?;
        put_together(&pieces).map_err(|Later| {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            Unreadable::Later
        })
    }

    /// Copies that were skipped, since a later version has written them.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// A room of another node goes on here.
    pub(crate) fn count_moved(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// Nothing more of a room is stored.
    pub(super) fn end(&self, room: &Name) {
        if let Some(copy) = self.rooms().remove(room) {
            copy.end();
        }
    }

    /// The directory says that somebody else has a room. It is counted once, though an append that was refused may say so too.
    pub(super) fn lose(&self, room: &Name) {
        if self.rooms().get(room).is_some_and(|copy| !copy.is_fenced()) {
            self.fenced.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A room is over, and its entry is gone.
    pub(super) fn remove(&self, room: Name, fence: Option<Fence>) {
        self.end(&room);
        let journals = Arc::clone(&self.journals);
        if let Some(fence) = fence {
            tokio::spawn(async move {
                // Otherwise it goes when the stream is full, or when it is old enough.
                for attempt in 0..REMOVALS {
                    match journals.remove(&room, fence).await {
                        Ok(_) => return,
                        Err(error) => debug!(room = %room, "the copy of a room that is over is not removed: {error}"),
                    }
                    sleep(REMOVAL_PAUSE * 2_u32.pow(attempt)).await;
                }
            });
        }
    }

    /// Waits until everything is stored, or the deadline. Returns whether it is.
    pub(crate) async fn finish(&self, deadline: Instant) -> bool {
        let copies: Vec<_> = self.rooms().values().cloned().collect();
        for copy in &copies {
            copy.hurry();
        }
        let stored = async {
            for copy in &copies {
                loop {
                    let notified = self.common.stored.notified();
                    if copy.is_stored() {
                        break;
                    }
                    notified.await;
                }
            }
        };
        timeout_at(deadline, stored).await.is_ok()
    }

    /// Waits until everything of a room is stored, or all but what was added within `late`. Returns whether it is, within `patience`.
    pub(crate) async fn catch_up(&self, room: &str, late: Duration, patience: Duration) -> bool {
        let Some(copy) = self.of(room) else { return false };
        copy.hurry();
        let stored = async {
            loop {
                let notified = self.common.stored.notified();
                if let Some(lag) = copy.lag_if_whole()
                    && lag <= late
                {
                    break;
                }
                notified.await;
            }
        };
        timeout(patience, stored).await.is_ok()
    }

    /// A room was handed over, and went on elsewhere.
    pub(crate) fn count_handed_over(&self) {
        self.handed.fetch_add(1, Ordering::Relaxed);
    }

    /// A snapshot of the counters.
    pub(crate) fn shown(&self) -> CopiesShown {
        let rooms: Vec<_> = self.rooms().values().cloned().collect();
        let (mut lag, mut bytes) = (Duration::ZERO, 0);
        for (waits, waiting) in rooms.iter().map(|copy| copy.lag()) {
            (lag, bytes) = (lag.max(waits), bytes + waiting);
        }
        let (moved, fenced) = (self.moved.load(Ordering::Relaxed), self.fenced.load(Ordering::Relaxed));
        let (handed, short) = (self.handed.load(Ordering::Relaxed), self.common.short.load(Ordering::Relaxed));
        CopiesShown { lag, bytes, moved, handed, fenced, stored: self.common.quota.taken(), short }
    }
}

/// Why a copy cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// There is nothing to read here.
    Gone,
    /// A later version has written it.
    Later,
}

/// Counters of all copies, for metrics and `arcade status`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopiesShown {
    /// For how long the oldest change waits to be stored.
    pub(crate) lag: Duration,
    /// Bytes that wait.
    pub(crate) bytes: usize,
    /// Rooms that were taken over from other nodes.
    pub(crate) moved: u64,
    /// Rooms that were handed over to other nodes.
    pub(crate) handed: u64,
    /// Rooms that ended here because somebody else had taken them over.
    pub(crate) fenced: u64,
    /// Bytes that the copies take of the stream of journals.
    pub(crate) stored: usize,
    /// Rooms whose copies do not fit into the share of their hosts.
    pub(crate) short: usize,
}

// Removes the copies of rooms that the directory does not have any more. Returns how many there were.
async fn discard_ended(journals: Arc<dyn Journals>, directory: Arc<dyn Directory>) -> Result<usize, MeshError> {
    let mut count = 0;
    for room in journals.names().await? {
        // A node that opens the room after this has a greater fence.
        let Some(fence) = journals.fence(&room).await? else { continue };
        let is_over = directory.entry(&Key::Room(room.clone())).await?.is_none();
        count += usize::from(is_over && journals.remove(&room, fence).await?);
    }
    Ok(count)
}

// Does what a copy wants, until it is over.
async fn drive(
    (copy, common): (Arc<RoomCopy>, Arc<Common>),
    room: Name,
    journals: Arc<dyn Journals>,
    (events, fenced): (mpsc::Sender<Event>, Arc<AtomicU64>),
) {
    let (mut is_away, mut was_short) = (false, false);
    loop {
        match copy.step() {
            Step::Trim(before) => {
                was_short = false;
                // Otherwise the next state does.
                if let Err(error) = journals.trim(&room, before).await {
                    debug!(room = %room, "the copy of a room is not shortened: {error}");
                }
            }
            Step::Short(removes) => {
                if !std::mem::replace(&mut was_short, true) {
                    warn!(room = %room, "the host of this room has its share of the stream of copies; there is no copy of the room for now");
                }
                if let Some(fence) = removes
                    && let Err(error) = journals.remove(&room, fence).await
                {
                    debug!(room = %room, "the copy of a room is not removed: {error}");
                }
            }
            Step::Ask(ticket, ask) => {
                let _turn = common.asks.acquire().await;
                let reply = match ask.of_journal(&*journals, &room).await {
                    Ok(reply) => {
                        is_away = false;
                        reply
                    }
                    Err(error) => {
                        common.is_stream_full.fetch_or(error.trouble() == Trouble::Full, Ordering::Relaxed);
                        if !std::mem::replace(&mut is_away, true) {
                            debug!(room = %room, "a copy waits: {error}");
                        }
                        LogReply::Failed
                    }
                };
                copy.reply(ticket, reply);
            }
            Step::Wait(Some(until)) => tokio::select! {
                () = copy.work.notified() => {}
                () = sleep_until(until) => {}
            },
            Step::Wait(None) => copy.work.notified().await,
            Step::Fenced => {
                warn!(room = %room, "another hub has taken this room over while this one could not be heard");
                fenced.fetch_add(1, Ordering::Relaxed);
                // There is a place for each room.
                let _ = events.try_send(Event::Lost(room));
                return;
            }
            Step::Over => return,
        }
    }
}

#[cfg(test)]
mod tests;
