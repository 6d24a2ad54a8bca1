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
    /// Nodes whose entries are gone, and until when they may come back before others take their rooms.
    gone: BTreeMap<Name, Time>,
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

    /// Nodes that take rooms with these needs.
    pub(super) fn takers(&self, needs: &str) -> impl Iterator<Item = &Name> {
        let takes = move |entry: &Entry| {
            let Value::Node(node) = &entry.value else { return false };
            !node.draining && (needs.is_empty() || node.runs.iter().any(|runs| runs == needs))
        };
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
        if self.node(node).is_some_and(|entry| entry.revision < removed)
            && let Some((_, heard)) = self.nodes.remove(node)
        {
            self.gone.insert(node.clone(), heard.plus(EXPIRY));
        }
    }

    /// All nodes are there as if they had written now.
    pub(super) fn hear_all(&mut self, now: Time) {
        self.nodes.values_mut().for_each(|(_, heard)| *heard = now);
    }

    /// Until when a node that is gone may come back before others take its rooms.
    pub(super) fn waits_for(&self, node: &Name) -> Option<Time> {
        self.gone.get(node).copied()
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
                self.gone.remove(name);
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
