//! A player that plays by itself.

use std::time::Duration;

use netcore::Level;
use nuggets::{Client, Typist};
use rand::{TryRng, rngs::SysRng};

/// How a bot plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) level: Level,
    /// The least time between two keys; without one that of the level.
    pub(crate) delay: Option<Duration>,
}

impl Style {
    /// A bot that plays like that, with a random seed.
    pub(crate) fn bot(self) -> anyhow::Result<Typist> {
        Ok(Typist::new(self.level, self.delay, SysRng.try_next_u64()?))
    }
}

/// What a bot did, in one line.
pub(crate) fn account(bot: &Typist, client: &Client, name: &str) -> String {
    let letter = client.letter().map_or_else(|| "-".into(), |letter| letter.to_string());
    format!("bot {letter} ({name}): {} keys, {} nuggets", bot.keys(), client.purse())
}
