//! Who keeps the results of rooms. A room knows no database.

use std::{fmt, path::Path, sync::Arc};

use netcore::{GameEvent, Level, Time};

use super::{info::Info, known::Seats};

/// Opens the ledgers of rooms.
pub(crate) trait Ledgers: fmt::Debug + Send + Sync {
    /// The ledger of a room whose journal is at `path` and has the number `id`: a new one, or one that goes on.
    fn open(self: Arc<Self>, journal: (&Path, u64), is_new: bool, info: &Info, known: Arc<Seats>) -> Box<dyn Ledger>;
}

/// Keeps the results of one room.
pub(crate) trait Ledger: Send {
    /// Processes an event. `bot` says how well the bot plays that it is about, if it is about one. Returns the id of a match that has begun, or that is over and had begun
    /// before a restart.
    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>, bot: Option<Level>) -> Option<String>;
}
