//! What an observer of the room was told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use netcore::{DecodeError, GameEvent, Gone, PeerId, Role, Time};
use netshell::Observer;

/// Something that an observer of the room was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observed {
    /// A peer is there.
    Connected {
        /// Its number.
        peer: PeerId,
        /// What it may do.
        role: Role,
        /// Where it is.
        address: String,
    },
    /// Something happened in the game.
    Event {
        /// What.
        event: GameEvent,
        /// Where the peer is that it is about.
        address: Option<String>,
    },
    /// A peer sent what is no message.
    Malformed {
        /// Its number.
        peer: PeerId,
        /// Where it is.
        address: String,
        /// What is wrong.
        why: DecodeError,
    },
    /// The connection of a peer is gone.
    Gone {
        /// Its number.
        peer: PeerId,
        /// Where it was.
        address: String,
        /// Why.
        why: Gone,
    },
}

/// An observer that remembers all, and whose clones share what they remember.
#[derive(Debug, Clone, Default)]
pub struct Witness(Arc<Mutex<Vec<(Time, Observed)>>>);

impl Witness {
    /// All that it was told, and when, oldest first.
    pub fn observed(&self) -> Vec<(Time, Observed)> {
        self.lock().clone()
    }

    /// What happened in the game, oldest first, and where the peer was that it was about.
    pub fn events(&self) -> Vec<(GameEvent, Option<String>)> {
        let event = |(_, observed): &(Time, Observed)| match observed {
            Observed::Event { event, address } => Some((event.clone(), address.clone())),
            _ => None,
        };
        self.lock().iter().filter_map(event).collect()
    }

    /// What the room wants on standard output, oldest first.
    pub fn summaries(&self) -> Vec<String> {
        let summary = |(_, observed): &(Time, Observed)| match observed {
            Observed::Event { event: GameEvent::Summary(text), .. } => Some(text.clone()),
            _ => None,
        };
        self.lock().iter().filter_map(summary).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Time, Observed)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, now: Time, observed: Observed) {
        self.lock().push((now, observed));
    }
}

impl Observer for Witness {
    fn connected(&mut self, now: Time, peer: PeerId, role: Role, address: &str) {
        self.note(now, Observed::Connected { peer, role, address: address.into() });
    }

    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        self.note(now, Observed::Event { event: event.clone(), address: address.map(Into::into) });
    }

    fn malformed(&mut self, now: Time, peer: PeerId, address: &str, why: DecodeError) {
        self.note(now, Observed::Malformed { peer, address: address.into(), why });
    }

    fn gone(&mut self, now: Time, peer: PeerId, address: &str, why: Gone) {
        self.note(now, Observed::Gone { peer, address: address.into(), why });
    }
}
