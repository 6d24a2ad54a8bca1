use std::collections::BTreeMap;

use mesh::{Durability, Entry, Fence, Name, Revision, Value};

use super::room::MATCH;

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

    pub(super) fn is_not_stored(&self, room: &Name) -> bool {
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

    pub(super) fn has_result(&self, id: &Name) -> bool {
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
