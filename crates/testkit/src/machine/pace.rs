use std::{ops::RangeInclusive, time::Duration};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// The time between two reads of the clock.
    pub work: RangeInclusive<Duration>,
    /// The delay of an expired timer.
    pub late: RangeInclusive<Duration>,
    /// Reads at which the whole process stalls.
    pub stall_per_million: u32,
    pub stall: RangeInclusive<Duration>,
}

impl Pace {
    pub const CALM: Self = Self {
        work: Duration::from_nanos(20)..=Duration::from_micros(1),
        late: Duration::ZERO..=Duration::from_micros(50),
        stall_per_million: 0,
        stall: Duration::ZERO..=Duration::ZERO,
    };
    pub const ROUGH: Self = Self {
        work: Duration::from_nanos(20)..=Duration::from_micros(20),
        late: Duration::ZERO..=Duration::from_millis(2),
        stall_per_million: 200,
        stall: Duration::from_millis(10)..=Duration::from_millis(400),
    };
}
