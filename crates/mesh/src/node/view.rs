//! What a node knows of the directory.

use std::collections::BTreeMap;

use netcore::{
    Time,
    probe::{self, Planted},
};

use crate::{Delta, EXPIRY, Entry, Holder, Key, Name, Revision, Value};

/// What a node knows of the directory. It may lag behind; facts about lives that are over stay true.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The last change that was seen.
    seen: Revision,
    rooms: BTreeMap<Name, Entry>,
    nodes: BTreeMap<Name, (Entry, Time)>,
    /// Lives before these are over, by node.
    over: BTreeMap<Name, Revision>,
}

impl View {
    pub(super) fn room(&self, name: &Name) -> Option<&Entry> {
        self.rooms.get(name)
    }

    pub(super) fn rooms(&self) -> impl Iterator<Item = &Name> {
        self.rooms.keys()
    }

    pub(super) fn node(&self, name: &Name) -> Option<&Entry> {
        Some(&self.nodes.get(name)?.0)
    }

    /// Nodes that take rooms.
    pub(super) fn takers(&self) -> impl Iterator<Item = &Name> {
        let takes = |entry: &Entry| matches!(&entry.value, Value::Node(node) if !node.draining);
        self.nodes.iter().filter(move |(_, (entry, _))| takes(entry)).map(|(name, _)| name)
    }

    /// Nodes, and when they are taken for dead if they write nothing until then.
    pub(super) fn expiries(&self) -> impl Iterator<Item = (Key, Time)> {
        // Whoever takes a minority of the time that it is allowed to be silent for death, has two owners.
        let expiry = if probe::has(Planted::ExpiredTooEarly) { EXPIRY / 4 } else { EXPIRY };
        self.nodes.iter().map(move |(name, (_, heard))| (Key::Node(name.clone()), heard.plus(expiry)))
    }

    /// Whether the life that made a claim is surely over.
    pub(super) fn is_over(&self, holder: &Holder) -> bool {
        self.over.get(&holder.node).is_some_and(|before| holder.life < *before)
    }

    /// Whether the life that made a claim seems to go on.
    pub(super) fn seems_alive(&self, holder: &Holder) -> bool {
        // An entry that is not understood is that of a later version: it stands for any life.
        self.node(&holder.node).is_some_and(|entry| entry.life().is_none_or(|life| life == holder.life))
    }

    /// Notes that lives of a node before this one are over. Returns whether that is new.
    pub(super) fn note_over(&mut self, node: &Name, before: Revision) -> bool {
        let known = self.over.entry(node.clone()).or_default();
        let is_new = *known < before;
        *known = before.max(*known);
        is_new
    }

    /// Forgets a node that was removed.
    pub(super) fn forget_node(&mut self, node: &Name, removed: Revision) {
        if self.node(node).is_some_and(|entry| entry.revision < removed) {
            self.nodes.remove(node);
        }
    }

    /// Learns an entry from a conflict, if the watch has not shown a later state already.
    pub(super) fn learn(&mut self, now: Time, key: &Key, entry: &Entry) {
        if entry.revision > self.seen {
            self.put(now, key, entry.clone());
        }
    }

    fn put(&mut self, now: Time, key: &Key, entry: Entry) {
        match key {
            Key::Node(name) if self.node(name).is_none_or(|known| known.revision < entry.revision) => {
                if let Some(life) = entry.life() {
                    self.note_over(name, life);
                }
                self.nodes.insert(name.clone(), (entry, now));
            }
            Key::Room(name) if self.room(name).is_none_or(|known| known.revision < entry.revision) => {
                self.rooms.insert(name.clone(), entry);
            }
            _ => {}
        }
    }

    /// Takes a change in.
    pub(super) fn apply(&mut self, now: Time, delta: &Delta) {
        match delta {
            Delta::Reset => {
                self.rooms.clear();
                self.nodes.clear();
            }
            Delta::Put(key, entry) => {
                self.seen = self.seen.max(entry.revision);
                self.put(now, key, entry.clone());
            }
            Delta::Removed(key, revision) => {
                self.seen = self.seen.max(*revision);
                match key {
                    Key::Node(name) => {
                        self.forget_node(name, *revision);
                        self.note_over(name, *revision);
                    }
                    Key::Room(name) if self.room(name).is_some_and(|known| known.revision < *revision) => {
                        self.rooms.remove(name);
                    }
                    _ => {}
                }
            }
        }
    }
}
