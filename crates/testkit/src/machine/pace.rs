//! The speed of a machine.

use std::{ops::RangeInclusive, time::Duration};

/// The duration of work on a machine, and the accuracy of its timers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// Time that passes between two reads of the clock.
    pub work: RangeInclusive<Duration>,
    /// The delay of an expired timer.
    pub late: RangeInclusive<Duration>,
    /// Reads per million at which the whole process stalls.
    pub stall_per_million: u32,
    /// Duration of a stall.
    pub stall: RangeInclusive<Duration>,
}

impl Pace {
    /// A fast machine that never stalls.
    pub const CALM: Self = Self {
        work: Duration::from_nanos(20)..=Duration::from_micros(1),
        late: Duration::ZERO..=Duration::from_micros(50),
        stall_per_million: 0,
        stall: Duration::ZERO..=Duration::ZERO,
    };
    /// A busy machine, on which the process occasionally stalls for up to 400 ms.
    pub const ROUGH: Self = Self {
        work: Duration::from_nanos(20)..=Duration::from_micros(20),
        late: Duration::ZERO..=Duration::from_millis(2),
        stall_per_million: 200,
        stall: Duration::from_millis(10)..=Duration::from_millis(400),
    };
}
