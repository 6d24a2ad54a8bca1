//! The lobby: what it lists, and what pages are told of it.
//!
//! A page says what it looks at. It is sent that list once, and then what has changed in it. What pages with the same view are told is
//! made once.

mod listed;
mod views;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::Serialize;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use self::listed::{Key, Listed, Told};
use super::rooms::Rooms;
use crate::{
    results::{Results, views::Boards},
    room::{Room, info::Info},
};

pub(crate) use self::views::{Frame, Lists, Look};

/// How often pages are told of changes at most.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);
/// How often they are told of matches and leaders at most: every match that ends changes those.
const BOARDS_PAUSE: Duration = Duration::from_secs(2);

/// The rooms that are listed, the newest matches and the leaders, for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Lobby {
    pub(crate) rooms: Vec<Info>,
    /// The newest matches and the leaders.
    #[serde(flatten)]
    pub(crate) boards: Boards,
}

impl Lobby {
    /// The lobby as it is now.
    pub(crate) fn of(rooms: &Rooms, results: &Results, all: bool) -> Self {
        let mut boards = results.boards().as_ref().clone();
        if all {
            let rooms = rooms.all().iter().map(|room| room.info.borrow().clone()).collect();
            return Self { rooms, boards };
        }
        boards.recent.retain(|ended| !rooms.hides(&ended.room));
        let listed = rooms.all().into_iter().filter(|room| room.access.is_listed());
        Self { rooms: listed.map(|room| room.info.borrow().for_everybody()).collect(), boards }
    }
}

/// Keeps the lobby of a hub up to date for all pages that show it.
#[derive(Debug)]
pub(crate) struct Publisher {
    open: Arc<Rooms>,
    results: Arc<Results>,
    lists: Arc<Lists>,
    rooms: BTreeMap<Key, Shown>,
    boards: Arc<Boards>,
    told: Told,
    told_at: Instant,
}

/// A room as it was last shown.
#[derive(Debug)]
struct Shown {
    info: watch::Receiver<Info>,
    row: Arc<Listed>,
}

impl Publisher {
    /// Publishes the lobby once.
    pub(crate) fn new(open: Arc<Rooms>, results: Arc<Results>, lists: Arc<Lists>) -> serde_json::Result<Self> {
        let boards = results.boards();
        let told = Told::of(&boards, |room| open.hides(room))?;
        let told_at = Instant::now();
        let mut publisher = Self { open, results, lists, rooms: BTreeMap::new(), boards, told, told_at };
        publisher.collect()?;
        publisher.publish();
        Ok(publisher)
    }

    /// Publishes all changes, for ever.
    pub(crate) async fn run(mut self) -> serde_json::Result<()> {
        loop {
            sleep(PAUSE).await;
            if self.collect()? {
                self.publish();
            }
            self.lists.advance();
        }
    }

    fn publish(&self) {
        let rooms = self.rooms.values().map(|shown| Arc::clone(&shown.row)).collect();
        self.lists.publish(rooms, self.told.clone());
    }

    // Collects what has changed. Returns whether anything has.
    fn collect(&mut self) -> serde_json::Result<bool> {
        let mut changed = false;
        let boards = self.results.boards();
        if !Arc::ptr_eq(&boards, &self.boards) && self.told_at.elapsed() >= BOARDS_PAUSE {
            let told = Told::of(&boards, |room| self.open.hides(room))?;
            changed = told != self.told;
            (self.told, self.boards, self.told_at) = (told, boards, Instant::now());
        }
        let listed = self.open.by_name().into_iter().filter(|(_, room)| room.access.is_listed());
        let rooms: BTreeMap<Key, Arc<Room>> = listed.map(|(id, room)| (Key::new(room.game, &id), room)).collect();
        let before = self.rooms.len();
        self.rooms.retain(|key, _| rooms.contains_key(key));
        changed |= self.rooms.len() != before;
        for (key, room) in rooms {
            if let Some(shown) = self.rooms.get_mut(&key) {
                changed |= shown.update(&room)?;
            } else {
                self.rooms.insert(key, Shown::new(&room)?);
                changed = true;
            }
        }
        Ok(changed)
    }
}

impl Shown {
    fn new(room: &Room) -> serde_json::Result<Self> {
        let mut info = room.info.clone();
        let row = Arc::new(Listed::of(&info.borrow_and_update())?);
        Ok(Self { info, row })
    }

    // Returns whether it looks different now.
    fn update(&mut self, room: &Room) -> serde_json::Result<bool> {
        // A room that began anew has another channel. The channel of one that has ended is closed, which is no answer.
        if self.info.same_channel(&room.info) && self.info.has_changed().is_ok_and(|changed| !changed) {
            return Ok(false);
        }
        let now = Self::new(room)?;
        self.info = now.info;
        // The same row stays, so that whoever compares sees at once that nothing has changed.
        let changed = now.row != self.row;
        if changed {
            self.row = now.row;
        }
        Ok(changed)
    }
}
