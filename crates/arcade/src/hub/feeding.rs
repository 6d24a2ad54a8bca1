//! Rooms of this node that others show: each is published once, however many watch it there.
//!
//! A node whose watchers want to see a room keeps one socket to this one, a *feed*; see `web/feed.rs`. While a room has a feed, a watcher of
//! the hub, who counts as nobody, is told what all are told, and that is published. Nodes follow, and tell their watchers.

mod publisher;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

pub(crate) use self::publisher::Step;
use self::publisher::{Published, publish};
use crate::{fleet::Fleet, room::Room};

// By the name of the room, with how far its publication is.
type ById = BTreeMap<String, (Arc<Room>, watch::Sender<Step>)>;

/// The rooms that are published.
#[derive(Debug, Default)]
pub(crate) struct Feeding {
    rooms: Mutex<ById>,
}

impl Feeding {
    fn rooms(&self) -> MutexGuard<'_, ById> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Forgets a room to which no feed leads. Returns whether that is so.
    fn leave(&self, id: &str, steps: &watch::Sender<Step>) -> bool {
        let mut rooms = self.rooms();
        if steps.receiver_count() > 0 && !steps.borrow().is_last() {
            return false;
        }
        if rooms.get(id).is_some_and(|(_, known)| known.same_channel(steps)) {
            rooms.remove(id);
        }
        true
    }

    /// Publishes a room of this node as long as somebody has what this gives. None if the room is not this node's, as far as the directory
    /// has told.
    pub(crate) fn feed(self: &Arc<Self>, fleet: &Arc<Fleet>, room: &Arc<Room>) -> Option<watch::Receiver<Step>> {
        let id = room.file().id.clone();
        let owned = fleet.owned(&id)?;
        let mut rooms = self.rooms();
        if let Some((known, steps)) = rooms.get(&id)
            && Arc::ptr_eq(known, room)
            && !steps.borrow().is_last()
        {
            return Some(steps.subscribe());
        }
        let (steps, step) = watch::channel(Step::Beginning);
        rooms.insert(id.clone(), (Arc::clone(room), steps.clone()));
        drop(rooms);
        let (feeding, fleet, room) = (Arc::clone(self), Arc::clone(fleet), Arc::clone(room));
        tokio::spawn(async move {
            let counted = fleet.feeds.publishing();
            loop {
                let published = Published { room: &room, owned: &owned, feeds: &fleet.feeds };
                tokio::select! {
                    end = publish(published, &steps) => drop(steps.send_replace(end)),
                    () = steps.closed() => {}
                }
                if feeding.leave(&id, &steps) {
                    break;
                }
                // Another feed has come just now, and begins as the first one did.
                steps.send_replace(Step::Beginning);
            }
            drop(counted);
        });
        Some(step)
    }
}
