//! What watchers and lobbies are shown of rooms.

use bytes::Bytes;

use crate::{
    Answer, MeshError, Name,
    log::{Append, Appended, Bounds, Sequence},
};

/// Changes of a room after which its owner must publish a snapshot.
pub const MAX_CHANGES: u32 = 1_000;
/// Bytes of changes after which its owner must publish a snapshot.
pub const MAX_CHANGES_BYTES: u64 = 4 << 20;
/// How long events are kept, in seconds. A snapshot is due after half of it.
pub const EVENTS_AGE_SECONDS: u64 = 60 * 60;

pub(crate) const BOUNDS: Bounds = Bounds {
    name: "events",
    records: MAX_CHANGES,
    bytes: MAX_CHANGES_BYTES,
    anchors: 2,
    age_seconds: EVENTS_AGE_SECONDS,
};

/// Something that was published of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Where it stands; following can be resumed after it.
    pub sequence: Sequence,
    /// Whether it replaces all that is known of the room. Otherwise it follows from the event before it.
    pub is_snapshot: bool,
    /// The content.
    pub body: Bytes,
}

/// The streams of rooms.
///
/// Only the owner of a room publishes, under the fence of its claim: an event under an older fence is refused. The first
/// event of a claim is a snapshot, and so is at least each [`MAX_CHANGES`]th. Events are kept for an hour; of a
/// room that publishes nothing for so long, a late follower learns with the next snapshot.
pub trait Events: Send + Sync {
    /// Appends an event to the stream of a room. An attempt that is repeated, since its answer was lost, is stored once.
    fn publish<'a>(&'a self, room: &'a Name, event: &'a Append) -> Answer<'a, Result<Appended, MeshError>>;

    /// Follows a room: from the last snapshot on, or from what comes after the event `after`.
    fn follow<'a>(&'a self, room: &'a Name, after: Option<Sequence>) -> Answer<'a, Result<Box<dyn Follow>, MeshError>>;
}

/// The events of a room, one after another.
pub trait Follow: Send {
    /// The next event. It follows from the one before, or is a snapshot: what is missing in between is never hidden. After an
    /// error it is over: follow again from the last event.
    ///
    /// Dropping the future loses no event.
    fn next(&mut self) -> Answer<'_, Result<Event, MeshError>>;
}
