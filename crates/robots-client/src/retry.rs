//! Reconnecting: when to try, and what to log.

use std::time::Duration;

use robots::Client;

/// The wait before the second attempt in a row. The first is made at once, and each wait is twice the one before.
const LEAST: Duration = Duration::from_millis(100);
/// The longest wait between two attempts.
const MOST: Duration = Duration::from_secs(2);

/// Attempts in a row to connect again, and how long to wait before the next one.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    attempts: u32,
    wait: Duration,
}

impl Backoff {
    /// How long to wait before the next attempt, and how many there were before it.
    pub(crate) fn next(&mut self) -> (Duration, u32) {
        let now = (self.wait, self.attempts);
        self.wait = (2 * self.wait).clamp(LEAST, MOST);
        self.attempts = self.attempts.saturating_add(1);
        now
    }

    /// Resets the attempts after a connection that has held this long. One that is closed soon after its Hello does not reset
    /// them: this is how a server turns newcomers away until its game is over.
    pub(crate) fn held(&mut self, time: Duration) {
        if time >= MOST {
            *self = Self::default();
        }
    }
}

/// The state of a reconnected client in words, once the server has sent its Hello.
pub(crate) fn became(client: &Client) -> Option<String> {
    let parameters = client.parameters()?;
    let (server, length) = (parameters.server_name.escape_debug(), parameters.game_length);
    Some(match (client.game(), client.own_player()) {
        (None, _) => {
            let (there, all) = (client.players().len(), parameters.players_count);
            format!("back in the lobby of {server}: {there} of {all} players are there")
        }
        (Some(game), None) => {
            format!("back as an observer of the game of {server}: turn {} of {length}", game.turn())
        }
        (Some(game), Some(id)) => {
            format!("back as player {} in the game of {server}: turn {} of {length}", id.0, game.turn())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(backoff: &mut Backoff, count: usize) -> Vec<u128> {
        (0..count).map(|_| backoff.next().0.as_millis()).collect()
    }

    #[test]
    fn the_first_attempt_is_made_at_once_and_the_waits_grow_to_a_bound() {
        let mut backoff = Backoff::default();
        let expected = [0, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000];
        assert_eq!(waits(&mut backoff, 9), expected);
        assert_eq!(backoff.next().1, 9);
        backoff.held(Duration::from_millis(1_999));
        assert_eq!(waits(&mut backoff, 1), [2_000], "hello and goodbye");
        backoff.held(Duration::from_secs(2));
        assert_eq!(waits(&mut backoff, 9), expected);
    }
}
