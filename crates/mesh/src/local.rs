//! The in-process implementation for a single hub, without a thread, task or clock.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use netcore::Time;

use crate::{
    Answer, Append, Appended, Delivery, Delta, Directory, ENTRY_AGE_SECONDS, Entry, ErrorKind, Event, Events, Fence,
    Follow, FollowSummaries, JournalStreams, Journals, Key, MeshError, Name, Piece, Receipt, RecordKind, Results,
    Revision, Sequence, Summaries, Summary, Value, Watch, Written, events, journals,
    log::{self, Bounds, Chain, Head, ReadStep, Record, Verdict},
    results::{MAX_RESULTS, REMEMBERED_SECONDS, TAKEN_SECONDS},
};

pub const MAX_ENTRIES: usize = 100_000;
/// Events and journals are counted separately.
pub const MAX_LOGS: usize = 10_000;

/// The shared state of hubs within this process, shared by clones. A single hub stores its results and journals in its
/// database and files.
#[derive(Clone)]
pub struct Local(Arc<Inner>);

struct Inner {
    clock: Box<dyn Fn() -> Time + Send + Sync>,
    state: Mutex<LocalState>,
    changes: Changes,
}

#[derive(Debug)]
struct LocalState {
    entries: Entries,
    events: Logs,
    journals: Logs,
    hashed: Logs,
    results: Queue,
    summaries: Published,
}

impl Local {
    /// `clock` must be monotonic.
    pub fn new(clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        let state = LocalState {
            entries: Entries::default(),
            events: Logs::new(events::BOUNDS),
            journals: Logs::new(journals::BOUNDS),
            hashed: Logs::new(journals::BOUNDS),
            results: Queue::default(),
            summaries: Published::default(),
        };
        Self(Arc::new(Inner { clock: Box::new(clock), state: Mutex::new(state), changes: Changes::default() }))
    }

    /// The journals of this process. `self` has those of [`Placement::Single`](crate::Placement::Single).
    pub fn journals(&self) -> JournalStreams {
        JournalStreams { single: Arc::new(self.clone()), hashed: Arc::new(LocalHashed(self.clone())) }
    }

    fn state(&self) -> MutexGuard<'_, LocalState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        (self.0.clock)()
    }

    fn changed(&self) {
        self.0.changes.wake();
    }
}

/// The journals of [`Placement::Hashed`](crate::Placement::Hashed) of one process.
#[derive(Debug, Clone)]
pub struct LocalHashed(Local);

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Changes(Mutex<Vec<Waker>>);

impl Changes {
    fn wake(&self) {
        let waiting = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().for_each(Waker::wake);
    }

    fn wait<'a, T>(&'a self, look: impl FnMut() -> Option<T> + 'a) -> impl Future<Output = T> + 'a {
        Wait { changes: self, look: Box::new(look) }
    }
}

struct Wait<'a, L: ?Sized> {
    changes: &'a Changes,
    look: Box<L>,
}

impl<T, L: FnMut() -> Option<T>> Future for Wait<'_, L> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // Register before `look` runs, so that no change in between is missed.
        {
            let mut waiting = self.changes.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                waiting.push(cx.waker().clone());
            }
        }
        (self.look)().map_or(Poll::Pending, Poll::Ready)
    }
}

fn full(what: &str, most: impl fmt::Display) -> MeshError {
    MeshError::new(
        ErrorKind::Full,
        what,
        "this process",
        format_args!("there are {most} already"),
        "remove unused entries",
    )
}

/// Retained removals for resuming watches.
const REMEMBERED: usize = 4_096;

#[derive(Debug, Default)]
struct Entries {
    by_key: BTreeMap<Key, Entry>,
    by_revision: BTreeMap<Revision, (Key, Time)>,
    removed: VecDeque<(Revision, Key)>,
    forgotten: Revision,
    last: Revision,
}

impl Entries {
    // As with a broker, watches do not report expired entries.
    fn expire(&mut self, now: Time) {
        let kept = Duration::from_secs(ENTRY_AGE_SECONDS);
        let Self { by_key, by_revision, .. } = self;
        by_revision.retain(|_, (key, written)| {
            let stays = matches!(key, Key::Lasting(_)) || now.since(*written) <= kept;
            if !stays {
                by_key.remove(key);
            }
            stays
        });
    }

    fn write(
        &mut self,
        now: Time,
        key: &Key,
        value: Option<&Value>,
        expected: Option<Revision>,
    ) -> Result<Written, MeshError> {
        self.expire(now);
        let there = self.by_key.get(key);
        if there.map(|entry| entry.revision) != expected {
            return Ok(Written::Conflict(there.cloned()));
        }
        if there.is_none() && value.is_some() && self.by_key.len() >= MAX_ENTRIES {
            return Err(full("write an entry of the directory", MAX_ENTRIES));
        }
        if let Some(entry) = there {
            self.by_revision.remove(&entry.revision);
        }
        self.last.0 += 1;
        let revision = self.last;
        if let Some(value) = value {
            self.by_key.insert(key.clone(), Entry { revision, value: value.clone() });
            self.by_revision.insert(revision, (key.clone(), now));
        } else {
            self.by_key.remove(key);
            self.removed.push_back((revision, key.clone()));
            if self.removed.len() > REMEMBERED
                && let Some((revision, _)) = self.removed.pop_front()
            {
                self.forgotten = revision;
            }
        }
        Ok(Written::Stored(revision))
    }

    fn after(&self, revision: Revision) -> Option<(Revision, Delta)> {
        let next = Revision(revision.0 + 1);
        let mut shown = self.by_revision.range(next..).filter(|(_, (key, _))| !matches!(key, Key::Lasting(_)));
        let put = shown.next();
        let place = self.removed.partition_point(|(removed, _)| *removed < next);
        let removed = self.removed.get(place);
        match (put, removed) {
            (Some((put, (key, _))), removed) if removed.is_none_or(|(removed, _)| put < removed) => {
                let entry = self.by_key.get(key)?.clone();
                Some((*put, Delta::Put(key.clone(), entry)))
            }
            (_, Some((removed, key))) => Some((*removed, Delta::Removed(key.clone(), *removed))),
            _ => None,
        }
    }
}

impl Directory for Local {
    fn write<'a>(
        &'a self,
        key: &'a Key,
        value: Option<&'a Value>,
        expected: Option<Revision>,
    ) -> Answer<'a, Result<Written, MeshError>> {
        Box::pin(async move {
            let written = self.state().entries.write(self.now(), key, value, expected);
            self.changed();
            written
        })
    }

    fn entry<'a>(&'a self, key: &'a Key) -> Answer<'a, Result<Option<Entry>, MeshError>> {
        Box::pin(async move {
            let mut state = self.state();
            state.entries.expire(self.now());
            Ok(state.entries.by_key.get(key).cloned())
        })
    }

    fn watch(&self, since: Option<Revision>) -> Answer<'_, Result<Box<dyn Watch>, MeshError>> {
        let since = since.filter(|since| *since >= self.state().entries.forgotten);
        let watch: Box<dyn Watch> = Box::new(Watching { local: self.clone(), last: since });
        Box::pin(async move { Ok(watch) })
    }
}

struct Watching {
    local: Local,
    last: Option<Revision>,
}

impl Watch for Watching {
    fn next(&mut self) -> Answer<'_, Result<Delta, MeshError>> {
        let Self { local, last } = self;
        Box::pin(local.0.changes.wait(|| {
            let state = local.state();
            // A watch that lags behind the retained removals also restarts.
            let Some(at) = last.filter(|at| *at >= state.entries.forgotten) else {
                // After a reset, a watch does not need earlier removals.
                *last = Some(state.entries.forgotten);
                return Some(Ok(Delta::Reset));
            };
            let (revision, delta) = state.entries.after(at)?;
            *last = Some(revision);
            Some(Ok(delta))
        }))
    }
}

#[derive(Debug)]
struct Logs {
    bounds: Bounds,
    by_name: BTreeMap<Name, VecDeque<(Time, Record)>>,
    last: Sequence,
}

impl Logs {
    const fn new(bounds: Bounds) -> Self {
        Self { bounds, by_name: BTreeMap::new(), last: Sequence(0) }
    }

    fn age(&mut self, now: Time, name: &Name) {
        let kept = Duration::from_secs(self.bounds.age_seconds);
        let Some(records) = self.by_name.get_mut(name) else { return };
        while records.front().is_some_and(|(at, _)| now.since(*at) > kept) {
            records.pop_front();
        }
        if records.is_empty() {
            self.by_name.remove(name);
        }
    }

    fn last(&self, name: &Name) -> Option<&Record> {
        Some(&self.by_name.get(name)?.back()?.1)
    }

    fn store(&mut self, now: Time, head: Head, body: Bytes) -> Result<Sequence, MeshError> {
        if self.by_name.len() >= MAX_LOGS && !self.by_name.contains_key(&head.name) {
            let names: Vec<Name> = self.by_name.keys().cloned().collect();
            for name in &names {
                self.age(now, name);
            }
            // Discard removed logs, which contain only their fences.
            self.by_name.retain(|_, records| records.iter().any(|(_, record)| record.head.kind != RecordKind::Opened));
            if self.by_name.len() >= MAX_LOGS {
                return Err(full(&format!("begin {}.{}", self.bounds.name, head.name), MAX_LOGS));
            }
        }
        self.last.0 += 1;
        let sequence = self.last;
        let name = head.name.clone();
        self.by_name.entry(name).or_default().push_back((now, Record { sequence, head, body }));
        Ok(sequence)
    }

    fn append(&mut self, now: Time, name: &Name, append: &Append) -> Result<Appended, MeshError> {
        if append.body.len() > log::MAX_APPEND {
            let what = format!("append to {}.{name}", self.bounds.name);
            return Err(full(&what, format_args!("{} bytes in it", log::MAX_APPEND)));
        }
        self.age(now, name);
        let last = self.last(name);
        match log::judge(name, last, append, self.bounds, now.as_nanos() / 1_000_000_000) {
            Verdict::Refuse(why) => Ok(why),
            Verdict::Store(head, unneeded) => {
                let sequence = self.store(now, head, append.body.clone())?;
                if let Some(first) = unneeded
                    && let Some(records) = self.by_name.get_mut(name)
                {
                    while records.front().is_some_and(|(_, record)| record.sequence < first) {
                        records.pop_front();
                    }
                }
                Ok(Appended::Stored(sequence))
            }
        }
    }

    fn open(&mut self, now: Time, name: &Name, fence: Fence) -> Result<Appended, MeshError> {
        self.age(now, name);
        match log::open(name, self.last(name), fence) {
            Err(fence) => Ok(Appended::Fenced(fence)),
            Ok(head) => Ok(Appended::Stored(self.store(now, head, Bytes::new())?)),
        }
    }

    // The first record after `sequence`, or the last anchor.
    fn after(&self, name: &Name, sequence: Option<Sequence>) -> Option<&Record> {
        let records = self.by_name.get(name)?;
        let place = match sequence {
            Some(sequence) => records.partition_point(|(_, record)| record.sequence <= sequence),
            None => records.iter().rposition(|(_, record)| record.head.kind == RecordKind::Anchor)?,
        };
        records.get(place).map(|(_, record)| record)
    }
}

impl Events for Local {
    fn publish<'a>(&'a self, room: &'a Name, event: &'a Append) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(async move {
            let now = self.now();
            let appended = self.state().events.append(now, room, event);
            self.changed();
            appended
        })
    }

    fn follow<'a>(&'a self, room: &'a Name, after: Option<Sequence>) -> Answer<'a, Result<Box<dyn Follow>, MeshError>> {
        let (local, room) = (self.clone(), room.clone());
        let begin = || {
            let events = &self.state().events;
            let anchor = events.after(&room, None).map(|anchor| anchor.sequence.0 - 1);
            Sequence(anchor.unwrap_or(events.last.0))
        };
        let at = Some(after.unwrap_or_else(begin));
        let follow: Box<dyn Follow> = Box::new(Following { local, room, at, chain: Chain::after(after) });
        Box::pin(async move { Ok(follow) })
    }
}

struct Following {
    local: Local,
    room: Name,
    at: Option<Sequence>,
    chain: Chain,
}

impl Follow for Following {
    fn next(&mut self) -> Answer<'_, Result<Event, MeshError>> {
        let Self { local, room, at, chain } = self;
        Box::pin(local.0.changes.wait(|| {
            let state = local.state();
            loop {
                let record = state.events.after(room, *at)?;
                let taken = chain.take(record);
                *at = Some(record.sequence).filter(|_| taken != ReadStep::Gap);
                if taken == ReadStep::Deliver {
                    let is_snapshot = record.head.kind == RecordKind::Anchor;
                    return Some(Ok(Event { sequence: record.sequence, is_snapshot, body: record.body.clone() }));
                }
            }
        }))
    }
}

/// Journals of one placement.
trait Placed: Send + Sync {
    fn local(&self) -> &Local;
    fn logs<'a>(&self, state: &'a mut LocalState) -> &'a mut Logs;
}

impl Placed for Local {
    fn local(&self) -> &Local {
        self
    }

    fn logs<'a>(&self, state: &'a mut LocalState) -> &'a mut Logs {
        &mut state.journals
    }
}

impl Placed for LocalHashed {
    fn local(&self) -> &Local {
        &self.0
    }

    fn logs<'a>(&self, state: &'a mut LocalState) -> &'a mut Logs {
        &mut state.hashed
    }
}

impl<T: Placed> Journals for T {
    fn open<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(async move { self.logs(&mut self.local().state()).open(self.local().now(), journal, fence) })
    }

    fn append<'a>(&'a self, journal: &'a Name, piece: &'a Append) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(async move { self.logs(&mut self.local().state()).append(self.local().now(), journal, piece) })
    }

    fn read<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Vec<Piece>, MeshError>> {
        Box::pin(async move { Ok(pieces(self.logs(&mut self.local().state()), journal)) })
    }

    fn remove<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<bool, MeshError>> {
        Box::pin(async move {
            let (now, mut state) = (self.local().now(), self.local().state());
            let logs = self.logs(&mut state);
            let Ok(mut head) = log::open(journal, logs.last(journal), fence) else { return Ok(false) };
            // The marker remains, so that an earlier owner cannot recreate the log.
            head.anchors.clear();
            logs.by_name.remove(journal);
            logs.store(now, head, Bytes::new())?;
            Ok(true)
        })
    }

    fn trim<'a>(&'a self, journal: &'a Name, before: Sequence) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            if let Some(records) = self.logs(&mut self.local().state()).by_name.get_mut(journal) {
                records.retain(|(_, record)| record.sequence >= before);
            }
            Ok(())
        })
    }

    fn names(&self) -> Answer<'_, Result<Vec<Name>, MeshError>> {
        Box::pin(async move {
            let mut state = self.local().state();
            let logs = self.logs(&mut state);
            let long = logs.by_name.iter().filter(|(_, records)| records.len() > 1);
            Ok(long.map(|(name, _)| name.clone()).collect())
        })
    }

    fn fence<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Option<Fence>, MeshError>> {
        Box::pin(async move { Ok(self.logs(&mut self.local().state()).last(journal).map(|last| last.head.fence)) })
    }
}

fn pieces(journals: &Logs, journal: &Name) -> Vec<Piece> {
    let mut chain = Chain::after(None);
    let records = journals.by_name.get(journal).into_iter().flatten().map(|(_, record)| record);
    let taken = records.filter(|record| chain.take(record) == ReadStep::Deliver);
    taken.map(|record| Piece { is_start: record.head.kind == RecordKind::Anchor, body: record.body.clone() }).collect()
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    remembered: BTreeMap<Name, Time>,
    // Oldest first.
    order: VecDeque<(Time, Name)>,
    dead: u64,
}

#[derive(Debug)]
struct Waiting {
    id: Name,
    body: Bytes,
    /// When the lease of the consumer ends.
    taken: Time,
    count: u64,
}

impl Queue {
    fn submit(&mut self, now: Time, id: &Name, body: &Bytes) -> Result<bool, MeshError> {
        while let Some((at, _)) = self.order.front()
            && now.since(*at) > Duration::from_secs(REMEMBERED_SECONDS)
            && let Some((_, id)) = self.order.pop_front()
        {
            self.remembered.remove(&id);
        }
        if self.remembered.contains_key(id) || self.waiting.iter().any(|waiting| waiting.id == *id) {
            return Ok(false);
        }
        if self.waiting.len() as u64 >= MAX_RESULTS || self.order.len() as u64 >= MAX_RESULTS {
            return Err(full("submit a result", MAX_RESULTS));
        }
        self.waiting.push_back(Waiting { id: id.clone(), body: body.clone(), taken: Time::ZERO, count: 0 });
        self.remembered.insert(id.clone(), now);
        self.order.push_back((now, id.clone()));
        Ok(true)
    }

    fn take(&mut self, now: Time) -> Option<Delivery> {
        let waiting = self.waiting.iter_mut().find(|waiting| waiting.taken <= now)?;
        waiting.taken = now.plus(Duration::from_secs(TAKEN_SECONDS));
        waiting.count += 1;
        let (receipt, message) = (Receipt(waiting.id.to_string()), waiting.body.clone());
        Some(Delivery { id: waiting.id.clone(), body: Some(message.clone()), count: waiting.count, receipt, message })
    }
}

impl Results for Local {
    fn submit<'a>(&'a self, id: &'a Name, body: &'a Bytes) -> Answer<'a, Result<bool, MeshError>> {
        Box::pin(async move { self.state().results.submit(self.now(), id, body) })
    }

    fn take(&self) -> Answer<'_, Result<Option<Delivery>, MeshError>> {
        Box::pin(async move { Ok(self.state().results.take(self.now())) })
    }

    fn acknowledge<'a>(&'a self, receipt: &'a Receipt) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            self.state().results.waiting.retain(|waiting| waiting.id.as_str() != receipt.0);
            Ok(())
        })
    }

    fn give_up<'a>(&'a self, delivery: &'a Delivery) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let queue = &mut self.state().results;
            queue.waiting.retain(|waiting| waiting.id != delivery.id);
            queue.dead += 1;
            Ok(())
        })
    }

    fn dead_letters(&self) -> u64 {
        self.state().results.dead
    }
}

/// Summaries that a slow follower may lag behind.
const RETAINED: usize = 1_024;

#[derive(Debug, Default)]
struct Published {
    last: VecDeque<Arc<Summary>>,
    count: usize,
}

impl Summaries for Local {
    fn publish<'a>(&'a self, summary: &'a Summary) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let published = &mut self.state().summaries;
            published.last.push_back(Arc::new(summary.clone()));
            published.count += 1;
            if published.last.len() > RETAINED {
                published.last.pop_front();
            }
            self.changed();
            Ok(())
        })
    }

    fn summaries(&self) -> Answer<'_, Result<Box<dyn FollowSummaries>, MeshError>> {
        let next = self.state().summaries.count;
        let follow: Box<dyn FollowSummaries> = Box::new(FollowingSummaries { local: self.clone(), next });
        Box::pin(async move { Ok(follow) })
    }
}

struct FollowingSummaries {
    local: Local,
    // The number of the next summary.
    next: usize,
}

impl FollowSummaries for FollowingSummaries {
    fn next(&mut self) -> Answer<'_, Result<Summary, MeshError>> {
        let Self { local, next } = self;
        Box::pin(local.0.changes.wait(|| {
            let state = local.state();
            let Published { last, count } = &state.summaries;
            let first = count - last.len();
            *next = first.max(*next);
            let summary = last.get(*next - first)?;
            *next += 1;
            Some(Ok(Summary::clone(summary)))
        }))
    }
}
