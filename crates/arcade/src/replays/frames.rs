use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use journal_core::Cursor;
use netcore::{Input, Link, Outbox, Output, PeerId, Role, Room as _, To};
use serde::Serialize;

use super::track::{RelevantMessage, ReplayError, Track};
use crate::games::{self, Game, Relevance, Replayable};

/// In bytes. A response ends earlier if necessary; its JSON form may be longer.
const MAX_BYTES: usize = 1 << 20;
/// The simulated watcher, with an id that no match uses.
const WATCHER: PeerId = PeerId(u64::MAX);
const WATCHER_ADDRESS: &str = "192.0.2.1:1";
/// The maximum number of deadlines of the watcher's room between two arrivals.
const MAX_ELAPSED: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Frames {
    /// Milliseconds since the start of the match, and the message as a WebSocket frame.
    pub(crate) frames: Vec<(u64, Frame)>,
    /// Earlier than requested if the section would be too large.
    pub(crate) until: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Frame {
    Text(String),
    /// In base64.
    Binary {
        b: String,
    },
}

/// For a watcher or a seat. Fails if the match cannot be replayed, or the seat was never taken.
pub(super) fn frames<E: Replayable>(
    track: &Track,
    seat: Option<&str>,
    from: u64,
    to: u64,
) -> Result<Frames, ReplayError> {
    let is_binary = Game::named(E::GAME).is_some_and(|game| game.frames() == games::Frames::Binary);
    let mut collector = Collector { frames: vec![], bytes: 0, is_binary };
    let stretch = Stretch { from: from.min(track.length()), to: to.min(track.length()) };
    let until = match seat {
        None => watch::<E>(track, &stretch, &mut collector)?,
        Some(seat) if track.seats.iter().any(|known| known.seat == seat) => {
            sit::<E>(track, seat, &stretch, &mut collector)?
        }
        Some(seat) => return Err(ReplayError::NoSeat(seat.escape_debug().to_string())),
    };
    Ok(Frames { frames: collector.frames, until })
}

struct Stretch {
    from: u64,
    to: u64,
}

struct Collector {
    frames: Vec<(u64, Frame)>,
    bytes: usize,
    is_binary: bool,
}

impl Collector {
    fn add(&mut self, at: u64, frame: &Bytes) {
        self.bytes += frame.len();
        let frame = if self.is_binary {
            Frame::Binary { b: STANDARD.encode(frame) }
        } else {
            let text = frame.strip_suffix(b"\0").unwrap_or(frame);
            Frame::Text(String::from_utf8_lossy(text).into_owned())
        };
        self.frames.push((at, frame));
    }

    fn take<E: Replayable>(&mut self, at: u64, out: &mut Outbox, peer: PeerId) {
        sent_to::<E>(out, peer, |frame| self.add(at, &frame));
    }

    const fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES
    }
}

fn sent_to<E: Replayable>(out: &mut Outbox, peer: PeerId, mut take: impl FnMut(Bytes)) {
    for output in out.drain() {
        match output {
            Output::Send { to: To::Everyone, frame } => take(E::frame(&frame)),
            Output::Send { to: To::Peer(to), frame } if to == peer => take(E::frame(&frame)),
            Output::Replay { to, history } if to == peer => history.frames().for_each(|frame| take(E::frame(&frame))),
            _ => {}
        }
    }
}

// Returns the replay after the last arrival up to this time.
fn at<E: Replayable>(track: &Track, from: u64) -> Result<Cursor<E>, ReplayError> {
    let mut cursor = track.start::<E>(|cursor| track.since_begin(cursor.replay().time()) <= from)?;
    let mut out = Outbox::new();
    while track.next(&cursor).is_some_and(|arrival| track.since_begin(arrival.time) <= from) {
        track.apply(&mut cursor, &mut out)?;
        out.drain().for_each(drop);
    }
    Ok(cursor)
}

// The watcher joins a copy of the room at the start of the section. The copy receives the same arrivals as the match.
fn watch<E: Replayable>(track: &Track, stretch: &Stretch, collector: &mut Collector) -> Result<u64, ReplayError> {
    let mut cursor = at::<E>(track, stretch.from)?;
    let mut copy = cursor.replay().room().clone();
    let mut out = Outbox::new();
    let mut unused = Outbox::new();
    let connected =
        Input::Connected { peer: WATCHER, role: Role::Watcher, link: Link::Message, address: WATCHER_ADDRESS.into() };
    copy.input(cursor.replay().time(), connected, &mut out);
    collector.take::<E>(stretch.from, &mut out, WATCHER);
    while let Some(arrival) = track.next(&cursor).cloned() {
        let at = track.since_begin(arrival.time);
        if at > stretch.to {
            break;
        }
        // The watcher has deadlines that the match does not have, so the journal contains no input for them.
        for _ in 0..MAX_ELAPSED {
            let Some(due) = copy.deadline().filter(|due| *due < arrival.time) else { break };
            if cursor.replay().room().deadline().is_some_and(|deadline| deadline <= due) {
                break;
            }
            copy.input(due.max(cursor.replay().time()), Input::Elapsed, &mut out);
            collector.take::<E>(track.since_begin(due), &mut out, WATCHER);
        }
        track.apply(&mut cursor, &mut unused)?;
        unused.drain().for_each(drop);
        // The states of the copy differ because of its additional peer, so they are not compared.
        copy.input(arrival.time, arrival.input.borrowed(), &mut out);
        collector.take::<E>(at, &mut out, WATCHER);
        if collector.is_full() {
            return Ok(at);
        }
    }
    Ok(stretch.to)
}

fn sit<E: Replayable>(
    track: &Track,
    seat: &str,
    stretch: &Stretch,
    collector: &mut Collector,
) -> Result<u64, ReplayError> {
    let player_at = |arrivals: u64| {
        let last = track.periods.iter().rfind(|period| period.seat == seat && period.since <= arrivals);
        last.map(|period| period.peer)
    };
    let mut out = Outbox::new();
    let mut cursor = if E::HAS_ROUNDS {
        rounds::<E>(track, stretch.from, player_at, collector)?
    } else {
        let cursor = at::<E>(track, stretch.from)?;
        let replay = cursor.replay();
        if let Some(peer) = player_at(replay.arrivals()).filter(|peer| replay.peer(*peer).is_some()) {
            // The input would change the match, so a copy receives it.
            replay.room().clone().input(replay.time(), Input::Refresh { peer }, &mut out);
            collector.take::<E>(stretch.from, &mut out, peer);
        }
        cursor
    };
    while let Some(at) =
        track.next(&cursor).map(|arrival| track.since_begin(arrival.time)).filter(|at| *at <= stretch.to)
    {
        let index = cursor.replay().arrivals() + 1;
        let was_there = player_at(index).is_some_and(|peer| cursor.replay().peer(peer).is_some());
        track.apply(&mut cursor, &mut out)?;
        match player_at(index) {
            // This includes the last messages before the peer was closed.
            Some(peer) if was_there || cursor.replay().peer(peer).is_some() => collector.take::<E>(at, &mut out, peer),
            _ => out.drain().for_each(drop),
        }
        if collector.is_full() {
            return Ok(at);
        }
    }
    Ok(stretch.to)
}

// The state for a new page in a game with rounds: messages of earlier rounds that are still relevant, and all of the
// present one. Returns the replay at that time.
fn rounds<E: Replayable>(
    track: &Track,
    from: u64,
    player_at: impl Fn(u64) -> Option<PeerId>,
    collector: &mut Collector,
) -> Result<Cursor<E>, ReplayError> {
    let until = at::<E>(track, from)?.replay().arrivals();
    let is_own =
        |relevant: &&RelevantMessage| relevant.arrivals <= until && player_at(relevant.arrivals) == Some(relevant.peer);
    let relevant: Vec<&RelevantMessage> = track.relevant.iter().filter(is_own).collect();
    let first = relevant.iter().rposition(|relevant| relevant.relevance == Relevance::RoundStart);
    let (before, since) = relevant.split_at(first.unwrap_or_default());
    for relevant in before.iter().filter(|relevant| relevant.relevance == Relevance::Match) {
        collector.add(from, &relevant.frame);
    }
    let begins = first.and_then(|first| relevant.get(first)).map_or(track.first, |relevant| relevant.arrivals);
    // The states start after the first arrival, whose messages are all stored.
    let opening = since.iter().filter(|relevant| begins == track.first && relevant.arrivals == track.first);
    let mut present: Vec<Bytes> = opening.map(|relevant| relevant.frame.clone()).collect();
    let mut cursor = track.start::<E>(|cursor| cursor.replay().arrivals() < begins)?;
    let mut out = Outbox::new();
    while cursor.replay().arrivals() < until {
        track.apply(&mut cursor, &mut out)?;
        let index = cursor.replay().arrivals();
        let Some(peer) = player_at(index).filter(|_| index >= begins) else {
            out.drain().for_each(drop);
            continue;
        };
        sent_to::<E>(&mut out, peer, |frame| {
            if E::relevance(&frame) == Relevance::RoundStart {
                present.clear();
            }
            present.push(frame);
        });
    }
    for frame in &present {
        collector.add(from, frame);
    }
    Ok(cursor)
}
