//! The time that a person has to answer.

use std::time::Duration;

use tokio::time::Instant;

/// Counts down from the dealer's limit while a decision is due.
///
/// The wire does not tell the limit, so it is what the person says, until the dealer turns out to wait less long.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    // As far as it is known.
    pub(crate) limit: Option<Duration>,
    asked: Option<Instant>,
}

impl Clock {
    /// A clock for this limit; none shows no time and takes no dealer to be late.
    pub(crate) const fn new(limit: Option<Duration>) -> Self {
        Self { limit, asked: None }
    }

    pub(crate) const fn start(&mut self, at: Instant) {
        self.asked = Some(at);
    }

    /// The question is answered or taken back. Tells how long it was due until `now`.
    pub(crate) fn stop(&mut self, now: Instant) -> Duration {
        self.asked.take().map_or(Duration::ZERO, |asked| now.saturating_duration_since(asked))
    }

    /// The dealer has waited no longer than this.
    pub(crate) fn learn(&mut self, waited: Duration) {
        self.limit = self.limit.map(|limit| limit.min(waited));
    }

    /// Whole seconds that are left, rounded down: the dealer's clock was started a little earlier.
    pub(crate) fn left(&self, now: Instant) -> Option<u64> {
        let due = self.asked? + self.limit?;
        Some(due.saturating_duration_since(now).as_secs())
    }

    /// When another number of seconds is left.
    pub(crate) fn next_change(&self, now: Instant) -> Option<Instant> {
        let due = self.asked? + self.limit?;
        let left = due.checked_duration_since(now)?;
        // A moment more, so that the number has changed by then.
        Some(now + Duration::from_nanos(left.subsec_nanos().into()) + Duration::from_millis(1))
    }
}

/// A time for people to read: `0.03 s`, `2.5 s`, `30 s`.
pub(crate) fn in_words(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 1.0 => format!("{short:.2} s"),
        short if short < 10.0 && time.subsec_millis() >= 50 => format!("{short:.1} s"),
        long => format!("{long:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn seconds_are_counted_down() {
        let now = Instant::now();
        let mut clock = Clock::new(Some(seconds(30)));
        assert_eq!((clock.left(now), clock.next_change(now)), (None, None));
        clock.start(now);
        assert_eq!(clock.left(now), Some(30));
        let change = clock.next_change(now).unwrap();
        assert_eq!(clock.left(change), Some(29));
        assert_eq!(clock.left(clock.next_change(change).unwrap()), Some(28));
        assert_eq!(clock.left(now + seconds(31)), Some(0));
        assert_eq!(clock.next_change(now + seconds(31)), None);
        assert_eq!(clock.stop(now + seconds(31)), seconds(31));
        assert_eq!(clock.left(now), None);
    }

    #[test]
    fn a_dealer_that_waits_less_long_is_believed() {
        let now = Instant::now();
        let mut clock = Clock::new(Some(seconds(30)));
        clock.learn(seconds(40));
        clock.learn(seconds(5));
        clock.start(now);
        assert_eq!((clock.limit, clock.left(now)), (Some(seconds(5)), Some(5)));
        let mut none = Clock::new(None);
        none.learn(seconds(5));
        none.start(now);
        assert_eq!(none.left(now), None);
    }

    #[test]
    fn times_are_short() {
        for (millis, words) in [(0, "0.00 s"), (26, "0.03 s"), (2_540, "2.5 s"), (4_000, "4 s"), (30_004, "30 s")] {
            assert_eq!(in_words(Duration::from_millis(millis)), words);
        }
    }
}
