use std::{io, num::NonZero, thread};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::games::Game;

/// Rooms with timed turns have their own runtime, because a runtime serves tasks in the order of their wake-ups: a turn
/// would wait for all keys and pages before it. The system schedules threads with little work promptly.
#[derive(Debug)]
pub(crate) struct Threads {
    turns: Runtime,
    pub(crate) rest: Runtime,
}

impl Threads {
    pub(crate) fn start() -> io::Result<Self> {
        // As many threads as processors. With more, they interrupt one another, which cost a tenth of the hub's time.
        let workers = thread::available_parallelism().map_or(1, NonZero::get).div_ceil(2);
        let runtime = |name| Builder::new_multi_thread().worker_threads(workers).thread_name(name).enable_all().build();
        Ok(Self { turns: runtime("turns")?, rest: runtime("hub")? })
    }

    pub(crate) fn handles(&self) -> Handles {
        Handles { turns: self.turns.handle().clone(), rest: self.rest.handle().clone() }
    }

    /// Running blocking work does not delay the end.
    pub(crate) fn shut_down(self) {
        self.turns.shutdown_background();
        self.rest.shutdown_background();
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Handles {
    turns: Handle,
    pub(super) rest: Handle,
}

impl Handles {
    #[cfg(test)]
    pub(crate) fn current() -> Self {
        Self { turns: Handle::current(), rest: Handle::current() }
    }

    pub(crate) fn of(&self, game: Game) -> &Handle {
        if game.is_timed() { &self.turns } else { &self.rest }
    }
}
