//! Bots of nuggets.

use core::time::Duration;

use netcore::{Client as _, Level, Time};
use nuggets::{Client, Command, Name, Participant, Typist};

use crate::Pilot;

/// A client of nuggets over datagrams that asks for a seat, and its pilot. `seed` determines its pauses and mistakes.
pub fn nuggets_bot(name: Name, level: Level, seed: u64) -> (Client, impl Pilot<Client> + Send) {
    (Client::new(Participant::Player(name), Time::ZERO), Typist::new(level, None, seed))
}

/// The same with a fixed pause between two keys, whatever the level.
pub fn nuggets_bot_at(name: Name, level: Level, seed: u64, pause: Duration) -> (Client, impl Pilot<Client> + Send) {
    (Client::new(Participant::Player(name), Time::ZERO), Typist::new(level, Some(pause), seed))
}

impl Pilot<Client> for Typist {
    fn act(&mut self, client: &mut Client, now: Time) {
        self.listen(client, now);
        if let Some(key) = self.key(client, now) {
            client.act(now, Command::Key(key));
        }
    }

    fn due(&self, client: &Client) -> Option<Time> {
        Self::due(self, client)
    }

    fn leave(&mut self, client: &mut Client, now: Time) {
        client.act(now, Command::Leave);
    }
}
