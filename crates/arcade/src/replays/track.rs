use std::{any::Any, collections::BTreeMap, io, iter, mem::size_of, path::PathBuf, time::Duration};

use bytes::Bytes;
use cmdkit::display_name;
use journal_core::{Arrival, CheckpointLimits, Checkpoints, Cursor, Fact, Note, ReadError};
use netcore::{GameEvent, Occupant, Outbox, Output, PeerId, Time, To};
use serde::Serialize;

use crate::{
    games::{Change, Relevance, Replayable},
    room::register::{Description, SeatFact},
};

const STATES: CheckpointLimits = CheckpointLimits { spacing: 128, count: 64, bytes: 64 << 20 };
const MAX_MARKS: usize = 2_000;
const MAX_PERIODS: usize = 4_096;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("the journal of this match is gone, so it cannot be shown again")]
    Gone,
    #[error("this match cannot be shown again: {0}")]
    Damaged(String),
    #[error("this match cannot be shown again: its end is not in the journal")]
    Unfinished,
    #[error("no player had the seat '{0}' in this match")]
    NoSeat(String),
    #[error("this was today's puzzle or challenge, so it is shown when the day is over in Greenwich")]
    Today,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Timeline {
    /// In milliseconds.
    pub(crate) length: u64,
    pub(crate) seats: Vec<SeatView>,
    pub(crate) marks: Vec<Mark>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SeatView {
    pub(crate) seat: String,
    pub(crate) name: String,
    /// The name in messages of the game, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wire: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Mark {
    /// Milliseconds since the match began.
    pub(crate) at: u64,
    #[serde(flatten)]
    pub(crate) change: Change,
}

#[derive(Debug, Clone)]
pub(super) struct ReplayRequest {
    pub(super) game: String,
    pub(super) path: PathBuf,
    pub(super) number: u32,
    // In microseconds of the room's time.
    pub(super) begins: u64,
    pub(super) ends: u64,
    /// Shows a match without its end in the journal up to its last arrival.
    pub(super) unfinished: bool,
}

/// A match whose arrivals are still in its journal, counted as by [`Replay::arrivals`](journal_core::Replay::arrivals).
#[derive(Debug)]
pub(crate) struct Track {
    // A `Cursor` of the engine. A copy continues without recomputing the visible parts of a map, unlike a decoded
    // state.
    states: Checkpoints<Box<dyn Any + Send + Sync>>,
    /// The number of arrivals up to the start of the match, and up to its end.
    pub(super) first: u64,
    last: u64,
    pub(super) periods: Vec<SeatPeriod>,
    /// In a game with rounds: messages that stay relevant after their round, the first messages of rounds, and all
    /// messages at the start of the match.
    pub(super) relevant: Vec<RelevantMessage>,
    pub(super) seal: Option<Seal>,
    begins: u64,
    ends: u64,
    /// In the order of joining.
    pub(super) seats: Vec<SeatView>,
    pub(super) marks: Vec<Mark>,
}

/// Hides a match until the day is over, in days since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seal {
    /// The messages to players would reveal a puzzle.
    Seats(u32),
    /// Each part would help in a challenge.
    Whole(u32),
}

#[derive(Debug)]
pub(super) struct RelevantMessage {
    /// The number of arrivals until it was sent.
    pub(super) arrivals: u64,
    pub(super) peer: PeerId,
    pub(super) frame: Bytes,
    pub(super) relevance: Relevance,
}

#[derive(Debug, Clone)]
pub(super) struct SeatPeriod {
    /// The number of arrivals until the player took the seat.
    pub(super) since: u64,
    pub(super) seat: String,
    pub(super) peer: PeerId,
}

fn damaged(error: impl std::fmt::Display) -> ReplayError {
    ReplayError::Damaged(error.to_string())
}

impl Track {
    /// Fails if the journal cannot be read, or lacks the match.
    pub(super) fn read<E: Replayable>(request: &ReplayRequest) -> Result<Self, ReplayError> {
        let journal = journal_core::open(&request.path).map_err(|error| match error {
            ReadError::Io(error) if error.kind() == io::ErrorKind::NotFound => ReplayError::Gone,
            error => damaged(error),
        })?;
        let begins = Time::from_nanos(request.begins.saturating_mul(1_000));
        let (reader, replay, facts) = journal.replay_before::<E>(begins, |_, _| true).map_err(damaged)?;
        let head = reader.head();
        if head.base.is_some() && replay.time() >= begins {
            return Err(ReplayError::Gone);
        }
        let puzzle = || E::day(&head.setup::<E>().ok()?, Duration::from_micros(request.begins)).map(Seal::Seats);
        let seal = Description::of(&facts).and_then(|of| of.day).map(Seal::Whole).or_else(puzzle);
        let mut cursor = Cursor::new(reader, replay);
        let track = Self {
            states: Checkpoints::new(0, STATES),
            first: 0,
            last: u64::MAX,
            periods: vec![],
            relevant: vec![],
            seal,
            begins: request.begins,
            ends: request.ends,
            seats: vec![],
            marks: vec![],
        };
        let mut draft = Draft { track, number: request.number, phase: Phase::Before, renamed: BTreeMap::new() };
        for (seat, fact) in SeatFact::all(&facts) {
            draft.note(&seat, fact);
        }
        for Occupant { peer, name, seat } in cursor.replay().room().engine().roster() {
            if !seat.is_empty() {
                draft.sit(&cursor, false, peer, seat, &name);
            }
        }
        let mut out = Outbox::new();
        draft.read(&mut cursor)?;
        while draft.take(&mut cursor, &mut out)? && draft.phase != Phase::Over {
            draft.keep_state(&cursor);
        }
        if request.unfinished && draft.phase == Phase::Playing {
            draft.track.last = cursor.replay().arrivals();
            draft.track.ends = cursor.replay().time().as_nanos() / 1_000;
        } else if draft.phase != Phase::Over {
            return Err(ReplayError::Unfinished);
        }
        Ok(draft.track)
    }

    /// In milliseconds.
    pub(super) const fn length(&self) -> u64 {
        self.ends.saturating_sub(self.begins).div_ceil(1_000)
    }

    pub(super) const fn begins(&self) -> Time {
        Time::from_nanos(self.begins.saturating_mul(1_000))
    }

    /// Since the start of the match.
    pub(super) const fn seconds(&self, time: Time) -> f64 {
        time.since(self.begins()).as_secs_f64()
    }

    /// The seat of the peer when this arrival was processed.
    pub(super) fn seat_of(&self, peer: PeerId, arrival: u64) -> Option<&str> {
        let period = self.periods.iter().rfind(|period| period.peer == peer && period.since <= arrival)?;
        self.has(&period.seat).then_some(&period.seat)
    }

    pub(super) fn has(&self, seat: &str) -> bool {
        self.seats.iter().any(|known| known.seat == seat)
    }

    /// In milliseconds.
    pub(super) const fn since_begin(&self, time: Time) -> u64 {
        (time.as_nanos() / 1_000).saturating_sub(self.begins) / 1_000
    }

    pub(super) fn next<'a, E: Replayable>(&self, cursor: &'a Cursor<E>) -> Option<&'a Arrival> {
        cursor.next().filter(|_| cursor.replay().arrivals() < self.last)
    }

    pub(super) fn apply<E: Replayable>(&self, cursor: &mut Cursor<E>, out: &mut Outbox) -> Result<(), ReplayError> {
        if cursor.apply(out).map_err(damaged)?.is_none() {
            return Err(damaged("its arrivals are gone"));
        }
        // Entries after the match may be damaged.
        if cursor.replay().arrivals() < self.last {
            cursor.read(|_| {}).map_err(damaged)?;
        }
        Ok(())
    }

    /// The last state for which `is_before` holds, or else the first one.
    pub(super) fn start<E: Replayable>(
        &self,
        is_before: impl Fn(&Cursor<E>) -> bool,
    ) -> Result<Cursor<E>, ReplayError> {
        let found = self.states.last(|state| state.downcast_ref().is_some_and(&is_before));
        let cursor = found.or(self.states.first()).and_then(|state| state.downcast_ref::<Cursor<E>>());
        cursor.cloned().ok_or_else(|| ReplayError::Damaged("it has no beginning".into()))
    }

    #[cfg(test)]
    pub(super) fn states(&self) -> usize {
        self.states.len()
    }

    /// In memory.
    pub(super) fn bytes(&self) -> usize {
        let relevant = self.relevant.iter().map(|relevant| size_of::<RelevantMessage>() + relevant.frame.len());
        self.states.bytes() + relevant.sum::<usize>() + size_of::<SeatPeriod>() * self.periods.len()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Playing,
    Over,
}

struct Draft {
    track: Track,
    number: u32,
    phase: Phase,
    // Players by seat whose name differs in messages of the game.
    renamed: BTreeMap<String, SeatFact>,
}

impl Draft {
    fn note(&mut self, seat: &str, fact: SeatFact) {
        if fact.wire.is_none() {
            self.renamed.remove(seat);
        } else if self.renamed.len() < MAX_PERIODS {
            self.renamed.insert(seat.to_owned(), fact);
        }
    }

    fn read<E: Replayable>(&mut self, cursor: &mut Cursor<E>) -> Result<(), ReplayError> {
        let note = |note: &Note| {
            if let Note::Fact(Fact { key, value }) = note
                && let (Some(seat), Some(fact)) = (SeatFact::seat(key), SeatFact::of(value))
            {
                self.note(seat, fact);
            }
        };
        cursor.read(note).map_err(damaged)
    }

    // The real name of the player with this name in messages, unless namesakes have it.
    fn real(&self, wire: &str) -> String {
        let mut names = self.renamed.values().filter(|fact| fact.wire() == wire).map(|fact| &fact.name);
        let name = names.next().filter(|name| names.all(|other| other == *name));
        name.map_or(wire, String::as_str).to_owned()
    }

    fn take<E: Replayable>(&mut self, cursor: &mut Cursor<E>, out: &mut Outbox) -> Result<bool, ReplayError> {
        let has_begun = self.phase == Phase::Playing;
        if !has_begun {
            // Only messages of the arrival that begins the match remain.
            self.track.relevant.clear();
        }
        let before = has_begun.then(|| cursor.replay().room().engine().probe(|wire| self.real(wire)));
        if cursor.apply(out).map_err(damaged)?.is_none() {
            return Ok(false);
        }
        let index = cursor.replay().arrivals();
        // The facts about an arrival follow it. Entries after the match may be damaged.
        let read = self.read(cursor);
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } if E::HAS_ROUNDS => {
                    self.sent::<E>(index, has_begun, peer, &E::frame(&frame));
                }
                Output::Event(GameEvent::Joined { peer, name, seat }) if !name.is_empty() => {
                    self.sit(cursor, has_begun, peer, seat, &name);
                }
                Output::Event(GameEvent::Left { peer, name, seat, .. }) if !name.is_empty() && !seat.is_empty() => {
                    if has_begun {
                        let name = self.real(&name);
                        self.mark(cursor.replay().time(), Change::new("left", format!("{name} leaves")));
                    } else {
                        self.track.periods.retain(|period| period.peer != peer);
                        self.track.seats.retain(|known| known.seat != seat);
                    }
                }
                Output::Event(GameEvent::Started { game, .. }) if game == self.number && !has_begun => {
                    self.phase = Phase::Playing;
                }
                Output::Event(GameEvent::Ended { game, standings, .. }) if game == self.number && has_begun => {
                    (self.phase, self.track.last) = (Phase::Over, index);
                    let played = |seat: &str| standings.iter().any(|standing| standing.seat == seat);
                    self.track.seats.retain(|known| played(&known.seat));
                }
                _ => {}
            }
        }
        match before {
            Some(before) => {
                let after = cursor.replay().room().engine().probe(|wire| self.real(wire));
                for change in E::changes(&before, &after) {
                    self.mark(cursor.replay().time(), change);
                }
            }
            None if self.phase == Phase::Playing => {
                self.track.first = index;
                self.track.states = Checkpoints::new(index, STATES);
                self.track.periods.iter_mut().for_each(|period| period.since = index);
            }
            None => {}
        }
        if self.phase != Phase::Over {
            read?;
        }
        Ok(true)
    }

    fn sit<E: Replayable>(&mut self, cursor: &Cursor<E>, has_begun: bool, peer: PeerId, seat: String, name: &str) {
        let fact = self.renamed.get(&seat).filter(|fact| fact.wire() == name);
        let wire = fact.and_then(|fact| fact.wire.clone());
        let name = display_name(fact.map_or(name, |fact| &fact.name)).into_owned();
        if self.track.periods.len() >= MAX_PERIODS {
            return;
        }
        if has_begun {
            self.mark(cursor.replay().time(), Change::new("joined", format!("{name} joins")));
        }
        match self.track.seats.iter_mut().find(|known| known.seat == seat) {
            // Before the match, seats of an earlier game are free again.
            Some(known) if !has_begun => (known.name, known.wire) = (name, wire),
            Some(_) => {}
            None => self.track.seats.push(SeatView { seat: seat.clone(), name, wire }),
        }
        self.track.periods.push(SeatPeriod { since: cursor.replay().arrivals(), seat, peer });
    }

    fn sent<E: Replayable>(&mut self, arrivals: u64, has_begun: bool, peer: PeerId, frame: &Bytes) {
        let relevance = E::relevance(frame);
        if relevance != Relevance::Round || !has_begun {
            self.track.relevant.push(RelevantMessage { arrivals, peer, frame: frame.clone(), relevance });
        }
    }

    fn mark(&mut self, time: Time, mut change: Change) {
        if self.track.marks.len() < MAX_MARKS {
            let at = self.track.since_begin(time);
            for text in iter::once(&mut change.text).chain(&mut change.name) {
                *text = display_name(text).into_owned();
            }
            self.track.marks.push(Mark { at, change });
        }
    }

    fn keep_state<E: Replayable>(&mut self, cursor: &Cursor<E>) {
        let arrivals = cursor.replay().arrivals();
        if self.phase == Phase::Playing && self.track.states.is_due(arrivals) {
            self.track.states.add(arrivals, cursor.replay().weight(), Box::new(cursor.clone()));
        }
    }
}
