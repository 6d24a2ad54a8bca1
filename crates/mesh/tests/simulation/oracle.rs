//! What is promised, checked from outside.

use std::collections::BTreeMap;

use mesh::{Durability, Entry, Fence, Name, Revision, Value};

use super::room::MATCH;

/// Who tells something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Teller<'a> {
    pub(super) node: &'a Name,
    pub(super) identity: &'a Name,
    pub(super) fence: Fence,
}

/// What all players of a room have been told, and what the database has.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    pub(super) told: BTreeMap<Name, Vec<u32>>,
    committed: BTreeMap<Name, u32>,
}

impl Oracle {
    /// Somebody tells players of a room the state `now`, while the directory says `entry`.
    pub(super) fn tell(
        &mut self,
        room: &Name,
        (teller, durability): (Teller<'_>, Durability),
        now: &[u32],
        entry: Option<&Entry>,
        frozen: bool,
    ) {
        let Teller { node, identity, fence } = teller;
        let holder = entry.and_then(|entry| match &entry.value {
            Value::Room(room) => room.holder.as_ref(),
            _ => None,
        });
        let owns = match durability {
            Durability::Cluster => frozen || entry.and_then(Entry::fence) == Some(fence),
            // Its claim may be made anew meanwhile, but by nobody else.
            Durability::Node => {
                entry.is_none() || holder.is_some_and(|holder| holder.node == *node && holder.identity == *identity)
            }
        };
        assert!(owns, "two owners: {node} tells of {room} under {fence:?}, and the directory has {entry:?}");
        let told = self.told.entry(room.clone()).or_default();
        // A frozen node may tell again what is no news.
        let is_old = frozen && told.starts_with(now);
        assert!(
            is_old || now.starts_with(told),
            "what was told of {room} is lost: it was told {told:?}, and {node} tells {now:?}"
        );
        if !is_old {
            *told = now.to_vec();
        }
    }

    /// Whoever takes a room over finds no journal: nobody was told anything, or it is over.
    pub(super) fn without_journal(&self, room: &Name) {
        let told = self.told.get(room).map_or(0, Vec::len);
        assert!(told == 0 || told == MATCH, "what was told of {room} is lost: there is no journal of {told} inputs");
    }

    /// Somebody who follows a room believes this.
    pub(super) fn followed(&self, room: &Name, seen: &[u32]) {
        let told = self.told.get(room).map_or(&[][..], |told| told);
        assert!(told.starts_with(seen), "who follows {room} sees {seen:?}, and its players were told {told:?}");
    }

    /// The database commits a result: as `store` does, once for each match.
    pub(super) fn commit(&mut self, id: &Name) {
        self.committed.insert(id.clone(), 1);
    }

    /// The result of a match that was told to be over.
    pub(super) fn has_result(&self, id: &Name) -> bool {
        self.committed.get(id) == Some(&1)
    }
}

/// What somebody knows who watches the directory.
pub(super) type Mirror = BTreeMap<String, Revision>;

/// Checks that a watcher has missed nothing.
pub(super) fn watched(node: &Name, mirror: &Mirror, truth: &Mirror) {
    for (key, revision) in mirror {
        assert!(truth.contains_key(key), "a watcher misses a change: {node} still sees {key} of {revision:?}");
    }
    for (key, revision) in truth {
        assert_eq!(mirror.get(key), Some(revision), "a watcher misses a change: {node} does not see {key}");
    }
}
