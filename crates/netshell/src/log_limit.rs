//! Keeping a log readable.

use netcore::{Rate, Time, TokenBucket};

/// How many lines of a kind a log shows if nobody says otherwise: ten at once, then one a second.
const LINES: Rate = Rate { per_second: 1, burst: 10 };

/// Keeps a log readable when something happens very often: lets a burst of lines through, then some a second, and counts
/// the others.
#[derive(Debug)]
pub struct LogLimit {
    bucket: TokenBucket,
    held_back: u64,
}

impl LogLimit {
    /// Nothing is logged yet; ten lines at once, then one a second.
    pub fn new(now: Time) -> Self {
        Self::with_rate(LINES, now)
    }

    /// Nothing is logged yet; as many lines as `rate` says.
    pub fn with_rate(rate: Rate, now: Time) -> Self {
        Self { bucket: TokenBucket::new(rate, now), held_back: 0 }
    }

    /// Whether to write a line; if so, how many were held back since the last one.
    pub fn admit(&mut self, now: Time) -> Option<u64> {
        if self.bucket.take(now, 1) {
            return Some(std::mem::take(&mut self.held_back));
        }
        self.held_back += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_above_the_limit_are_counted() {
        let mut limit = LogLimit::new(Time::ZERO);
        let shown = (0..100).filter_map(|_| limit.admit(Time::ZERO)).count();
        assert_eq!(shown, 10);
        assert_eq!(limit.admit(Time::from_millis(1_000)), Some(90));
    }
}
