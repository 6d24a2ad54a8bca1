//! A rate limiter without a clock.

use crate::Time;
use core::time::Duration;
use serde::{Deserialize, Serialize};

const NANOS: i64 = 1_000_000_000;

/// How fast a [`TokenBucket`] fills and how much it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Tokens added each second.
    pub per_second: u32,
    /// The capacity. A new bucket is full.
    pub burst: u32,
}

impl Rate {
    /// The rate of this many together.
    #[must_use]
    pub const fn times(self, count: u32) -> Self {
        Self { per_second: self.per_second.saturating_mul(count), burst: self.burst.saturating_mul(count) }
    }
}

/// A token bucket: each use of a limited resource (messages, bytes) takes tokens, which are refilled at a steady rate.
///
/// Over any `t` seconds, at most `burst + t * per_second` tokens are handed out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TokenBucket {
    rate: Rate,
    // In billionths of a token, so that one nanosecond adds a whole number and no rounding error accumulates. Negative
    // after [`TokenBucket::charge`] took more than was available.
    level: i64,
    filled: Time,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(rate: Rate, now: Time) -> Self {
        Self { rate, level: i64::from(rate.burst) * NANOS, filled: now }
    }

    /// The rate of this bucket.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes `tokens` if that many are available; otherwise takes none and returns `false`.
    pub fn take(&mut self, now: Time, tokens: u32) -> bool {
        self.fill(now);
        let enough = self.level >= price(tokens);
        if enough {
            self.level -= price(tokens);
        }
        enough
    }

    /// Takes `tokens` even if that many are not available, for costs that are known only afterwards. The deficit has to
    /// be refilled before anything can be taken again.
    pub fn charge(&mut self, now: Time, tokens: u32) {
        self.fill(now);
        self.level = self.level.saturating_sub(price(tokens));
    }

    /// When `tokens` will be available if nothing is taken before; `None` if the bucket never holds that many.
    pub fn ready_at(&mut self, now: Time, tokens: u32) -> Option<Time> {
        self.fill(now);
        let missing = u64::try_from(price(tokens).saturating_sub(self.level)).unwrap_or(0);
        if tokens > self.rate.burst || (self.rate.per_second == 0 && missing > 0) {
            return None;
        }
        Some(now.plus(Duration::from_nanos(missing.div_ceil(u64::from(self.rate.per_second.max(1))))))
    }

    /// Whether the bucket is full. A full bucket behaves as a new one, so it need not be kept.
    pub fn is_full(&mut self, now: Time) -> bool {
        self.fill(now);
        self.level == i64::from(self.rate.burst) * NANOS
    }

    fn fill(&mut self, now: Time) {
        let elapsed = i64::try_from(now.since(self.filled).as_nanos()).unwrap_or(i64::MAX);
        let income = elapsed.saturating_mul(i64::from(self.rate.per_second));
        self.level = self.level.saturating_add(income).min(i64::from(self.rate.burst) * NANOS);
        self.filled = self.filled.max(now);
    }
}

const fn price(tokens: u32) -> i64 {
    tokens as i64 * NANOS
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    #[test]
    fn a_burst_passes_and_then_the_rate_holds() {
        let mut bucket = TokenBucket::new(RATE, Time::ZERO);
        let given =
            |bucket: &mut TokenBucket, millis| (0..5).filter(|_| bucket.take(Time::from_millis(millis), 1)).count();
        assert_eq!(given(&mut bucket, 0), 3);
        assert_eq!(given(&mut bucket, 99), 0);
        assert_eq!(given(&mut bucket, 100), 1);
        assert_eq!(given(&mut bucket, 10_000), 3);
    }

    #[test]
    fn ready_at_is_the_first_moment_that_works() {
        let mut bucket = TokenBucket::new(Rate { per_second: 7, burst: 100 }, Time::ZERO);
        assert!(bucket.take(Time::ZERO, 100));
        let ready = bucket.ready_at(Time::ZERO, 13).unwrap();
        assert!(!bucket.clone().take(Time::from_nanos(ready.as_nanos() - 1), 13));
        assert!(bucket.take(ready, 13));
        assert_eq!(bucket.ready_at(ready, 101), None);
    }

    #[test]
    fn a_deficit_is_refilled_before_anything_can_be_taken() {
        let mut bucket = TokenBucket::new(RATE, Time::ZERO);
        bucket.charge(Time::ZERO, 13);
        assert!(!bucket.take(Time::from_millis(1_000), 1), "ten tokens were refilled and ten were owed");
        assert_eq!(bucket.ready_at(Time::from_millis(1_000), 1), Some(Time::from_millis(1_100)));
        assert!(bucket.take(Time::from_millis(1_100), 1));
        assert!(!bucket.is_full(Time::from_millis(1_100)));
    }

    #[test]
    fn a_rate_of_zero_gives_the_burst_only() {
        let mut bucket = TokenBucket::new(Rate { per_second: 0, burst: 2 }, Time::ZERO);
        assert!(bucket.take(Time::ZERO, 2));
        assert_eq!(bucket.ready_at(Time::from_millis(9_000), 1), None);
        assert!(!bucket.take(Time::from_millis(9_000), 1));
    }

    #[test]
    fn a_clock_that_goes_back_refills_nothing() {
        let mut bucket = TokenBucket::new(RATE, Time::from_millis(1_000));
        assert!(bucket.take(Time::from_millis(1_000), 3));
        assert!(!bucket.take(Time::ZERO, 1));
        assert!(!bucket.take(Time::from_millis(1_000), 1));
        assert!(bucket.take(Time::from_millis(1_100), 1));
    }
}
