use std::{collections::BTreeMap, sync::Arc};

use mesh::{Delta, Entry, Holder, Key, Name, NodeValue, Revision, Summary, Value};

/// Higher room numbers are ignored: one wrong entry would use up all names.
const MAX_NUMBER: u32 = u32::MAX / 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) room: Name,
    pub(crate) node: Name,
    /// An unchanged row is the same `Arc`.
    pub(crate) row: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeStatus {
    pub(crate) name: Name,
    /// `HOST:PORT` of its page.
    pub(crate) address: String,
    /// Whether the node has stopped accepting rooms.
    pub(crate) draining: bool,
}

/// The nodes, rooms and codes of the arcade. It may lag behind the directory.
#[derive(Debug, Default)]
pub(super) struct View {
    nodes: BTreeMap<Name, Present>,
    rooms: BTreeMap<Name, RoomEntry>,
    codes: BTreeMap<Name, (Revision, Name)>,
    // The rows that nodes have published in the life.
    summaries: BTreeMap<Name, (Revision, BTreeMap<Name, Arc<str>>)>,
    version: u64,
    highest: u32,
}

#[derive(Debug)]
struct Present {
    revision: Revision,
    life: Option<Revision>,
    value: NodeValue,
}

#[derive(Debug)]
struct RoomEntry {
    revision: Revision,
    // The holder, or the last one during a hand-over.
    holder: Option<Holder>,
    // Whether the holder has the state of the room.
    is_settled: bool,
    row: Arc<str>,
}

impl View {
    pub(super) fn apply(&mut self, delta: &Delta) {
        match delta {
            Delta::Reset => {
                (self.nodes, self.rooms, self.codes) = Default::default();
                self.version += 1;
            }
            Delta::Put(key, entry) => self.put(key, entry),
            Delta::Removed(key, revision) => self.remove(key, *revision),
        }
    }

    /// Updates the rows of the rooms of a node. Rooms that the directory does not show yet count too.
    pub(super) fn summarize(&mut self, Summary { node, life, rows }: Summary) {
        let (of, known) = self.summaries.entry(node).or_insert_with(|| (life, BTreeMap::new()));
        if *of != life {
            (*of, *known) = (life, BTreeMap::new());
        }
        let mut is_new = false;
        for (room, row) in rows {
            if known.get(&room).is_none_or(|known| **known != *row) {
                known.insert(room, row.into());
                is_new = true;
            }
        }
        self.version += u64::from(is_new);
    }

    fn row<'a>(&'a self, room: &Name, held: &'a RoomEntry, holder: &Holder) -> &'a Arc<str> {
        let summary = self.summaries.get(&holder.node).filter(|(life, _)| *life == holder.life);
        summary.and_then(|(_, rows)| rows.get(room)).unwrap_or(&held.row)
    }

    fn forget_row(&mut self, node: Option<Name>, room: &Name) {
        if let Some((_, rows)) = node.and_then(|node| self.summaries.get_mut(&node)) {
            rows.remove(room);
        }
    }

    fn put(&mut self, key: &Key, entry: &Entry) {
        let Entry { revision, value } = entry;
        match (key, value) {
            (Key::Node(name), Value::Node(value)) => {
                let life = entry.life();
                let before =
                    self.nodes.insert(name.clone(), Present { revision: *revision, life, value: value.clone() });
                let is_same = before.is_some_and(|before| {
                    before.life == life
                        && (&before.value.address, before.value.draining) == (&value.address, value.draining)
                });
                // A heartbeat is no change.
                self.version += u64::from(!is_same);
            }
            (Key::Room(name), Value::Room(room)) => {
                self.note_number(name);
                let before = self.rooms.get(name);
                let row = before.filter(|before| *before.row == *room.row);
                let row = row.map_or_else(|| room.row.as_str().into(), |before| Arc::clone(&before.row));
                let holder = room.holder.clone().or_else(|| before.and_then(|before| before.holder.clone()));
                let is_settled = room.holder.is_some() && !room.unread;
                let former = before.and_then(|before| before.holder.clone()).map(|holder| holder.node);
                let former = former.filter(|former| holder.as_ref().is_none_or(|holder| holder.node != *former));
                self.forget_row(former, name);
                self.rooms.insert(name.clone(), RoomEntry { revision: *revision, holder, is_settled, row });
                self.version += 1;
            }
            (Key::Code(code), Value::Code(room)) => drop(self.codes.insert(code.clone(), (*revision, room.clone()))),
            // Includes names of rooms that a later version has written.
            (Key::Room(name), _) => self.note_number(name),
            _ => {}
        }
    }

    fn remove(&mut self, key: &Key, revision: Revision) {
        let room = if let Key::Room(name) = key { self.rooms.get(name).map(|held| (name, held)) } else { None };
        if let Some((name, held)) = room
            && held.revision < revision
        {
            let node = held.holder.as_ref().map(|holder| holder.node.clone());
            self.forget_row(node, name);
        }
        let gone = match key {
            Key::Node(name) => {
                let gone = self.nodes.remove_if(name, |present| present.revision < revision);
                if gone {
                    self.summaries.remove(name);
                }
                gone
            }
            Key::Room(name) => self.rooms.remove_if(name, |held| held.revision < revision),
            Key::Code(code) => self.codes.remove_if(code, |(written, _)| *written < revision),
            Key::Common(_) | Key::Heartbeat(_) | Key::Lasting(_) => false,
        };
        self.version += u64::from(gone);
    }

    // As in `nuggets-7`.
    fn note_number(&mut self, room: &Name) {
        let number = room.as_str().rsplit_once('-').and_then(|(_, number)| number.parse().ok());
        self.highest = self.highest.max(number.filter(|number| *number <= MAX_NUMBER).unwrap_or(0));
    }

    pub(super) const fn version(&self) -> u64 {
        self.version
    }

    pub(super) const fn highest(&self) -> u32 {
        self.highest
    }

    // Whether a claim belongs to the current life of a present node.
    fn holds(&self, holder: &Holder) -> bool {
        self.nodes.get(&holder.node).is_some_and(|node| node.life == Some(holder.life))
    }

    /// The rooms of other present nodes that have a row.
    pub(super) fn remotes(&self, own: &Name) -> Vec<Remote> {
        let shown = self.rooms.iter().filter_map(|(room, held)| {
            let holder = held.holder.as_ref().filter(|holder| holder.node != *own && self.holds(holder))?;
            let row = Some(self.row(room, held, holder)).filter(|row| !row.is_empty())?;
            Some(Remote { room: room.clone(), node: holder.node.clone(), row: Arc::clone(row) })
        });
        shown.collect()
    }

    pub(super) fn owner(&self, room: &Name) -> Option<NodeStatus> {
        let holder = self.rooms.get(room)?.holder.as_ref()?;
        Some(status_of(&holder.node, self.nodes.get(&holder.node)?))
    }

    pub(super) fn node(&self, name: &Name) -> Option<NodeStatus> {
        Some(status_of(name, self.nodes.get(name)?))
    }

    pub(super) fn is_moving(&self, room: &Name) -> bool {
        self.rooms.get(room).is_some_and(|held| !held.is_settled)
    }

    pub(super) fn settled_at(&self, room: &Name) -> Option<&Name> {
        let held = self.rooms.get(room).filter(|held| held.is_settled)?;
        Some(&held.holder.as_ref().filter(|holder| self.holds(holder))?.node)
    }

    pub(super) fn coded(&self, code: &Name) -> Option<Name> {
        self.codes.get(code).map(|(_, room)| room.clone())
    }

    pub(super) fn nodes(&self) -> Vec<NodeStatus> {
        self.nodes.iter().map(|(name, node)| status_of(name, node)).collect()
    }
}

fn status_of(name: &Name, node: &Present) -> NodeStatus {
    NodeStatus { name: name.clone(), address: node.value.address.clone(), draining: node.value.draining }
}

trait RemoveIf<K, V> {
    // Returns whether the entry was removed.
    fn remove_if(&mut self, key: &K, is_before: impl FnOnce(&V) -> bool) -> bool;
}

impl<K: Ord, V> RemoveIf<K, V> for BTreeMap<K, V> {
    fn remove_if(&mut self, key: &K, is_before: impl FnOnce(&V) -> bool) -> bool {
        self.get(key).is_some_and(is_before) && self.remove(key).is_some()
    }
}

#[cfg(test)]
mod tests {
    use mesh::{Durability, RoomValue};

    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn node(revision: u64, life: Option<u64>) -> (Key, Entry) {
        let value = NodeValue {
            identity: name("id"),
            address: "b:1".into(),
            life: life.map(Revision),
            draining: false,
            runs: vec![],
            seen: None,
            apart: None,
            level: 0,
        };
        (Key::Node(name("b")), Entry { revision: Revision(revision), value: Value::Node(value) })
    }

    fn room(revision: u64, number: u32, life: u64, row: &str) -> (Key, Entry) {
        let holder = Some(Holder { node: name("b"), identity: name("id"), life: Revision(life) });
        let (durability, needs, unread) = (Durability::Node, String::new(), false);
        let value = RoomValue { holder, fence: None, durability, needs, unread, row: row.into() };
        let key = Key::Room(name(&format!("nuggets-{number}")));
        (key, Entry { revision: Revision(revision), value: Value::Room(value) })
    }

    fn put(view: &mut View, (key, entry): (Key, Entry)) {
        view.apply(&Delta::Put(key, entry));
    }

    #[test]
    fn row_of_the_summary_precedes_that_of_the_entry() {
        let (mut view, own) = (View::default(), name("a"));
        let summary = |life, row: &str| {
            let rows = [(name("nuggets-7"), row.to_owned())].into();
            Summary { node: name("b"), life: Revision(life), rows }
        };
        let row = |view: &View| view.remotes(&own).first().map(|remote| remote.row.to_string());
        put(&mut view, node(1, None));
        // A summary may arrive before the claim.
        view.summarize(summary(1, "first"));
        assert_eq!(row(&view), None);
        put(&mut view, room(2, 7, 1, ""));
        assert_eq!(row(&view).unwrap(), "first");
        let (version, same) = (view.version(), Arc::clone(&view.remotes(&own)[0].row));
        view.summarize(summary(1, "first"));
        assert!(view.version() == version && Arc::ptr_eq(&view.remotes(&own)[0].row, &same));
        view.summarize(summary(1, "second"));
        put(&mut view, room(3, 7, 1, "first"));
        assert_eq!(row(&view).unwrap(), "second");
        // Rows of another life do not count, nor those of a room that was closed and opened again.
        put(&mut view, node(4, None));
        put(&mut view, room(5, 7, 4, "entry"));
        assert_eq!(row(&view).unwrap(), "entry");
        view.summarize(summary(4, "third"));
        view.apply(&Delta::Removed(Key::Room(name("nuggets-7")), Revision(6)));
        put(&mut view, room(7, 7, 4, "again"));
        assert_eq!(row(&view).unwrap(), "again");
    }

    #[test]
    fn rooms_are_listed_while_their_node_is_present() {
        let (mut view, own) = (View::default(), name("a"));
        put(&mut view, node(1, None));
        put(&mut view, room(2, 7, 1, "row"));
        put(&mut view, room(3, 9, 1, ""));
        let shown = view.remotes(&own);
        assert_eq!(shown, [Remote { room: name("nuggets-7"), node: name("b"), row: "row".into() }]);
        assert_eq!(view.remotes(&name("b")), [], "its own are not those of others");
        let version = view.version();
        put(&mut view, node(4, Some(1)));
        assert_eq!(view.version(), version, "a heartbeat changes nothing");
        // A row that is written again without a change is the same `Arc`.
        put(&mut view, room(5, 7, 1, "row"));
        assert!(Arc::ptr_eq(&view.remotes(&own)[0].row, &shown[0].row) && view.version() > version);
        view.apply(&Delta::Removed(Key::Node(name("b")), Revision(6)));
        assert_eq!(view.remotes(&own), []);
        // The rooms of the node follow once it has claimed them again.
        put(&mut view, node(7, None));
        assert_eq!(view.remotes(&own), []);
        put(&mut view, room(8, 7, 7, "row"));
        assert_eq!(view.remotes(&own).len(), 1);
        assert_eq!(view.owner(&name("nuggets-7")).unwrap().address, "b:1");
        // A late removal applies only to the entry that preceded it.
        view.apply(&Delta::Removed(Key::Room(name("nuggets-7")), Revision(6)));
        assert_eq!(view.remotes(&own).len(), 1);
        view.apply(&Delta::Removed(Key::Room(name("nuggets-7")), Revision(9)));
        assert_eq!((view.remotes(&own).len(), view.highest()), (0, 9), "its number is not given again");
        // A later version may write rooms that this one cannot read.
        put(&mut view, (Key::Room(name("nuggets-12")), Entry { revision: Revision(10), value: Value::Unknown }));
        assert_eq!((view.remotes(&own).len(), view.highest()), (0, 12));
        view.apply(&Delta::Reset);
        assert_eq!((view.nodes().len(), view.highest()), (0, 12));
    }
}
