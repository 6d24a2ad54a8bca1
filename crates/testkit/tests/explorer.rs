//! A nuggets client played by a bot.

use std::time::Duration;

use bytes::Bytes;
use netcore::{DecodeError, Gone, Link, Time};
use nuggets::{Client, Command, Explorer, Participant};

/// Explores as long as it plays; as a spectator it sends nothing by itself.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) client: Client,
    pub(crate) link: Link,
    explorer: Option<Explorer>,
    pause: Duration,
    next_key: Time,
    /// Its connection has ended.
    pub(crate) gone: bool,
}

impl Player {
    /// Joins at `now` and sends a key after each `pause`.
    pub(crate) fn new(link: Link, part: Participant, now: Time, pause: Duration) -> Self {
        let explorer = matches!(part, Participant::Player(_)).then(Explorer::new);
        Self {
            client: Client::with_link(link, part, now),
            link,
            explorer,
            pause,
            next_key: now.plus(pause),
            gone: false,
        }
    }
}

impl netcore::Client for Player {
    type Action = Command;
    type Error = DecodeError;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), DecodeError> {
        self.client.receive(now, bytes)
    }

    fn act(&mut self, now: Time, action: Command) {
        self.client.act(now, action);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.client.take_outgoing()
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        let key = self.explorer.is_some().then_some(self.next_key).filter(|_| !self.is_over());
        self.client.deadline(now).into_iter().chain(key).min()
    }

    fn elapsed(&mut self, now: Time) {
        if self.client.deadline(now).is_some_and(|due| due <= now) {
            self.client.elapsed(now);
        }
        if let Some(explorer) = &mut self.explorer
            && now >= self.next_key
        {
            self.next_key = now.plus(self.pause);
            if let Some(key) = explorer.next_key(&self.client) {
                self.client.act(now, Command::Key(key));
            }
        }
    }

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.gone = true;
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}
