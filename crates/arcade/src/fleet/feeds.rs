//! The streams from which watchers at other nodes are shown a room, and how many there are.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use mesh::{Append, Appended, Events, Fence, Follow, MeshError, Name, Sequence};

/// What is told of rooms to watchers at other nodes.
pub(crate) struct Feeds {
    events: Arc<dyn Events>,
    stored: AtomicU64,
    // What runs has a clone.
    published: Arc<()>,
    followed: Arc<()>,
    fed: Arc<()>,
}

impl std::fmt::Debug for Feeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feeds").field("shown", &self.shown()).finish_non_exhaustive()
    }
}

/// How many streams there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FeedsShown {
    /// Events that this node has published.
    pub(crate) stored: u64,
    /// Its rooms that are published.
    pub(crate) published: usize,
    /// Rooms of other nodes that it follows.
    pub(crate) followed: usize,
    /// Sockets that are shown one of these.
    pub(crate) fed: usize,
}

impl Feeds {
    pub(crate) fn new(events: Arc<dyn Events>) -> Self {
        let (published, followed, fed) = (Arc::default(), Arc::default(), Arc::default());
        Self { events, stored: AtomicU64::new(0), published, followed, fed }
    }

    /// Publishes an event of a room of this node.
    pub(crate) async fn publish(&self, room: &Name, event: &Append) -> Result<Appended, MeshError> {
        let appended = self.events.publish(room, event).await?;
        if matches!(appended, Appended::Stored(_)) {
            self.stored.fetch_add(1, Ordering::Relaxed);
        }
        Ok(appended)
    }

    /// Follows a room of another node.
    pub(crate) async fn follow(&self, room: &Name, after: Option<Sequence>) -> Result<Box<dyn Follow>, MeshError> {
        self.events.follow(room, after).await
    }

    /// Counts a room that is published, while what it gives is held.
    pub(crate) fn publishing(&self) -> Arc<()> {
        Arc::clone(&self.published)
    }

    /// Counts a room that is followed.
    pub(crate) fn following(&self) -> Arc<()> {
        Arc::clone(&self.followed)
    }

    /// Counts a socket that is shown a room which is followed.
    pub(crate) fn feeding(&self) -> Arc<()> {
        Arc::clone(&self.fed)
    }

    pub(crate) fn shown(&self) -> FeedsShown {
        let count = |held: &Arc<()>| Arc::strong_count(held) - 1;
        FeedsShown {
            stored: self.stored.load(Ordering::Relaxed),
            published: count(&self.published),
            followed: count(&self.followed),
            fed: count(&self.fed),
        }
    }
}

/// The fence under which this node publishes a room, and what the room is called in the mesh.
#[derive(Debug, Clone)]
pub(crate) struct Owned {
    pub(crate) name: Name,
    pub(crate) fence: Fence,
}
