//! Tells the log who comes and goes; the engine itself has no log.

use netcore::{Engine, Input, Outbox, Outcome, Time};
use nuggets::{ClientMessage, Nuggets, server::Server};
use tracing::info;

/// A server engine that is watched from outside.
#[derive(Debug)]
pub(crate) struct Narrator {
    server: Server,
    // The address that was connected last: whoever joins has just been connected.
    address: String,
    joined: usize,
    active: usize,
}

impl Narrator {
    /// Watches `server`, which nobody has joined yet.
    pub(crate) const fn new(server: Server) -> Self {
        Self { server, address: String::new(), joined: 0, active: 0 }
    }

    fn tell(&mut self) {
        let players = self.server.game().players();
        let active = players.iter().filter(|player| player.cell.is_some()).count();
        if players.len() < self.joined {
            info!("a new game has begun");
            (self.joined, self.active) = (0, 0);
        }
        for player in &players[self.joined..] {
            info!(letter = %player.letter, name = player.name.as_str(), address = self.address, "joined");
        }
        if self.joined == players.len() && active < self.active {
            info!(players = active, unclaimed = self.server.game().remaining(), "a player has left");
        }
        (self.joined, self.active) = (players.len(), active);
    }
}

impl Engine for Narrator {
    type Protocol = Nuggets;

    fn input(&mut self, now: Time, input: Input<'_, ClientMessage>, out: &mut Outbox) {
        if let Input::Connected { address, .. } = &input {
            self.address.clear();
            self.address.push_str(address);
        }
        self.server.input(now, input, out);
        self.tell();
    }

    fn deadline(&self) -> Option<Time> {
        self.server.deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.server.outcome()
    }

    fn digest(&self) -> u64 {
        self.server.digest()
    }
}
