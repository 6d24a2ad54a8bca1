//! A replay that moves forward and back.

use std::path::Path;

use anyhow::{Context, bail};
use cmdkit::file_name;
use journal_core::{CheckpointLimits, Checkpoints, Cursor, Entry, Head, Note, Reader, Replay, Source};
use netcore::{GameEvent, Input, Outbox, Output, PeerId, Time, To};

use crate::{
    actions::{Action, Latest, Names},
    files::open,
    format,
    games::{Game, GameDisplay, PeerIdentity},
    panics,
};

/// Limits of the copies for moving back.
const COPIES: CheckpointLimits = CheckpointLimits { spacing: 256, count: 256, bytes: 192 << 20 };
/// Seats that are collected for an error, which lists some of them.
const MAX_SEATS: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    Arrivals(u64),
    /// After all arrivals up to this time.
    Time(Time),
    /// The end of a turn of a game.
    Turn {
        game: u32,
        turn: u64,
    },
    /// The next turn, or the next arrival where there are no turns.
    Step,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct End {
    pub arrivals: u64,
    pub time: Time,
}

#[derive(Debug)]
pub(crate) struct Playback<E: Game> {
    /// Not zero in a part of a longer match.
    pub(crate) start: End,
    pub(crate) end: End,
    seat: Option<String>,
    now: Moment<E>,
    copies: Checkpoints<Moment<E>>,
}

#[derive(Debug, Clone)]
struct Moment<E: Game> {
    cursor: Cursor<E>,
    display: E::Display,
    names: Names,
    latest: Latest,
    // The peer at the seat from which the match is shown.
    seated: Option<PeerId>,
    trouble: Option<String>,
}

impl<E: Game> Playback<E> {
    /// Opens a match as seen by a spectator, or from a seat.
    pub(crate) fn open(path: &Path, seat: Option<&str>) -> anyhow::Result<Self> {
        let opened = open(path)?;
        let end = length(opened.reader.clone());
        let replay = Replay::start(opened.reader.head()).with_context(|| file_name(path))?;
        if let Some(seat) = seat {
            check_seat(path, opened.reader.clone(), &replay, seat)?;
        }
        let mut display = E::Display::new(seat.is_some());
        display.begin(&replay);
        let names = Names::of(&replay);
        let mut seated = None;
        let sitting = replay.peers().find_map(|peer| {
            let identity = names.identity(peer.peer)?;
            is_wanted::<E>(seat?, identity).then(|| (peer, identity.clone()))
        });
        if let Some((peer, identity)) = sitting {
            display.take_seat(&identity, peer.link, replay.time());
            seated = Some(peer.peer);
        }
        let start = End { arrivals: replay.arrivals(), time: replay.time() };
        let latest = Latest::default();
        let cursor = Cursor::new(opened.reader, replay);
        let mut now = Moment { cursor, display, names, latest, seated, trouble: None };
        now.read(|_| {});
        let copies = Checkpoints::new(start.arrivals, COPIES);
        Ok(Self { start, end, seat: seat.map(str::to_owned), now, copies })
    }

    pub(crate) fn head(&self) -> &Head {
        self.now.cursor.reader().head()
    }

    pub(crate) const fn arrivals(&self) -> u64 {
        self.now.cursor.replay().arrivals()
    }

    pub(crate) const fn time(&self) -> Time {
        self.now.cursor.replay().time()
    }

    /// `None` at the end.
    pub(crate) fn next_time(&self) -> Option<Time> {
        self.now.cursor.next().map(|arrival| arrival.time)
    }

    pub(crate) fn turn(&self) -> Option<u64> {
        self.now.cursor.replay().room().engine().turn()
    }

    pub(crate) const fn game(&self) -> u32 {
        self.now.names.game
    }

    pub(crate) fn trouble(&self) -> Option<&str> {
        self.now.trouble.as_deref()
    }

    pub(crate) fn actions(&self) -> impl Iterator<Item = String> {
        self.now.latest.iter().filter_map(Action::words::<E>)
    }

    pub(crate) const fn scene(&mut self) -> (&mut E::Display, &Replay<E>) {
        (&mut self.now.display, self.now.cursor.replay())
    }

    /// Moves to the last copy before `goal`, if that saves work. Must be called before moving forward to `goal`.
    /// Returns whether `goal` is before the current position.
    pub(crate) fn rewind(&mut self, goal: Goal) -> bool {
        // The next step is always near.
        if goal == Goal::Step {
            return false;
        }
        let now = self.arrivals();
        let is_before = |moment: &Moment<E>| match goal {
            Goal::Arrivals(arrivals) => moment.cursor.replay().arrivals() <= arrivals,
            Goal::Time(time) => moment.cursor.replay().time() <= time,
            Goal::Turn { game, turn } => {
                let at = moment.cursor.replay().room().engine().turn();
                moment.names.game < game || moment.names.game == game && at.is_some_and(|at| at <= turn)
            }
            Goal::Step | Goal::End => true,
        };
        let is_back = !is_before(&self.now);
        let found = self.copies.last(is_before).or(self.copies.first());
        if let Some(moment) = found.filter(|moment| is_back || moment.cursor.replay().arrivals() > now) {
            self.now = moment.clone();
        }
        is_back
    }

    /// Also true at the end. `from` is the position before a [`Goal::Step`].
    pub(crate) fn is_at(&self, goal: Goal, from: (u64, Option<u64>)) -> bool {
        let Some(next) = self.now.cursor.next() else { return true };
        match goal {
            Goal::Arrivals(arrivals) => self.arrivals() >= arrivals,
            Goal::Time(time) => next.time > time,
            Goal::Turn { game, turn } => {
                self.game() > game || self.game() == game && self.turn().is_none_or(|now| now >= turn)
            }
            // Without turns, each arrival is a step.
            Goal::Step => self.arrivals() > from.0 && (self.turn().is_none() || self.turn() != from.1),
            Goal::End => false,
        }
    }

    pub(crate) fn forward(&mut self) -> bool {
        self.forward_and(|_| {})
    }

    pub(crate) fn forward_and(&mut self, report: impl FnMut(&Action)) -> bool {
        if self.now.cursor.next().is_none() {
            return false;
        }
        let arrivals = self.arrivals();
        if self.copies.is_due(arrivals) {
            // A copy contains the room, and a display of about the same size.
            self.copies.add(arrivals, 2 * self.now.cursor.replay().weight(), self.now.clone());
        }
        self.now.forward(self.seat.as_deref(), report);
        true
    }
}

impl<E: Game> Moment<E> {
    fn read(&mut self, mut report: impl FnMut(&Action)) {
        let Self { cursor, latest, trouble, .. } = self;
        let time = cursor.replay().time();
        let read = cursor.read(|note| {
            if let Some(text) = words(note) {
                let action = Action::event(time, &text);
                report(&action);
                latest.push(action);
            }
        });
        *trouble = read.err().map(|error| error.to_string());
    }

    fn forward(&mut self, seat: Option<&str>, mut report: impl FnMut(&Action)) {
        let Some(arrival) = self.cursor.next().cloned() else { return };
        self.names.before(self.cursor.replay(), &arrival);
        if let Input::Message { peer, message: bytes } = &arrival.input
            && self.seated == Some(*peer)
        {
            self.display.send(bytes);
        }
        let mut out = Outbox::new();
        match panics::caught(|| self.cursor.apply(&mut out)) {
            Ok(Ok(_)) => {}
            Ok(Err(divergence)) => {
                self.trouble = Some(divergence.to_string());
                return;
            }
            Err(panic) => {
                self.trouble =
                    Some(format!("arrival {} makes the engine panic: {panic}", self.cursor.replay().arrivals()));
                return;
            }
        }
        let outputs: Vec<Output> = out.drain().collect();
        let latest = &mut self.latest;
        self.names.after(self.cursor.replay(), &arrival, &outputs, |action| {
            report(&action);
            latest.push(action);
        });
        for output in &outputs {
            match output {
                Output::Event(GameEvent::Joined { peer, name, seat: label }) if seat.is_some() => {
                    let identity = PeerIdentity { name: name.clone(), seat: label.clone() };
                    if is_wanted::<E>(seat.unwrap_or_default(), &identity) {
                        let link = self.cursor.replay().peer(*peer).map_or(netcore::Link::Message, |peer| peer.link);
                        self.display.take_seat(&identity, link, arrival.time);
                        self.seated = Some(*peer);
                    }
                }
                Output::Send { to: To::Everyone, frame } => self.display.receive(true, frame, arrival.time),
                Output::Send { to: To::Peer(peer), frame } if self.seated == Some(*peer) => {
                    self.display.receive(false, frame, arrival.time);
                }
                Output::Replay { to, history } if self.seated == Some(*to) => {
                    history.frames().for_each(|frame| self.display.receive(false, &frame, arrival.time));
                }
                _ => {}
            }
        }
        self.read(report);
    }
}

fn words(note: &Note) -> Option<String> {
    Some(match note {
        Note::Mark(_) | Note::Snapshot(_) | Note::Fact(_) => return None,
        Note::Resumed { at } => format!("the server was resumed, {}", format::date(*at)),
        Note::Suspended { at } => format!("the server was suspended, {}", format::date(*at)),
        Note::Over(outcome) => format!("the match is over: {}", outcome.words()),
        Note::Broken => "which made the server panic".into(),
    })
}

fn is_wanted<E: Game>(typed: &str, identity: &PeerIdentity) -> bool {
    !identity.name.is_empty() && (identity.name == typed || E::is_seat(&identity.seat, typed))
}

// Reads the whole journal, up to any damage.
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

fn check_seat<E: Game>(path: &Path, mut reader: Reader<Source>, replay: &Replay<E>, seat: &str) -> anyhow::Result<()> {
    let mut replay = replay.clone();
    let mut seats: Vec<PeerIdentity> =
        replay.peers().filter_map(|peer| replay.room().engine().identity(peer)).collect();
    let mut out = Outbox::new();
    loop {
        if seats.iter().any(|identity| is_wanted::<E>(seat, identity)) {
            return Ok(());
        }
        // Later errors are reported when they are reached.
        let Ok(Some(entry)) = reader.next() else { break };
        let Entry::Arrival(arrival) = entry else { continue };
        if !matches!(panics::caught(|| replay.apply(&arrival, &mut out)), Ok(Ok(_))) {
            break;
        }
        for output in out.drain() {
            if let Output::Event(GameEvent::Joined { name, seat, .. }) = output {
                let identity = PeerIdentity { name, seat };
                if !seats.contains(&identity) && seats.len() < MAX_SEATS {
                    seats.push(identity);
                }
            }
        }
    }
    let known = seats.iter().filter(|identity| !identity.name.is_empty()).take(12);
    let known: Vec<String> = known
        .map(|identity| format!("{} ({})", format::plain(&identity.seat), format::plain(&identity.name)))
        .collect();
    let name = file_name(path);
    match known.as_slice() {
        [] => bail!("{name}: no seat was taken in this match; omit --seat to spectate"),
        known => bail!("{name}: no player had the seat '{}'; the seats were {}", format::plain(seat), known.join(", ")),
    }
}
