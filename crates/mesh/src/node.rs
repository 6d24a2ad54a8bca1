//! What a hub does with the directory: heartbeats, claims, taking over and handing over.

mod asking;
mod life;
mod orphans;
mod plan;
mod promises;
mod rooms;
mod view;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use netcore::Time;

pub use self::promises::{OUTAGE, Plea, Promise};
use self::{
    asking::Asked,
    life::{Life, Said},
    plan::Plan,
    promises::Promises,
    rooms::Room,
    view::View,
};
use crate::{Delta, Directory, Durability, Fence, Key, MeshError, Name, Revision, Value, Written};

/// How often a node sends a heartbeat.
pub const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long after it has sent a heartbeat that was stored, a node owns its rooms.
pub const LEASE: Duration = Duration::from_secs(10);
/// How long after the last heartbeat that they have received the others take a node for dead. Between this and [`LEASE`] is what
/// clocks may differ in speed: as much as 3 to 2.
pub const EXPIRY: Duration = Duration::from_secs(15);
/// How long an answer is waited for.
pub const ASK_TIMEOUT: Duration = Duration::from_secs(3);
/// Most rooms that a node may take.
pub const MAX_ROOMS: usize = 4_096;

/// Who this node is.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its name; no two nodes have the same.
    pub name: Name,
    /// What tells its data directory from others. Whoever has it must be sure, by a lock, that no other process has it now.
    pub identity: Name,
    /// Where it is reached.
    pub address: String,
    /// The most rooms that it takes over, up to [`MAX_ROOMS`].
    pub most_rooms: usize,
    /// What it can run; see [`RoomValue::needs`](crate::RoomValue::needs).
    pub runs: Vec<String>,
    /// How long it goes on at most without the directory, as in all nodes: [`OUTAGE`].
    pub outage: Duration,
}

/// A room that the hub opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// How durable it is.
    pub durability: Durability,
    /// What lobbies show of it.
    pub row: String,
    /// What it needs; see [`RoomValue::needs`](crate::RoomValue::needs).
    pub needs: String,
    /// Whether the data directory has it from an earlier run: then it may also be taken over from a node that is dead.
    pub returns: bool,
}

impl Opening {
    /// A new room that any node can run.
    pub const fn new(durability: Durability, row: String) -> Self {
        Self { durability, row, needs: String::new(), returns: false }
    }
}

/// Names a question, so that its answer is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A write to ask of the [`Directory`](crate::Directory).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// Of this entry.
    pub key: Key,
    /// What it is to say; nothing removes it.
    pub value: Option<Value>,
    /// What is there now.
    pub expected: Option<Revision>,
}

impl Ask {
    /// Asks it.
    ///
    /// # Errors
    /// That of the directory. Its [`Reply`] is [`Reply::Failed`].
    pub async fn perform(&self, directory: &dyn Directory) -> Result<Written, MeshError> {
        directory.write(&self.key, self.value.as_ref(), self.expected).await
    }
}

/// What came of an [`Ask`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The answer of the directory.
    Written(Written),
    /// An error.
    Failed,
}

/// Something that happened to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The deadline has passed.
    Elapsed,
    /// The directory has changed.
    Delta(Delta),
    /// A question is answered.
    Reply(Ticket, Reply),
    /// Another node has answered; nothing if it could not be asked.
    Promised(Ticket, Option<Promise>),
    /// The hub opens a room.
    Open(Name, Opening),
    /// The hub has the state of a room that it has taken over.
    Restored(Name),
    /// What lobbies show of a room has changed.
    Row(Name, String),
    /// A room is over.
    Close(Name),
    /// The node takes no more rooms; those that it has it keeps until they are to be handed over.
    Drain,
    /// Another node is to have this room of a node that drains. [`Output::Suspend`] or [`Output::Stays`] follows, once the directory says that
    /// the node drains.
    HandOver(Name),
    /// A room that was to be handed over stays. Nothing happens if it was suspended already.
    Stay(Name),
    /// A room that was to be suspended tells nobody anything more, and its journal is stored. [`Output::HandedOver`] follows.
    Suspended(Name),
    /// The process is about to end. Its rooms tell nobody anything more.
    Leave,
}

/// How a room came to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It is new.
    New,
    /// This process has owned it all the time; what it has in memory is the state.
    Again,
    /// An earlier process of this node owned it: its files have the state. For [`Durability::Cluster`] its journal in the mesh has it too,
    /// and survives what the files may not.
    Returned,
    /// Another node owned it: its journal in the mesh has the state. Without a journal nothing was told of it, and it is to be closed.
    TakenOver,
}

/// Why a room cannot be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stays {
    /// No other node takes rooms.
    NoNode,
    /// None of the nodes that take rooms can run what it needs.
    NoRules,
}

/// What a node wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// This is to be asked.
    Ask(Ticket, Ask),
    /// This is to be asked of another node, past the directory; see [`Node::promise`].
    Plead(Ticket, Plea),
    /// The node owns a room under this fence, from now on.
    Own(Name, Fence, How),
    /// Somebody else owns the room: it tells nobody anything more, and ends here.
    Lost(Name),
    /// A room cannot be opened: its name is taken.
    Taken(Name),
    /// The entry of a room that is over is gone: its journal may be removed.
    Closed(Name),
    /// The room is to be suspended, to be handed over.
    Suspend(Name),
    /// The room cannot be handed over.
    Stays(Name, Stays),
    /// The room was handed over, and ends here. If nobody takes it, this node has it again.
    HandedOver(Name),
    /// Another data directory uses the name of this node; it waits until that one is gone.
    NameTaken,
    /// The node has left the directory.
    Left,
}

/// A node of the fleet: a state machine without a clock or a socket.
///
/// After each [`input`](Self::input) do what the outputs say, and give [`Input::Elapsed`] when [`deadline`](Self::deadline) has
/// passed. Before anything is told to anybody in a room, ask [`may_tell`](Self::may_tell).
#[derive(Debug)]
pub struct Node {
    settings: Settings,
    plan: Plan,
    life: Option<Life>,
    // When its own entry is written next, and when its next heartbeat is due if heartbeats are apart from the entry.
    next_entry: Time,
    next_heartbeat: Time,
    name_taken: bool,
    // In the heartbeat that was sent last.
    said: Said,
    // Whether another node has joined since, so that it is not to wait for the next heartbeat.
    hurries: bool,
    // Its own lease was over: nobody was heard meanwhile, so that others are silent says nothing.
    is_deaf: bool,
    rooms: BTreeMap<Name, Room>,
    view: View,
    // Rooms that may have to be taken over, since when.
    orphans: BTreeMap<Name, Time>,
    // Rooms that it has handed over, and takes back if nobody else has them.
    handed: BTreeSet<Name>,
    asked: BTreeMap<Key, Asked>,
    // Keys that are not asked about before.
    pauses: BTreeMap<Key, Time>,
    promises: Promises,
    tickets: u64,
}

impl Node {
    /// A node that knows nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            plan: Plan::Serve,
            life: None,
            next_entry: Time::ZERO,
            next_heartbeat: Time::ZERO,
            name_taken: false,
            said: Said::default(),
            hurries: false,
            is_deaf: false,
            rooms: BTreeMap::new(),
            view: View::default(),
            orphans: BTreeMap::new(),
            handed: BTreeSet::new(),
            asked: BTreeMap::new(),
            pauses: BTreeMap::new(),
            promises: Promises::default(),
            tickets: 0,
        }
    }

    /// Processes an input.
    pub fn input(&mut self, now: Time, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Elapsed => {}
            Input::Delta(delta) => self.see(now, &delta, out),
            Input::Reply(ticket, reply) => self.take_reply(now, ticket, reply, out),
            Input::Promised(ticket, promise) => self.promised(now, ticket, promise),
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
                    self.plan = Plan::Leave { told: false };
                    self.rooms.clear();
                    self.next_entry = now;
                }
            }
        }
        self.work(now, out);
    }

    /// The fence under which the node owns a room just now, if it does: then, and only then, may it tell anybody anything of the room.
    pub fn may_tell(&self, room: &Name, now: Time) -> Option<Fence> {
        let room = self.rooms.get(room)?;
        let fence = room.fence()?;
        let life = self.life.as_ref()?;
        let owns = room.claimed_in(life.since) && now < self.tells_until()?;
        owns.then_some(fence)
    }

    /// Whether the node is in the directory, as far as it knows, and its lease is not over: what readiness says.
    pub fn is_present(&self, now: Time) -> bool {
        self.life.as_ref().is_some_and(|life| now < life.lease())
    }

    /// The rooms that the node owns.
    pub fn owned(&self) -> impl Iterator<Item = (&Name, Fence)> {
        self.rooms.iter().filter_map(|(name, room)| Some((name, room.fence()?)))
    }

    /// When [`Input::Elapsed`] is due.
    pub fn deadline(&self) -> Time {
        let key = self.key();
        let own = (!self.asked.contains_key(&key)).then(|| self.not_before(&key, self.next_entry));
        let asked = self.asked.values().map(|asked| asked.at.plus(ASK_TIMEOUT));
        let far = Time::from_nanos(u64::MAX);
        if matches!(self.plan, Plan::Leave { .. }) {
            return own.into_iter().chain(asked).min().unwrap_or(far);
        }
        let silent = self.burials().filter(|(key, ..)| !self.asked.contains_key(key));
        let silent = silent.map(|(key, _, at)| self.not_before(&key, at));
        let orphans = self.orphans.iter().filter_map(|(room, since)| {
            let key = Key::Room(room.clone());
            let due = self.orphan_due(room, *since)?;
            (!self.asked.contains_key(&key)).then(|| self.not_before(&key, due))
        });
        let key = self.heartbeat_key();
        let beats = self.life.as_ref().is_some_and(|life| life.apart) && !self.asked.contains_key(&key);
        let own = own.into_iter().chain(beats.then(|| self.not_before(&key, self.next_heartbeat)));
        let others = own.chain(asked).chain(silent).chain(orphans).chain(self.next_plea()).min().unwrap_or(far);
        let Some(life) = self.life.as_ref().map(|life| life.since) else { return others };
        self.rooms.iter().fold(others, |first, (name, room)| {
            // Of a thousand rooms few are due before all else, so only for these a key is made.
            let Some(due) = room.due(life).filter(|due| *due < first) else { return first };
            let key = Key::Room(name.clone());
            if self.asked.contains_key(&key) { first } else { first.min(self.not_before(&key, due)) }
        })
    }

    fn key(&self) -> Key {
        Key::Node(self.settings.name.clone())
    }

    fn heartbeat_key(&self) -> Key {
        Key::Heartbeat(self.settings.name.clone())
    }

    // Asks what is due.
    fn work(&mut self, now: Time, out: &mut Vec<Output>) {
        self.give_up_late(now);
        self.is_deaf |= self.life.as_ref().is_some_and(|life| life.lease() <= now);
        self.live(now, out);
        self.send_heartbeat(now, out);
        if matches!(self.plan, Plan::Leave { .. }) {
            return;
        }
        self.bury(now, out);
        self.plead(now, out);
        self.take_over(now, out);
        self.suspend(out);
        self.tend_rooms(now, out);
    }
}
