//! The state machine of a hub in the mesh: heartbeats, claims, takeovers and handovers.

mod leases;
mod life;
mod orphans;
mod requests;
mod rooms;
mod view;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use netcore::Time;

pub use self::leases::{LeaseGrant, LeaseRequest, OUTAGE};
use self::{
    leases::Leases,
    life::{LastWrite, Life},
    requests::PendingWrite,
    rooms::Room,
    view::View,
};
use crate::{Delta, Directory, Durability, Fence, Key, MeshError, Name, Revision, Value, Written};

/// The interval between heartbeats.
pub const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long a node owns its rooms after it has sent a heartbeat that was stored.
pub const LEASE: Duration = Duration::from_secs(10);
/// How long after the last received heartbeat other nodes consider a node dead. The ratio to [`LEASE`] is the
/// tolerated difference in clock speed: 3 to 2.
pub const EXPIRY: Duration = Duration::from_secs(15);
/// The timeout of a request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum number of rooms of a node.
pub const MAX_ROOMS: usize = 4_096;

/// The operating mode of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Serve,
    Drain,
    Leave { announced: bool },
}

/// The configuration of a node.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The unique name of the node.
    pub name: Name,
    /// Identifies the data directory. The caller must hold a lock that excludes other processes with the same
    /// identity.
    pub identity: Name,
    /// The address at which peers reach the node.
    pub address: String,
    /// The node takes rooms over only while it has fewer rooms than this; at most [`MAX_ROOMS`].
    pub most_rooms: usize,
    /// The rules that the node can run; see [`RoomValue::needs`](crate::RoomValue::needs).
    pub runs: Vec<String>,
    /// How long the node may continue without the directory; the same on all nodes. See [`OUTAGE`].
    pub outage: Duration,
}

/// The parameters of a room that the hub opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The durability of the room.
    pub durability: Durability,
    /// The row that lobbies show.
    pub row: String,
    /// The rules that the room requires; see [`RoomValue::needs`](crate::RoomValue::needs).
    pub needs: String,
    /// Whether an earlier run has left the room in the data directory. Such a room may also be taken over from a dead
    /// node.
    pub returns: bool,
}

impl Opening {
    /// Creates the parameters of a new room that any node can run.
    pub const fn new(durability: Durability, row: String) -> Self {
        Self { durability, row, needs: String::new(), returns: false }
    }
}

/// Identifies a request, to match it with its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A write request to the [`Directory`](crate::Directory).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteRequest {
    /// The entry.
    pub key: Key,
    /// The new value; `None` removes the entry.
    pub value: Option<Value>,
    /// The expected revision; `None` if there is no entry.
    pub expected: Option<Revision>,
}

impl WriteRequest {
    /// Sends the request.
    ///
    /// # Errors
    /// Returns the error of the directory. Its [`Reply`] is [`Reply::Failed`].
    pub async fn perform(&self, directory: &dyn Directory) -> Result<Written, MeshError> {
        directory.write(&self.key, self.value.as_ref(), self.expected).await
    }
}

/// The outcome of a directory request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The reply of the directory.
    Written(Written),
    /// An error.
    Failed,
}

/// An input of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The deadline has passed.
    Elapsed,
    /// The directory has changed.
    Delta(Delta),
    /// The directory has replied to a request.
    Reply(Ticket, Reply),
    /// Another node has replied; `None` if it could not be reached.
    LeaseGranted(Ticket, Option<LeaseGrant>),
    /// The hub opens a room.
    Open(Name, Opening),
    /// The hub has the state of a room that it has taken over.
    Restored(Name),
    /// The row that lobbies show for a room has changed.
    Row(Name, String),
    /// A room has ended.
    Close(Name),
    /// The node stops accepting rooms. It keeps its rooms until they are handed over.
    Drain,
    /// Hands a room of a draining node over to another node. [`Output::Suspend`] or [`Output::Stays`] follows once the
    /// directory shows that the node drains.
    HandOver(Name),
    /// Cancels the handover of a room. Has no effect if the room is already suspended.
    Stay(Name),
    /// A room to be handed over no longer publishes, and its journal is stored. [`Output::HandedOver`] follows.
    Suspended(Name),
    /// The process is about to exit. Its rooms no longer publish.
    Leave,
}

/// How a node came to own a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The room is new.
    New,
    /// This process has owned the room without interruption; its memory holds the state.
    Again,
    /// An earlier process of this node owned the room, and its files hold the state. For [`Durability::Cluster`] the
    /// journal in the mesh holds it too, and survives failures that the files may not.
    Returned,
    /// Another node owned the room, and the journal in the mesh holds the state. A room without a journal is to be
    /// closed: it has published nothing, or its durability permits the loss.
    TakenOver,
}

/// Why a room cannot be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stays {
    /// No other node accepts rooms.
    NoNode,
    /// No node that accepts rooms can run this one.
    NoRules,
}

/// An output of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A request to the directory.
    Write(Ticket, WriteRequest),
    /// A request to another node that bypasses the directory; see [`Node::grant_lease`].
    RequestLease(Ticket, LeaseRequest),
    /// The node owns a room under this fence from now on.
    Own(Name, Fence, How),
    /// The node has lost the room, which ends here and must not publish anything further.
    Lost(Name),
    /// A room cannot be opened: its name is taken, or the node cannot accept it.
    Taken(Name),
    /// The entry of an ended room is removed; its journal may be removed too.
    Closed(Name),
    /// The room is to be suspended for its handover.
    Suspend(Name),
    /// The room cannot be handed over.
    Stays(Name, Stays),
    /// The room was handed over, and ends here. If no other node takes it, this node takes it back.
    HandedOver(Name),
    /// Another data directory uses the name of this node. The node waits until the name is free.
    NameTaken,
    /// The node has left the directory.
    Left,
}

/// A node of the fleet: a state machine without a clock or a socket.
///
/// After each [`input`](Self::input), execute the outputs. Pass [`Input::Elapsed`] when [`deadline`](Self::deadline)
/// has passed. Check [`may_publish`](Self::may_publish) before a room publishes anything.
#[derive(Debug)]
pub struct Node {
    settings: Settings,
    plan: Plan,
    life: Option<Life>,
    // When the entry of this node is due, and the next heartbeat if heartbeats are separate from the entry.
    next_entry: Time,
    next_heartbeat: Time,
    name_taken: bool,
    // What the last write of the entry stated.
    last_write: LastWrite,
    // Whether another node has joined since that write, so that the entry is due immediately.
    entry_is_due: bool,
    // Whether the lease has expired, so that heartbeats of other nodes may have been missed. Entries of silent nodes
    // are not removed then.
    missed_heartbeats: bool,
    rooms: BTreeMap<Name, Room>,
    view: View,
    // Rooms that may have to be taken over, and since when.
    orphans: BTreeMap<Name, Time>,
    // Rooms that this node has handed over, and takes back if no other node owns them.
    handed: BTreeSet<Name>,
    pending: BTreeMap<Key, PendingWrite>,
    // When requests for a key may resume after an error.
    pauses: BTreeMap<Key, Time>,
    leases: Leases,
    tickets: u64,
}

impl Node {
    /// Creates a node with an empty view of the directory.
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
            tickets: 0,
        }
    }

    /// Processes an input.
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
            Input::Stay(room) => self.stay(&room),
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

    /// Returns the fence if the node owns the room at `now`. Without one, the room must not publish anything.
    pub fn may_publish(&self, room: &Name, now: Time) -> Option<Fence> {
        let room = self.rooms.get(room)?;
        let fence = room.fence()?;
        let life = self.life.as_ref()?;
        let owns = room.claimed_in(life.since) && now < self.publishes_until()?;
        owns.then_some(fence)
    }

    /// Whether the node has an entry in the directory and an unexpired lease. Readiness reports this.
    pub fn is_present(&self, now: Time) -> bool {
        self.life.as_ref().is_some_and(|life| now < life.lease())
    }

    /// Returns the rooms that the node owns, with their fences.
    pub fn owned(&self) -> impl Iterator<Item = (&Name, Fence)> {
        self.rooms.iter().filter_map(|(name, room)| Some((name, room.fence()?)))
    }

    /// Returns when [`Input::Elapsed`] is due.
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
        let others =
            own.chain(pending).chain(silent).chain(orphans).chain(self.next_lease_request()).min().unwrap_or(far);
        let Some(life) = self.life.as_ref().map(|life| life.since) else { return others };
        self.rooms.iter().fold(others, |first, (name, room)| {
            // Few of a thousand rooms are due before the other deadlines, so a key is built only for those.
            let Some(due) = room.due(life).filter(|due| *due < first) else { return first };
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

    // Sends the requests that are due.
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
    }
}
