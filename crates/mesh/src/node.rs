//! A hub in the mesh: heartbeats, claims, takeovers and handovers.

mod leases;
mod life;
mod rooms;
mod view;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use netcore::Time;

use self::{
    leases::Leases,
    life::{LastWrite, Life},
    rooms::Room,
    view::View,
};
use crate::{
    Delta, Directory, Durability, Fence, Key, MAX_SUMMARY, MeshError, Name, Placement, Revision, SUMMARY_PAUSE,
    SUMMARY_REPEAT, Summary, Value, Written,
};

pub use self::leases::{LeaseGrant, LeaseRequest, OUTAGE};

pub const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long a node owns its rooms after it has sent a stored heartbeat.
pub const LEASE: Duration = Duration::from_secs(10);
/// How long after the last received heartbeat other nodes consider a node dead. The ratio to [`LEASE`], 3 to 2, is the
/// tolerated difference in clock speed.
pub const EXPIRY: Duration = Duration::from_secs(15);
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum number of rooms of a node.
pub const MAX_ROOMS: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Serve,
    Drain,
    Leave { announced: bool },
}

#[derive(Debug, Clone)]
pub struct Settings {
    pub name: Name,
    /// Identifies the data directory. The caller holds a lock that excludes other processes with this identity.
    pub identity: Name,
    pub address: String,
    /// The node takes over no room beyond this number; at most [`MAX_ROOMS`].
    pub most_rooms: usize,
    /// The rules that the node can run; see [`RoomValue::rules`](crate::RoomValue::rules).
    pub runs: Vec<String>,
    /// Whether the arcade has several streams of journals; equal on all nodes of this version.
    pub streams: bool,
    /// How long the node may continue without the directory; equal on all nodes. See [`OUTAGE`].
    pub outage: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    pub durability: Durability,
    pub row: String,
    /// See [`RoomValue::rules`](crate::RoomValue::rules).
    pub needs: String,
    /// The room is from an earlier run in this data directory. It may also be taken over from a dead node.
    pub returns: bool,
}

impl Opening {
    pub const fn new(durability: Durability, row: String) -> Self {
        Self { durability, row, needs: String::new(), returns: false }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteRequest {
    pub key: Key,
    /// `None` removes the entry.
    pub value: Option<Value>,
    pub expected: Option<Revision>,
}

impl WriteRequest {
    /// # Errors
    /// Returns the error of the directory. Its [`Reply`] is [`Reply::Failed`].
    pub async fn perform(&self, directory: &dyn Directory) -> Result<Written, MeshError> {
        directory.write(&self.key, self.value.as_ref(), self.expected).await
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Written(Written),
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Elapsed,
    Delta(Delta),
    Reply(Ticket, Reply),
    /// `None` if the other node could not be reached.
    LeaseGranted(Ticket, Option<LeaseGrant>),
    Open(Name, Opening),
    /// The hub has the state of a room that was taken over.
    Restored(Name),
    Row(Name, String),
    Close(Name),
    /// Stop accepting rooms; the current ones stay until they are handed over.
    Drain,
    /// Hand a room of a draining node over. [`Output::Suspend`] or [`Output::HandoverRefused`] follows once the
    /// directory shows that the node drains.
    HandOver(Name),
    /// No effect on a suspended room.
    CancelHandover(Name),
    /// The room no longer publishes, and its journal is stored. [`Output::HandedOver`] follows.
    Suspended(Name),
    /// The process exits soon. Its rooms no longer publish.
    Leave,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acquisition {
    New,
    /// This process has owned the room without interruption and has its state.
    Retained,
    /// An earlier process of this node owned the room, and its files hold the state. For [`Durability::Cluster`] so
    /// does the journal in the mesh, which survives more failures.
    Recovered,
    /// The journal in the mesh holds the state. Close a room without a journal: it has published nothing, or its
    /// durability permits the loss.
    TakenOver,
}

/// Why a room cannot be handed over: no node accepts rooms, or none that does can run this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoverRefusal {
    NoNode,
    NoRules,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    Write(Ticket, WriteRequest),
    /// Bypasses the directory; see [`Node::grant_lease`].
    RequestLease(Ticket, LeaseRequest),
    /// Publish it; its loss is permitted.
    Summarize(Summary),
    /// The node owns the room under this fence from now on. Its journal is there until it closes.
    Own(Name, Fence, Acquisition, Placement),
    /// The room ends here and must not publish anything further.
    Lost(Name),
    ClaimFailed(Name),
    /// The entry is removed; the journal may be removed too.
    Closed(Name),
    Suspend(Name),
    HandoverRefused(Name, HandoverRefusal),
    /// The room ends here. If no other node takes it, this node takes it back.
    HandedOver(Name),
    /// Another data directory uses the name; the node waits until it is free.
    NameTaken,
    Left,
}

/// A node of the fleet: a state machine without a clock or a socket.
///
/// After each [`input`](Self::input), execute the outputs. Pass [`Input::Elapsed`] at the [`deadline`](Self::deadline).
/// Check [`may_publish`](Self::may_publish) before a room publishes anything.
#[derive(Debug)]
pub struct Node {
    settings: Settings,
    plan: Plan,
    life: Option<Life>,
    // When the next entry and, if separate, the next heartbeat are due.
    next_entry: Time,
    next_heartbeat: Time,
    name_taken: bool,
    last_write: LastWrite,
    // Another node has joined since that write, so the entry is due immediately.
    entry_is_due: bool,
    // The lease has expired, so heartbeats may have been missed: entries of silent nodes are not removed.
    missed_heartbeats: bool,
    rooms: BTreeMap<Name, Room>,
    view: View,
    // Rooms that may have to be taken over, and since when.
    orphans: BTreeMap<Name, Time>,
    // Rooms that were handed over. They are taken back if no other node owns them.
    handed: BTreeSet<Name>,
    pending: BTreeMap<Key, PendingWrite>,
    // Until when requests for a key wait after an error.
    pauses: BTreeMap<Key, Time>,
    leases: Leases,
    last_summary: Time,
    next_summary: Time,
    tickets: u64,
}

impl Node {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            plan: Plan::Serve,
            life: None,
            next_entry: Time::ZERO,
            next_heartbeat: Time::ZERO,
            name_taken: false,
            last_write: LastWrite::default(),
            entry_is_due: false,
            missed_heartbeats: false,
            rooms: BTreeMap::new(),
            view: View::default(),
            orphans: BTreeMap::new(),
            handed: BTreeSet::new(),
            pending: BTreeMap::new(),
            pauses: BTreeMap::new(),
            leases: Leases::default(),
            last_summary: Time::ZERO,
            next_summary: Time::from_nanos(u64::MAX),
            tickets: 0,
        }
    }

    pub fn input(&mut self, now: Time, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Elapsed => {}
            Input::Delta(delta) => self.apply_delta(now, &delta, out),
            Input::Reply(ticket, reply) => self.take_reply(now, ticket, reply, out),
            Input::LeaseGranted(ticket, promise) => self.lease_granted(now, ticket, promise),
            Input::Open(room, opening) => self.open(room, opening, out),
            Input::Restored(room) => self.restored(&room),
            Input::Row(room, row) => self.show(&room, row),
            Input::Close(room) => self.close(&room),
            Input::Drain => {
                if self.plan == Plan::Serve {
                    self.plan = Plan::Drain;
                    self.next_entry = now;
                }
            }
            Input::HandOver(room) => self.hand_over(&room),
            Input::CancelHandover(room) => self.cancel_hand_over(&room),
            Input::Suspended(room) => self.suspended(&room),
            Input::Leave => {
                if !matches!(self.plan, Plan::Leave { .. }) {
                    self.plan = Plan::Leave { announced: false };
                    self.rooms.clear();
                    self.next_entry = now;
                }
            }
        }
        self.work(now, out);
    }

    /// The fence if the node owns the room at `now`. Without one, the room must not publish anything.
    pub fn may_publish(&self, room: &Name, now: Time) -> Option<Fence> {
        let room = self.rooms.get(room)?;
        let fence = room.fence()?;
        let life = self.life.as_ref()?;
        let owns = room.claimed_in(life.since) && now < self.publishes_until()?;
        owns.then_some(fence)
    }

    /// Whether the node has an entry and an unexpired lease. Readiness reports this.
    pub fn is_present(&self, now: Time) -> bool {
        self.life.as_ref().is_some_and(|life| now < life.lease())
    }

    pub fn owned(&self) -> impl Iterator<Item = (&Name, Fence)> {
        self.rooms.iter().filter_map(|(name, room)| Some((name, room.fence()?)))
    }

    pub fn deadline(&self) -> Time {
        let key = self.key();
        let own = (!self.pending.contains_key(&key)).then(|| self.not_before(&key, self.next_entry));
        let pending = self.pending.values().map(|pending| pending.at.plus(REQUEST_TIMEOUT));
        let far = Time::from_nanos(u64::MAX);
        if matches!(self.plan, Plan::Leave { .. }) {
            return own.into_iter().chain(pending).min().unwrap_or(far);
        }
        let silent = self.expiries().filter(|(key, ..)| !self.pending.contains_key(key));
        let silent = silent.map(|(key, _, at)| self.not_before(&key, at));
        let orphans = self.orphans.iter().filter_map(|(room, since)| {
            let key = Key::Room(room.clone());
            let due = self.orphan_due(room, *since)?;
            (!self.pending.contains_key(&key)).then(|| self.not_before(&key, due))
        });
        let key = self.heartbeat_key();
        let beats = self.life.as_ref().is_some_and(|life| life.apart) && !self.pending.contains_key(&key);
        let own = own.into_iter().chain(beats.then(|| self.not_before(&key, self.next_heartbeat)));
        let others = own.chain(pending).chain(silent).chain(orphans).chain(self.next_lease_request());
        let others = others.chain(self.summary_due()).min().unwrap_or(far);
        let Some(life) = self.life.as_ref().map(|life| life.since) else { return others };
        let has_former = self.view.has_former(&self.settings.name);
        self.rooms.iter().fold(others, |first, (name, room)| {
            // Build a key only for the few of a thousand rooms that are due before the other deadlines.
            let Some(due) = room.due(life, has_former).filter(|due| *due < first) else { return first };
            let key = Key::Room(name.clone());
            if self.pending.contains_key(&key) { first } else { first.min(self.not_before(&key, due)) }
        })
    }

    fn key(&self) -> Key {
        Key::Node(self.settings.name.clone())
    }

    fn heartbeat_key(&self) -> Key {
        Key::Heartbeat(self.settings.name.clone())
    }

    fn work(&mut self, now: Time, out: &mut Vec<Output>) {
        self.time_out_requests(now);
        self.missed_heartbeats |= self.life.as_ref().is_some_and(|life| life.lease() <= now);
        self.live(now, out);
        self.send_heartbeat(now, out);
        if matches!(self.plan, Plan::Leave { .. }) {
            return;
        }
        self.expire_nodes(now, out);
        self.request_leases(now, out);
        self.take_over(now, out);
        self.suspend(out);
        self.tend_rooms(now, out);
        self.summarize(now, out);
    }
}

// At most one pending request for each key.

const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Entry,
    Heartbeat,
    Leave,
    Expire,
    Claim,
    Row,
    Release,
    Close,
    /// An unknown claim of this life.
    StaleClaim,
}

#[derive(Debug)]
struct PendingWrite {
    ticket: Ticket,
    at: Time,
    purpose: Purpose,
    life: Option<Revision>,
}

impl Node {
    fn is_free(&self, now: Time, key: &Key) -> bool {
        !self.pending.contains_key(key) && self.pauses.get(key).is_none_or(|until| *until <= now)
    }

    /// The later of `at` and the end of the key's pause.
    fn not_before(&self, key: &Key, at: Time) -> Time {
        self.pauses.get(key).map_or(at, |until| at.max(*until))
    }

    fn write(
        &mut self,
        now: Time,
        purpose: Purpose,
        key: Key,
        (value, expected): (Option<Value>, Option<Revision>),
        out: &mut Vec<Output>,
    ) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let life = self.life.as_ref().map(|life| life.since);
        self.pending.insert(key.clone(), PendingWrite { ticket, at: now, purpose, life });
        out.push(Output::Write(ticket, WriteRequest { key, value, expected }));
    }

    fn time_out_requests(&mut self, now: Time) {
        self.pauses.retain(|_, until| *until > now);
        let late = self.pending.iter().filter(|(_, pending)| now.since(pending.at) >= REQUEST_TIMEOUT);
        for key in late.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            if let Some(pending) = self.pending.remove(&key) {
                self.request_failed(&key, pending.purpose);
            }
        }
    }

    fn request_failed(&mut self, key: &Key, purpose: Purpose) {
        if let (Purpose::Row, Key::Room(name)) = (purpose, key) {
            self.reschedule_entry(name);
        }
    }

    fn take_reply(&mut self, now: Time, ticket: Ticket, reply: Reply, out: &mut Vec<Output>) {
        let Some(key) = self.pending.iter().find(|(_, pending)| pending.ticket == ticket).map(|(key, _)| key.clone())
        else {
            return;
        };
        let Some(PendingWrite { at, purpose, life, .. }) = self.pending.remove(&key) else { return };
        let Reply::Written(written) = reply else {
            self.request_failed(&key, purpose);
            self.pauses.insert(key, now.plus(PAUSE));
            return;
        };
        if let Written::Conflict(Some(entry)) = &written {
            self.view.learn(now, &key, entry);
        }
        match (purpose, key) {
            (Purpose::Entry, _) => self.entry_written(now, at, written),
            (Purpose::Leave, _) => self.left(&written, out),
            (Purpose::Heartbeat, _) => self.heartbeat_answered(now, (at, life), written),
            (Purpose::Expire, Key::Node(name)) => self.node_expired(&name, &written),
            (Purpose::Expire, Key::Heartbeat(name)) => self.heartbeats_ended(&name, &written),
            (Purpose::Claim, Key::Room(name)) => self.claimed(now, (&name, life), &written, out),
            (Purpose::Row, Key::Room(name)) => self.row_written(now, &name, written, out),
            (Purpose::Release | Purpose::Close, Key::Room(name)) => self.ended(now, &name, &written, out),
            _ => {}
        }
    }
}

// Summaries of the rooms of this node. While a node of an earlier version is listed, their entries have the same rows.

impl Node {
    /// A row has changed.
    fn hasten_summary(&mut self) {
        self.next_summary = self.next_summary.min(self.last_summary.plus(SUMMARY_PAUSE));
    }

    /// Publishes all rows again, as for a node that has joined and has no earlier summary.
    fn repeat_summary(&mut self) {
        self.rooms.values_mut().for_each(|room| room.summarized = None);
        self.hasten_summary();
    }

    fn summarize(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.next_summary > now {
            return;
        }
        let Some(life) = self.life.as_ref().map(|life| life.since) else { return };
        let empty = || Summary { node: self.settings.name.clone(), life, rows: BTreeMap::new() };
        let (mut summary, mut bytes, mut next) = (empty(), 0, Time::from_nanos(u64::MAX));
        for (name, room) in self.rooms.iter_mut().filter(|(_, room)| room.claimed_in(life)) {
            let Some(row) = room.row() else { continue };
            if room.summarized.is_none_or(|at| at.plus(SUMMARY_REPEAT) <= now) {
                bytes += name.as_str().len() + row.len();
                if bytes > MAX_SUMMARY && !summary.rows.is_empty() {
                    out.push(Output::Summarize(std::mem::replace(&mut summary, empty())));
                    bytes = name.as_str().len() + row.len();
                }
                summary.rows.insert(name.clone(), row.to_owned());
                room.summarized = Some(now);
            }
            next = next.min(room.summarized.unwrap_or(now).plus(SUMMARY_REPEAT));
        }
        if !summary.rows.is_empty() {
            self.last_summary = now;
            out.push(Output::Summarize(summary));
        }
        self.next_summary = next.max(self.last_summary.plus(SUMMARY_PAUSE));
    }

    fn summary_due(&self) -> Option<Time> {
        self.life.as_ref().map(|_| self.next_summary)
    }
}
