use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use netcore::Time;

use super::{LocalHashed, LocalState, full};
use crate::{
    Answer, Append, Appended, Event, Events, Fence, Follow, Journals, Local, MAX_LOGS, MeshError, Name, Piece,
    RecordKind, Sequence,
    log::{self, Bounds, Chain, Head, ReadStep, Record, Verdict},
};

#[derive(Debug)]
pub(super) struct Logs {
    bounds: Bounds,
    by_name: BTreeMap<Name, VecDeque<(Time, Record)>>,
    last: Sequence,
}

impl Logs {
    pub(super) const fn new(bounds: Bounds) -> Self {
        Self { bounds, by_name: BTreeMap::new(), last: Sequence(0) }
    }

    fn age(&mut self, now: Time, name: &Name) {
        let kept = Duration::from_secs(self.bounds.age_seconds);
        let Some(records) = self.by_name.get_mut(name) else { return };
        while records.front().is_some_and(|(at, _)| now.since(*at) > kept) {
            records.pop_front();
        }
        if records.is_empty() {
            self.by_name.remove(name);
        }
    }

    fn last(&self, name: &Name) -> Option<&Record> {
        Some(&self.by_name.get(name)?.back()?.1)
    }

    fn store(&mut self, now: Time, head: Head, body: bytes::Bytes) -> Result<Sequence, MeshError> {
        if self.by_name.len() >= MAX_LOGS && !self.by_name.contains_key(&head.name) {
            let names: Vec<Name> = self.by_name.keys().cloned().collect();
            for name in &names {
                self.age(now, name);
            }
            // Discard removed logs, which contain only their fences.
            self.by_name.retain(|_, records| records.iter().any(|(_, record)| record.head.kind != RecordKind::Opened));
            if self.by_name.len() >= MAX_LOGS {
                return Err(full(&format!("begin {}.{}", self.bounds.name, head.name), MAX_LOGS));
            }
        }
        self.last.0 += 1;
        let sequence = self.last;
        let name = head.name.clone();
        self.by_name.entry(name).or_default().push_back((now, Record { sequence, head, body }));
        Ok(sequence)
    }

    fn append(&mut self, now: Time, name: &Name, append: &Append) -> Result<Appended, MeshError> {
        if append.body.len() > log::MAX_APPEND {
            let what = format!("append to {}.{name}", self.bounds.name);
            return Err(full(&what, format_args!("{} bytes in it", log::MAX_APPEND)));
        }
        self.age(now, name);
        let last = self.last(name);
        match log::judge(name, last, append, self.bounds, now.as_nanos() / 1_000_000_000) {
            Verdict::Refuse(why) => Ok(why),
            Verdict::Store(head, unneeded) => {
                let sequence = self.store(now, head, append.body.clone())?;
                if let Some(first) = unneeded
                    && let Some(records) = self.by_name.get_mut(name)
                {
                    while records.front().is_some_and(|(_, record)| record.sequence < first) {
                        records.pop_front();
                    }
                }
                Ok(Appended::Stored(sequence))
            }
        }
    }

    fn open(&mut self, now: Time, name: &Name, fence: Fence) -> Result<Appended, MeshError> {
        self.age(now, name);
        match log::open(name, self.last(name), fence) {
            Err(fence) => Ok(Appended::Fenced(fence)),
            Ok(head) => Ok(Appended::Stored(self.store(now, head, bytes::Bytes::new())?)),
        }
    }

    // The first record after `sequence`, or the last anchor.
    fn after(&self, name: &Name, sequence: Option<Sequence>) -> Option<&Record> {
        let records = self.by_name.get(name)?;
        let place = match sequence {
            Some(sequence) => records.partition_point(|(_, record)| record.sequence <= sequence),
            None => records.iter().rposition(|(_, record)| record.head.kind == RecordKind::Anchor)?,
        };
        records.get(place).map(|(_, record)| record)
    }
}

impl Events for Local {
    fn publish<'a>(&'a self, room: &'a Name, event: &'a Append) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(async move {
            let now = self.now();
            let appended = self.state().events.append(now, room, event);
            self.changed();
            appended
        })
    }

    fn follow<'a>(&'a self, room: &'a Name, after: Option<Sequence>) -> Answer<'a, Result<Box<dyn Follow>, MeshError>> {
        let (local, room) = (self.clone(), room.clone());
        let begin = || {
            let events = &self.state().events;
            let anchor = events.after(&room, None).map(|anchor| anchor.sequence.0 - 1);
            Sequence(anchor.unwrap_or(events.last.0))
        };
        let at = Some(after.unwrap_or_else(begin));
        let follow: Box<dyn Follow> = Box::new(Following { local, room, at, chain: Chain::after(after) });
        Box::pin(async move { Ok(follow) })
    }
}

struct Following {
    local: Local,
    room: Name,
    at: Option<Sequence>,
    chain: Chain,
}

impl Follow for Following {
    fn next(&mut self) -> Answer<'_, Result<Event, MeshError>> {
        let Self { local, room, at, chain } = self;
        Box::pin(local.0.changes.wait(|| {
            let state = local.state();
            loop {
                let record = state.events.after(room, *at)?;
                let taken = chain.take(record);
                *at = Some(record.sequence).filter(|_| taken != ReadStep::Gap);
                if taken == ReadStep::Deliver {
                    let is_snapshot = record.head.kind == RecordKind::Anchor;
                    return Some(Ok(Event { sequence: record.sequence, is_snapshot, body: record.body.clone() }));
                }
            }
        }))
    }
}

/// Journals of one placement.
trait Placed: Send + Sync {
    fn local(&self) -> &Local;
    fn logs<'a>(&self, state: &'a mut LocalState) -> &'a mut Logs;
}

impl Placed for Local {
    fn local(&self) -> &Local {
        self
    }

    fn logs<'a>(&self, state: &'a mut LocalState) -> &'a mut Logs {
        &mut state.journals
    }
}

impl Placed for LocalHashed {
    fn local(&self) -> &Local {
        &self.0
    }

    fn logs<'a>(&self, state: &'a mut LocalState) -> &'a mut Logs {
        &mut state.hashed
    }
}

impl<T: Placed> Journals for T {
    fn open<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(async move { self.logs(&mut self.local().state()).open(self.local().now(), journal, fence) })
    }

    fn append<'a>(&'a self, journal: &'a Name, piece: &'a Append) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(async move { self.logs(&mut self.local().state()).append(self.local().now(), journal, piece) })
    }

    fn read<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Vec<Piece>, MeshError>> {
        Box::pin(async move { Ok(pieces(self.logs(&mut self.local().state()), journal)) })
    }

    fn remove<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<bool, MeshError>> {
        Box::pin(async move {
            let (now, mut state) = (self.local().now(), self.local().state());
            let logs = self.logs(&mut state);
            let Ok(mut head) = log::open(journal, logs.last(journal), fence) else { return Ok(false) };
            // The marker remains, so that an earlier owner cannot recreate the log.
            head.anchors.clear();
            logs.by_name.remove(journal);
            logs.store(now, head, bytes::Bytes::new())?;
            Ok(true)
        })
    }

    fn trim<'a>(&'a self, journal: &'a Name, before: Sequence) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            if let Some(records) = self.logs(&mut self.local().state()).by_name.get_mut(journal) {
                records.retain(|(_, record)| record.sequence >= before);
            }
            Ok(())
        })
    }

    fn names(&self) -> Answer<'_, Result<Vec<Name>, MeshError>> {
        Box::pin(async move {
            let mut state = self.local().state();
            let logs = self.logs(&mut state);
            let long = logs.by_name.iter().filter(|(_, records)| records.len() > 1);
            Ok(long.map(|(name, _)| name.clone()).collect())
        })
    }

    fn fence<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Option<Fence>, MeshError>> {
        Box::pin(async move { Ok(self.logs(&mut self.local().state()).last(journal).map(|last| last.head.fence)) })
    }
}

fn pieces(journals: &Logs, journal: &Name) -> Vec<Piece> {
    let mut chain = Chain::after(None);
    let records = journals.by_name.get(journal).into_iter().flatten().map(|(_, record)| record);
    let taken = records.filter(|record| chain.take(record) == ReadStep::Deliver);
    taken.map(|record| Piece { is_start: record.head.kind == RecordKind::Anchor, body: record.body.clone() }).collect()
}
