//! The directory: nodes, rooms and their owners, codes, and entries shared by all nodes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Answer, Fence, MeshError, Name, Placement};

/// The maximum size of a room's row in lobbies, in bytes.
pub const MAX_ROW: usize = 16 << 10;
/// The lifetime of an entry in seconds. Owners rewrite their entries every hour.
pub const ENTRY_AGE_SECONDS: u64 = 24 * 60 * 60;

/// The [level](NodeValue::level) of this version: 1 for journals in several streams and summaries of rooms.
pub const LEVEL: u8 = 1;
/// Appended to the rules of a room with [`Placement::Hashed`].
const HASHED: &str = "+streams";

/// A point in the history of the directory. Every write increases it, even after entries are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Revision(pub u64);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Node(Name),
    Room(Name),
    Code(Name),
    Common(Name),
    /// Stored separately, so that large entries leave space for heartbeats.
    Heartbeat(Name),
    /// A shared value that does not expire. Watches do not report it.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeValue {
    /// Identifies the data directory. A node that returns with the same identity has its earlier state.
    pub identity: Name,
    pub address: String,
    /// The revision that started this life; `None` in the entry that starts it.
    pub life: Option<Revision>,
    /// Whether the node rejects further rooms.
    #[serde(default)]
    pub draining: bool,
    /// The rules that the node can run; see [`RoomValue::needs`].
    #[serde(default)]
    pub runs: Vec<String>,
    /// All nodes that joined up to this revision are known. Earlier versions lack the field.
    #[serde(default)]
    pub seen: Option<Revision>,
    /// Whether heartbeats have a [`Key::Heartbeat`] entry; otherwise each rewrites this entry. Earlier versions lack
    /// the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<bool>,
    /// What the node understands beyond earlier versions, which lack the field: see [`LEVEL`].
    #[serde(default)]
    pub level: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatValue {
    pub life: Revision,
    /// Ended by another node: no further heartbeat of that life is stored.
    #[serde(default)]
    pub ended: bool,
}

impl HeartbeatValue {
    pub fn ends(&self, life: Revision) -> bool {
        self.ended && self.life == life
    }
}

/// Which failures the published state of a room survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The state is on the disk of the node. If the node does not return in time, another one takes over from an
    /// asynchronous copy in the mesh. While the broker is unreachable, the room continues as long as all other nodes
    /// promise not to take it over.
    Node,
    /// The state is stored in the cluster before it is published, so a takeover loses nothing. The room pauses while
    /// the broker is unreachable.
    Cluster,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub node: Name,
    pub identity: Name,
    pub life: Revision,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomValue {
    /// `None` during a handover.
    pub holder: Option<Holder>,
    /// `None` in the entry that makes the claim, whose revision is the fence.
    pub fence: Option<Fence>,
    pub durability: Durability,
    /// What a node must support to run the room: see [`rules`](Self::rules) and [`placement`](Self::placement).
    #[serde(default)]
    pub needs: String,
    /// The owner has taken the room over and may not have its state yet.
    #[serde(default)]
    pub unread: bool,
    pub row: String,
}

impl RoomValue {
    /// Nodes of earlier versions find no rules with the suffix of [`Placement::Hashed`], so they do not take the room
    /// over, whose journal they would miss.
    pub fn needs(rules: &str, placement: Placement) -> String {
        match placement {
            Placement::Single => rules.to_owned(),
            Placement::Hashed => format!("{rules}{HASHED}"),
        }
    }

    /// The rules that a node must be able to run, such as `nuggets-3`; empty if any node can run the room.
    pub fn rules(&self) -> &str {
        self.needs.strip_suffix(HASHED).unwrap_or(&self.needs)
    }

    pub fn placement(&self) -> Placement {
        if self.needs.ends_with(HASHED) { Placement::Hashed } else { Placement::Single }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    Node(NodeValue),
    Room(RoomValue),
    Code(Name),
    Common(String),
    Heartbeat(HeartbeatValue),
    /// A value that this version cannot decode. Its key is taken.
    #[serde(skip)]
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub revision: Revision,
    pub value: Value,
}

impl Entry {
    pub fn fence(&self) -> Option<Fence> {
        let Value::Room(room) = &self.value else { return None };
        Some(room.fence.unwrap_or(Fence(self.revision.0)))
    }

    pub fn placement(&self) -> Option<Placement> {
        let Value::Room(room) = &self.value else { return None };
        Some(room.placement())
    }

    pub fn seen(&self) -> Option<Revision> {
        let Value::Node(node) = &self.value else { return None };
        node.seen
    }

    pub fn life(&self) -> Option<Revision> {
        let Value::Node(node) = &self.value else { return None };
        Some(node.life.unwrap_or(self.revision))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    Stored(Revision),
    /// The existing entry.
    Conflict(Option<Entry>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Discard all entries and the last revision; the complete state follows.
    Reset,
    Put(Key, Entry),
    Removed(Key, Revision),
}

impl Delta {
    /// The revision after which a watch can resume. Heartbeats do not count: they are all reported again.
    pub const fn resumes_after(&self) -> Option<Revision> {
        match self {
            Self::Reset | Self::Put(Key::Heartbeat(_), _) | Self::Removed(Key::Heartbeat(_), _) => None,
            Self::Put(_, entry) => Some(entry.revision),
            Self::Removed(_, revision) => Some(*revision),
        }
    }
}

/// Nodes, rooms and codes, shared by all nodes. Entries expire after [`ENTRY_AGE_SECONDS`], except for
/// [`Key::Lasting`].
///
/// A write is stored only if the revision that it expects is current: one of two concurrent claims succeeds, and a
/// duplicate or late write has no effect. A write whose reply was lost can be repeated: the conflict returns the
/// caller's own value.
///
/// The revision of the write that claims a room is the *fence* of the claim. A later claim has a greater fence, even if
/// the room was removed and created again.
pub trait Directory: Send + Sync {
    /// Removes the entry if `value` is `None`. `expected` is the current revision, or `None` for no entry.
    fn write<'a>(
        &'a self,
        key: &'a Key,
        value: Option<&'a Value>,
        expected: Option<Revision>,
    ) -> Answer<'a, Result<Written, MeshError>>;

    /// The entry may be outdated when it arrives; only a write is authoritative.
    fn entry<'a>(&'a self, key: &'a Key) -> Answer<'a, Result<Option<Entry>, MeshError>>;

    /// Watches all entries and then every change in the order of revisions; with `since`, only changes after it.
    /// Overwritten changes may be omitted.
    ///
    /// Without `since`, or if the history no longer contains it, the watch starts with [`Delta::Reset`]. Heartbeats
    /// ignore `since`: the watch starts with the last one of each node, and only their own order is guaranteed.
    fn watch(&self, since: Option<Revision>) -> Answer<'_, Result<Box<dyn Watch>, MeshError>>;
}

pub trait Watch: Send {
    /// An error ends the watch: start another one from the last revision. Cancel safe.
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
