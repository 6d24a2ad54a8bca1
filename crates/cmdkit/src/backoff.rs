use std::time::Duration;

const LEAST: Duration = Duration::from_millis(100);
const MOST: Duration = Duration::from_secs(2);

/// The first attempt is made immediately, and each further wait is twice the one before.
#[derive(Debug, Clone, Default)]
pub struct Backoff {
    attempts: u32,
    wait: Duration,
}

impl Backoff {
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    pub fn next_wait(&mut self) -> Duration {
        let wait = self.wait;
        self.wait = (2 * wait).clamp(LEAST, MOST);
        self.attempts = self.attempts.saturating_add(1);
        wait
    }

    /// Resets the wait after a connection that lasted long enough: a server that turns clients away first accepts them.
    pub fn lasted(&mut self, time: Duration) {
        if time >= MOST {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_until_a_connection_lasts() {
        let waits = |backoff: &mut Backoff, count: usize| -> Vec<u128> {
            (0..count).map(|_| backoff.next_wait().as_millis()).collect()
        };
        let mut backoff = Backoff::default();
        let expected = [0, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000];
        assert_eq!(waits(&mut backoff, 9), expected);
        assert_eq!(backoff.attempts(), 9);
        backoff.lasted(Duration::from_millis(1_999));
        assert_eq!(waits(&mut backoff, 1), [2_000]);
        backoff.lasted(Duration::from_secs(2));
        assert_eq!(waits(&mut backoff, 9), expected);
    }
}
