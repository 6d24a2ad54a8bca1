//! What the copies of all rooms have in common.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use mesh::Durability;
use netcore::Time;
use tokio::{
    sync::{Notify, Semaphore},
    time::Instant,
};

/// What the copies of all rooms have in common.
#[derive(Debug)]
pub(super) struct Common {
    start: Instant,
    pub(super) durability: Durability,
    // Bytes that wait to be stored.
    pub(super) waiting: AtomicUsize,
    pub(super) stored: Notify,
    pub(super) asks: Semaphore,
    // Until when the node may tell of its rooms, in nanoseconds since the start.
    pub(super) lease: AtomicU64,
}

impl Common {
    pub(super) fn new(durability: Durability, most_asks: usize) -> Self {
        let (waiting, stored, lease) = <(AtomicUsize, Notify, AtomicU64)>::default();
        Self { start: Instant::now(), durability, waiting, stored, asks: Semaphore::new(most_asks), lease }
    }

    pub(super) fn now(&self) -> Time {
        Time::ZERO.plus(self.start.elapsed())
    }

    pub(super) fn is_leased(&self) -> bool {
        self.now().as_nanos() < self.lease.load(Ordering::Relaxed)
    }
}
