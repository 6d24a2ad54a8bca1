use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use netcore::Time;

use super::full;
use crate::{
    Answer, Delta, Directory, ENTRY_AGE_SECONDS, Entry, Key, Local, MAX_ENTRIES, MeshError, Revision, Value, Watch,
    Written,
};

/// Retained removals for resuming watches.
const REMEMBERED: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Entries {
    by_key: BTreeMap<Key, Entry>,
    by_revision: BTreeMap<Revision, (Key, Time)>,
    removed: VecDeque<(Revision, Key)>,
    forgotten: Revision,
    last: Revision,
}

impl Entries {
    // As with a broker, watches do not report expired entries.
    fn expire(&mut self, now: Time) {
        let kept = Duration::from_secs(ENTRY_AGE_SECONDS);
        let Self { by_key, by_revision, .. } = self;
        by_revision.retain(|_, (key, written)| {
            let stays = matches!(key, Key::Lasting(_)) || now.since(*written) <= kept;
            if !stays {
                by_key.remove(key);
            }
            stays
        });
    }

    fn write(
        &mut self,
        now: Time,
        key: &Key,
        value: Option<&Value>,
        expected: Option<Revision>,
    ) -> Result<Written, MeshError> {
        self.expire(now);
        let there = self.by_key.get(key);
        if there.map(|entry| entry.revision) != expected {
            return Ok(Written::Conflict(there.cloned()));
        }
        if there.is_none() && value.is_some() && self.by_key.len() >= MAX_ENTRIES {
            return Err(full("write an entry of the directory", MAX_ENTRIES));
        }
        if let Some(entry) = there {
            self.by_revision.remove(&entry.revision);
        }
        self.last.0 += 1;
        let revision = self.last;
        if let Some(value) = value {
            self.by_key.insert(key.clone(), Entry { revision, value: value.clone() });
            self.by_revision.insert(revision, (key.clone(), now));
        } else {
            self.by_key.remove(key);
            self.removed.push_back((revision, key.clone()));
            if self.removed.len() > REMEMBERED
                && let Some((revision, _)) = self.removed.pop_front()
            {
                self.forgotten = revision;
            }
        }
        Ok(Written::Stored(revision))
    }

    fn after(&self, revision: Revision) -> Option<(Revision, Delta)> {
        let next = Revision(revision.0 + 1);
        let mut shown = self.by_revision.range(next..).filter(|(_, (key, _))| !matches!(key, Key::Lasting(_)));
        let put = shown.next();
        let place = self.removed.partition_point(|(removed, _)| *removed < next);
        let removed = self.removed.get(place);
        match (put, removed) {
            (Some((put, (key, _))), removed) if removed.is_none_or(|(removed, _)| put < removed) => {
                let entry = self.by_key.get(key)?.clone();
                Some((*put, Delta::Put(key.clone(), entry)))
            }
            (_, Some((removed, key))) => Some((*removed, Delta::Removed(key.clone(), *removed))),
            _ => None,
        }
    }
}

impl Directory for Local {
    fn write<'a>(
        &'a self,
        key: &'a Key,
        value: Option<&'a Value>,
        expected: Option<Revision>,
    ) -> Answer<'a, Result<Written, MeshError>> {
        Box::pin(async move {
            let written = self.state().entries.write(self.now(), key, value, expected);
            self.changed();
            written
        })
    }

    fn entry<'a>(&'a self, key: &'a Key) -> Answer<'a, Result<Option<Entry>, MeshError>> {
        Box::pin(async move {
            let mut state = self.state();
            state.entries.expire(self.now());
            Ok(state.entries.by_key.get(key).cloned())
        })
    }

    fn watch(&self, since: Option<Revision>) -> Answer<'_, Result<Box<dyn Watch>, MeshError>> {
        let since = since.filter(|since| *since >= self.state().entries.forgotten);
        let watch: Box<dyn Watch> = Box::new(Watching { local: self.clone(), last: since });
        Box::pin(async move { Ok(watch) })
    }
}

struct Watching {
    local: Local,
    last: Option<Revision>,
}

impl Watch for Watching {
    fn next(&mut self) -> Answer<'_, Result<Delta, MeshError>> {
        let Self { local, last } = self;
        Box::pin(local.0.changes.wait(|| {
            let state = local.state();
            // A watch that lags behind the retained removals also restarts.
            let Some(at) = last.filter(|at| *at >= state.entries.forgotten) else {
                // After a reset, a watch does not need earlier removals.
                *last = Some(state.entries.forgotten);
                return Some(Ok(Delta::Reset));
            };
            let (revision, delta) = state.entries.after(at)?;
            *last = Some(revision);
            Some(Ok(delta))
        }))
    }
}
