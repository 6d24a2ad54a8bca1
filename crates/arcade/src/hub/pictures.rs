//! Small pictures of rooms for the lobby. In each room that a page shows, one watcher publishes changes. It is not
//! counted and keeps no room open.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use netcore::{HostId, Role, Shares};
use serde_json::Value;
use tokio::{
    sync::watch,
    task::yield_now,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{lobby::PAUSE, rooms::Rooms};
use crate::{
    games::Picture,
    room::{
        Room,
        mailbox::{Leaves, Next, Piece},
        roster::own_watcher,
    },
};

/// Watched rooms. Each counts for the first host that requested it.
const MAX_ROOMS: usize = 256;
/// How long a room stays watched after the last page has stopped showing it.
const LINGER: Duration = Duration::from_secs(5);
/// The pause before a reconnection. Rooms close the connection after each game.
const AGAIN: Duration = Duration::from_secs(1);
/// Frames of a history that are applied in one batch.
const AT_ONCE: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Shot {
    /// The sequence number in the room; 0 before the first.
    pub(crate) number: u64,
    pub(crate) whole: String,
    /// The changes since the previous picture. Removed parts are null.
    pub(crate) change: String,
}

impl Shot {
    fn next(&self, before: &Picture, now: &Picture) -> Option<Self> {
        let mut change = BTreeMap::new();
        for (name, part) in now {
            if before.get(name) != Some(part) {
                change.insert(name.as_str(), part);
            }
        }
        for name in before.keys().filter(|name| !now.contains_key(*name)) {
            change.insert(name, &Value::Null);
        }
        if change.is_empty() && self.number > 0 {
            return None;
        }
        let (mut whole, mut changed) = (String::new(), String::new());
        let _ = write!(whole, r#"{{"whole":{}}}"#, json(now));
        let _ = write!(changed, r#"{{"change":{}}}"#, json(&change));
        Some(Self { number: self.number + 1, whole, change: changed })
    }
}

// Names and values always have a JSON form.
fn json(parts: &impl serde::Serialize) -> String {
    serde_json::to_string(parts).unwrap_or_default()
}

#[derive(Debug)]
pub(crate) struct Pictures {
    open: Arc<Rooms>,
    state: Mutex<PictureState>,
}

#[derive(Debug)]
struct PictureState {
    watched: BTreeMap<String, WatchedRoom>,
    shares: Shares,
}

impl PictureState {
    fn remove(&mut self, id: &str) {
        if let Some(watched) = self.watched.remove(id) {
            self.shares.release(watched.host);
        }
    }
}

#[derive(Debug)]
struct WatchedRoom {
    shots: watch::Sender<Arc<Shot>>,
    // The first host that requested the room.
    host: HostId,
}

impl Pictures {
    pub(super) fn new(open: Arc<Rooms>) -> Arc<Self> {
        let state = PictureState { watched: BTreeMap::new(), shares: Shares::new(MAX_ROOMS) };
        Arc::new(Self { open, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, PictureState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if there is no such room, or too many are watched.
    pub(crate) fn of(self: &Arc<Self>, id: &str, host: HostId) -> Option<watch::Receiver<Arc<Shot>>> {
        // Only admitted clients see rooms that are not public, so these have no pictures.
        if !self.open.get(id).is_some_and(|room| room.access.is_public()) {
            return None;
        }
        let mut state = self.state();
        if let Some(watched) = state.watched.get(id) {
            return Some(watched.shots.subscribe());
        }
        self.open.get(id)?;
        state.shares.take(host).ok()?;
        let (shots, receiver) = watch::channel(Arc::default());
        state.watched.insert(id.to_owned(), WatchedRoom { shots: shots.clone(), host });
        drop(state);
        tokio::spawn(watch(Arc::downgrade(self), id.to_owned(), shots));
        Some(receiver)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.state().watched.len()
    }

    // Removes a room that no page shows. Returns whether it was removed.
    fn leave(&self, id: &str) -> bool {
        let mut state = self.state();
        let unseen = state.watched.get(id).is_none_or(|watched| watched.shots.receiver_count() == 0);
        if unseen {
            state.remove(id);
        }
        unseen
    }
}

async fn watch(pictures: Weak<Pictures>, id: String, shots: watch::Sender<Arc<Shot>>) {
    let mut before = Picture::new();
    loop {
        let Some(room) = pictures.upgrade().and_then(|pictures| pictures.open.get(&id)) else { break };
        tokio::select! {
            () = follow(&room, &mut before, &shots) => {}
            () = unseen(&shots) => {}
        }
        drop(room);
        if pictures.upgrade().is_none_or(|pictures| pictures.leave(&id)) {
            return;
        }
        // The room is over or has closed the connection.
        let _ = timeout(AGAIN, unseen(&shots)).await;
    }
    if let Some(pictures) = pictures.upgrade() {
        pictures.state().remove(&id);
    }
}

// Resolves when no page has shown the room for [`LINGER`].
async fn unseen(shots: &watch::Sender<Arc<Shot>>) {
    loop {
        shots.closed().await;
        sleep(LINGER).await;
        if shots.receiver_count() == 0 {
            return;
        }
    }
}

// Returns when the room closes the connection.
async fn follow(room: &Arc<Room>, before: &mut Picture, shots: &watch::Sender<Arc<Shot>>) {
    let address = own_watcher();
    let Some(mailbox) = room.gate.enter(Role::Watcher, address.into(), address, false).await else { return };
    let mailbox = Leaves(mailbox);
    let mut painter = room.game.painter();
    let mut info = room.info.clone();
    let mut due: Option<Instant> = None;
    let mut next = Instant::now();
    loop {
        tokio::select! {
            piece = mailbox.0.next() => {
                match piece {
                    Next::Piece(Piece::Frame(frame)) => painter.receive(&frame),
                    Next::Piece(Piece::History(log)) => {
                        for (number, frame) in log.frames().enumerate() {
                            painter.receive(&frame);
                            if number % AT_ONCE == AT_ONCE - 1 {
                                yield_now().await;
                            }
                        }
                    }
                    Next::End(_) => return,
                }
                due.get_or_insert(next);
            }
            () = async { sleep_until(due.unwrap_or(next)).await }, if due.is_some() => {
                (due, next) = (None, Instant::now() + PAUSE);
                let now = painter.picture();
                let shot = shots.borrow().next(before, &now);
                if let Some(shot) = shot {
                    shots.send_replace(Arc::new(shot));
                    *before = now;
                }
            }
            changed = info.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn picture(parts: &Value) -> Picture {
        parts.as_object().unwrap().clone().into_iter().collect()
    }

    #[test]
    fn picture_update_has_only_changed_parts() {
        let (empty, one, two) = (
            Picture::new(),
            picture(&json!({ "size": [2, 3], "0": "+-+", "1": "|.|" })),
            picture(&json!({ "size": [2, 3], "1": "|A|" })),
        );
        let first = Shot::default().next(&empty, &one).unwrap();
        assert_eq!((first.number, first.whole.as_str()), (1, r#"{"whole":{"0":"+-+","1":"|.|","size":[2,3]}}"#));
        assert!(first.next(&one, &one).is_none());
        let second = first.next(&one, &two).unwrap();
        assert_eq!((second.number, second.change.as_str()), (2, r#"{"change":{"0":null,"1":"|A|"}}"#));
        assert_eq!(second.whole, r#"{"whole":{"1":"|A|","size":[2,3]}}"#);
        assert_eq!(Shot::default().next(&empty, &empty).unwrap().whole, r#"{"whole":{}}"#);
    }
}
