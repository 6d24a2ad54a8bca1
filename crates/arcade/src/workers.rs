//! The threads on which rooms run.
//!
//! Each has a runtime of its own, and a room stays where it was opened: its state stays in the caches of one processor, and a
//! message wakes no other thread. What is not a room (the page, bots, results) runs on the runtime of the hub.

use std::{
    io,
    sync::Arc,
    thread::{self, available_parallelism},
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// A thread for rooms for each processor. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct Workers(Vec<Worker>);

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    // One reference for each room.
    rooms: Arc<()>,
    _stop: oneshot::Sender<()>,
}

/// A place for one room on one of the threads, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Berth {
    pub(crate) runtime: Handle,
    _room: Arc<()>,
}

impl Workers {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the system refuses one.
    pub(crate) fn start() -> io::Result<Self> {
        let count = available_parallelism().map_or(1, usize::from);
        (0..count).map(Worker::start).collect::<io::Result<_>>().map(Self)
    }

    /// A place on the thread with the fewest rooms.
    pub(crate) fn berth(&self) -> Berth {
        let load = |worker: &&Worker| Arc::strong_count(&worker.rooms);
        match self.0.iter().min_by_key(load) {
            Some(worker) => Berth { runtime: worker.runtime.clone(), _room: Arc::clone(&worker.rooms) },
            // There is at least one.
            None => Berth { runtime: Handle::current(), _room: Arc::default() },
        }
    }
}

impl Worker {
    fn start(index: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        thread::Builder::new().name(format!("rooms-{index}")).spawn(move || {
            // Resolves when the other end is dropped.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { runtime: handle, rooms: Arc::default(), _stop: stop })
    }
}
