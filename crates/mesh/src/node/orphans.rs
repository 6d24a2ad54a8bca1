//! Rooms without an owner, which a node may take over.

use std::time::Duration;

use netcore::Time;

use super::{Plan, requests::Purpose};
use crate::{Acquisition, EXPIRY, Entry, Key, MAX_ROOMS, Name, Node, Output, Placement, RoomValue, Value, fnv};

/// Each candidate for a room waits this much longer than the one ranked before it.
const TAKE_STEP: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orphan {
    Takeable(Acquisition),
    Unclear,
    /// A claim of this life that the node does not know: its write arrived late.
    StaleClaim,
}

impl Node {
    pub(super) fn classify(&self, entry: &Entry) -> Option<Orphan> {
        let Value::Room(room) = &entry.value else { return None };
        if !self.runs(room) {
            return None;
        }
        let Some(holder) = &room.holder else { return Some(Orphan::Takeable(Acquisition::TakenOver)) };
        if self.holds(holder) {
            // Before it has joined, the node does not know its own lives.
            let life = self.life.as_ref()?;
            let how = if room.unread { Acquisition::TakenOver } else { Acquisition::Recovered };
            return Some(if holder.life == life.since { Orphan::StaleClaim } else { Orphan::Takeable(how) });
        }
        if self.view.is_over(holder) {
            return Some(Orphan::Takeable(Acquisition::TakenOver));
        }
        (!self.view.seems_alive(holder)).then_some(Orphan::Unclear)
    }

    fn runs(&self, room: &RoomValue) -> bool {
        let rules = room.rules();
        let finds = room.placement() == Placement::Single || self.settings.streams;
        finds && (rules.is_empty() || self.settings.runs.iter().any(|runs| runs == rules))
    }

    pub(super) fn scan_orphans(&mut self, now: Time) {
        let names: Vec<Name> = self.view.rooms().cloned().collect();
        for name in &names {
            self.update_orphan(now, name);
        }
    }

    pub(super) fn update_orphan(&mut self, now: Time, name: &Name) {
        let entry = self.view.room(name).filter(|_| !self.rooms.contains_key(name));
        if entry.is_some_and(|entry| self.classify(entry).is_some()) {
            self.orphans.entry(name.clone()).or_insert(now);
        } else {
            self.orphans.remove(name);
        }
    }

    #[expect(clippy::match_same_arms, reason = "an arm between them has a condition")]
    pub(super) fn orphan_due(&self, name: &Name, since: Time) -> Option<Time> {
        self.life.as_ref()?;
        let entry = self.view.room(name)?;
        match self.classify(entry)? {
            Orphan::StaleClaim => Some(since),
            Orphan::Unclear => {
                let Value::Room(RoomValue { holder: Some(holder), .. }) = &entry.value else { return None };
                let node = Key::Node(holder.node.clone());
                let asks = self.view.node(&holder.node).is_none() && !self.pending.contains_key(&node);
                asks.then(|| self.not_before(&node, since.plus(EXPIRY)))
            }
            Orphan::Takeable(_) if self.rooms.len() >= self.settings.most_rooms.min(MAX_ROOMS) => None,
            Orphan::Takeable(Acquisition::Recovered) => Some(since),
            Orphan::Takeable(_) if self.plan != Plan::Serve && !self.handed.contains(name) => None,
            Orphan::Takeable(_) => {
                let due = since.plus(TAKE_STEP * self.rank(name, entry));
                let Value::Room(RoomValue { holder: Some(holder), .. }) = &entry.value else { return Some(due) };
                // A node that has left has as long to return as one that was killed.
                Some(self.view.waits_for(&holder.node).map_or(due, |until| due.max(until)))
            }
        }
    }

    // The number of nodes that may take a room over earlier. Nodes with the same view compute the same order: the
    // former owner first, draining nodes last.
    fn rank(&self, room: &Name, entry: &Entry) -> u32 {
        let (former, needs) = match &entry.value {
            Value::Room(room) => (room.holder.as_ref().map(|holder| &holder.node), (room.rules(), room.placement())),
            _ => (None, Default::default()),
        };
        let own = weight(room, &self.settings.name);
        let is_before = |node: &&Name| {
            **node != self.settings.name
                && (self.plan != Plan::Serve || former == Some(*node) || weight(room, node) > own)
        };
        u32::try_from(self.view.takers(needs).filter(is_before).count()).unwrap_or(u32::MAX)
    }

    pub(super) fn take_over(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.life.is_none() {
            return;
        }
        let due = |name: &Name, since: Time| self.orphan_due(name, since).is_some_and(|due| due <= now);
        let due: Vec<Name> =
            self.orphans.iter().filter(|(name, since)| due(name, **since)).map(|(name, _)| name.clone()).collect();
        for name in due {
            let Some(entry) = self.view.room(&name).cloned() else { continue };
            let key = Key::Room(name.clone());
            match (self.classify(&entry), &entry.value) {
                (Some(Orphan::StaleClaim), _) if self.is_free(now, &key) => {
                    self.write(now, Purpose::StaleClaim, key, (None, Some(entry.revision)), out);
                }
                (Some(Orphan::Unclear), Value::Room(RoomValue { holder: Some(holder), .. })) => {
                    // Stored if no node has this name; otherwise the conflict returns its entry.
                    let node = Key::Node(holder.node.clone());
                    if self.is_free(now, &node) {
                        self.write(now, Purpose::Expire, node, (None, None), out);
                    }
                }
                // The previous takeover may have reached the limit.
                (Some(Orphan::Takeable(how)), Value::Room(value))
                    if self.rooms.len() < self.settings.most_rooms.min(MAX_ROOMS) =>
                {
                    self.orphans.remove(&name);
                    self.adopt(name, value, how);
                }
                _ => {}
            }
        }
    }
}

/// Rendezvous hashing: adding or removing a node moves only its own rooms.
fn weight(room: &Name, node: &Name) -> u64 {
    fnv(room.as_str().bytes().chain([0]).chain(node.as_str().bytes()))
}
