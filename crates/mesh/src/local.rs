//! The in-process implementation for a single hub. It has no thread, task or clock.

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

/// The maximum number of directory entries.
pub const MAX_ENTRIES: usize = 100_000;
/// The maximum number of logs; events and journals are counted separately.
pub const MAX_LOGS: usize = 10_000;

/// The shared state of hubs, within this process.
///
/// Clones share the state, which does not outlive the process. A single hub stores its results and journals in its
/// database and its files.
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
    /// Creates an empty instance. `clock` returns the time and must be monotonic.
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

    // Wakes tasks that wait for a change.
    fn changed(&self) {
        self.0.changes.wake();
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}
