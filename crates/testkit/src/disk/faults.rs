//! The faults of a simulated disk, and its latency.

use std::{ops::RangeInclusive, time::Duration};

/// A fault of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Only this many bytes more fit on the disk: the rest of a write fails. Existing content can be overwritten.
    Full(u64),
    /// Writes fail after this many bytes; the last write is done partially.
    FailingWrites(u64),
    /// Syncs of files fail after this many, and the data of a failed sync may be lost even if a later sync succeeds.
    FailingSyncs(u64),
    /// Truncating, creating, renaming, removing and syncing a directory fail after this many of them.
    FailingNames(u64),
    /// Writes do not return while this fault is set.
    StalledWrites,
    /// The server dies in the middle of the write that exceeds this many bytes; see
    /// [`SimulatedDisk::is_dead`](super::SimulatedDisk::is_dead).
    DeathInWrite(u64),
    /// The server dies in a sync after this many others; the flag determines whether that sync is completed.
    DeathInSync(u64, bool),
    /// The server dies before it changes a name, after this many others.
    DeathInNames(u64),
    /// The disk reports the write after this many others as done, but does not do it.
    LostWrite(u64),
    /// The disk does the write after this many others at a wrong place, one sector later.
    MisdirectedWrite(u64),
}

/// How long the calls of a disk take in a thread of a simulated machine. Elsewhere they take no time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    /// Percentage of calls that take time.
    pub busy_percent: u32,
    /// The duration of most of these.
    pub usual: RangeInclusive<Duration>,
    /// Calls per ten thousand that take longer.
    pub slow_per_10_000: u32,
    /// The duration of these.
    pub slow: RangeInclusive<Duration>,
}

impl Latency {
    /// No call takes time.
    pub const NONE: Self = Self {
        busy_percent: 0,
        usual: Duration::ZERO..=Duration::ZERO,
        slow_per_10_000: 0,
        slow: Duration::ZERO..=Duration::ZERO,
    };
    /// A fast disk.
    pub const CALM: Self =
        Self { busy_percent: 30, usual: Duration::from_micros(20)..=Duration::from_millis(2), ..Self::NONE };
    /// A shared disk: some calls take seconds.
    pub const ROUGH: Self = Self {
        busy_percent: 60,
        usual: Duration::from_micros(50)..=Duration::from_millis(15),
        slow_per_10_000: 40,
        slow: Duration::from_millis(100)..=Duration::from_secs(3),
    };
}
