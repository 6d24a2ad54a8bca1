use std::time::Duration;

use netcore::Time;
use serde::{Deserialize, Serialize};

/// Measures the time from the last message that requires an answer to the program's next message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LatencyMeter {
    requested: Option<Time>,
    answers: u64,
    total: Duration,
    longest: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    pub answers: u64,
    pub mean_micros: u64,
    pub longest_micros: u64,
}

impl LatencyMeter {
    pub const fn request(&mut self, now: Time) {
        self.requested = Some(now);
    }

    /// `None` if no answer was required.
    pub fn answer(&mut self, now: Time) -> Option<Duration> {
        let latency = now.since(self.requested.take()?);
        self.answers += 1;
        self.total = self.total.saturating_add(latency);
        self.longest = self.longest.max(latency);
        Some(latency)
    }

    /// `None` without any answer.
    pub fn latency(&self) -> Option<Latency> {
        let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let mean_micros = micros(self.total).checked_div(self.answers)?;
        Some(Latency { answers: self.answers, mean_micros, longest_micros: micros(self.longest) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_counts_from_the_last_request_to_the_first_message() {
        let mut meter = LatencyMeter::default();
        assert_eq!((meter.answer(Time::from_millis(1)), meter.latency()), (None, None));
        for (requests, answer, latency) in [(vec![10], 14, 4), (vec![20, 30], 32, 2)] {
            for at in requests {
                meter.request(Time::from_millis(at));
            }
            assert_eq!(meter.answer(Time::from_millis(answer)), Some(Duration::from_millis(latency)));
            assert_eq!(meter.answer(Time::from_millis(answer + 1)), None);
        }
        assert_eq!(meter.latency(), Some(Latency { answers: 2, mean_micros: 3_000, longest_micros: 4_000 }));
    }
}
