//! A match that can be wound forward and back.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, bail};
use cmdkit::file_name;
use journal::{Arrival, Entry, Head, Note, Reader, Replay, What};
use netcore::{GameEvent, Outbox, Output, PeerId, Time, To};

use crate::{
    deeds::{Cast, Deed, Guest, Newest},
    games::{Eye, Game},
    panics,
    source::{Source, open},
    words,
};

/// Bytes of the copies that are kept to wind back to, about.
const KEPT_BYTES: usize = 192 << 20;
/// Copies at least and at most.
const LEAST_KEPT: usize = 8;
const MOST_KEPT: usize = 256;
/// Arrivals between two copies of a short match. It doubles whenever there are too many copies.
const SPACING: u64 = 256;

/// Where to wind to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Behind so many arrivals.
    Arrivals(u64),
    /// Behind all that had arrived at this time.
    Time(Time),
    /// To the end of a turn of a game.
    Turn {
        /// The game, by number.
        game: u32,
        /// The turn.
        turn: u64,
    },
    /// To the next turn, or the next arrival where there are none.
    Step,
    /// To the end.
    End,
}

/// Where a match ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct End {
    /// Arrivals in all.
    pub arrivals: u64,
    /// When it ends.
    pub time: Time,
}

/// A replay of a match and what is seen of it.
#[derive(Debug)]
pub struct Film<E: Game> {
    start: End,
    end: End,
    seat: Option<String>,
    now: Moment<E>,
    kept: BTreeMap<u64, Moment<E>>,
    spacing: u64,
}

// The match as it is between two arrivals.
#[derive(Debug, Clone)]
struct Moment<E: Game> {
    reader: Reader<Source>,
    next: Option<Arrival>,
    replay: Replay<E>,
    eye: E::Eye,
    cast: Cast,
    newest: Newest,
    // Who has the seat from which the match is seen.
    seated: Option<PeerId>,
    // Why there is nothing behind it.
    trouble: Option<String>,
}

impl<E: Game> Film<E> {
    /// The match in a file, seen by one who looks on or from a seat.
    ///
    /// # Errors
    /// When it cannot be read or replayed, or nobody ever had that seat.
    pub fn open(path: &Path, seat: Option<&str>) -> anyhow::Result<Self> {
        let opened = open(path)?;
        let end = length(opened.reader.clone());
        let replay = Replay::start(opened.reader.head()).with_context(|| file_name(path))?;
        if let Some(seat) = seat {
            check_seat(path, opened.reader.clone(), &replay, seat)?;
        }
        let mut eye = E::Eye::new(seat.is_some());
        eye.begin(&replay);
        let cast = Cast::of(&replay);
        let mut seated = None;
        let sitting = replay.peers().find_map(|peer| {
            let guest = cast.guest(peer.peer)?;
            is_wanted::<E>(seat?, guest).then(|| (peer, guest.clone()))
        });
        if let Some((peer, guest)) = sitting {
            eye.sit(&guest, peer.link, replay.time());
            seated = Some(peer.peer);
        }
        let start = End { arrivals: replay.arrivals(), time: replay.time() };
        let newest = Newest::default();
        let mut now = Moment { reader: opened.reader, next: None, replay, eye, cast, newest, seated, trouble: None };
        now.read(|_| {});
        Ok(Self { start, end, seat: seat.map(str::to_owned), now, kept: BTreeMap::new(), spacing: SPACING })
    }

    /// What the journal says of the match.
    pub fn head(&self) -> &Head {
        self.now.reader.head()
    }

    /// Where it begins: not at zero if it is a part of a longer match.
    pub const fn start(&self) -> End {
        self.start
    }

    /// Where it ends.
    pub const fn end(&self) -> End {
        self.end
    }

    /// Arrivals so far.
    pub const fn arrivals(&self) -> u64 {
        self.now.replay.arrivals()
    }

    /// The time of the last arrival.
    pub const fn time(&self) -> Time {
        self.now.replay.time()
    }

    /// The time of the next arrival; none at the end.
    pub fn next_time(&self) -> Option<Time> {
        self.now.next.as_ref().map(|arrival| arrival.time)
    }

    /// The last turn, where there are turns.
    pub fn turn(&self) -> Option<u64> {
        self.now.replay.room().engine().turn()
    }

    /// The game that was begun last.
    pub const fn game(&self) -> u32 {
        self.now.cast.game()
    }

    /// Why the match cannot be seen any further.
    pub fn trouble(&self) -> Option<&str> {
        self.now.trouble.as_deref()
    }

    /// What was done last, newest first.
    pub fn deeds(&self) -> impl Iterator<Item = String> {
        self.now.newest.iter().filter_map(Deed::words::<E>)
    }

    /// What is seen, and of what.
    pub const fn scene(&mut self) -> (&mut E::Eye, &Replay<E>) {
        (&mut self.now.eye, &self.now.replay)
    }

    /// Goes to the last copy before `goal`, if that saves anything, and says whether that is back. To be called before it is gone
    /// forward to.
    pub fn rewind(&mut self, goal: Goal) -> bool {
        // The next step is never far.
        if goal == Goal::Step {
            return false;
        }
        let now = self.arrivals();
        let is_before = |moment: &Moment<E>| match goal {
            Goal::Arrivals(arrivals) => moment.replay.arrivals() <= arrivals,
            Goal::Time(time) => moment.replay.time() <= time,
            Goal::Turn { game, turn } => {
                let at = moment.replay.room().engine().turn();
                moment.cast.game() < game || moment.cast.game() == game && at.is_some_and(|at| at <= turn)
            }
            Goal::Step | Goal::End => true,
        };
        let is_back = !is_before(&self.now);
        let found = self.kept.values().rev().find(|moment| is_before(moment));
        let found = found.or(self.kept.values().next());
        if let Some(moment) = found.filter(|moment| is_back || moment.replay.arrivals() > now) {
            self.now = moment.clone();
        }
        is_back
    }

    /// Whether it is where `goal` wants it to be, or at the end; for [`Goal::Step`] when it was at `from` before.
    pub fn is_at(&self, goal: Goal, from: (u64, Option<u64>)) -> bool {
        let Some(next) = &self.now.next else { return true };
        match goal {
            Goal::Arrivals(arrivals) => self.arrivals() >= arrivals,
            Goal::Time(time) => next.time > time,
            Goal::Turn { game, turn } => {
                self.game() > game || self.game() == game && self.turn().is_none_or(|now| now >= turn)
            }
            // Where no game is played each arrival is a step.
            Goal::Step => self.arrivals() > from.0 && (self.turn().is_none() || self.turn() != from.1),
            Goal::End => false,
        }
    }

    /// Takes in the next arrival, and says what was done; `false` at the end.
    pub fn forward(&mut self) -> bool {
        self.forward_and(|_| {})
    }

    /// As [`forward`](Self::forward), and tells each deed.
    pub fn forward_and(&mut self, tell: impl FnMut(&Deed)) -> bool {
        if self.now.next.is_none() {
            return false;
        }
        let arrivals = self.arrivals();
        if (arrivals - self.start.arrivals).is_multiple_of(self.spacing) && !self.kept.contains_key(&arrivals) {
            self.keep();
        }
        self.now.forward(self.seat.as_deref(), tell);
        true
    }

    fn keep(&mut self) {
        let weight = self.now.replay.room().engine().weight();
        let most = (KEPT_BYTES / weight.max(1)).clamp(LEAST_KEPT, MOST_KEPT);
        if self.kept.len() >= most {
            self.spacing *= 2;
            let (start, spacing) = (self.start.arrivals, self.spacing);
            self.kept.retain(|arrivals, _| (arrivals - start).is_multiple_of(spacing));
            if !(self.arrivals() - start).is_multiple_of(spacing) {
                return;
            }
        }
        self.kept.insert(self.arrivals(), self.now.clone());
    }
}

impl<E: Game> Moment<E> {
    // Looks for the next arrival.
    fn read(&mut self, mut tell: impl FnMut(&Deed)) {
        self.next = loop {
            match self.reader.next() {
                Ok(Some(Entry::Arrival(arrival))) => break Some(arrival),
                Ok(Some(Entry::Note(note))) => self.note(&note, &mut tell),
                Ok(None) => break None,
                Err(error) => {
                    self.trouble = Some(error.to_string());
                    break None;
                }
            }
            if self.trouble.is_some() {
                break None;
            }
        };
    }

    fn note(&mut self, note: &Note, mut tell: impl FnMut(&Deed)) {
        let time = self.replay.time();
        let text = match note {
            Note::Mark(mark) => {
                self.trouble = self.replay.check(mark).err().map(|error| error.to_string());
                return;
            }
            Note::Snapshot(_) => return,
            Note::Resumed { at } => format!("the server went on again, {}", words::date(*at)),
            Note::Suspended { at } => format!("the server was stopped, to go on later, {}", words::date(*at)),
            Note::Over(outcome) => format!("the match is over: {}", words::outcome(*outcome)),
            Note::Broken => "that broke an invariant of the server".into(),
        };
        let deed = Deed::happened(time, &text);
        tell(&deed);
        self.newest.push(deed);
    }

    fn forward(&mut self, seat: Option<&str>, mut tell: impl FnMut(&Deed)) {
        let Some(arrival) = self.next.take() else { return };
        self.cast.before(&self.replay, &arrival);
        if let What::Bytes { peer, bytes } = &arrival.what
            && self.seated == Some(*peer)
        {
            self.eye.say(bytes);
        }
        let mut out = Outbox::new();
        match panics::caught(|| self.replay.apply(&arrival, &mut out)) {
            Ok(Ok(_)) => {}
            Ok(Err(divergence)) => {
                self.trouble = Some(divergence.to_string());
                return;
            }
            Err(panic) => {
                self.trouble = Some(format!("arrival {} makes the engine panic: {panic}", self.replay.arrivals()));
                return;
            }
        }
        let outputs: Vec<Output> = out.drain().collect();
        let newest = &mut self.newest;
        self.cast.after(&self.replay, &arrival, &outputs, |deed| {
            tell(&deed);
            newest.push(deed);
        });
        for output in &outputs {
            match output {
                Output::Event(GameEvent::Joined { peer, name, seat: label }) if seat.is_some() => {
                    let guest = Guest { name: name.clone(), seat: label.clone() };
                    if is_wanted::<E>(seat.unwrap_or_default(), &guest) {
                        let link = self.replay.peer(*peer).map_or(netcore::Link::Message, |peer| peer.link);
                        self.eye.sit(&guest, link, arrival.time);
                        self.seated = Some(*peer);
                    }
                }
                Output::Send { to: To::Everyone, frame } => self.eye.hear(true, frame, arrival.time),
                Output::Send { to: To::Peer(peer), frame } if self.seated == Some(*peer) => {
                    self.eye.hear(false, frame, arrival.time);
                }
                Output::Replay { to, log } if self.seated == Some(*to) => {
                    log.frames().for_each(|frame| self.eye.hear(false, &frame, arrival.time));
                }
                _ => {}
            }
        }
        self.read(tell);
    }
}

fn is_wanted<E: Game>(typed: &str, guest: &Guest) -> bool {
    !guest.name.is_empty() && (guest.name == typed || E::is_seat(&guest.seat, typed))
}

// Reads all of a journal, as far as that is possible.
fn length(mut reader: Reader<Source>) -> End {
    let base = reader.head().base.as_ref().map(|base| base.mark);
    let mut end = base.map_or_else(End::default, |mark| End { arrivals: mark.arrivals, time: mark.time });
    while let Ok(Some(entry)) = reader.next() {
        if let Entry::Arrival(arrival) = entry {
            end = End { arrivals: end.arrivals + 1, time: arrival.time };
        }
    }
    end
}

// Whether anybody ever has the seat.
fn check_seat<E: Game>(path: &Path, mut reader: Reader<Source>, replay: &Replay<E>, seat: &str) -> anyhow::Result<()> {
    let mut replay = replay.clone();
    let mut seats: Vec<Guest> = replay.peers().filter_map(|peer| replay.room().engine().guest(peer)).collect();
    let mut out = Outbox::new();
    loop {
        if seats.iter().any(|guest| is_wanted::<E>(seat, guest)) {
            return Ok(());
        }
        // What is wrong behind here is told when it is seen.
        let Ok(Some(entry)) = reader.next() else { break };
        let Entry::Arrival(arrival) = entry else { continue };
        if !matches!(panics::caught(|| replay.apply(&arrival, &mut out)), Ok(Ok(_))) {
            break;
        }
        for output in out.drain() {
            if let Output::Event(GameEvent::Joined { name, seat, .. }) = output {
                let guest = Guest { name, seat };
                if !seats.contains(&guest) && seats.len() < MOST_KEPT {
                    seats.push(guest);
                }
            }
        }
    }
    let known = seats.iter().filter(|guest| !guest.name.is_empty()).take(12);
    let known: Vec<String> =
        known.map(|guest| format!("{} ({})", words::plain(&guest.seat), words::plain(&guest.name))).collect();
    let name = file_name(path);
    match known.as_slice() {
        [] => bail!("{name}: nobody took a seat in this match; leave --seat out to look on"),
        known => bail!("{name}: nobody had the seat '{}'; there were {}", words::plain(seat), known.join(", ")),
    }
}

/// Opens the match of a film without knowing its game.
pub(crate) fn head_of(path: &Path) -> anyhow::Result<Head> {
    Ok(open(path)?.reader.head().clone())
}
