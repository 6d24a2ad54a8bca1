//! The directory: nodes, rooms and their owners, codes, and entries shared by all nodes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Answer, Fence, MeshError, Name};

/// The maximum size of the row that lobbies show for a room, in bytes.
pub const MAX_ROW: usize = 16 << 10;
/// The lifetime of an entry that is not rewritten, in seconds: one day. Owners rewrite their entries every hour.
pub const ENTRY_AGE_SECONDS: u64 = 24 * 60 * 60;

/// A point in the history of the directory. Every write increases it, even after entries are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Revision(pub u64);

/// The key of an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A node.
    Node(Name),
    /// A room.
    Room(Name),
    /// A code by which a room is found.
    Code(Name),
    /// A value shared by all nodes, such as a key.
    Common(Name),
    /// The heartbeats of a node. Their storage is separate, so large entries cannot keep a heartbeat from being
    /// stored.
    Heartbeat(Name),
    /// A value shared by all nodes that does not expire. Watches do not report it.
    Lasting(Name),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(name) => write!(f, "node.{name}"),
            Self::Room(name) => write!(f, "room.{name}"),
            Self::Code(name) => write!(f, "code.{name}"),
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
            _ => return Err(()),
        })
    }
}

/// The entry of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeValue {
    /// Identifies the data directory. A node that returns with the same identity has its earlier state.
    pub identity: Name,
    /// The address at which peers reach the node.
    pub address: String,
    /// The revision that started this life; `None` in the entry that starts it.
    pub life: Option<Revision>,
    /// Whether the node rejects further rooms.
    #[serde(default)]
    pub draining: bool,
    /// The rules that the node can run; see [`RoomValue::needs`].
    #[serde(default)]
    pub runs: Vec<String>,
    /// The node knows all nodes that joined up to this revision. Earlier versions do not send it.
    #[serde(default)]
    pub seen: Option<Revision>,
    /// Whether the node writes its heartbeats to [`Key::Heartbeat`] entries; otherwise each heartbeat rewrites this
    /// entry. Nodes of earlier versions read this entry only and do not have the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<bool>,
}

/// The heartbeat of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatValue {
    /// The life of the node.
    pub life: Revision,
    /// Whether another node has ended this life. No further heartbeat of that life is stored.
    #[serde(default)]
    pub ended: bool,
}

impl HeartbeatValue {
    /// Whether another node has ended this life of the node.
    pub fn ends(&self, life: Revision) -> bool {
        self.ended && self.life == life
    }
}

/// Which failures the published state of a room survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The state is on the disk of the node, and the mesh receives a copy asynchronously. If the node does not return
    /// in time, another node takes the room over with the state of the copy. While the broker is unreachable, the room
    /// continues as long as all other nodes promise not to take it over.
    Node,
    /// The state is stored in the cluster before it is published, so another node takes the room over without loss.
    /// The room pauses while the broker is unreachable.
    Cluster,
}

/// The owner of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The node.
    pub node: Name,
    /// Its data directory.
    pub identity: Name,
    /// The life of the node that made the claim.
    pub life: Revision,
}

/// The entry of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomValue {
    /// The owner; `None` during a handover.
    pub holder: Option<Holder>,
    /// The fence of the claim; `None` in the entry that makes the claim, whose revision is the fence.
    pub fence: Option<Fence>,
    /// The durability of the room.
    pub durability: Durability,
    /// The rules that a node must be able to run, such as `nuggets-3`; empty if any node can run the room.
    #[serde(default)]
    pub needs: String,
    /// Whether the owner has taken the room over and may not have its state yet.
    #[serde(default)]
    pub unread: bool,
    /// The row that lobbies show.
    pub row: String,
}

/// The value of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// A node.
    Node(NodeValue),
    /// A room.
    Room(RoomValue),
    /// The room of a code.
    Code(Name),
    /// A value shared by all nodes.
    Common(String),
    /// A heartbeat of a node.
    Heartbeat(HeartbeatValue),
    /// A value that this version cannot decode. Its key is taken.
    #[serde(skip)]
    Unknown,
}

/// An entry of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The revision of the write.
    pub revision: Revision,
    /// The value.
    pub value: Value,
}

impl Entry {
    /// Returns the fence of the claim on a room.
    pub fn fence(&self) -> Option<Fence> {
        let Value::Room(room) = &self.value else { return None };
        Some(room.fence.unwrap_or(Fence(self.revision.0)))
    }

    /// Returns the revision up to which a node knows all nodes that joined; `None` if the entry does not state it.
    pub fn seen(&self) -> Option<Revision> {
        let Value::Node(node) = &self.value else { return None };
        node.seen
    }

    /// Returns the life of a node.
    pub fn life(&self) -> Option<Revision> {
        let Value::Node(node) = &self.value else { return None };
        Some(node.life.unwrap_or(self.revision))
    }
}

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It is stored, with this revision.
    Stored(Revision),
    /// It is not stored: this entry exists instead of the expected one.
    Conflict(Option<Entry>),
}

/// A change of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Discard all entries and the last revision: the complete state follows.
    Reset,
    /// An entry was written.
    Put(Key, Entry),
    /// An entry was removed.
    Removed(Key, Revision),
}

impl Delta {
    /// Returns the revision after which a watch can resume. Heartbeats have separate revisions, and a resumed watch
    /// reports all of them again.
    pub const fn resumes_after(&self) -> Option<Revision> {
        match self {
            Self::Reset | Self::Put(Key::Heartbeat(_), _) | Self::Removed(Key::Heartbeat(_), _) => None,
            Self::Put(_, entry) => Some(entry.revision),
            Self::Removed(_, revision) => Some(*revision),
        }
    }
}

/// Nodes, rooms and codes, shared by all nodes.
///
/// Entries expire [`ENTRY_AGE_SECONDS`] after they were written, except for [`Key::Lasting`].
///
/// Every write names the revision that it expects, and is stored only if that revision is current. If two nodes claim
/// the same code or room at the same time, one claim succeeds. A duplicate or late write has no effect. A caller
/// can repeat a write whose reply was lost: the conflict returns the caller's own value.
///
/// The revision of the write that claims a room is the *fence* of the claim. Revisions only grow, so a later claim has
/// a greater fence, even if the room was removed and created again.
pub trait Directory: Send + Sync {
    /// Writes an entry, or removes it if `value` is `None`. `expected` is the current revision, or `None` for no
    /// entry.
    fn write<'a>(
        &'a self,
        key: &'a Key,
        value: Option<&'a Value>,
        expected: Option<Revision>,
    ) -> Answer<'a, Result<Written, MeshError>>;

    /// Returns the entry with this key. It may be outdated when it arrives; only a write is authoritative.
    fn entry<'a>(&'a self, key: &'a Key) -> Answer<'a, Result<Option<Entry>, MeshError>>;

    /// Watches all entries and then every change, in the order of revisions; with `since`, only changes after it.
    ///
    /// A change that a later one has overwritten may be omitted. Without `since`, or if the history no longer contains
    /// it, the watch starts with [`Delta::Reset`]. For heartbeats, `since` has no effect: the watch starts with the
    /// last one of each node, and only their own order is guaranteed.
    fn watch(&self, since: Option<Revision>) -> Answer<'_, Result<Box<dyn Watch>, MeshError>>;
}

/// The changes of a directory.
pub trait Watch: Send {
    /// Returns the next change. An error ends the watch: start another one from the last revision.
    ///
    /// This method is cancel safe: dropping the future loses no change.
    fn next(&mut self) -> Answer<'_, Result<Delta, MeshError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_survive_a_round_trip() {
        let name = |text: &str| text.parse().unwrap();
        let entries = [Key::Node(name("n")), Key::Room(name("r-1")), Key::Code(name("XYZ"))];
        let common = [Key::Common(name("key")), Key::Heartbeat(name("n")), Key::Lasting(name("key"))];
        for key in entries.into_iter().chain(common) {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        for bad in ["", "node", "node.", "node.a.b", "other.a"] {
            assert_eq!(bad.parse::<Key>(), Err(()), "{bad}");
        }
    }
}
