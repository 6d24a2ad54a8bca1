//! The clock that engines do not have.

use std::time::Duration;

use netcore::Time;
use tokio::time::Instant;

/// Tells an engine's [`Time`]: what has passed since the clock was started.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that shows [`Time::ZERO`] now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// The time now.
    pub fn now(&self) -> Time {
        Time::ZERO.plus(self.start.elapsed())
    }

    /// The instant at which the clock shows `time`.
    pub fn instant(&self, time: Time) -> Instant {
        // Far beyond any run of a server, but an instant that the system can still represent.
        const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
        self.start + time.since(Time::ZERO).min(FAR)
    }
}
