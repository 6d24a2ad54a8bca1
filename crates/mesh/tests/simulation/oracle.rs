use std::collections::BTreeMap;

use mesh::{Delta, Directory, Durability, Entry, Fence, Key, Name, Revision, Value};

use super::{
    room::MATCH,
    world::{FAULTS, PATIENCE, ROOMS, World, now},
};

#[derive(Debug, Clone, Copy)]
pub(super) struct StateSender<'a> {
    pub(super) node: &'a Name,
    pub(super) identity: &'a Name,
    pub(super) fence: Fence,
}

#[derive(Debug, Default)]
pub(super) struct Oracle {
    /// Published by the last owner.
    pub(super) sent: BTreeMap<Name, Vec<u32>>,
    // Published by each owner, for rooms that may lose unstored state.
    sent_by: BTreeMap<(Name, Fence), Vec<u32>>,
    // The part that the owner with the greatest fence knows to be stored in the journal.
    stored: BTreeMap<Name, (Fence, Vec<u32>)>,
    // Claims up to this one belong to rooms that are over.
    closed: BTreeMap<Name, Fence>,
    committed: BTreeMap<Name, u32>,
}

impl Oracle {
    /// The directory contains `entry` meanwhile.
    pub(super) fn sent(
        &mut self,
        room: &Name,
        (sender, durability): (StateSender<'_>, Durability),
        now: &[u32],
        (entry, frozen): (Option<&Entry>, bool),
    ) {
        let StateSender { node, identity, fence } = sender;
        let holder = entry.and_then(|entry| match &entry.value {
            Value::Room(room) => room.holder.as_ref(),
            _ => None,
        });
        let owns = match durability {
            Durability::Cluster => frozen || entry.and_then(Entry::fence) == Some(fence),
            // The claim may be renewed meanwhile.
            Durability::Node => {
                let is_its_own = |holder: &mesh::Holder| holder.node == *node && holder.identity == *identity;
                frozen || entry.is_none() || holder.is_some_and(is_its_own)
            }
        };
        assert!(owns, "two owners: {node} sends the state of {room} under {fence:?}, and the directory has {entry:?}");
        if durability == Durability::Node {
            return self.sent_unreplicated(room, fence, now);
        }
        let sent = self.sent.entry(room.clone()).or_default();
        // A frozen node may repeat an earlier state.
        let is_old = frozen && sent.starts_with(now);
        assert!(
            is_old || now.starts_with(sent),
            "the sent state of {room} is lost: {sent:?} was sent, and {node} sends {now:?}"
        );
        if !is_old {
            *sent = now.to_vec();
        }
    }

    // Published under the same claim, or stored under an earlier one.
    fn sent_unreplicated(&mut self, room: &Name, fence: Fence, now: &[u32]) {
        let sent = self.sent_by.entry((room.clone(), fence)).or_default();
        assert!(now.starts_with(sent), "the sent state of {room} is lost: {sent:?} was sent, and then {now:?}");
        *sent = now.to_vec();
        if let Some((by, stored)) = self.stored.get(room).filter(|(by, _)| *by <= fence) {
            assert!(
                now.starts_with(stored) || stored.starts_with(now) && *by == fence,
                "the stored state of {room} is lost: {stored:?} under {by:?}, and {now:?} is sent under {fence:?}"
            );
        }
        self.sent.insert(room.clone(), now.to_vec());
    }

    pub(super) fn stored(&mut self, room: &Name, fence: Fence, state: &[u32]) {
        if self.closed.get(room).is_some_and(|closed| fence <= *closed) {
            return;
        }
        let stored = self.stored.entry(room.clone()).or_default();
        if fence >= stored.0 {
            *stored = (fence, state.to_vec());
        }
    }

    /// A former owner that does not know it may continue with its own state.
    pub(super) fn removed(&mut self, room: &Name, last: Revision) {
        self.stored.remove(room);
        self.closed.insert(room.clone(), Fence(last.0));
    }

    fn is_not_stored(&self, room: &Name) -> bool {
        !self.stored.contains_key(room)
    }

    /// No published state may be lost, unless the room is over or its durability permits it.
    pub(super) fn without_journal(&self, room: &Name, durability: Durability) {
        let sent = self.sent.get(room).map_or(0, Vec::len);
        if durability == Durability::Node {
            let is_lost = sent < MATCH && !self.is_not_stored(room);
            assert!(!is_lost, "the stored state of {room} is lost: there is no journal of {sent} inputs");
            return;
        }
        assert!(sent == 0 || sent == MATCH, "the sent state of {room} is lost: there is no journal of {sent} inputs");
    }

    pub(super) fn followed(&self, room: &Name, seen: &[u32]) {
        let sent = self.sent.get(room).map_or(&[][..], |sent| sent);
        let by_others = self.sent_by.iter().filter(|((of, _), _)| of == room).any(|(_, sent)| sent.starts_with(seen));
        assert!(
            sent.starts_with(seen) || by_others,
            "a follower of {room} sees {seen:?}, and its players were sent {sent:?}"
        );
    }

    /// Stores a result in the database, once for each match, as `store` does.
    pub(super) fn commit(&mut self, id: &Name) {
        self.committed.insert(id.clone(), 1);
    }

    fn has_result(&self, id: &Name) -> bool {
        self.committed.get(id) == Some(&1)
    }
}

pub(super) type Mirror = BTreeMap<String, Revision>;

pub(super) fn watched(node: &Name, mirror: &Mirror, truth: &Mirror) {
    for (key, revision) in mirror {
        assert!(truth.contains_key(key), "a watcher misses a change: {node} still sees {key} of {revision:?}");
    }
    for (key, revision) in truth {
        assert_eq!(mirror.get(key), Some(revision), "a watcher misses a change: {node} does not see {key}");
    }
}

impl World {
    // It was on a lost machine, which its durability permits.
    fn is_gone(&self, room: &Name) -> bool {
        // No state was stored, so the node that took it over has closed it.
        self.rooms[room] == Durability::Node && self.entry(room).is_none() && self.oracle.is_not_stored(room)
            || !self.oracle.sent.contains_key(room) && self.entry(room).is_none()
    }

    pub(super) fn entry(&self, room: &Name) -> Option<Entry> {
        now(self.mesh.entry(&Key::Room(room.clone()))).unwrap().unwrap()
    }

    pub(super) fn is_over(&self, room: &Name) -> bool {
        self.is_gone(room) || self.entry(room).is_none() && self.oracle.has_result(room)
    }

    pub(super) fn is_done(&self) -> bool {
        self.rooms.len() >= ROOMS && self.rooms.keys().all(|room| self.is_over(room))
    }

    pub(super) fn check_patience(&self) {
        if self.at() < FAULTS + PATIENCE {
            return;
        }
        if let Some(room) = self.rooms.keys().find(|room| !self.is_over(room)) {
            let sent = self.oracle.sent.get(room).map_or(0, Vec::len);
            let entry = self.entry(room);
            assert!(
                sent < MATCH || self.oracle.has_result(room),
                "the result of {room} is lost: its match is over, and the queue is empty"
            );
            let is_lost = entry.is_none() && (1..MATCH).contains(&sent);
            assert!(!is_lost, "the sent state of {room} is lost: it was closed after {sent} inputs");
            assert!(sent < MATCH, "a closed room stays in the directory: {room}, {entry:?}");
            panic!(
                "{room} stands still though the faults have stopped: {sent} inputs were sent, and the directory has {entry:?}"
            );
        }
    }

    pub(super) fn check_watches(&mut self) {
        let mut all = now(self.mesh.watch(None)).unwrap().unwrap();
        let mut truth = Mirror::new();
        while let Some(Ok(delta)) = now(all.next()) {
            if let Delta::Put(key, entry) = delta {
                truth.insert(key.to_string(), entry.revision);
            }
        }
        let is_node = |key: &String| key.starts_with("node.") || key.starts_with("heartbeat.");
        truth.retain(|key, _| !is_node(key));
        for machine in &mut self.machines {
            let Some(process) = machine.process.as_mut().filter(|process| process.watch.is_some()) else { continue };
            // Heartbeats may be in transit at any time.
            process.mirror.retain(|key, _| !is_node(key));
            watched(&machine.name, &process.mirror, &truth);
        }
    }
}
