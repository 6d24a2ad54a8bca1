//! The clock of a server.

use std::{
    future, io,
    task::{Context, Poll},
    time::Duration,
};

use netcore::Time;
use tokio::time::{Instant, sleep_until};

use crate::alarm::SystemTimer;

/// The time of a server loop. [`Clock`] is that of the system; a simulation has its own.
pub trait TimeSource {
    /// A timer that follows this time.
    type Timer: Timer;

    /// The current time.
    fn now(&self) -> Time;

    /// A timer that is not set.
    ///
    /// # Errors
    /// When the system has no timers left.
    fn timer(&self) -> io::Result<Self::Timer>;
}

/// A timer for one moment at a time.
pub trait Timer {
    /// Sets the timer to `at`, or disarms it. A previous setting is discarded, even if it has already expired.
    fn set(&mut self, at: Option<Time>) -> io::Result<()>;

    /// Ready once the timer has expired, once for each setting; otherwise the task is woken when it expires.
    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// How exactly a server loop keeps the deadlines of its room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// As exactly as the system can, with a timer of its own where the system has such timers (Linux).
    #[default]
    System,
    /// At most a millisecond late, with the timers of the runtime. Cheaper where a process has many rooms.
    Millisecond,
}

/// Supplies the [`Time`] of a room: its start time plus the time elapsed since.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    first: Time,
    precision: Precision,
}

impl Clock {
    /// A clock that shows [`Time::ZERO`] now.
    pub fn start() -> Self {
        Self::start_at(Time::ZERO)
    }

    /// A clock that shows `first` now, for a room that is resumed.
    pub fn start_at(first: Time) -> Self {
        Self { start: Instant::now(), first, precision: Precision::default() }
    }

    /// Sets how exactly deadlines are kept.
    #[must_use]
    pub const fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.first.plus(self.start.elapsed())
    }

    /// The instant at which the clock shows `time`; the start if `time` is before it.
    pub fn instant(&self, time: Time) -> Instant {
        // Longer than any server runs, but an instant that the system can still represent.
        const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
        self.start + time.since(self.first).min(FAR)
    }

    /// Waits until the clock shows `time`; for ever without one. Within a tokio runtime.
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
    fn a_clock_goes_on_from_the_time_that_it_was_given() {
        let first = Time::from_millis(5_000);
        let clock = Clock::start_at(first);
        assert!(clock.now() >= first);
        assert_eq!(clock.instant(Time::from_millis(5_250)) - clock.instant(first), Duration::from_millis(250));
        assert_eq!(clock.instant(Time::ZERO), clock.instant(first));
    }
}
