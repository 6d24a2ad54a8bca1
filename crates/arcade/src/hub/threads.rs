//! The threads of the hub.

use std::{io, num::NonZero, thread};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::games::Game;

/// Two runtimes: one for rooms whose turns come by the clock, and one for all the rest.
///
/// A runtime serves its tasks in the order in which they are woken. With everything on one, a turn waits for all keys and pages
/// that came before it. The system, on the other hand, divides the processors among threads, so threads with little to do are served at
/// once.
#[derive(Debug)]
pub(crate) struct Threads {
    turns: Runtime,
    /// The runtime of everything but rooms with turns.
    pub(crate) rest: Runtime,
}

impl Threads {
    /// Starts both; fails when the system has no threads.
    pub(crate) fn start() -> io::Result<Self> {
        // Together as many as there are processors: with more, threads wake and interrupt one another, which took a tenth of the hub's time.
        let workers = thread::available_parallelism().map_or(1, NonZero::get).div_ceil(2);
        let runtime = |name| Builder::new_multi_thread().worker_threads(workers).thread_name(name).enable_all().build();
        Ok(Self { turns: runtime("turns")?, rest: runtime("hub")? })
    }

    /// Where tasks are started.
    pub(crate) fn handles(&self) -> Handles {
        Handles { turns: self.turns.handle().clone(), rest: self.rest.handle().clone() }
    }

    /// Ends all tasks. Blocking work that is under way does not delay that.
    pub(crate) fn shut_down(self) {
        self.turns.shutdown_background();
        self.rest.shutdown_background();
    }
}

/// Where tasks are started.
#[derive(Debug, Clone)]
pub(crate) struct Handles {
    turns: Handle,
    /// Where everything but rooms with turns runs.
    pub(super) rest: Handle,
}

impl Handles {
    /// All on the current runtime.
    #[cfg(test)]
    pub(crate) fn current() -> Self {
        Self { turns: Handle::current(), rest: Handle::current() }
    }

    /// Where rooms of this game run.
    pub(crate) const fn of(&self, game: Game) -> &Handle {
        if game.is_timed() { &self.turns } else { &self.rest }
    }
}
