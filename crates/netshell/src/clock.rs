use std::{
    future, io,
    task::{Context, Poll},
    time::Duration,
};

use netcore::Time;
use tokio::time::{Instant, sleep_until};

use crate::alarm::SystemTimer;

/// The time of a server loop. [`Clock`] is the system's; a simulation has its own.
pub trait TimeSource {
    /// A timer that follows this time.
    type Timer: Timer;

    /// The current time.
    fn now(&self) -> Time;

    /// Creates a timer that is not set. Fails if the system has no timers left.
    fn timer(&self) -> io::Result<Self::Timer>;
}

/// A timer with one setting at a time.
pub trait Timer {
    /// Sets or disarms the timer, and discards the previous setting, even if it has expired.
    fn set(&mut self, at: Option<Time>) -> io::Result<()>;

    /// Ready once for each setting that has expired.
    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// The accuracy of deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// As accurate as the system permits, with a separate timer on Linux.
    #[default]
    System,
    /// At most a millisecond late, with the timers of the runtime. Cheaper in a process with many rooms.
    Millisecond,
}

/// The [`Time`] of a room: its start time plus the time elapsed since.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    first: Time,
    precision: Precision,
}

impl Clock {
    /// Creates a clock that shows [`Time::ZERO`] now.
    pub fn start() -> Self {
        Self::start_at(Time::ZERO)
    }

    /// Creates a clock that shows `first` now, for a resumed room.
    pub fn start_at(first: Time) -> Self {
        Self { start: Instant::now(), first, precision: Precision::default() }
    }

    /// Sets the accuracy of deadlines.
    #[must_use]
    pub const fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.first.plus(self.start.elapsed())
    }

    /// The instant at which the clock shows `time`; its start if `time` is earlier.
    pub fn instant(&self, time: Time) -> Instant {
        // Longer than any server runs, and representable by the system.
        const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
        self.start + time.since(self.first).min(FAR)
    }

    /// Waits until the clock shows `time`, forever if it is `None`. Must be called within a tokio runtime.
    pub async fn until(&self, time: Option<Time>) {
        match time {
            Some(time) => sleep_until(self.instant(time)).await,
            None => future::pending().await,
        }
    }
}

impl TimeSource for Clock {
    type Timer = SystemTimer;

    fn now(&self) -> Time {
        Self::now(self)
    }

    /// Must be called within a tokio runtime.
    fn timer(&self) -> io::Result<SystemTimer> {
        SystemTimer::new(*self, self.precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_continues_from_its_start_time() {
        let first = Time::from_millis(5_000);
        let clock = Clock::start_at(first);
        assert!(clock.now() >= first);
        assert_eq!(clock.instant(Time::from_millis(5_250)) - clock.instant(first), Duration::from_millis(250));
        assert_eq!(clock.instant(Time::ZERO), clock.instant(first));
    }
}
