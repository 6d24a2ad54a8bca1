//! The lobby as the page shows it: all rooms, the newest matches and the leaders.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::{sync::watch, time::sleep};

use super::rooms::Rooms;
use crate::{
    results::{Results, views::Boards},
    room::{Room, info::Info},
};

/// The maximum rate at which pages are told of changes.
const PAUSE: Duration = Duration::from_millis(250);

/// What the page of the lobby shows. `R` is a room.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Lobby<R = Info> {
    pub(crate) rooms: Vec<R>,
    /// The newest matches and the leaders.
    #[serde(flatten)]
    pub(crate) boards: Boards,
}

impl Lobby {
    /// The lobby as it is now.
    pub(crate) fn of(rooms: &Rooms, results: &Results) -> Self {
        let rooms = rooms.all().iter().map(|room| room.info.borrow().clone()).collect();
        Self { rooms, boards: results.boards().as_ref().clone() }
    }
}

/// Keeps the lobby of a hub up to date for all pages that show it.
#[derive(Debug)]
pub(crate) struct Publisher {
    open: Arc<Rooms>,
    results: Arc<Results>,
    shown: Arc<watch::Sender<Arc<str>>>,
    // A thousand rooms are a megabyte of JSON, of which little changes.
    rooms: BTreeMap<String, Shown>,
    boards: Arc<Boards>,
}

/// A room as it was last shown.
#[derive(Debug)]
struct Shown {
    info: watch::Receiver<Info>,
    json: Box<RawValue>,
}

impl Publisher {
    /// Publishes the lobby once. Sockets that are accepted after that are sent the whole lobby at once.
    ///
    /// # Errors
    /// When a room has no JSON.
    pub(crate) fn new(
        open: Arc<Rooms>,
        results: Arc<Results>,
        shown: Arc<watch::Sender<Arc<str>>>,
    ) -> serde_json::Result<Self> {
        let boards = results.boards();
        let mut publisher = Self { open, results, shown, rooms: BTreeMap::new(), boards };
        publisher.collect()?;
        publisher.publish()?;
        Ok(publisher)
    }

    /// Publishes all changes, for ever.
    ///
    /// # Errors
    /// When a room has no JSON.
    pub(crate) async fn run(mut self) -> serde_json::Result<()> {
        loop {
            sleep(PAUSE).await;
            if self.collect()? {
                self.publish()?;
            }
        }
    }

    fn publish(&self) -> serde_json::Result<()> {
        let rooms = self.rooms.values().map(|shown| &shown.json).collect();
        let lobby = Lobby { rooms, boards: Boards::clone(&self.boards) };
        self.shown.send_replace(serde_json::to_string(&lobby)?.into());
        Ok(())
    }

    // Collects what has changed. Returns whether anything has.
    fn collect(&mut self) -> serde_json::Result<bool> {
        let boards = self.results.boards();
        let mut changed = !Arc::ptr_eq(&boards, &self.boards);
        self.boards = boards;
        let rooms = self.open.by_name();
        let before = self.rooms.len();
        self.rooms.retain(|id, _| rooms.contains_key(id));
        changed |= self.rooms.len() != before;
        for (id, room) in rooms {
            if let Some(shown) = self.rooms.get_mut(&id) {
                changed |= shown.update(&room)?;
            } else {
                self.rooms.insert(id, Shown::new(&room)?);
                changed = true;
            }
        }
        Ok(changed)
    }
}

impl Shown {
    fn new(room: &Room) -> serde_json::Result<Self> {
        let mut info = room.info.clone();
        let json = to_raw_value(&*info.borrow_and_update())?;
        Ok(Self { info, json })
    }

    // Returns whether it looks different now.
    fn update(&mut self, room: &Room) -> serde_json::Result<bool> {
        // A room that began anew has another channel. The channel of one that has ended is closed, which is no answer.
        if self.info.same_channel(&room.info) && self.info.has_changed().is_ok_and(|changed| !changed) {
            return Ok(false);
        }
        let Self { json, .. } = std::mem::replace(self, Self::new(room)?);
        Ok(json.get() != self.json.get())
    }
}
