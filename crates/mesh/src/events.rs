//! Event streams of rooms for watchers and lobbies.

use bytes::Bytes;

use crate::{
    Answer, MeshError, Name,
    log::{Append, Appended, Bounds, Sequence},
};

/// The number of changes of a room after which its owner must publish a snapshot.
pub const MAX_CHANGES: u32 = 1_000;
/// The number of bytes of changes after which the owner of a room must publish a snapshot.
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

/// A published event of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The position of the event; following can resume after it.
    pub sequence: Sequence,
    /// Whether the event replaces the state of the room. Otherwise it applies to the state after the previous event.
    pub is_snapshot: bool,
    /// The content.
    pub body: Bytes,
}

/// The event streams of rooms.
///
/// Only the owner of a room publishes, under the fence of its claim; an event with an older fence is rejected. The
/// first event of a claim is a snapshot, and so is at least every [`MAX_CHANGES`]th event. Events expire after one
/// hour. If a room has not published for that long, a new follower receives its state with the next snapshot.
pub trait Events: Send + Sync {
    /// Appends an event to the stream of a room. A repeated attempt whose first reply was lost is stored once.
    fn publish<'a>(&'a self, room: &'a Name, event: &'a Append) -> Answer<'a, Result<Appended, MeshError>>;

    /// Follows a room, starting with the last snapshot or after the event `after`.
    fn follow<'a>(&'a self, room: &'a Name, after: Option<Sequence>) -> Answer<'a, Result<Box<dyn Follow>, MeshError>>;
}

/// The events of a room, one after another.
pub trait Follow: Send {
    /// Returns the next event: a snapshot, or the direct successor of the previous event. Gaps are never hidden. An
    /// error ends the stream: follow again from the last event.
    ///
    /// This method is cancel safe: dropping the future loses no event.
    fn next(&mut self) -> Answer<'_, Result<Event, MeshError>>;
}
