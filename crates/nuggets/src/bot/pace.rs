//! When a bot types its next key.

use core::time::Duration;

use netcore::Time;

/// How long a bot waits for the answer to its key. A key that changes nothing is not answered at all.
const PATIENCE: Duration = Duration::from_millis(250);
/// The most that the waiting grows to while no answer comes.
const MOST_PATIENCE: Duration = Duration::from_secs(2);
/// The wait for an answer, as a multiple of the last response time.
const SLOWER: u32 = 4;

/// The pace of a bot.
///
/// A key is due when the one before it is answered, or after a timeout. So a bot types as fast as
/// the server answers, and continues when a datagram is lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    delay: Duration,
    patience: Duration,
    typed: Option<Time>,
    answered: bool,
    due: Time,
}

impl Pace {
    /// A pace at which a key is due.
    pub(super) const fn new() -> Self {
        Self { delay: Duration::ZERO, patience: PATIENCE, typed: None, answered: true, due: Time::ZERO }
    }

    /// When the next key is due, if no answer comes before that.
    pub(super) const fn due(&self) -> Time {
        self.due
    }

    /// Records that the last key was answered.
    pub(super) fn answered(&mut self, now: Time) {
        if let (Some(typed), false) = (self.typed, self.answered) {
            self.answered = true;
            // Far away servers need longer.
            self.patience = (now.since(typed) * SLOWER).clamp(PATIENCE, MOST_PATIENCE);
            self.due = typed.plus(self.delay).max(now).min(self.due.max(now));
        }
    }

    /// Records that the due key was typed, or that there was none to type. The next is due after `delay` at the earliest.
    pub(super) fn typed(&mut self, now: Time, delay: Duration) {
        if !self.answered {
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
        self.answered = false;
        self.typed = Some(now);
        self.delay = delay;
        self.due = now.plus(self.patience.max(delay));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn a_delay_is_kept_but_not_added_to_the_answer() {
        let mut pace = Pace::new();
        pace.typed(at(100), Duration::from_millis(80));
        pace.answered(at(130));
        assert_eq!(pace.due(), at(180));
        pace.answered(at(140));
        assert_eq!(pace.due(), at(180));
        let mut slow = Pace::new();
        slow.typed(at(0), Duration::from_secs(5));
        assert_eq!(slow.due(), at(5_000));
    }

    #[test]
    fn a_server_that_is_far_away_is_given_time() {
        let mut pace = Pace::new();
        pace.typed(at(0), Duration::ZERO);
        pace.answered(at(200));
        pace.typed(at(200), Duration::ZERO);
        assert_eq!(pace.due(), at(1_000));
    }

    #[test]
    fn silence_is_waited_out_longer_and_longer() {
        let mut pace = Pace::new();
        let mut waits = vec![];
        for _ in 0..6 {
            let now = pace.due();
            pace.typed(now, Duration::ZERO);
            waits.push(pace.due().since(now).as_millis());
        }
        assert_eq!(waits, [250, 500, 1_000, 2_000, 2_000, 2_000]);
        pace.answered(pace.due());
        pace.typed(at(20_000), Duration::ZERO);
        assert_eq!(pace.due(), at(22_000));
    }
}
