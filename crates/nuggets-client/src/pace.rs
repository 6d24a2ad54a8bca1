//! When a bot types its next key.

use std::time::Duration;

use netcore::Time;

/// How long a bot waits for something to come after its key. A key that changes nothing is not answered at all.
const PATIENCE: Duration = Duration::from_millis(250);
/// The most that the waiting grows to while nothing comes.
const MOST_PATIENCE: Duration = Duration::from_secs(2);

/// The pace of a bot.
///
/// A key is due when something came after the one before it, or when waiting for that has been in vain. So a bot goes as
/// fast as the server answers, and goes on when a datagram is lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    delay: Duration,
    patience: Duration,
    typed: Option<Time>,
    answered: bool,
    due: Time,
}

impl Pace {
    /// A pace of at least `delay` between two keys.
    pub(crate) const fn new(delay: Duration) -> Self {
        Self { delay, patience: PATIENCE, typed: None, answered: true, due: Time::ZERO }
    }

    /// When the next key is due, if nothing comes before that.
    pub(crate) const fn due(&self) -> Time {
        self.due
    }

    /// Takes in that something came from the server.
    pub(crate) fn heard(&mut self, now: Time) {
        if let (Some(typed), false) = (self.typed, self.answered) {
            self.answered = true;
            self.patience = PATIENCE;
            self.due = typed.plus(self.delay).max(now).min(self.due.max(now));
        }
    }

    /// Takes in that the key that was due was typed, or that there was none to type.
    pub(crate) fn typed(&mut self, now: Time) {
        if !self.answered {
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
        self.answered = false;
        self.typed = Some(now);
        self.due = now.plus(self.patience.max(self.delay));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn a_key_is_due_when_the_one_before_is_answered() {
        let mut pace = Pace::new(Duration::ZERO);
        assert_eq!(pace.due(), at(0));
        pace.typed(at(10));
        pace.heard(at(12));
        assert_eq!(pace.due(), at(12));
        pace.typed(at(12));
        assert_eq!(pace.due(), at(262));
    }

    #[test]
    fn a_delay_is_kept_but_not_added_to_the_answer() {
        let mut pace = Pace::new(Duration::from_millis(80));
        pace.typed(at(100));
        pace.heard(at(130));
        assert_eq!(pace.due(), at(180));
        pace.heard(at(140));
        assert_eq!(pace.due(), at(180));
        let mut slow = Pace::new(Duration::from_secs(5));
        slow.typed(at(0));
        assert_eq!(slow.due(), at(5_000));
    }

    #[test]
    fn silence_is_waited_out_longer_and_longer() {
        let mut pace = Pace::new(Duration::ZERO);
        let mut waits = vec![];
        for _ in 0..6 {
            let now = pace.due();
            pace.typed(now);
            waits.push(pace.due().since(now).as_millis());
        }
        assert_eq!(waits, [250, 500, 1_000, 2_000, 2_000, 2_000]);
        pace.heard(at(20_000));
        pace.typed(at(20_000));
        assert_eq!(pace.due(), at(20_250));
    }
}
