//! What a single hub runs: all of it in this process. It has no thread, no task and no clock of its own.

mod changes;
mod directory;
mod full;
mod log;
mod results;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use netcore::Time;

use self::{changes::Changes, directory::Entries, log::Logs, results::Queue};
use crate::{events, journals};

/// Most entries of the directory of one process.
pub const MAX_ENTRIES: usize = 100_000;
/// Most logs of one process; events and journals count apart.
pub const MAX_LOGS: usize = 10_000;

/// What hubs share, in this process.
///
/// Clones are the same. Nothing of it outlives the process; results and journals of a single hub are in its database and
/// its files.
#[derive(Clone)]
pub struct Local(Arc<Inner>);

struct Inner {
    clock: Box<dyn Fn() -> Time + Send + Sync>,
    state: Mutex<State>,
    changes: Changes,
}

#[derive(Debug)]
struct State {
    entries: Entries,
    events: Logs,
    journals: Logs,
    results: Queue,
}

impl Local {
    /// Empty. `clock` gives the time, which never goes back.
    pub fn new(clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        let state = State {
            entries: Entries::default(),
            events: Logs::new(events::BOUNDS),
            journals: Logs::new(journals::BOUNDS),
            results: Queue::default(),
        };
        Self(Arc::new(Inner { clock: Box::new(clock), state: Mutex::new(state), changes: Changes::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        (self.0.clock)()
    }

    // Has those look again that wait for a change.
    fn changed(&self) {
        self.0.changes.wake();
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}
