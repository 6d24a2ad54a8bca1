//! How fast a machine works.

use std::{ops::RangeInclusive, time::Duration};

/// How long work takes on a machine, and how exact its timers are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// Time that passes from one look at the clock to the next.
    pub work: RangeInclusive<Duration>,
    /// How much later than its time a timer expires.
    pub late: RangeInclusive<Duration>,
    /// Looks per million at which the whole process stands still.
    pub stall_per_million: u32,
    /// Duration of a standstill.
    pub stall: RangeInclusive<Duration>,
}

impl Pace {
    /// A fast machine that never stands still.
    pub const CALM: Self = Self {
        work: Duration::from_nanos(20)..=Duration::from_micros(1),
        late: Duration::ZERO..=Duration::from_micros(50),
        stall_per_million: 0,
        stall: Duration::ZERO..=Duration::ZERO,
    };
    /// A busy machine, on which the process stands still for up to 400 ms now and then.
    pub const ROUGH: Self = Self {
        work: Duration::from_nanos(20)..=Duration::from_micros(20),
        late: Duration::ZERO..=Duration::from_millis(2),
        stall_per_million: 200,
        stall: Duration::from_millis(10)..=Duration::from_millis(400),
    };
}
