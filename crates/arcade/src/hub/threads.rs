//! The threads of the hub.

use std::{io, num::NonZero, thread};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::games::Game;

/// Two runtimes: one for rooms with timed turns, and one for everything else.
///
/// A runtime serves its tasks in the order of their wake-ups. With a single runtime, a turn would wait for all keys and
/// pages that arrived before it. The system, in contrast, divides the processors among threads, so threads with little
/// work are scheduled promptly.
#[derive(Debug)]
pub(crate) struct Threads {
    turns: Runtime,
    /// The runtime of everything but rooms with turns.
    pub(crate) rest: Runtime,
}

impl Threads {
    /// Starts both runtimes; fails if the system has no threads.
    pub(crate) fn start() -> io::Result<Self> {
        // Both together have as many threads as there are processors. With more, threads wake and interrupt one
        // another, which took a tenth of the hub's time.
        let workers = thread::available_parallelism().map_or(1, NonZero::get).div_ceil(2);
        let runtime = |name| Builder::new_multi_thread().worker_threads(workers).thread_name(name).enable_all().build();
        Ok(Self { turns: runtime("turns")?, rest: runtime("hub")? })
    }

    /// Returns the handles of both runtimes.
    pub(crate) fn handles(&self) -> Handles {
        Handles { turns: self.turns.handle().clone(), rest: self.rest.handle().clone() }
    }

    /// Ends all tasks. Running blocking work does not delay that.
    pub(crate) fn shut_down(self) {
        self.turns.shutdown_background();
        self.rest.shutdown_background();
    }
}

/// The handles on which tasks are started.
#[derive(Debug, Clone)]
pub(crate) struct Handles {
    turns: Handle,
    /// The runtime of everything but rooms with turns.
    pub(super) rest: Handle,
}

impl Handles {
    /// Uses the current runtime for both.
    #[cfg(test)]
    pub(crate) fn current() -> Self {
        Self { turns: Handle::current(), rest: Handle::current() }
    }

    /// The runtime for rooms of this game.
    pub(crate) fn of(&self, game: Game) -> &Handle {
        if game.is_timed() { &self.turns } else { &self.rest }
    }
}
