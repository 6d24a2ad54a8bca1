//! The interface by which rooms report results. A room knows no database.

use std::{fmt, path::Path, sync::Arc};

use netcore::{GameEvent, Time};

use super::register::{Description, Register};
use crate::games::Game;

/// Opens the ledgers of rooms.
pub(crate) trait Ledgers: fmt::Debug + Send + Sync {
    /// The ledger of a room whose journal is at `path` and has the number `id`: a new one, or one that is continued.
    fn open(
        self: Arc<Self>,
        journal: (&Path, u64),
        is_new: bool,
        room: (Game, &Description),
        register: Arc<Register>,
    ) -> Box<dyn Ledger>;
}

/// Collects the results of one room.
pub(crate) trait Ledger: Send {
    /// Processes an event. Returns the id of a match that has begun, or that is over and had begun before a restart.
    fn event(&mut self, now: Time, event: &GameEvent) -> Option<String>;
}
