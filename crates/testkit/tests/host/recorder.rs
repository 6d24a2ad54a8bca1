use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use netcore::{DecodeError, DisconnectReason, GameEvent, PeerId, Role, Status, Time};
use netshell::Observer;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecordedEvent {
    Connected(PeerId, Role, String),
    Status(Status),
    /// An event with the address of the peer concerned.
    Event(GameEvent, Option<String>),
    Malformed(PeerId, String, DecodeError),
    Gone(PeerId, String, DisconnectReason),
}

/// Clones share the record.
#[derive(Debug, Clone, Default)]
pub(super) struct EventRecorder(Arc<Mutex<Vec<(Time, RecordedEvent)>>>);

impl EventRecorder {
    pub(super) fn observed(&self) -> Vec<(Time, RecordedEvent)> {
        self.lock().clone()
    }

    /// Events of the game, each with the address of the peer concerned.
    pub(super) fn events(&self) -> Vec<(GameEvent, Option<String>)> {
        let event = |(_, observed): &(Time, RecordedEvent)| match observed {
            RecordedEvent::Event(event, address) => Some((event.clone(), address.clone())),
            _ => None,
        };
        self.lock().iter().filter_map(event).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Time, RecordedEvent)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, now: Time, observed: RecordedEvent) {
        self.lock().push((now, observed));
    }
}

impl Observer for EventRecorder {
    fn connected(&mut self, now: Time, peer: PeerId, role: Role, address: &str) {
        self.note(now, RecordedEvent::Connected(peer, role, address.into()));
    }

    fn status(&mut self, now: Time, status: Status) {
        self.note(now, RecordedEvent::Status(status));
    }

    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        self.note(now, RecordedEvent::Event(event.clone(), address.map(Into::into)));
    }

    fn malformed(&mut self, now: Time, peer: PeerId, address: &str, why: &DecodeError) {
        self.note(now, RecordedEvent::Malformed(peer, address.into(), why.clone()));
    }

    fn disconnected(&mut self, now: Time, peer: PeerId, address: &str, why: DisconnectReason) {
        self.note(now, RecordedEvent::Gone(peer, address.into(), why));
    }
}
