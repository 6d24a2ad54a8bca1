//! Tells the log who joins and how games go; the engine itself has no log.

use netcore::{Engine, Input, Outbox, Outcome, Time};
use robots::{ClientMessage, Server, protocol::Robots};
use tracing::info;

/// A server engine that is watched from outside.
#[derive(Debug)]
pub(crate) struct Narrator {
    server: Server,
    accepted: usize,
    playing: bool,
}

impl Narrator {
    /// Watches `server`, which nobody has joined yet.
    pub(crate) const fn new(server: Server) -> Self {
        Self { server, accepted: 0, playing: false }
    }

    fn tell(&mut self) {
        let players = self.server.players();
        for (id, player) in players.iter().skip(self.accepted) {
            info!(id = id.0, name = %player.name.escape_debug(), address = %&*player.address, "accepted");
        }
        self.accepted = players.len();
        let playing = self.server.game().is_some();
        if playing != self.playing {
            if playing {
                info!("the game starts");
            } else {
                info!("the game is over; the lobby is open");
            }
            self.playing = playing;
        }
    }
}

impl Engine for Narrator {
    type Protocol = Robots;

    fn input(&mut self, now: Time, input: Input<'_, ClientMessage>, out: &mut Outbox) {
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
