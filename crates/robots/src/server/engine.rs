//! The server as an engine: inputs, the deadline of the coming turn, the digest, and what a lobby shows.

use alloc::{format, string::ToString, vec::Vec};
use netcore::{Departure, Engine, Input, Occupant, Outbox, Outcome, PeerId, Role, Status, Time};

use super::{Peer, Phase, Playing, Server, facts};
use crate::protocol::{ClientMessage, Robots};

impl Engine for Server {
    type Protocol = Robots;

    fn input(&mut self, now: Time, input: Input<'_, ClientMessage>, out: &mut Outbox) {
        if self.outcome.is_some() {
            return;
        }
        match input {
            Input::Connected { peer, role, address, .. } => self.connected(peer, role, &address, out),
            Input::Message { peer, message } => self.request(now, peer, message, out),
            Input::Malformed { peer, why } => {
                // Messages of watchers have no effect.
                if self.peers.get(&peer).is_some_and(|peer| peer.role == Role::Player) {
                    self.remove_peer(peer, Departure::Dismissed(format!("it sent what is no message: {why}")), out);
                }
            }
            Input::Disconnected { peer, why } => self.remove_peer(peer, Departure::Disconnected(why), out),
            Input::Refresh { peer } => self.refresh(peer, out),
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(leave) => self.stop(leave, out),
        }
    }

    /// When the coming turn is due. It is counted from turn 0, so turns do not drift; with a duration of zero it is
    /// always due, and each [`Input::Elapsed`] is one turn, so that a shell can take in messages between two of them.
    fn deadline(&self) -> Option<Time> {
        let Phase::Playing(playing) = &self.phase else { return None };
        let turns = if playing.opening.is_some() { 0 } else { u32::from(playing.game.turn()) + 1 };
        let due = playing.start.plus(self.config.turn_duration.saturating_mul(turns));
        Some(due).filter(|_| self.outcome.is_none())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn digest(&self) -> u64 {
        let mut digest = self.digest;
        digest.toggle(facts::DRAWS, 0, self.draws.state().into());
        digest.toggle(facts::GAMES, 0, self.games.into());
        digest.toggle(facts::HISTORY, 0, self.history.fingerprint());
        digest.toggle(facts::STOPPED, 0, self.outcome.is_some().into());
        if let Phase::Playing(playing) = &self.phase {
            let Playing { game, start, opening, .. } = &**playing;
            // Turn 0 follows from the configuration and the generator.
            digest.toggle(facts::START, opening.is_some().into(), start.as_nanos());
            digest.toggle(facts::GAME, 0, game.digest());
        }
        digest.value()
    }

    /// The seats of players who have left stay taken until the game is over.
    fn status(&self) -> Status {
        let phase = match &self.phase {
            _ if self.outcome.is_some() => netcore::Phase::Over,
            Phase::Lobby => netcore::Phase::Lobby,
            Phase::Playing(_) => netcore::Phase::Playing,
        };
        let taken = u32::try_from(self.players.len()).unwrap_or(u32::MAX);
        Status { phase, taken, seats: self.config.parameters.players_count.into() }
    }

    fn roster(&self) -> Vec<Occupant> {
        let occupant = |(&peer, line): (&PeerId, &Peer)| {
            let (id, player) = self.players.get_key_value(&line.player?)?;
            Some(Occupant { peer, name: player.name.to_string(), seat: id.0.to_string() })
        };
        self.peers.iter().filter_map(occupant).collect()
    }
}
