use std::collections::{BTreeMap, VecDeque};

use netcore::{Input, Outbox, Recorded, Time};
use thiserror::Error;

use crate::{
    Arrival, Divergence, Entry, Fact, Facts, Head, HeadError, Journal, Note, ReadError, Reader, Replay, Snapshot,
    Source, codec,
    layout::{self, SegmentPosition, SegmentState, Status},
    peers::Peers,
    record::{self, MAX_BODY, NOTE},
};

#[derive(Debug, Error)]
pub enum SeekError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Head(#[from] HeadError),
    #[error(transparent)]
    Diverges(#[from] Divergence),
}

/// A replay between two arrivals of its journal. Clones continue independently.
#[derive(Debug, Clone)]
pub struct Cursor<E: Recorded> {
    reader: Reader<Source>,
    replay: Replay<E>,
    next: Option<Arrival>,
}

impl<E: Recorded> Cursor<E> {
    /// `reader` must be at the position of `replay`. Call [`read`](Self::read) next.
    pub const fn new(reader: Reader<Source>, replay: Replay<E>) -> Self {
        Self { reader, replay, next: None }
    }

    pub const fn reader(&self) -> &Reader<Source> {
        &self.reader
    }

    pub const fn replay(&self) -> &Replay<E> {
        &self.replay
    }

    /// `None` at the end.
    pub const fn next(&self) -> Option<&Arrival> {
        self.next.as_ref()
    }

    /// Applies and returns the arrival; `None` at the end. Call [`read`](Self::read) next.
    ///
    /// # Errors
    /// [`Divergence`] if the result differs from the match. The cursor is then at its end.
    pub fn apply(&mut self, out: &mut Outbox) -> Result<Option<Arrival>, Divergence> {
        let Some(arrival) = self.next.take() else { return Ok(None) };
        self.replay.apply(&arrival, out)?;
        Ok(Some(arrival))
    }

    /// Reads up to the next arrival. Notes before it are compared with the replay and passed to `note`.
    ///
    /// # Errors
    /// [`SeekError`] if the journal is damaged, or the replay differs from the match. The cursor is then at its end.
    pub fn read(&mut self, mut note: impl FnMut(&Note)) -> Result<(), SeekError> {
        self.next = loop {
            match self.reader.next()? {
                Some(Entry::Arrival(arrival)) => break Some(arrival),
                Some(Entry::Note(found)) => {
                    if let Note::Mark(mark) = &found {
                        self.replay.check(mark)?;
                    }
                    note(&found);
                }
                None => break None,
            }
        };
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
pub struct CheckpointLimits {
    /// Arrivals between two checkpoints; doubled whenever a limit is exceeded.
    pub spacing: u64,
    pub count: usize,
    /// The first checkpoint is kept even if it exceeds the limit.
    pub bytes: usize,
}

/// Copies of a replay at regular distances, to move it to any position.
#[derive(Debug)]
pub struct Checkpoints<T> {
    limits: CheckpointLimits,
    first: u64,
    // By number of arrivals.
    kept: BTreeMap<u64, (usize, T)>,
    bytes: usize,
}

impl<T> Checkpoints<T> {
    /// The replay starts after `first` arrivals.
    pub const fn new(first: u64, limits: CheckpointLimits) -> Self {
        Self { limits, first, kept: BTreeMap::new(), bytes: 0 }
    }

    pub fn is_due(&self, arrivals: u64) -> bool {
        self.is_regular(arrivals) && !self.kept.contains_key(&arrivals)
    }

    fn is_regular(&self, arrivals: u64) -> bool {
        (arrivals - self.first).is_multiple_of(self.limits.spacing)
    }

    /// Adds a checkpoint of about `bytes` bytes. Removes others if a limit is exceeded.
    pub fn add(&mut self, arrivals: u64, bytes: usize, checkpoint: T) {
        self.kept.insert(arrivals, (bytes, checkpoint));
        self.bytes += bytes;
        while self.kept.len() > 1 && (self.kept.len() > self.limits.count || self.bytes > self.limits.bytes) {
            self.limits.spacing *= 2;
            let (first, spacing) = (self.first, self.limits.spacing);
            self.kept.retain(|arrivals, _| (arrivals - first).is_multiple_of(spacing));
            self.bytes = self.kept.values().map(|(bytes, _)| bytes).sum();
        }
    }

    /// The last checkpoint for which `is_before` holds, as it must for all earlier ones.
    pub fn last(&self, mut is_before: impl FnMut(&T) -> bool) -> Option<&T> {
        self.kept.values().rev().map(|(_, checkpoint)| checkpoint).find(|checkpoint| is_before(checkpoint))
    }

    pub fn first(&self) -> Option<&T> {
        self.kept.values().next().map(|(_, checkpoint)| checkpoint)
    }

    pub fn len(&self) -> usize {
        self.kept.len()
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Journal {
    /// A replay from the last state before `time` for which `is_wanted` holds, or else from the first remaining one,
    /// with the records and the facts there.
    pub fn replay_before<E: Recorded>(
        &self,
        time: Time,
        is_wanted: impl Fn(&Replay<E>, &Facts) -> bool,
    ) -> Result<(Reader<Source>, Replay<E>, Facts), SeekError> {
        for index in (0..=self.segment_before(time)?).rev() {
            let mut reader = self.reader_from(index)?;
            if let Some((state, facts)) = last_state(reader.clone(), time)
                && let Ok(replay) = Replay::restore(reader.head(), &state)
                && is_wanted(&replay, &facts)
            {
                reader.go_to(&state)?;
                return Ok((reader, replay, facts));
            }
            let begins_before = reader.head().base.as_ref().is_some_and(|base| base.mark.time < time);
            let facts = reader.head().facts();
            if begins_before
                && let Ok(replay) = Replay::start(reader.head())
                && is_wanted(&replay, &facts)
            {
                return Ok((reader, replay, facts));
            }
        }
        let reader = self.reader()?;
        let (replay, facts) = (Replay::start(reader.head())?, reader.head().facts());
        Ok((reader, replay, facts))
    }
}

// The last state before `time`, with its facts. Damage is reported when the records are replayed.
fn last_state(mut reader: Reader<Source>, time: Time) -> Option<(Snapshot, Facts)> {
    let mut last: Option<Snapshot> = None;
    let mut facts = reader.head().facts();
    // Facts that may be newer than the last snapshot, which is recorded after the moment of its state.
    let mut recent: VecDeque<(u64, Fact)> = VecDeque::new();
    let mut position = reader.position();
    while let Ok(Some(entry)) = reader.next() {
        match entry {
            Entry::Note(Note::Snapshot(state)) if state.mark.time < time => {
                while recent.front().is_some_and(|(position, _)| *position < state.offset)
                    && let Some((_, fact)) = recent.pop_front()
                {
                    fact.apply_to(&mut facts);
                }
                last = Some(state);
            }
            Entry::Note(Note::Fact(fact)) => recent.push_back((position, fact)),
            Entry::Arrival(arrival) if arrival.time >= time => break,
            _ => {}
        }
        position = reader.position();
    }
    last.map(|last| (last, facts))
}

/// A part of a match as a journal in memory, for a bug report.
#[derive(Debug)]
pub struct Excerpt {
    bytes: Vec<u8>,
    sum: u32,
    micros: u64,
    peers: Peers,
    body: Vec<u8>,
}

impl Excerpt {
    /// If the excerpt does not start at the beginning of the match, `head` contains its initial state.
    pub fn new(head: &Head) -> Self {
        let status = Status { sequence: 0, state: SegmentState::Open, synced: 0, end: 0 };
        let mut excerpt = Self {
            bytes: layout::front(SegmentPosition::FIRST, status),
            sum: 0,
            micros: 0,
            peers: Peers::default(),
            body: vec![],
        };
        if let Some(base) = &head.base {
            excerpt.micros = base.mark.time.as_nanos() / 1_000;
            excerpt.peers = Peers::restore(base.next_peer, &base.peers);
        }
        codec::encode(head, &mut excerpt.body);
        excerpt.put();
        excerpt
    }

    /// Skips snapshots, because they contain offsets.
    pub fn push(&mut self, entry: &Entry) {
        let (kind, slot, time) = match entry {
            Entry::Arrival(arrival) => {
                (record::kind_of(&arrival.input), self.peers.slot_of(&arrival.input), arrival.time.as_nanos() / 1_000)
            }
            Entry::Note(Note::Snapshot(_)) => return,
            Entry::Note(Note::Mark(mark)) => {
                self.micros = self.micros.max(mark.time.as_nanos() / 1_000);
                (NOTE, Some(0), self.micros)
            }
            Entry::Note(_) => (NOTE, Some(0), self.micros),
        };
        let Some(slot) = slot else { return };
        let micros = time.saturating_sub(self.micros);
        self.micros = self.micros.max(time);
        self.body.clear();
        record::RecordHead { kind, slot, micros }.put(&mut self.body);
        match entry {
            Entry::Arrival(arrival) => {
                record::put_input(&arrival.input, &mut self.body);
                if let Input::Connected { .. } | Input::Disconnected { .. } = &arrival.input {
                    self.peers.follow(&arrival.input, std::iter::empty());
                }
            }
            Entry::Note(note) => {
                record::put_note(note, &mut self.body, MAX_BODY);
            }
        }
        self.put();
    }

    /// Closes the journal.
    pub fn into_bytes(mut self) -> Vec<u8> {
        let end = self.bytes.len() as u64;
        let status = Status { sequence: 1, state: SegmentState::Closed, synced: end, end };
        let slot = status.to_bytes();
        let at = usize::try_from(status.offset()).unwrap_or(usize::MAX);
        if let Some(place) = self.bytes.get_mut(at..at.saturating_add(slot.len())) {
            place.copy_from_slice(&slot);
        }
        self.bytes
    }

    fn put(&mut self) {
        record::put(&self.body, &mut self.sum, &mut self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_thinned_out_within_their_limits() {
        let limits = CheckpointLimits { spacing: 4, count: 8, bytes: 100 };
        let mut checkpoints = Checkpoints::new(10, limits);
        for arrivals in 10..1_000 {
            if checkpoints.is_due(arrivals) {
                checkpoints.add(arrivals, 10, arrivals);
            }
            assert!((1..=8).contains(&checkpoints.len()) && checkpoints.bytes() == 10 * checkpoints.len());
        }
        assert_eq!(checkpoints.first(), Some(&10));
        assert!(checkpoints.len() >= 4);
        assert!(checkpoints.last(|arrivals| *arrivals <= 600).is_some_and(|found| (300..=600).contains(found)));
        // A large checkpoint leaves only the first one.
        checkpoints.add(1_034, 1_000, 1_034);
        assert!(checkpoints.len() == 1 && checkpoints.bytes() <= 100);
    }
}
