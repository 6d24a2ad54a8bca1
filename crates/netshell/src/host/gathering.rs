//! Inputs that gather after a deadline, so that they are processed together.

use std::time::Duration;

use netcore::Time;

/// The part of the time to the next deadline that inputs gather at most.
const PART: u32 = 5;

/// Until when inputs gather.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gathering {
    most: Duration,
    until: Time,
}

impl Gathering {
    /// Inputs gather for at most so long after each deadline.
    pub(super) const fn at_most(most: Duration) -> Self {
        Self { most, until: Time::ZERO }
    }

    /// A deadline has passed. The next one is `next`.
    pub(super) fn begin(&mut self, now: Time, next: Option<Time>) {
        let left = next.map_or(Duration::ZERO, |next| next.since(now));
        self.until = now.plus(self.most.min(left / PART));
    }

    /// Until when inputs gather, if they do.
    pub(super) fn ends_at(&self, now: Time) -> Option<Time> {
        (now < self.until).then_some(self.until)
    }
}
