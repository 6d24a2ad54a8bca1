//! What keeps a defect in the rules of a game from anybody but the players of that room.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use netcore::{DecodeError, Input, Link, Outbox, Outcome, PeerId, Phase, Progress, Room, Split, Status, Time};

use super::{counters::Counters, forward::forward};
use crate::games::Game;

/// What players are told, in games that have a message for it.
const WHY: &str = "A fault of the hub has ended this game; the room begins anew.";

/// Whether the engine of a room has panicked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Broken(Arc<AtomicBool>);

impl Broken {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A room that ends in order when its engine panics: everybody is told and disconnected. The journal has the input by then.
#[derive(Debug)]
pub(crate) struct Fuse<R> {
    room: R,
    game: &'static str,
    seats: u32,
    // Everybody who is connected, and how.
    peers: BTreeMap<PeerId, Link>,
    broken: Broken,
    // A message could not even be split off.
    failed: bool,
    counters: Counters,
}

impl<R: Room> Fuse<R> {
    pub(crate) fn new(room: R, game: &'static str, counters: Counters) -> (Self, Broken) {
        let broken = Broken::default();
        let seats = room.status().seats;
        (Self { room, game, seats, peers: BTreeMap::new(), broken: broken.clone(), failed: false, counters }, broken)
    }

    /// The room, unless it has panicked.
    pub(crate) fn room(&self) -> Option<&R> {
        (!self.broken.is_set()).then_some(&self.room)
    }

    fn blow(&mut self, out: &mut Outbox) {
        self.broken.0.store(true, Ordering::Release);
        self.counters.broken();
        let game = Game::named(self.game);
        for (peer, link) in std::mem::take(&mut self.peers) {
            if let Some(farewell) = game.and_then(|game| game.farewell(WHY, link.framing())) {
                out.send(peer, farewell);
            }
            out.close(peer);
        }
    }
}

impl<R: Room> Room for Fuse<R> {
    forward!(admits);

    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split {
        let split = catch_unwind(AssertUnwindSafe(|| self.room.split(peer, bytes)));
        split.unwrap_or_else(|_| {
            // The input that follows ends the room, because only then somebody can be told.
            self.failed = true;
            Split::Malformed(DecodeError::Incomplete)
        })
    }

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        if self.broken.is_set() {
            return Progress::Ignored;
        }
        if self.failed {
            self.blow(out);
            return Progress::Ignored;
        }
        match input {
            Input::Connected { peer, link, .. } => {
                self.peers.insert(peer, link);
            }
            // Those that come back after a restart of the hub, and streams do not.
            Input::Refresh { peer } => {
                self.peers.entry(peer).or_insert(Link::Message);
            }
            _ => {}
        }
        let gone = if let Input::Disconnected { peer, .. } = input { Some(peer) } else { None };
        let start = out.position();
        // The engine is not used any more after a panic.
        let done = catch_unwind(AssertUnwindSafe(|| self.room.input(now, input, out)));
        for peer in out.closed_since(start).chain(gone) {
            self.peers.remove(&peer);
        }
        done.unwrap_or_else(|_| {
            self.blow(out);
            Progress::Ignored
        })
    }

    fn deadline(&self) -> Option<Time> {
        if self.broken.is_set() { None } else { self.room.deadline() }
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.broken.is_set() { Some(Outcome::Stopped) } else { self.room.outcome() }
    }

    fn status(&self) -> Status {
        if self.broken.is_set() {
            return Status { phase: Phase::Over, taken: 0, seats: self.seats };
        }
        self.room.status()
    }
}
