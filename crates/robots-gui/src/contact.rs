//! How long it may take until the next picture.

use std::time::Duration;

use netcore::Time;

/// No game is so slow that its silence is not worth a word after this, unless its turns are known to be longer.
const IN_GAME: Duration = Duration::from_secs(3);
/// In the lobby nothing comes until somebody joins.
const IN_LOBBY: Duration = Duration::from_secs(30);

/// When pictures came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pulse {
    last: Time,
    // Between the two last pictures of one game.
    turn: Option<Duration>,
    in_game: bool,
    heard: bool,
}

impl Pulse {
    /// Nothing has come yet.
    pub(crate) const fn new(now: Time) -> Self {
        Self { last: now, turn: None, in_game: false, heard: false }
    }

    /// Takes in that a picture came, of a game or of a lobby.
    pub(crate) fn heard(&mut self, now: Time, in_game: bool) {
        self.turn = (in_game && self.in_game).then(|| now.since(self.last));
        (self.last, self.in_game, self.heard) = (now, in_game, true);
    }

    /// How long nothing has come, if that is longer than it should be.
    pub(crate) fn silence(&self, now: Time) -> Option<Duration> {
        let allowed = match (self.heard, self.in_game) {
            (true, false) => IN_LOBBY,
            (false, _) => IN_GAME,
            (true, true) => self.turn.map_or(IN_GAME, |turn| IN_GAME.max(turn * 2)),
        };
        Some(now.since(self.last)).filter(|&silence| silence >= allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_game_is_silent_sooner_than_a_lobby() {
        let mut pulse = Pulse::new(at(0));
        assert_eq!((pulse.silence(at(2)), pulse.silence(at(3))), (None, Some(Duration::from_secs(3))));
        pulse.heard(at(10), false);
        assert_eq!((pulse.silence(at(39)), pulse.silence(at(40))), (None, Some(Duration::from_secs(30))));
        pulse.heard(at(50), true);
        assert_eq!((pulse.silence(at(52)), pulse.silence(at(53))), (None, Some(Duration::from_secs(3))));
    }

    #[test]
    fn slow_turns_are_waited_for() {
        let mut pulse = Pulse::new(at(0));
        pulse.heard(at(0), true);
        pulse.heard(at(10), true);
        assert_eq!((pulse.silence(at(29)), pulse.silence(at(30))), (None, Some(Duration::from_secs(20))));
        pulse.heard(at(30), false);
        pulse.heard(at(90), true);
        assert_eq!(pulse.silence(at(93)), Some(Duration::from_secs(3)));
    }
}
