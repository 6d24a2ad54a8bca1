//! A player that plays by itself.

use std::time::Duration;

use netcore::{Level, Time};
use nuggets::{Client, Typist};
use rand::{TryRng, rngs::SysRng};

/// How a bot plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// How well.
    pub level: Level,
    /// The least time between two keys; without one that of the level.
    pub delay: Option<Duration>,
}

/// A bot with a seed of its own.
#[derive(Debug)]
pub(crate) struct Bot(Typist);

impl Bot {
    /// A bot with a random seed.
    pub(crate) fn new(Style { level, delay }: Style) -> anyhow::Result<Self> {
        Ok(Self(Typist::new(level, delay, SysRng.try_next_u64()?)))
    }

    /// When the bot wants to type; see [`Typist::due`].
    pub(crate) fn due(&self, client: &Client) -> Option<Time> {
        self.0.due(client)
    }

    /// Takes in what came since the last call.
    pub(crate) fn listen(&mut self, client: &Client, now: Time) {
        self.0.listen(client, now);
    }

    /// The key that is due, if there is anything to do.
    pub(crate) fn key(&mut self, client: &Client, now: Time) -> Option<u8> {
        self.0.key(client, now)
    }

    /// What it did, in one line.
    pub(crate) fn account(&self, client: &Client, name: &str) -> String {
        let letter = client.letter().map_or_else(|| "-".into(), |letter| letter.to_string());
        format!("bot {letter} ({name}): {} keys, {} nuggets", self.0.keys(), client.purse())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcore::Client as _;
    use nuggets::{Name, Participant};

    #[test]
    fn the_purse_of_the_last_line_is_that_of_the_table() {
        let now = Time::ZERO;
        let mut client = Client::new(Participant::Player(Name::new(b"bot").unwrap()), now);
        for datagram in ["OK B", "GRID 1 8", "GOLD 3 3 247", "QUIT GAME OVER:\nA        200 Ann\nB         50 bot"] {
            client.receive(now, datagram.as_bytes()).unwrap();
        }
        let bot = Bot::new(Style { level: Level::Hard, delay: None }).unwrap();
        assert_eq!(bot.account(&client, "bot"), "bot B (bot): 0 keys, 50 nuggets");
    }
}
