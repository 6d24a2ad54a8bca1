//! Who is there: nodes, rooms and who owns them, codes and seats, and what all nodes have in common.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Answer, Fence, MeshError, Name};

/// Most bytes of the text that a room shows in lobbies.
pub const MAX_ROW: usize = 16 << 10;
/// How long an entry stays that nobody writes again, in seconds: a day. Owners write theirs every hour.
pub const ENTRY_AGE_SECONDS: u64 = 24 * 60 * 60;

/// A point in the history of the directory. It grows with every write, also after entries are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Revision(pub u64);

/// What an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A node.
    Node(Name),
    /// A room.
    Room(Name),
    /// A code by which a room is found.
    Code(Name),
    /// A seat of a room.
    Seat {
        /// The room.
        room: Name,
        /// The seat in it.
        seat: Name,
    },
    /// Something that all nodes have in common, such as a key.
    Common(Name),
    /// The heartbeats of a node. Other entries, however large, cannot keep them from being stored.
    Heartbeat(Name),
    /// Something that all nodes have in common and that does not expire. A watch does not show it.
    Lasting(Name),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(name) => write!(f, "node.{name}"),
            Self::Room(name) => write!(f, "room.{name}"),
            Self::Code(name) => write!(f, "code.{name}"),
            Self::Seat { room, seat } => write!(f, "seat.{room}.{seat}"),
            Self::Common(name) => write!(f, "common.{name}"),
            Self::Heartbeat(name) => write!(f, "heartbeat.{name}"),
            Self::Lasting(name) => write!(f, "lasting.{name}"),
        }
    }
}

impl FromStr for Key {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (kind, rest) = text.split_once('.').ok_or(())?;
        let name = |text: &str| text.parse().map_err(|_| ());
        Ok(match kind {
            "node" => Self::Node(name(rest)?),
            "room" => Self::Room(name(rest)?),
            "code" => Self::Code(name(rest)?),
            "common" => Self::Common(name(rest)?),
            "heartbeat" => Self::Heartbeat(name(rest)?),
            "lasting" => Self::Lasting(name(rest)?),
            "seat" => {
                let (room, seat) = rest.split_once('.').ok_or(())?;
                Self::Seat { room: name(room)?, seat: name(seat)? }
            }
            _ => return Err(()),
        })
    }
}

/// A node as the others know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeValue {
    /// Tells data directories apart: who comes back with the same one has what it had.
    pub identity: Name,
    /// Where it is reached.
    pub address: String,
    /// The revision with which this life began; none in the entry that begins it.
    pub life: Option<Revision>,
    /// Whether it takes no more rooms.
    #[serde(default)]
    pub draining: bool,
    /// What it can run; see [`RoomValue::needs`].
    #[serde(default)]
    pub runs: Vec<String>,
    /// The node knows all others that had joined by this revision. Versions before this one did not say it.
    #[serde(default)]
    pub seen: Option<Revision>,
    /// Whether its heartbeats are [`Key::Heartbeat`] entries; otherwise each is a write of this entry. Nodes of earlier versions, which
    /// read this entry alone, do not have the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<bool>,
}

/// The heartbeat of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatValue {
    /// The life of the node.
    pub life: Revision,
    /// Whether another node has ended this life: no heartbeat of it is stored any more.
    #[serde(default)]
    pub ended: bool,
}

impl HeartbeatValue {
    /// Whether another node has ended this life of the node.
    pub fn ends(&self, life: Revision) -> bool {
        self.ended && self.life == life
    }
}

/// How much of what was told of a room survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The node's: what was told is on its disk, and a copy follows it in the mesh. If the node does not come back in time, another one
    /// takes the room over with what the copy has. The room goes on while the broker is away and all other nodes
    /// promise to leave it alone.
    Node,
    /// The cluster's: another node takes the room over, with all that was told. It stands still while the broker is away.
    Cluster,
}

/// Who owns a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The node.
    pub node: Name,
    /// Its data directory.
    pub identity: Name,
    /// The life of it that made the claim.
    pub life: Revision,
}

/// A room as the directory has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomValue {
    /// Who owns it; nobody while it is handed over.
    pub holder: Option<Holder>,
    /// The fence of the claim; none in the entry that makes the claim, whose revision is the fence.
    pub fence: Option<Fence>,
    /// How durable it is.
    pub durability: Durability,
    /// What a node must be able to run to have it, as in `nuggets-3`; nothing if it is empty.
    #[serde(default)]
    pub needs: String,
    /// Whether its owner has taken it over and may not have its state yet.
    #[serde(default)]
    pub unread: bool,
    /// What lobbies show of it.
    pub row: String,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// Of a node.
    Node(NodeValue),
    /// Of a room.
    Room(RoomValue),
    /// The room that a code is for.
    Code(Name),
    /// Who has the seat.
    Seat(String),
    /// What all nodes have in common.
    Common(String),
    /// A heartbeat of a node.
    Heartbeat(HeartbeatValue),
    /// Something that this version does not understand. Its key is taken.
    #[serde(skip)]
    Unknown,
}

/// An entry of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When it was written.
    pub revision: Revision,
    /// What it says.
    pub value: Value,
}

impl Entry {
    /// The fence of the claim on a room.
    pub fn fence(&self) -> Option<Fence> {
        let Value::Room(room) = &self.value else { return None };
        Some(room.fence.unwrap_or(Fence(self.revision.0)))
    }

    /// Up to when a node knows the others; none if it does not say so.
    pub fn seen(&self) -> Option<Revision> {
        let Value::Node(node) = &self.value else { return None };
        node.seen
    }

    /// The life of a node.
    pub fn life(&self) -> Option<Revision> {
        let Value::Node(node) = &self.value else { return None };
        Some(node.life.unwrap_or(self.revision))
    }
}

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It is stored, with this revision.
    Stored(Revision),
    /// It is not: this is there instead of what was expected.
    Conflict(Option<Entry>),
}

/// A change of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// What came before is to be forgotten, also the last revision: all entries follow.
    Reset,
    /// An entry was written.
    Put(Key, Entry),
    /// An entry was removed.
    Removed(Key, Revision),
}

impl Delta {
    /// The revision after which a watch can be resumed. Heartbeats have revisions of their own, and all of them are shown again.
    pub const fn resumes_after(&self) -> Option<Revision> {
        match self {
            Self::Reset | Self::Put(Key::Heartbeat(_), _) | Self::Removed(Key::Heartbeat(_), _) => None,
            Self::Put(_, entry) => Some(entry.revision),
            Self::Removed(_, revision) => Some(*revision),
        }
    }
}

/// Nodes, rooms, codes and seats, shared by all nodes.
///
/// Entries are kept for [`ENTRY_AGE_SECONDS`] after they were written, except for [`Key::Lasting`].
///
/// Every write says what it expects to find, and is stored as a whole only if that is there. So of two that claim the same
/// code, seat or room at the same time, one wins, and a write that arrives twice or late changes nothing. A write whose
/// answer is lost can be repeated: the conflict shows the caller its own value.
///
/// The revision of the write that claims a room is the *fence* of the claim. Revisions only grow, so a later claim has a
/// greater fence, also after the room was removed and made again.
pub trait Directory: Send + Sync {
    /// Writes an entry; `None` as value removes it. `expected` is the revision that is there now, or `None` for no entry.
    fn write<'a>(
        &'a self,
        key: &'a Key,
        value: Option<&'a Value>,
        expected: Option<Revision>,
    ) -> Answer<'a, Result<Written, MeshError>>;

    /// The entry with this key. It may be outdated by the time it arrives; only a write decides.
    fn entry<'a>(&'a self, key: &'a Key) -> Answer<'a, Result<Option<Entry>, MeshError>>;

    /// All entries and then every change, in the order of revisions; with `since`, only what came after it. A change that
    /// was overwritten by a later one may be left out. If the history does not reach back to `since`, or
    /// without `since`, [`Delta::Reset`] comes first. Heartbeats are shown from the last one of each node on, whatever `since` is, in an order
    /// among themselves.
    fn watch(&self, since: Option<Revision>) -> Answer<'_, Result<Box<dyn Watch>, MeshError>>;
}

/// The changes of a directory.
pub trait Watch: Send {
    /// The next change. After an error the watch is over: begin another one from the last revision.
    ///
    /// Dropping the future loses no change.
    fn next(&mut self) -> Answer<'_, Result<Delta, MeshError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let name = |text: &str| text.parse().unwrap();
        let seat = Key::Seat { room: name("r-1"), seat: name("A") };
        let [node, room] = [Key::Node(name("n")), Key::Room(name("r-1"))];
        let common = [Key::Common(name("key")), Key::Heartbeat(name("n")), Key::Lasting(name("key"))];
        for key in [node, room, Key::Code(name("XYZ")), seat].into_iter().chain(common) {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        for bad in ["", "node", "node.", "node.a.b", "seat.a", "seat.a.b.c", "other.a"] {
            assert_eq!(bad.parse::<Key>(), Err(()), "{bad}");
        }
    }
}
