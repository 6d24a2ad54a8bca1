//! Has rematches begin: when all who were asked are ready, or with those who are in time.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use crate::room::Room;

/// Ends the countdowns of a room until it is over. In a game that needs all its seats, bots come for those who do not want another match.
pub(super) async fn rematches(room: Arc<Room>) {
    let mut due = room.invites.due();
    let mut info = room.info.clone();
    let over = async move { drop(info.wait_for(|info| info.phase == "over").await) };
    tokio::pin!(over);
    loop {
        let next = *due.borrow_and_update();
        tokio::select! {
            () = &mut over => return,
            changed = due.changed() => if changed.is_err() {
                return;
            },
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                let starts_at_once = room.info.borrow().options.starts_at_once();
                if room.invites.end() && !starts_at_once {
                    room.holds.ask_for_company(room.holds.level_of_company());
                }
            }
        }
    }
}
