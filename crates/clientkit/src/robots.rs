//! Bots of robots.

use std::net::SocketAddr;

use netcore::{Client as _, Level, Time, wire::ShortText};
use robots::{Bot, Client};

use crate::Pilot;

/// A client of robots that joins each game, and its pilot. `address` is its own end of the connection, by which it recognises itself
/// among the players. `seed` determines its mistakes.
pub fn robots_bot(
    name: ShortText,
    address: Option<SocketAddr>,
    level: Level,
    seed: u32,
) -> (Client, impl Pilot<Client> + Send) {
    (Client::new(name, address), Driver { bot: Bot::with_level(seed, level), seen: None })
}

/// What a client knew when its bot decided last. A bot decides once a turn, and once in each lobby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Lobby,
    Turn(u16),
}

#[derive(Debug)]
struct Driver {
    bot: Bot,
    seen: Option<Seen>,
}

impl Pilot<Client> for Driver {
    fn act(&mut self, client: &mut Client, now: Time) {
        if client.parameters().is_none() {
            return;
        }
        let seen = match client.game() {
            // Before the first turn nobody has a place.
            Some(game) if game.positions().is_empty() => return,
            Some(game) => Seen::Turn(game.turn()),
            None => Seen::Lobby,
        };
        if self.seen.replace(seen) != Some(seen)
            && let Some(input) = self.bot.next_input(client)
        {
            client.act(now, input);
        }
    }

    fn due(&self, _: &Client) -> Option<Time> {
        None
    }

    // The protocol has no goodbye: the connection is closed.
    fn leave(&mut self, _: &mut Client, _: Time) {}
}
