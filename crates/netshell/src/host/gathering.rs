//! Gathers inputs after a deadline, so that they are processed together.

use std::time::Duration;

use netcore::Time;

const PART: u32 = 5;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gathering {
    most: Duration,
    until: Time,
}

impl Gathering {
    pub(super) const fn at_most(most: Duration) -> Self {
        Self { most, until: Time::ZERO }
    }

    pub(super) fn begin(&mut self, now: Time, next: Option<Time>) {
        let left = next.map_or(Duration::ZERO, |next| next.since(now));
        self.until = now.plus(self.most.min(left / PART));
    }

    /// `None` if no inputs gather.
    pub(super) fn ends_at(&self, now: Time) -> Option<Time> {
        (now < self.until).then_some(self.until)
    }
}
