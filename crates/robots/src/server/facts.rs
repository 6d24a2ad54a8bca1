//! What a server's digest is made of.

use netcore::{Digest, PeerId, Role};

use super::Peer;
use crate::{
    config::Config,
    fingerprint,
    messages::{Action, Player},
};

pub(super) const PEER: u8 = 0;
pub(super) const PLAYER: u8 = 1;
pub(super) const ACTION: u8 = 2;
pub(super) const SETUP: u8 = 3;
pub(super) const DRAWS: u8 = 4;
pub(super) const GAMES: u8 = 5;
pub(super) const HISTORY: u8 = 6;
pub(super) const START: u8 = 7;
pub(super) const GAME: u8 = 8;
pub(super) const STOPPED: u8 = 9;

/// All that the configuration decides later. The seed is in the generator.
pub(super) fn of_setup(config: &Config, hello: &[u8]) -> Digest {
    let mut digest = Digest::default();
    digest.toggle(SETUP, 0, fingerprint::extend(0, hello));
    let nanos = config.turn_duration.as_nanos().to_le_bytes();
    digest.toggle(SETUP, 1, fingerprint::extend(0, &nanos));
    digest.toggle(SETUP, 2, config.initial_blocks.into());
    digest.toggle(SETUP, 3, config.max_history);
    digest
}

/// A player of the game or of the coming one.
pub(super) fn of_player(player: &Player) -> u64 {
    fingerprint::extend(fingerprint::extend(0, player.name.as_bytes()), player.address.as_bytes())
}

/// What a player wants to do.
pub(super) fn of_action(action: Action) -> u64 {
    match action {
        Action::PlaceBomb => 0,
        Action::PlaceBlock => 1,
        Action::Move(direction) => 2 + direction as u64,
    }
}

impl Peer {
    /// Adds what matters about it to the digest, or takes that away.
    pub(super) fn toggle(&self, id: PeerId, digest: &mut Digest) {
        let role = match self.role {
            Role::Player => 0,
            Role::Watcher => 1,
        };
        let player = self.player.map_or(0, |player| 1 + u32::from(player.0));
        let bytes = fingerprint::extend(0, &id.0.to_le_bytes());
        digest.toggle(PEER, role << 16 | player, fingerprint::extend(bytes, self.address.as_bytes()));
    }
}
