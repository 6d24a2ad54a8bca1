//! A nuggets client played by a bot.

use std::time::Duration;

use netcore::{Link, Time};
use nuggets::{Client, Command, Explorer, Participant};

use crate::bot::{Bot, Mind};

/// Explores while it plays; as a spectator it sends no messages on its own.
pub(crate) type Player = Bot<Client, (Link, Explorer)>;

impl Player {
    /// Joins at `now` and sends a key after each `pause`.
    pub(crate) fn new(link: Link, part: Participant, now: Time, pause: Duration) -> Self {
        let plays = matches!(part, Participant::Player(_));
        Self::over(Client::with_link(link, part, now), plays, (link, Explorer::new()), now, pause)
    }
}

impl Mind<Client> for (Link, Explorer) {
    fn think(&mut self, client: &Client) -> Option<Command> {
        self.1.next_key(client).map(Command::Key)
    }
}
