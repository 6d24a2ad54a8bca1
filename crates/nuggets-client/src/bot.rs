//! A player that plays by itself.

use std::time::Duration;

use netcore::Time;
use nuggets::{Client, Explorer};

use crate::{pace::Pace, session::Session};

/// A bot: an explorer that knows where to go, and a pace.
#[derive(Debug)]
pub(crate) struct Bot {
    explorer: Explorer,
    pace: Pace,
    heard: u64,
    keys: u64,
}

impl Bot {
    /// A bot that leaves at least `delay` between two keys.
    pub(crate) fn new(delay: Duration) -> Self {
        Self { explorer: Explorer::new(), pace: Pace::new(delay), heard: 0, keys: 0 }
    }

    /// When the bot wants to type; never while it does not take part.
    pub(crate) fn due(&self, client: &Client) -> Option<Time> {
        client.is_joined().then(|| self.pace.due())
    }

    /// Takes in what came to `session` since the last call.
    pub(crate) fn listen(&mut self, session: &Session) {
        if self.heard != session.heard() {
            self.heard = session.heard();
            self.pace.heard(session.now());
        }
    }

    /// Types the key that is due, if there is anything to do.
    pub(crate) fn type_key(&mut self, session: &mut Session) {
        let now = session.now();
        if !session.client().is_joined() || now < self.pace.due() {
            return;
        }
        self.pace.typed(now);
        if let Some(key) = self.explorer.next_key(session.client()) {
            self.keys += 1;
            session.key(key);
        }
    }

    /// What it did, in one line.
    pub(crate) fn account(&self, client: &Client, name: &str) -> String {
        let letter = client.letter().map_or_else(|| "-".into(), |letter| letter.to_string());
        format!("bot {letter} ({name}): {} keys, {} nuggets", self.keys, client.purse())
    }
}
