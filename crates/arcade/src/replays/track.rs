//! A match in memory: what arrived, and states to begin from.

use std::{any::Any, io, mem::size_of, time::Duration};

use bytes::Bytes;
use cmdkit::display_name;
use journal_core::{Arrival, Entry, Note, ReadError, Replay};
use netcore::{GameEvent, Input, Occupant, Outbox, Output, PeerId, Time, To};

use super::timeline::{Mark, ReplayError, SeatView, Wanted};
use crate::games::{Lasts, Marked};

/// Arrivals between two states. Doubles when there are too many states.
const SPACING: usize = 128;
/// States of one match, and the memory that they take together.
const MAX_STATES: usize = 64;
const MAX_STATE_BYTES: usize = 64 << 20;
/// How many times the length of its encoding a state takes in memory, not less.
const WEIGHT: usize = 4;
/// Memory of the arrivals of one match.
const MAX_ARRIVAL_BYTES: usize = 64 << 20;
/// Things that are marked on a timeline.
const MAX_MARKS: usize = 2_000;
/// Changes of seats in one match.
const MAX_SITTINGS: usize = 4_096;

/// A match in memory.
#[derive(Debug)]
pub(crate) struct Track {
    /// What arrived after the match had begun, to its end.
    pub(super) arrivals: Vec<Arrival>,
    /// States, with the number of arrivals before each. The first is that at the beginning.
    pub(super) states: Vec<State>,
    /// Who took which seat when, by the number of arrivals before.
    pub(super) sittings: Vec<Sitting>,
    /// In a game that has rounds, the messages that count further than for their round, the first ones of rounds, and all with which
    /// the match began.
    pub(super) lasting: Vec<Lasting>,
    /// The day of its puzzle, if it has one.
    pub(super) day: Option<u32>,
    pub(super) begins: u64,
    ends: u64,
    /// In the order of joining.
    pub(super) seats: Vec<SeatView>,
    pub(super) marks: Vec<Mark>,
    /// The memory that it takes.
    pub(super) bytes: usize,
}

/// A replay after so many arrivals. A copy of it goes on at once; restoring a state would compute again all that is seen on the
/// map.
#[derive(Debug)]
pub(super) struct State {
    pub(super) arrivals: usize,
    /// A `Replay` of the engine of the match.
    pub(super) replay: Box<dyn Any + Send + Sync>,
    // What it takes, about.
    bytes: usize,
}

/// A message that was sent to a player.
#[derive(Debug)]
pub(super) struct Lasting {
    /// The number of arrivals after which it was sent.
    pub(super) arrivals: usize,
    pub(super) peer: PeerId,
    pub(super) frame: Bytes,
    pub(super) lasts: Lasts,
}

/// Somebody took a seat.
#[derive(Debug, Clone)]
pub(super) struct Sitting {
    pub(super) since: usize,
    pub(super) seat: String,
    pub(super) peer: PeerId,
}

// What is put together while a journal is read.
struct Draft<E: Marked> {
    replay: Replay<E>,
    track: Track,
    number: u32,
    spacing: usize,
    state_bytes: usize,
    begun: bool,
}

impl Track {
    /// Reads a match from its journal. Fails when the journal cannot be read, or the match is not in it.
    pub(super) fn read<E: Marked>(wanted: &Wanted) -> Result<Self, ReplayError> {
        let damaged = |error: &dyn std::fmt::Display| ReplayError::Damaged(error.to_string());
        let journal = journal_core::open(&wanted.path).map_err(|error| match error {
            ReadError::Io(error) if error.kind() == io::ErrorKind::NotFound => ReplayError::Gone,
            error => damaged(&error),
        })?;
        let begins = Time::from_nanos(wanted.begins.saturating_mul(1_000));
        let from = journal.segment_before(begins).map_err(|error| damaged(&error))?;
        let mut reader = journal.reader_from(from).map_err(|error| damaged(&error))?;
        let head = reader.head().clone();
        if head.base.as_ref().is_some_and(|base| base.mark.time >= begins) {
            return Err(ReplayError::Gone);
        }
        // The last state before the match, so that the matches before it are not replayed too.
        let mut before = None;
        while let Some(entry) = reader.next().map_err(|error| damaged(&error))? {
            match entry {
                Entry::Note(Note::Snapshot(state)) if state.mark.time.as_nanos() / 1_000 < wanted.begins => {
                    before = Some(state);
                }
                Entry::Arrival(arrival) if arrival.time.as_nanos() / 1_000 > wanted.begins => break,
                _ => {}
            }
        }
        let mut reader = journal.reader_from(from).map_err(|error| damaged(&error))?;
        let restored = before.and_then(|state| Some((Replay::<E>::restore(&head, &state).ok()?, state)));
        let replay = match restored {
            Some((replay, state)) => {
                reader.go_to(&state).map_err(|error| damaged(&error))?;
                replay
            }
            None => Replay::start(&head).map_err(|error| damaged(&error))?,
        };
        let track = Self {
            arrivals: vec![],
            states: vec![],
            sittings: vec![],
            lasting: vec![],
            day: head.setup::<E>().ok().and_then(|setup| E::day(&setup, Duration::from_micros(wanted.begins))),
            begins: wanted.begins,
            ends: wanted.ends,
            seats: vec![],
            marks: vec![],
            bytes: 0,
        };
        let number = wanted.number;
        let mut draft = Draft { replay, track, number, spacing: SPACING, state_bytes: 0, begun: false };
        for Occupant { peer, name, seat } in draft.replay.room().engine().roster() {
            if !seat.is_empty() {
                draft.sit(0, peer, seat, &name);
            }
        }
        let mut out = Outbox::new();
        while let Some(entry) = reader.next().map_err(|error| damaged(&error))? {
            match entry {
                Entry::Arrival(arrival) => {
                    if draft.take(arrival, &mut out).map_err(|error| damaged(&error))? {
                        return draft.finish();
                    }
                }
                Entry::Note(Note::Broken) => break,
                Entry::Note(_) => {}
            }
        }
        if wanted.unfinished && draft.begun {
            draft.track.ends = draft.replay.time().as_nanos() / 1_000;
            return draft.finish();
        }
        Err(ReplayError::Unfinished)
    }

    /// Milliseconds from the beginning to the end.
    pub(super) const fn length(&self) -> u64 {
        self.ends.saturating_sub(self.begins).div_ceil(1_000)
    }

    /// Milliseconds since the beginning at a time of the room, which is in nanoseconds.
    pub(super) const fn since_begin(&self, nanos: u64) -> u64 {
        (nanos / 1_000).saturating_sub(self.begins) / 1_000
    }
}

impl<E: Marked> Draft<E> {
    // Applies an arrival; returns whether the match is over.
    fn take(&mut self, arrival: Arrival, out: &mut Outbox) -> Result<bool, String> {
        if !self.begun {
            // Only those of the arrival with which the match begins stay.
            self.track.lasting.clear();
        }
        let before = self.begun.then(|| self.replay.room().engine().probe());
        self.replay.apply(&arrival, out).map_err(|error| error.to_string())?;
        let index = self.track.arrivals.len() + usize::from(self.begun);
        let mut over = false;
        let mut begins = false;
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } if E::HAS_ROUNDS => {
                    self.told(index, peer, &E::frame(&frame));
                }
                Output::Event(GameEvent::Joined { peer, name, seat }) if !name.is_empty() => {
                    self.sit(index, peer, seat, &name);
                }
                Output::Event(GameEvent::Left { peer, name, seat, .. }) if !name.is_empty() && !seat.is_empty() => {
                    if self.begun {
                        self.mark("left", &format!("{name} leaves"));
                    } else {
                        self.track.sittings.retain(|sitting| sitting.peer != peer);
                        self.track.seats.retain(|known| known.seat != seat);
                    }
                }
                Output::Event(GameEvent::Started { game, .. }) => begins = game == self.number,
                Output::Event(GameEvent::Ended { game, standings, .. }) if game == self.number && self.begun => {
                    over = true;
                    let played = |seat: &str| standings.iter().any(|standing| standing.seat == seat);
                    self.track.seats.retain(|known| played(&known.seat));
                }
                _ => {}
            }
        }
        if let Some(before) = before {
            let engine = self.replay.room().engine();
            for (kind, text) in E::changes(&before, &engine.probe()) {
                self.mark(kind, &text);
            }
            self.track.bytes += size_of::<Arrival>() + weight(&arrival);
            if self.track.bytes > MAX_ARRIVAL_BYTES {
                return Err("it is too long to be kept in memory".into());
            }
            self.track.arrivals.push(arrival);
            if self.track.arrivals.len().is_multiple_of(self.spacing) {
                self.keep_state();
            }
        } else if begins {
            self.begun = true;
            self.track.sittings.iter_mut().for_each(|sitting| sitting.since = 0);
            self.keep_state();
        }
        Ok(over)
    }

    fn sit(&mut self, since: usize, peer: PeerId, seat: String, name: &str) {
        let name = display_name(name).into_owned();
        if self.track.sittings.len() >= MAX_SITTINGS {
            return;
        }
        if self.begun {
            self.mark("joined", &format!("{name} joins"));
        }
        match self.track.seats.iter_mut().find(|known| known.seat == seat) {
            // Before the match the seat of a game before is free again.
            Some(known) if !self.begun => known.name = name,
            Some(_) => {}
            None => self.track.seats.push(SeatView { seat: seat.clone(), name }),
        }
        self.track.sittings.push(Sitting { since, seat, peer });
    }

    fn told(&mut self, arrivals: usize, peer: PeerId, frame: &Bytes) {
        let lasts = E::lasts(frame);
        if lasts != Lasts::ForItsRound || !self.begun {
            self.track.lasting.push(Lasting { arrivals, peer, frame: frame.clone(), lasts });
        }
    }

    fn mark(&mut self, kind: &'static str, text: &str) {
        if self.track.marks.len() < MAX_MARKS {
            let at = self.track.since_begin(self.replay.time().as_nanos());
            // There are names in it.
            self.track.marks.push(Mark { at, kind, text: display_name(text).into_owned() });
        }
    }

    fn keep_state(&mut self) {
        // In memory the state has also what can be computed from it.
        let bytes = WEIGHT * self.replay.snapshot().size();
        self.state_bytes += bytes;
        let replay = Box::new(self.replay.clone());
        self.track.states.push(State { arrivals: self.track.arrivals.len(), replay, bytes });
        while self.track.states.len() > 1
            && (self.track.states.len() > MAX_STATES || self.state_bytes > MAX_STATE_BYTES)
        {
            self.spacing *= 2;
            let spacing = self.spacing;
            self.track.states.retain(|state| state.arrivals.is_multiple_of(spacing));
            self.state_bytes = self.track.states.iter().map(|state| state.bytes).sum();
        }
    }

    fn finish(mut self) -> Result<Track, ReplayError> {
        if self.track.states.is_empty() {
            return Err(ReplayError::Damaged("its beginning is not in the journal".into()));
        }
        let lasting = self.track.lasting.iter().map(|lasting| size_of::<Lasting>() + lasting.frame.len());
        self.track.bytes += self.state_bytes + lasting.sum::<usize>();
        Ok(self.track)
    }
}

fn weight(arrival: &Arrival) -> usize {
    match &arrival.input {
        Input::Message { message: bytes, .. } => bytes.len(),
        _ => 0,
    }
}
