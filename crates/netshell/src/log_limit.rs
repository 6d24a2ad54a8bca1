use netcore::{Rate, Time, TokenBucket};

const LINES: Rate = Rate { per_second: 1, burst: 10 };

/// Limits the rate of log lines about frequent events, and counts the suppressed ones.
#[derive(Debug)]
pub struct LogLimit {
    bucket: TokenBucket,
    held_back: u64,
}

impl LogLimit {
    /// Creates the default limit: a burst of ten lines, then one a second.
    pub fn new(now: Time) -> Self {
        Self::with_rate(LINES, now)
    }

    /// Creates a limit of `rate`.
    pub fn with_rate(rate: Rate, now: Time) -> Self {
        Self { bucket: TokenBucket::new(rate, now), held_back: 0 }
    }

    /// The number of suppressed lines since the last one, if a line may be written.
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
