use std::{ops::RangeInclusive, time::Duration};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Only this many more bytes fit on the disk; the rest of a write fails. Existing content can be overwritten.
    Full(u64),
    /// Writes fail after this many bytes; the last one is partial.
    FailingWrites(u64),
    /// Syncs of files fail after this many. Their data may be lost even if a later sync succeeds.
    FailingSyncs(u64),
    /// Changes of names and syncs of directories fail after this many.
    FailingNames(u64),
    /// Writes do not return while this fault is set.
    StalledWrites,
    /// The server dies within the write that exceeds this many bytes; see
    /// [`SimulatedDisk::is_dead`](super::SimulatedDisk::is_dead).
    DeathInWrite(u64),
    /// The server dies in a sync after this many others; the flag determines whether that sync completes.
    DeathInSync(u64, bool),
    /// The server dies before it changes a name, after this many changes.
    DeathInNames(u64),
    /// The write after this many others is reported as done, but is lost.
    LostWrite(u64),
    /// The write after this many others goes one sector too far.
    MisdirectedWrite(u64),
}

/// How long calls take in a simulated thread. Elsewhere they take no time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    pub busy_percent: u32,
    pub usual: RangeInclusive<Duration>,
    pub slow_per_10_000: u32,
    pub slow: RangeInclusive<Duration>,
}

impl Latency {
    pub const NONE: Self = Self {
        busy_percent: 0,
        usual: Duration::ZERO..=Duration::ZERO,
        slow_per_10_000: 0,
        slow: Duration::ZERO..=Duration::ZERO,
    };
    pub const CALM: Self =
        Self { busy_percent: 30, usual: Duration::from_micros(20)..=Duration::from_millis(2), ..Self::NONE };
    /// A shared disk, on which some calls take seconds.
    pub const ROUGH: Self = Self {
        busy_percent: 60,
        usual: Duration::from_micros(50)..=Duration::from_millis(15),
        slow_per_10_000: 40,
        slow: Duration::from_millis(100)..=Duration::from_secs(3),
    };
}
