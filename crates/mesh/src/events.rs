//! Event streams of rooms for watchers and lobbies.

use bytes::Bytes;

use crate::{
    Answer, MeshError, Name,
    log::{Append, Appended, Bounds, Sequence},
};

/// The number of changes after which the owner of a room must publish a snapshot.
pub const MAX_CHANGES: u32 = 1_000;
/// The number of bytes of changes after which it must publish one.
pub const MAX_CHANGES_BYTES: u64 = 4 << 20;
/// The lifetime of an event, in seconds. A snapshot is due after half of it.
pub const EVENTS_AGE_SECONDS: u64 = 60 * 60;

pub(crate) const BOUNDS: Bounds = Bounds {
    name: "events",
    records: MAX_CHANGES,
    bytes: MAX_CHANGES_BYTES,
    anchors: 2,
    age_seconds: EVENTS_AGE_SECONDS,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub sequence: Sequence,
    /// Whether it replaces the state of the room; otherwise it applies to the state after the previous event.
    pub is_snapshot: bool,
    pub body: Bytes,
}

/// The event streams of rooms.
///
/// Only the owner of a room publishes; an event with an older fence is rejected. A claim starts with a snapshot, and at
/// least every [`MAX_CHANGES`]th event is one. Events expire after an hour; a new follower of a room that was silent
/// for longer waits for its next snapshot.
pub trait Events: Send + Sync {
    /// A repeated attempt is stored once.
    fn publish<'a>(&'a self, room: &'a Name, event: &'a Append) -> Answer<'a, Result<Appended, MeshError>>;

    /// Starts with the last snapshot or after the event `after`.
    fn follow<'a>(&'a self, room: &'a Name, after: Option<Sequence>) -> Answer<'a, Result<Box<dyn Follow>, MeshError>>;
}

pub trait Follow: Send {
    /// Returns a snapshot, or the direct successor of the previous event. An error ends the stream: follow again from
    /// the last event. Cancel safe.
    fn next(&mut self) -> Answer<'_, Result<Event, MeshError>>;
}
