//! What the directory decides about rooms: some go on here that another hub had, and others end here that another hub has.

use std::sync::Arc;

use anyhow::Context as _;
use tokio::{
    sync::{Semaphore, mpsc::Receiver},
    task::spawn_blocking,
};
use tracing::{error, info, warn};

use super::{
    Hub,
    elsewhere::{Elsewhere, Row},
    files::parse,
};
use crate::{
    fleet::{
        Event, Fleet,
        copies::{Read, Unreadable},
    },
    games::Options,
    room::Room,
};

/// Rooms that are taken over at the same time: of a node with hundreds, none waits for all others.
const AT_ONCE: usize = 16;

impl Hub {
    /// Does what the directory decides about rooms of this node, until the hub ends.
    pub(crate) async fn obey(self: Arc<Self>, mut events: Receiver<Event>) {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        while let Some(event) = events.recv().await {
            match event {
                Event::Lost(room) => {
                    let rooms = Arc::clone(&self.rooms);
                    if rooms.get(room.as_str()).is_some() {
                        warn!(room = %room, "the room has moved to another hub, and ends here");
                    }
                    // It writes to the disk.
                    let _ = spawn_blocking(move || rooms.give_up(room.as_str())).await;
                }
                Event::TakenOver(room) => {
                    let (hub, turns) = (Arc::clone(&self), Arc::clone(&turns));
                    tokio::spawn(async move {
                        let _turn = turns.acquire().await;
                        if let Some(elsewhere) = hub.elsewhere().cloned() {
                            hub.take_over(&elsewhere, room.as_str()).await;
                        }
                    });
                }
            }
        }
    }

    async fn take_over(self: &Arc<Self>, elsewhere: &Elsewhere, id: &str) {
        let fleet = &elsewhere.fleet;
        let read = match fleet.copies.read(id).await {
            Ok(read) => read,
            Err(Unreadable::Gone) => return,
            Err(Unreadable::Later) => {
                return error!(
                    room = id,
                    "a later version of arcade has written the copy of this room; it goes on when this hub is upgraded"
                );
            }
        };
        let Some(read) = read else {
            info!(room = id, "nothing of this room was stored before its hub was lost, so it is closed");
            return fleet.close(id).await;
        };
        let (hub, room) = (Arc::clone(self), id.to_owned());
        match spawn_blocking(move || hub.go_on(&room, &read)).await.map_err(Into::into).flatten() {
            Ok(room) => {
                // Before the directory says that it goes on, so that it says where.
                self.show(fleet, &room).await;
                fleet.restored(id).await;
                // One that nobody else took was never another hub's.
                if !self.moves.has_handed(id) {
                    fleet.copies.count_moved();
                }
                self.announce(&room);
            }
            Err(error) => {
                error!(room = id, "the room of another hub cannot go on here, so it is closed: {error:#}");
                fleet.close(id).await;
            }
        }
    }

    // Opens a room as another hub has left it. Waits for the disk.
    fn go_on(self: &Arc<Self>, id: &str, read: &Read) -> anyhow::Result<Arc<Room>> {
        let mut file = parse(&read.room, id).context("what is written down of it is damaged")?;
        let _opening = self.rooms.opening();
        anyhow::ensure!(!self.rooms.is_draining() || self.moves.has_handed(id), "this hub is about to end");
        let front = self.place.front(file.options.game().name());
        let disk = &*self.place.writing.disk;
        let journal = read.journal.as_ref().map(|journal| journal.write(disk, &self.place.journals, &front));
        file.journal = match journal.transpose() {
            Ok(path) => path.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
            Err(error) => {
                warn!(room = id, "its match is lost: {error}");
                None
            }
        };
        // Every hub opens the usual rooms at its start, so there would be more of them after each upgrade.
        if file.permanent
            && Options::permanent().any(|usual| usual == file.options)
            && self.has_permanent(&file.options)
        {
            file.permanent = false;
        }
        let room = self.run(file)?;
        info!(room = id, port = room.file().port, "a room of another hub goes on here");
        Ok(room)
    }

    async fn show(&self, fleet: &Fleet, room: &Room) {
        let (id, row) = (room.file().id.clone(), Row::of(room, &room.info.borrow()));
        match row {
            Ok(row) => fleet.show(&id, row).await,
            Err(error) => warn!("other hubs are not shown a room as it is: {error}"),
        }
    }
}
