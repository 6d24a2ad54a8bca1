//! Copies of this node's rooms in the mesh, for other nodes. A copy follows the journal on disk, and delays its room
//! only with cluster durability.

mod copy;
pub(crate) use self::copy::{Read, RoomCopy};

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mesh::{
    Directory, Durability, ErrorKind, Fence, JournalStreams, Journals, Key, LogReply, MeshError, Name, Placement,
};
use netcore::{HostId, Shares, Time};
use tokio::{
    sync::{Notify, Semaphore, mpsc},
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};
use tracing::{debug, warn};

use self::copy::{CopyStep, Later, put_together};
use super::command::Event;

/// Concurrent requests for copies. Requests about the node itself must not queue behind those of a thousand rooms.
const MAX_ASKS: usize = 64;
/// Attempts to remove the copy of a closed room. The pause doubles after each, for a quarter of an hour in total.
const REMOVALS: u32 = 10;
const REMOVAL_PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Copies {
    common: Arc<Common>,
    journals: JournalStreams,
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
    pub(super) fn new(durability: Durability, journals: JournalStreams, events: mpsc::Sender<Event>) -> Self {
        Self::with_most(durability, journals, events, MAX_COPIES)
    }

    fn with_most(
        durability: Durability,
        journals: JournalStreams,
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

    pub(super) fn durability(&self) -> Durability {
        self.common.durability
    }

    /// Starts the copy of a room that the node owns, or updates its fence. If `reads` is set, the mesh has the state.
    pub(super) fn own(&self, room: &Name, (fence, placement): (Fence, Placement), reads: bool) {
        let mut rooms = self.rooms();
        if let Some(copy) = rooms.get(room) {
            return copy.own(fence);
        }
        let copy = Arc::new(RoomCopy::new(Arc::clone(&self.common), fence, reads));
        rooms.insert(room.clone(), Arc::clone(&copy));
        let journals = Arc::clone(self.journals.at(placement));
        let (events, fenced) = (self.events.clone(), Arc::clone(&self.fenced));
        let common = Arc::clone(&self.common);
        tokio::spawn(drive((copy, common), room.clone(), journals, (events, fenced)));
    }

    /// Sets how long rooms of this node may send output; `None` ends the lease.
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

    /// Without a lease, another node may own the rooms.
    pub(crate) fn may_publish(&self) -> bool {
        self.common.is_leased()
    }

    pub(crate) fn of(&self, room: &str) -> Option<Arc<RoomCopy>> {
        self.rooms().get(&room.parse().ok()?).cloned()
    }

    /// Charges the copy to the host that has opened the room.
    pub(crate) fn note(&self, room: &str, text: Vec<u8>, maker: Option<HostId>) {
        if let Some(copy) = self.of(room) {
            copy.note(text.into(), maker.unwrap_or(HostId::Other));
        }
    }

    /// Whether the stream has rejected a record as full since the last call.
    pub(super) fn take_full(&self) -> bool {
        self.common.is_stream_full.swap(false, Ordering::Relaxed)
    }

    /// The future removes the copies of closed rooms from the stream.
    pub(super) fn discard_ended(
        &self,
        directory: Arc<dyn Directory>,
    ) -> impl Future<Output = Result<usize, MeshError>> + Send + use<> {
        discard_ended(self.journals.clone(), directory)
    }

    /// `None` if the copy is not sufficient. An error means that another node owns the room, that the copy was read
    /// before, or that a later version has written it.
    pub(crate) async fn read(&self, room: &str) -> Result<Option<Read>, Unreadable> {
        let taken = self.of(room).and_then(|copy| copy.take_receiver()).ok_or(Unreadable::Gone)?;
        let pieces = taken.await.map_err(|_| Unreadable::Gone)?;
        put_together(&pieces).map_err(|Later| {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            Unreadable::Later
        })
    }

    /// Copies of later versions.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Counts a room of another node that was resumed here.
    pub(crate) fn count_moved(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn end(&self, room: &Name) {
        if let Some(copy) = self.rooms().remove(room) {
            copy.end();
        }
    }

    /// Counts a room that another node owns according to the directory, unless a rejected append has counted it.
    pub(super) fn lose(&self, room: &Name) {
        if self.rooms().get(room).is_some_and(|copy| !copy.is_fenced()) {
            self.fenced.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes the copy of a closed room that the directory no longer has.
    pub(super) fn remove(&self, room: Name, claim: Option<(Fence, Placement)>) {
        self.end(&room);
        if let Some((fence, placement)) = claim {
            let journals = Arc::clone(self.journals.at(placement));
            tokio::spawn(async move {
                // After the last failure, the copy stays until the stream is full or the copy expires.
                for attempt in 0..REMOVALS {
                    match journals.remove(&room, fence).await {
                        Ok(_) => return,
                        Err(error) => debug!(room = %room, "cannot remove the copy of a closed room: {error}"),
                    }
                    sleep(REMOVAL_PAUSE * 2_u32.pow(attempt)).await;
                }
            });
        }
    }

    /// Waits for all pieces until the deadline. Returns whether they are stored.
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

    /// Waits at most `patience` until all pieces of a room are stored, except those added within `late`. Returns
    /// whether they are.
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

    pub(crate) fn count_handed_over(&self) {
        self.handed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn status(&self) -> CopiesStatus {
        let rooms: Vec<_> = self.rooms().values().cloned().collect();
        let (mut lag, mut bytes) = (Duration::ZERO, 0);
        for (waits, waiting) in rooms.iter().map(|copy| copy.lag()) {
            (lag, bytes) = (lag.max(waits), bytes + waiting);
        }
        let (moved, fenced) = (self.moved.load(Ordering::Relaxed), self.fenced.load(Ordering::Relaxed));
        let (handed, short) = (self.handed.load(Ordering::Relaxed), self.common.short.load(Ordering::Relaxed));
        CopiesStatus { lag, bytes, moved, handed, fenced, stored: self.common.quota.in_use(), short }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// This node does not own the room, or the copy was read before.
    Gone,
    /// A later version has written it.
    Later,
}

/// For metrics and `arcade status`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopiesStatus {
    /// The waiting time of the oldest change.
    pub(crate) lag: Duration,
    /// Bytes that wait to be stored.
    pub(crate) bytes: usize,
    /// Rooms taken over from other nodes.
    pub(crate) moved: u64,
    /// Rooms handed over to other nodes.
    pub(crate) handed: u64,
    /// Rooms that ended here because another node had taken them over.
    pub(crate) fenced: u64,
    /// Bytes in the journal stream.
    pub(crate) stored: usize,
    /// Rooms whose copies exceed the quota of their hosts.
    pub(crate) short: usize,
}

// Returns the number of removed copies.
async fn discard_ended(streams: JournalStreams, directory: Arc<dyn Directory>) -> Result<usize, MeshError> {
    let mut count = 0;
    for placement in [Placement::Single, Placement::Hashed] {
        let journals = streams.at(placement);
        for room in journals.names().await? {
            // A node that opens the room after this has a greater fence.
            let Some(fence) = journals.fence(&room).await? else { continue };
            let entry = directory.entry(&Key::Room(room.clone())).await?;
            // A later room with this name may have its copy elsewhere.
            let is_over = entry.is_none_or(|entry| entry.placement().is_some_and(|other| other != placement));
            count += usize::from(is_over && journals.remove(&room, fence).await?);
        }
    }
    Ok(count)
}

async fn drive(
    (copy, common): (Arc<RoomCopy>, Arc<Common>),
    room: Name,
    journals: Arc<dyn Journals>,
    (events, fenced): (mpsc::Sender<Event>, Arc<AtomicU64>),
) {
    let (mut is_away, mut was_short) = (false, false);
    loop {
        match copy.step() {
            CopyStep::Trim(before) => {
                was_short = false;
                // If this fails, the next state trims the copy.
                if let Err(error) = journals.trim(&room, before).await {
                    debug!(room = %room, "cannot trim the copy of a room: {error}");
                }
            }
            CopyStep::Short(removes) => {
                if !std::mem::replace(&mut was_short, true) {
                    warn!(room = %room, "the host of this room has used its share of the stream of copies; the room \
                        has no copy for now");
                }
                if let Some(fence) = removes
                    && let Err(error) = journals.remove(&room, fence).await
                {
                    debug!(room = %room, "cannot remove the copy of a room: {error}");
                }
            }
            CopyStep::Write(ticket, request) => {
                let _turn = common.requests.acquire().await;
                let reply = match request.of_journal(&*journals, &room).await {
                    Ok(reply) => {
                        is_away = false;
                        reply
                    }
                    Err(error) => {
                        common.is_stream_full.fetch_or(error.kind() == ErrorKind::Full, Ordering::Relaxed);
                        if !std::mem::replace(&mut is_away, true) {
                            debug!(room = %room, "a copy waits: {error}");
                        }
                        LogReply::Failed
                    }
                };
                copy.reply(ticket, reply);
            }
            CopyStep::Wait(Some(until)) => tokio::select! {
                () = copy.work.notified() => {}
                () = sleep_until(until) => {}
            },
            CopyStep::Wait(None) => copy.work.notified().await,
            CopyStep::Fenced => {
                warn!(room = %room, "another hub has taken over this room while this hub was disconnected");
                fenced.fetch_add(1, Ordering::Relaxed);
                // The channel has capacity for each room.
                let _ = events.try_send(Event::Lost(room));
                return;
            }
            CopyStep::Over => return,
        }
    }
}

#[derive(Debug)]
struct Common {
    start: Instant,
    durability: Durability,
    waiting: AtomicUsize,
    stored: Notify,
    requests: Semaphore,
    quota: Quota,
    short: AtomicUsize,
    is_stream_full: AtomicBool,
    // When the lease of the rooms ends, in nanoseconds since the start.
    lease: AtomicU64,
}

impl Common {
    fn new(durability: Durability, most_requests: usize, most_bytes: usize) -> Self {
        let (waiting, stored, lease, short, is_stream_full) = Default::default();
        let (requests, quota) = (Semaphore::new(most_requests), Quota::new(most_bytes));
        Self { start: Instant::now(), durability, waiting, stored, requests, quota, short, is_stream_full, lease }
    }

    fn now(&self) -> Time {
        Time::ZERO.plus(self.start.elapsed())
    }

    fn is_leased(&self) -> bool {
        self.now().as_nanos() < self.lease.load(Ordering::Relaxed)
    }
}

/// Bytes of a node's copies in the journal stream: an eighth of its 4 GiB. One host may use half.
pub(crate) const MAX_COPIES: usize = 512 << 20;
/// Bytes of records after the state in the copy of a room. Beyond that the copy restarts from a newer state, and older
/// pieces are removed.
pub(crate) const MAX_COPY: usize = 4 << 20;

/// The bytes of the copies of a node, by the host that has opened the rooms.
#[derive(Debug)]
struct Quota(Mutex<Shares>);

impl Quota {
    fn new(most: usize) -> Self {
        Self(Mutex::new(Shares::new(most)))
    }

    fn in_use(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).in_use()
    }

    /// Charges `after` bytes in place of `before`. Returns `false`, without any change, if that exceeds the quota.
    fn exchange(&self, host: HostId, before: usize, after: usize) -> bool {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = shares.clone();
        changed.give_back_many(host, before);
        let is_granted = after <= before || changed.take_many(host, after).is_ok();
        if after <= before {
            // Shrinking is always granted.
            shares.give_back_many(host, before - after);
        } else if is_granted {
            *shares = changed;
        }
        is_granted
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bytes::BytesMut;
    use journal_core::{Copying, Head, Journalled, MAX_SIZE, Resumable, Scribe, SyncPolicy, SystemDisk, Writing};
    use mesh::{Appended, Local, RoomValue, Value};
    use netcore::{EngineRoom, Hold as _, Input, Link, Outbox, PeerId, Role, Room as _, Time};
    use testkit::TempDir;

    use super::*;

    type Engine = robots::Server;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    struct Match {
        room: Journalled<Engine>,
        hold: journal_core::JournalHold,
        scribe: Scribe,
        now: Time,
        out: Outbox,
    }

    impl Match {
        fn begin(directory: &Path, copy: Arc<RoomCopy>) -> Self {
            let config = robots::Config {
                parameters: robots::Parameters {
                    server_name: netcore::wire::ShortText::default(),
                    players_count: 1,
                    size_x: 9,
                    size_y: 9,
                    game_length: 60_000,
                    explosion_radius: 2,
                    bomb_timer: 2,
                },
                turn_duration: Duration::from_millis(100),
                initial_blocks: 3,
                seed: 5,
                max_history: robots::MAX_HISTORY,
            };
            let scribe = Scribe::by_hand();
            let copy: Option<Arc<dyn Copying>> = Some(copy);
            let (disk, sync) = (Arc::new(SystemDisk), SyncPolicy::Always);
            let writing = Writing { disk, scribe: scribe.clone(), sync, max: MAX_SIZE, copy };
            let engine_room = EngineRoom::new(Engine::new(config).unwrap());
            let head = Head::new(engine_room.engine(), "test", vec![], 99);
            let (_, (mut room, hold, _)) = writing.create(directory, engine_room, head).unwrap();
            let (peer, mut out) = (PeerId(1), Outbox::new());
            let connected =
                Input::Connected { peer, role: Role::Player, link: Link::Message, address: "10.0.0.1:1".into() };
            room.input(Time::ZERO, connected, &mut out);
            room.receive(Time::ZERO, peer, &mut BytesMut::from(&b"\0\x03Ann"[..]), &mut out);
            Self { room, hold, scribe, now: Time::ZERO, out }
        }

        fn play(&mut self, turns: usize) {
            for _ in 0..turns {
                self.now = self.room.deadline().unwrap();
                self.room.input(self.now, Input::Elapsed, &mut self.out);
                self.out.drain().for_each(drop);
            }
            self.hold.flush();
            while self.scribe.write() || self.scribe.keep() {}
        }
    }

    fn copies(mesh: &Local, durability: Durability) -> (Copies, mpsc::Receiver<Event>) {
        let (events, happens) = mpsc::channel(8);
        (Copies::new(durability, mesh.journals(), events), happens)
    }

    fn mesh() -> Local {
        let start = Instant::now();
        Local::new(move || Time::ZERO.plus(start.elapsed()))
    }

    async fn stored(copies: &Copies) {
        assert!(copies.finish(Instant::now() + testkit::PATIENCE).await);
    }

    /// The digest of the match that a node restores when it takes the room over.
    async fn found(mesh: &Local, fence: u64) -> (u64, Vec<u8>) {
        let (other, _events) = copies(mesh, Durability::Node);
        other.own(&name("robots-1"), (Fence(fence), Placement::Single), true);
        let read = other.read("robots-1").await.unwrap().unwrap();
        let directory = TempDir::new();
        let path = read.journal.unwrap().write(&SystemDisk, directory.path(), "robots-bob").unwrap();
        assert!(path.file_name().unwrap().to_str().unwrap().starts_with("robots-bob-"));
        let resumable = Resumable::<Engine>::open(&SystemDisk, &path).unwrap();
        assert_eq!(resumable.returning().len(), 1, "its player is there");
        (journal_core::digest(resumable.room()), read.room.to_vec())
    }

    #[tokio::test]
    async fn match_resumes_from_its_copy() {
        let (mesh, data) = (mesh(), TempDir::new());
        let (own, mut events) = copies(&mesh, Durability::Node);
        own.own(&name("robots-1"), (Fence(7), Placement::Single), false);
        let copy = own.of("robots-1").unwrap();
        let mut playing = Match::begin(data.path(), copy);
        own.note("robots-1", b"first".to_vec(), None);
        playing.play(3);
        own.note("robots-1", b"second".to_vec(), None);
        stored(&own).await;
        assert_eq!(found(&mesh, 8).await, (journal_core::digest(playing.room.room()), b"second".to_vec()));
        // The other node has a newer claim, so storing stops, and the room has to end.
        playing.play(1);
        let lost = timeout(testkit::PATIENCE, events.recv()).await.unwrap();
        assert_eq!((lost, own.status().fenced), (Some(Event::Lost(name("robots-1"))), 1));
    }

    #[tokio::test]
    async fn copy_restarts_under_another_fence_and_after_its_log_is_removed() {
        let (mesh, data) = (mesh(), TempDir::new());
        let (own, _events) = copies(&mesh, Durability::Node);
        own.own(&name("robots-1"), (Fence(7), Placement::Single), false);
        let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
        own.note("robots-1", b"room".to_vec(), None);
        playing.play(3);
        stored(&own).await;
        // The node was considered dead and claims the room again.
        own.own(&name("robots-1"), (Fence(9), Placement::Single), false);
        playing.play(2);
        stored(&own).await;
        assert!(Journals::remove(&mesh, &name("robots-1"), Fence(9)).await.unwrap());
        playing.play(1);
        testkit::poll_until("that a state is wanted", async || own.of("robots-1").unwrap().wants_state().then_some(()))
            .await;
        playing.play(2);
        stored(&own).await;
        assert_eq!(found(&mesh, 10).await.0, journal_core::digest(playing.room.room()));
    }

    #[tokio::test]
    async fn copy_keeps_only_its_newest_state() {
        let (mesh, data) = (mesh(), TempDir::new());
        let (own, _events) = copies(&mesh, Durability::Node);
        own.own(&name("robots-1"), (Fence(7), Placement::Single), false);
        let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
        own.note("robots-1", b"room".to_vec(), None);
        for fence in 8..12 {
            playing.play(2);
            stored(&own).await;
            own.own(&name("robots-1"), (Fence(fence), Placement::Single), false);
        }
        playing.play(2);
        stored(&own).await;
        let states = async || mesh.read(&name("robots-1")).await.unwrap().iter().filter(|piece| piece.is_start).count();
        testkit::poll_until("one state", async || (states().await == 1).then_some(())).await;
        assert_eq!(found(&mesh, 12).await.0, journal_core::digest(playing.room.room()));
    }

    async fn size(mesh: &Local, room: &str) -> usize {
        mesh.read(&name(room)).await.unwrap().iter().map(|piece| piece.body.len()).sum()
    }

    #[tokio::test]
    async fn host_over_its_share_affects_only_its_own_copies() {
        let (mesh, data) = (mesh(), [0; 4].map(|_| TempDir::new()));
        let begin = |copies: &Copies, number: usize, host: &str| {
            let room = format!("robots-{number}");
            copies.own(&name(&room), (Fence(7), Placement::Single), false);
            let playing = Match::begin(data[number].path(), copies.of(&room).unwrap());
            copies.note(&room, b"room".to_vec(), Some(HostId::of(host)));
            playing
        };
        let (measured, _events) = copies(&mesh, Durability::Node);
        let mut playing = begin(&measured, 0, "10.0.0.1:1");
        playing.play(1);
        stored(&measured).await;
        // One such room of a host fits into the quota, but the state of a second one does not.
        let most = measured.status().stored * 9 / 4;
        let (events, _happens) = mpsc::channel(8);
        let own = Copies::with_most(Durability::Node, mesh.journals(), events, most);
        let mut first = begin(&own, 1, "10.0.0.1:1");
        first.play(1);
        assert!(own.catch_up("robots-1", Duration::ZERO, testkit::PATIENCE).await);
        let mut second = begin(&own, 2, "10.0.0.1:1");
        second.play(1);
        testkit::poll_until("that it is short", async || (own.status().short == 1).then_some(())).await;
        assert!(!own.catch_up("robots-2", Duration::ZERO, Duration::from_millis(1)).await);
        assert_eq!(size(&mesh, "robots-2").await, 0);
        second.play(1);
        let mut other = begin(&own, 3, "10.0.0.2:1");
        other.play(1);
        assert!(own.catch_up("robots-3", Duration::ZERO, testkit::PATIENCE).await);
        // The bytes of ended rooms are returned to the quota.
        for room in ["robots-1", "robots-2", "robots-3"] {
            own.end(&name(room));
        }
        assert_eq!(own.status().short, 0);
        assert!(own.common.quota.exchange(HostId::of("10.0.0.1:1"), 0, most / 2));
    }

    #[tokio::test]
    async fn room_over_its_share_pauses_with_cluster_durability() {
        let (mesh, data) = (mesh(), TempDir::new());
        let (events, _happens) = mpsc::channel(8);
        let own = Copies::with_most(Durability::Cluster, mesh.journals(), events, 8);
        own.set_lease(Some(Duration::from_mins(1)));
        own.own(&name("robots-1"), (Fence(7), Placement::Single), false);
        let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
        own.note("robots-1", b"room".to_vec(), Some(HostId::of("10.0.0.1:1")));
        playing.play(1);
        testkit::poll_until("that it is short", async || (own.status().short == 1).then_some(())).await;
        assert!(playing.hold.reached() < playing.hold.position());
    }

    #[tokio::test]
    async fn copies_of_ended_rooms_are_discarded_and_others_stay() {
        let mesh = mesh();
        for room in ["robots-1", "robots-2"] {
            let Appended::Stored(last) = mesh.open(&name(room), Fence(7)).await.unwrap() else { panic!() };
            let piece = mesh::Append { fence: Fence(7), after: Some(last), is_anchor: true, body: "state".into() };
            assert!(matches!(mesh.append(&name(room), &piece).await, Ok(Appended::Stored(_))));
        }
        let row = RoomValue {
            holder: None,
            fence: Some(Fence(7)),
            durability: Durability::Node,
            needs: String::new(),
            unread: false,
            row: String::new(),
        };
        mesh.write(&Key::Room(name("robots-2")), Some(&Value::Room(row)), None).await.unwrap();
        let (own, _events) = copies(&mesh, Durability::Node);
        assert!(!own.take_full());
        assert_eq!(own.discard_ended(Arc::new(mesh.clone())).await, Ok(1));
        assert_eq!((size(&mesh, "robots-1").await, size(&mesh, "robots-2").await), (0, 5));
        assert_eq!(mesh.fence(&name("robots-1")).await, Ok(Some(Fence(7))), "nobody continues it under an older fence");
    }

    #[tokio::test]
    async fn outputs_wait_for_the_copy_with_cluster_durability() {
        let (mesh, data) = (mesh(), TempDir::new());
        let (own, _events) = copies(&mesh, Durability::Cluster);
        own.own(&name("robots-1"), (Fence(7), Placement::Single), false);
        let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
        playing.play(3);
        // Without a stored record of the room, no piece can be stored.
        assert!(playing.hold.reached() < playing.hold.position());
        own.note("robots-1", b"room".to_vec(), None);
        stored(&own).await;
        assert_eq!(playing.hold.reached(), 0, "it may be another node's");
        own.set_lease(Some(Duration::from_mins(1)));
        assert_eq!(playing.hold.reached(), playing.hold.position());
        assert!(matches!(mesh.open(&name("robots-1"), Fence(8)).await.unwrap(), Appended::Stored(_)));
        playing.play(1);
        testkit::poll_until("that it is fenced", async || (own.status().fenced == 1).then_some(())).await;
        assert!(playing.hold.reached() < playing.hold.position());
    }

    #[tokio::test]
    async fn incomplete_room_is_not_restored() {
        let (mesh, data) = (mesh(), TempDir::new());
        let put_together = |pieces: &[_]| put_together(pieces).unwrap();
        assert!(put_together(&[]).is_none());
        let (own, _events) = copies(&mesh, Durability::Node);
        own.own(&name("robots-1"), (Fence(7), Placement::Single), false);
        let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
        own.note("robots-1", b"room".to_vec(), None);
        playing.play(3);
        assert!(own.catch_up("robots-1", Duration::ZERO, testkit::PATIENCE).await);
        let pieces = mesh.read(&name("robots-1")).await.unwrap();
        let head = put_together(&pieces[..1]);
        assert!(head.is_none(), "only what is written down");
        assert!(put_together(&pieces).unwrap().journal.is_some());
        own.of("robots-1").unwrap().cut();
        stored(&own).await;
        // Neither a room without a stored record nor an unknown room can be resumed.
        own.own(&name("robots-2"), (Fence(8), Placement::Single), false);
        for room in ["robots-2", "robots-3"] {
            assert!(!own.catch_up(room, Duration::ZERO, Duration::from_millis(1)).await);
        }
        let cut = put_together(&mesh.read(&name("robots-1")).await.unwrap()).unwrap();
        assert!(cut.journal.is_none() && *cut.room == *b"room");
        let mut damaged = pieces;
        damaged.last_mut().unwrap().body = bytes::Bytes::from_static(b"\x01nonsense");
        assert!(put_together(&damaged).is_none());
    }

    #[test]
    fn host_cannot_exceed_half_of_the_quota() {
        let (quota, greedy, other) = (Quota::new(100), HostId::of("10.0.0.1:1"), HostId::of("10.0.0.2:1"));
        assert!(quota.exchange(greedy, 0, 50));
        assert!(!quota.exchange(greedy, 0, 1), "half of all");
        assert!(!quota.exchange(greedy, 10, 11) && quota.exchange(greedy, 10, 4), "less is always granted");
        assert!(quota.exchange(other, 0, 25));
        assert!(quota.exchange(other, 25, 0) && quota.exchange(greedy, 44, 0));
        assert!(quota.exchange(other, 0, 50), "all was given back");
    }
}
