//! Rooms are handed on when their owner is away.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep_until},
};
use tracing::warn;

use super::rooms::Rooms;
use crate::room::Room;

/// Hands a room on to whoever has been there longest once its owner has been away for this long, until the room ends.
pub(super) async fn hand_on(rooms: Weak<Rooms>, room: Arc<Room>, away: Duration) {
    let mut changes = room.pages.changes();
    let mut info = room.info.clone();
    let over = async move { drop(info.wait_for(|info| info.phase == "over").await) };
    tokio::pin!(over);
    loop {
        changes.borrow_and_update();
        room.mark_owner();
        let due = (room.is_owned() && !room.pages.has_owner()).then(|| room.pages.owner_heard() + away);
        let mut next = due;
        if due.is_some_and(|due| due <= Instant::now()) {
            next = None;
            if room.owner_is_here() {
                // A native player; nobody notices when it goes.
                room.pages.hear_owner();
                next = Some(room.pages.owner_heard() + away);
            } else if let Some(seat) = room.pages.longest(&room.known) {
                match room.hand_on(seat) {
                    Ok(true) => {
                        let Some(rooms) = rooms.upgrade() else { return };
                        let room = Arc::clone(&room);
                        let _ = spawn_blocking(move || rooms.save(&room)).await;
                        continue;
                    }
                    // It is told with the next change.
                    Ok(false) => {}
                    Err(error) => warn!("a room is not handed on: {error:#}"),
                }
            }
        }
        tokio::select! {
            () = &mut over => return,
            told = changes.changed() => if told.is_err() {
                return;
            },
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
        }
    }
}
