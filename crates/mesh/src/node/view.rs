use std::collections::BTreeMap;

use netcore::Time;

use crate::{
    Delta, EXPIRY, Entry, HeartbeatValue, Holder, Key, LEVEL, Name, NodeValue, Placement, REQUEST_TIMEOUT, Revision,
    Value,
};

/// The directory as this node knows it. It may be outdated, but what it states about past lives stays true.
#[derive(Debug, Default)]
pub(super) struct View {
    seen: Revision,
    /// The last change since the watch restarted.
    reached: Revision,
    /// All nodes that joined up to this revision are known.
    known: Revision,
    /// The last write of the own entry: `reached` at that time, the time, and its revision.
    written: Option<(Revision, Time, Revision)>,
    /// Lives of nodes that are not in `nodes` and may still take rooms: from before a reset, or introduced before the
    /// watch has shown them.
    absent: BTreeMap<Name, Revision>,
    rooms: BTreeMap<Name, Entry>,
    nodes: BTreeMap<Name, (Entry, Time)>,
    heartbeats: BTreeMap<Name, (Revision, HeartbeatValue)>,
    /// Lives before this revision are over.
    over: BTreeMap<Name, Revision>,
    /// Removed nodes, and when others may take their rooms.
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

    pub(super) fn takers(&self, (rules, placement): (&str, Placement)) -> impl Iterator<Item = &Name> {
        let takes = move |entry: &Entry| {
            let Value::Node(node) = &entry.value else { return false };
            let finds = placement == Placement::Single || node.level >= LEVEL;
            !node.draining && finds && (rules.is_empty() || node.runs.iter().any(|runs| runs == rules))
        };
        self.nodes.iter().filter(move |(_, (entry, _))| takes(entry)).map(|(name, _)| name)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Name, &Entry, Time)> {
        self.nodes.iter().map(|(name, (entry, last_seen))| (name, entry, *last_seen))
    }

    /// Whether another node is of an earlier version.
    pub(super) fn has_former(&self, own: &Name) -> bool {
        let is_former = |entry: &Entry| matches!(&entry.value, Value::Node(node) if node.level < LEVEL);
        self.nodes.iter().any(|(name, (entry, _))| name != own && is_former(entry))
    }

    pub(super) fn last_seen(&self, name: &Name) -> Time {
        self.nodes.get(name).map_or(Time::ZERO, |(_, last_seen)| *last_seen)
    }

    /// Other nodes that may know of this one, in their latest lives.
    pub(super) fn others(&self, own: &Name) -> impl Iterator<Item = (&Name, Revision)> {
        let here = self.nodes.iter().map(|(name, (entry, _))| {
            let life = entry.life().unwrap_or(entry.revision);
            (name, self.absent.get(name).map_or(life, |absent| life.max(*absent)))
        });
        let absent = self.absent.iter().filter(|(name, _)| !self.nodes.contains_key(*name));
        here.chain(absent.map(|(name, life)| (name, *life))).filter(move |(name, _)| *name != own)
    }

    pub(super) fn meet(&mut self, name: &Name, life: Revision) {
        if life > self.known {
            let known = self.absent.entry(name.clone()).or_default();
            *known = life.max(*known);
        }
    }

    pub(super) const fn revisions(&self) -> (Revision, Revision) {
        (self.known, self.reached)
    }

    /// `reached` must be the value when the write was sent.
    pub(super) const fn note_written(&mut self, reached: Revision, at: Time, revision: Revision) {
        self.written = Some((reached, at, revision));
    }

    /// Once the watch shows the own entry soon after it was written, it has shown every node that had joined before. A
    /// node that writes again meanwhile appears later, but none writes twice in that time.
    pub(super) fn confirm(&mut self, now: Time) {
        if let Some((reached, at, revision)) = self.written
            && self.reached >= revision
        {
            self.written = None;
            if now.since(at) <= REQUEST_TIMEOUT {
                self.known = self.known.max(reached);
                self.absent.retain(|_, life| *life > reached);
            }
        }
    }

    pub(super) fn has_newcomers(&self, own: &Name, since: Revision) -> bool {
        self.others(own).any(|(_, life)| life > since)
    }

    /// Whether the life is certainly over; see `seems_alive`.
    pub(super) fn is_over(&self, holder: &Holder) -> bool {
        self.over.get(&holder.node).is_some_and(|before| holder.life < *before)
    }

    pub(super) fn seems_alive(&self, holder: &Holder) -> bool {
        // An entry that cannot be decoded is of a later version and may belong to any life.
        self.node(&holder.node).is_some_and(|entry| entry.life().is_none_or(|life| life == holder.life))
    }

    pub(super) fn note_over(&mut self, node: &Name, before: Revision) -> bool {
        let known = self.over.entry(node.clone()).or_default();
        let is_new = *known < before;
        *known = before.max(*known);
        is_new
    }

    pub(super) fn remove_node(&mut self, node: &Name, removed: Revision) {
        if self.node(node).is_some_and(|entry| entry.revision < removed)
            && let Some((_, last_seen)) = self.nodes.remove(node)
        {
            self.gone.insert(node.clone(), last_seen.plus(EXPIRY));
        }
    }

    pub(super) fn reset_heartbeats(&mut self, now: Time) {
        self.nodes.values_mut().for_each(|(_, last_seen)| *last_seen = now);
    }

    pub(super) fn waits_for(&self, node: &Name) -> Option<Time> {
        self.gone.get(node).copied()
    }

    pub(super) fn understands_heartbeats(&self, name: &Name, life: Revision) -> bool {
        self.node(name).is_some_and(|entry| {
            entry.life() == Some(life) && matches!(entry.value, Value::Node(NodeValue { apart: Some(_), .. }))
        })
    }

    /// The life whose heartbeats must end before the entry is removed, and the last of them.
    pub(super) fn heartbeats_to_end(&self, name: &Name) -> Option<(Revision, Option<Revision>)> {
        let entry = self.node(name)?;
        let is_apart = matches!(entry.value, Value::Node(NodeValue { apart: Some(true), .. }));
        let life = entry.life().filter(|life| is_apart && !self.has_ended(name, *life))?;
        Some((life, self.last_heartbeat(name)))
    }

    pub(super) fn has_ended(&self, name: &Name, life: Revision) -> bool {
        self.heartbeats.get(name).is_some_and(|(_, heartbeat)| heartbeat.ends(life))
    }

    pub(super) fn last_heartbeat(&self, name: &Name) -> Option<Revision> {
        self.heartbeats.get(name).map(|(revision, _)| *revision)
    }

    pub(super) fn end_heartbeats(&mut self, name: &Name, revision: Revision, ended: HeartbeatValue) {
        self.heartbeats.insert(name.clone(), (revision, ended));
    }

    pub(super) fn remove_heartbeats(&mut self, name: &Name) {
        self.heartbeats.remove(name);
    }

    fn take_heartbeat(&mut self, now: Time, name: &Name, entry: &Entry) {
        let Value::Heartbeat(heartbeat) = &entry.value else { return };
        if let Some((node, last_seen)) = self.nodes.get_mut(name)
            && node.life() == Some(heartbeat.life)
            && !heartbeat.ended
        {
            *last_seen = now;
        }
        self.heartbeats.insert(name.clone(), (entry.revision, heartbeat.clone()));
    }

    /// Applies an entry from a conflict, unless the watch has already shown a later state.
    pub(super) fn learn(&mut self, now: Time, key: &Key, entry: &Entry) {
        if let Key::Heartbeat(name) = key {
            // Heartbeats that are repeated, or from before the broker lost its data, are harmless.
            self.take_heartbeat(now, name, entry);
        } else if entry.revision > self.seen {
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

    pub(super) fn apply(&mut self, now: Time, delta: &Delta) {
        match delta {
            Delta::Reset => {
                self.rooms.clear();
                self.heartbeats.clear();
                for (name, (entry, _)) in std::mem::take(&mut self.nodes) {
                    self.absent.insert(name, entry.life().unwrap_or(entry.revision));
                }
                (self.reached, self.written) = (Revision(0), None);
            }
            Delta::Put(Key::Heartbeat(name), entry) => {
                // A resumed watch repeats earlier heartbeats.
                if self.last_heartbeat(name).is_none_or(|last| last < entry.revision) {
                    self.take_heartbeat(now, name, entry);
                }
            }
            Delta::Removed(Key::Heartbeat(_), _) => {}
            Delta::Put(key, entry) => {
                (self.seen, self.reached) = (self.seen.max(entry.revision), entry.revision);
                self.put(now, key, entry.clone());
            }
            Delta::Removed(key, revision) => {
                (self.seen, self.reached) = (self.seen.max(*revision), *revision);
                match key {
                    Key::Node(name) => {
                        self.remove_node(name, *revision);
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
