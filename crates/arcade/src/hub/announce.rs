//! What other nodes are told of a room of this one.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::sleep;
use tracing::warn;

use super::{elsewhere::Row, rooms::Rooms};
use crate::{fleet::Fleet, room::Room};

/// How often a room is shown at most. The directory takes its changes less often, so this is only about the work of this hub.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows a room to other nodes until it is over for good.
pub(super) async fn announce(fleet: Arc<Fleet>, rooms: Weak<Rooms>, room: Arc<Room>) {
    let id = room.file().id.clone();
    if let Some(code) = room.access.code()
        && let Err(error) = fleet.claim_code(code, &id).await
    {
        warn!(room = id, "other nodes do not know the code of the room: {error}");
    }
    let mut now = Some(room);
    while let Some(room) = now {
        let mut info = room.info.clone();
        loop {
            let row = Row::of(&room, &info.borrow_and_update());
            match row {
                Ok(row) => fleet.show(&id, row).await,
                Err(error) => warn!(room = id, "other nodes are not shown the room as it is: {error}"),
            }
            sleep(PAUSE).await;
            if info.changed().await.is_err() {
                break;
            }
        }
        // If it goes on here after all, it is announced again.
        if room.is_suspended() {
            return;
        }
        // It may begin anew.
        let Some(rooms) = rooms.upgrade() else { return };
        now = rooms.replacement(&room).await;
    }
    fleet.close(&id).await;
}
