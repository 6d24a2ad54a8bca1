//! What the copies of all rooms have in common.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use mesh::Durability;
use netcore::Time;
use tokio::{
    sync::{Notify, Semaphore},
    time::Instant,
};

use super::quota::Quota;

/// What the copies of all rooms have in common.
#[derive(Debug)]
pub(super) struct Common {
    start: Instant,
    pub(super) durability: Durability,
    // Bytes that wait to be stored.
    pub(super) waiting: AtomicUsize,
    pub(super) stored: Notify,
    pub(super) asks: Semaphore,
    pub(super) quota: Quota,
    // Rooms whose copies do not fit into their share.
    pub(super) short: AtomicUsize,
    // Whether the stream has refused a record since it is full.
    pub(super) is_stream_full: AtomicBool,
    // Until when the node may tell of its rooms, in nanoseconds since the start.
    pub(super) lease: AtomicU64,
}

impl Common {
    pub(super) fn new(durability: Durability, most_asks: usize, most_bytes: usize) -> Self {
        let (waiting, stored, lease, short, is_stream_full) = Default::default();
        let (asks, quota) = (Semaphore::new(most_asks), Quota::new(most_bytes));
        Self { start: Instant::now(), durability, waiting, stored, asks, quota, short, is_stream_full, lease }
    }

    pub(super) fn now(&self) -> Time {
        Time::ZERO.plus(self.start.elapsed())
    }

    pub(super) fn is_leased(&self) -> bool {
        self.now().as_nanos() < self.lease.load(Ordering::Relaxed)
    }
}
