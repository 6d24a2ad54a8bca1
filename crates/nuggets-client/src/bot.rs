//! A player that plays by itself.

use std::time::Duration;

use netcore::Time;
use nuggets::{Client, Level, Position};
use rand::{SeedableRng, TryRng, rngs::SysRng};
use rand_pcg::Pcg64;

use crate::pace::Pace;

/// How a bot plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// How well.
    pub level: Level,
    /// The least time between two keys; without one that of the level.
    pub delay: Option<Duration>,
}

/// A bot: the logic that chooses keys, and its pacing.
#[derive(Debug)]
pub(crate) struct Bot {
    brain: nuggets::Bot,
    delay: Option<Duration>,
    chance: Pcg64,
    pace: Pace,
    // Where it stood when it typed its last key; none if it had no key to type.
    typed_at: Option<Position>,
    displays: u64,
    keys: u64,
}

impl Bot {
    /// A bot with a random seed.
    pub(crate) fn new(style: Style) -> anyhow::Result<Self> {
        Ok(Self::with_seed(style, SysRng.try_next_u64()?))
    }

    fn with_seed(Style { level, delay }: Style, seed: u64) -> Self {
        Self {
            brain: nuggets::Bot::new(level),
            delay,
            chance: Pcg64::seed_from_u64(seed),
            pace: Pace::new(),
            typed_at: None,
            displays: 0,
            keys: 0,
        }
    }

    /// When the bot wants to type; never while it does not take part.
    pub(crate) fn due(&self, client: &Client) -> Option<Time> {
        client.is_joined().then(|| self.pace.due())
    }

    /// Takes in what came since the last call.
    ///
    /// Whatever others do is shown to the bot as well, so only that it stands elsewhere answers its key.
    pub(crate) fn listen(&mut self, client: &Client, now: Time) {
        let answered = match self.typed_at {
            Some(place) => client.position() != Some(place),
            None => client.displays() != self.displays,
        };
        if answered {
            self.pace.answered(now);
        }
    }

    /// The key that is due, if there is anything to do.
    pub(crate) fn key(&mut self, client: &Client, now: Time) -> Option<u8> {
        if !client.is_joined() || now < self.pace.due() {
            return None;
        }
        let delay = self.delay.unwrap_or_else(|| self.brain.pause(&mut self.chance));
        self.pace.typed(now, delay);
        self.displays = client.displays();
        let key = self.brain.next_key(client, &mut self.chance);
        self.typed_at = client.position().filter(|_| key.is_some());
        self.keys += u64::from(key.is_some());
        key
    }

    /// What it did, in one line.
    pub(crate) fn account(&self, client: &Client, name: &str) -> String {
        let letter = client.letter().map_or_else(|| "-".into(), |letter| letter.to_string());
        format!("bot {letter} ({name}): {} keys, {} nuggets", self.keys, client.purse())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcore::Client as _;
    use nuggets::{Name, Part};

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn show(client: &mut Client, row: &str) {
        client.receive(at(0), format!("DISPLAY\n{row}\n").as_bytes()).unwrap();
    }

    // Servers send everybody a DISPLAY whenever anybody moves, so on a busy one a bot would hear something all the time.
    #[test]
    fn only_a_display_in_which_the_bot_has_moved_answers_its_key() {
        let mut client = Client::new(Part::Player(Name::new(b"bot").unwrap()), at(0));
        for datagram in ["OK A", "GRID 1 8", "GOLD 0 0 250", "DISPLAY\n@....B.*\n"] {
            client.receive(at(0), datagram.as_bytes()).unwrap();
        }
        let mut bot = Bot::with_seed(Style { level: Level::Hard, delay: Some(Duration::ZERO) }, 1);
        assert_eq!(bot.key(&client, at(0)), Some(b'L'));
        for (now, row) in [(1, "@...B..*"), (2, "@..B...*"), (3, "@.B....*")] {
            show(&mut client, row);
            bot.listen(&client, at(now));
            assert_eq!(bot.key(&client, at(now)), None, "{row}");
        }
        show(&mut client, ".B.....@");
        bot.listen(&client, at(4));
        assert!(bot.key(&client, at(4)).is_some());
        // Nothing follows on that key, so another is tried after a while.
        assert_eq!(bot.key(&client, at(200)), None);
        assert!(bot.key(&client, at(300)).is_some());
    }

    #[test]
    fn the_purse_of_the_last_line_is_that_of_the_table() {
        let mut client = Client::new(Part::Player(Name::new(b"bot").unwrap()), at(0));
        for datagram in ["OK B", "GRID 1 8", "GOLD 3 3 247", "QUIT GAME OVER:\nA        200 Ann\nB         50 bot"] {
            client.receive(at(0), datagram.as_bytes()).unwrap();
        }
        let bot = Bot::with_seed(Style { level: Level::Hard, delay: None }, 1);
        assert_eq!(bot.account(&client, "bot"), "bot B (bot): 0 keys, 50 nuggets");
    }
}
