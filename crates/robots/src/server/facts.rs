//! The parts of a server's digest.

use netcore::{Digest, Fingerprint, PeerId, Role};

use super::Peer;
use crate::{
    config::Config,
    protocol::{Action, Player},
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

/// The parts of the configuration that matter later. The seed is part of the generator.
pub(super) fn of_setup(config: &Config, hello: &[u8]) -> Digest {
    let mut digest = Digest::default();
    let nanos = config.turn_duration.as_nanos().to_le_bytes();
    for (which, bytes) in [(0, hello), (1, &nanos[..])] {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add_bytes(bytes);
        digest.toggle(SETUP, which, fingerprint.value());
    }
    digest.toggle(SETUP, 2, config.initial_blocks.into());
    digest.toggle(SETUP, 3, config.max_history);
    digest
}

/// A player of the game or of the coming one.
pub(super) fn of_player(player: &Player) -> u64 {
    let mut fingerprint = Fingerprint::new();
    fingerprint.add_bytes(player.name.as_bytes());
    fingerprint.add_bytes(player.address.as_bytes());
    fingerprint.value()
}

/// The pending action of a player.
pub(super) fn of_action(action: Action) -> u64 {
    match action {
        Action::PlaceBomb => 0,
        Action::PlaceBlock => 1,
        Action::Move(direction) => 2 + direction as u64,
    }
}

impl Peer {
    /// Adds the fact to the digest, or removes it.
    pub(super) fn toggle(&self, id: PeerId, digest: &mut Digest) {
        let role = match self.role {
            Role::Player => 0,
            Role::Watcher => 1,
        };
        let player = self.player.map_or(0, |player| 1 + u32::from(player.0));
        let mut fingerprint = Fingerprint::new();
        fingerprint.add(id.0);
        fingerprint.add_bytes(self.address.as_bytes());
        digest.toggle(PEER, role << 16 | player, fingerprint.value());
    }
}
