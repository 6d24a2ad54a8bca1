//! What the fingerprint of a server's state is made of: facts, each with a tag of its own.

use netcore::{Digest, PeerId};

/// Where a player stands.
pub(crate) const AT: u8 = 0;
/// What is in a purse.
pub(crate) const PURSE: u8 = 1;
/// What a pile holds.
pub(crate) const PILED: u8 = 2;
/// Under which name somebody plays.
pub(crate) const NAMED: u8 = 3;
/// A spot that a player has looked around from. What it knows of the map follows from all of them.
pub(crate) const VISITED: u8 = 4;
/// The map, the rules and the rest of the configuration.
pub(crate) const SET_UP: u8 = 5;
/// What the generator of random numbers gives next.
pub(crate) const CHANCE: u8 = 6;
/// The number of the game, and whether it has begun.
pub(crate) const GAME: u8 = 7;
/// The address of somebody who has quit.
pub(crate) const QUITTER: u8 = 8;
/// When the server wants to be woken.
pub(crate) const WAKE: u8 = 9;
/// When those who were not shown each move are shown where everybody is.
pub(crate) const CATCH_UP: u8 = 10;
/// How it ended.
pub(crate) const OUTCOME: u8 = 11;
/// What is left of the spectators that are taken in.
pub(crate) const SPECTATES: u8 = 12;
/// Who has no seat yet: its link and its address.
pub(crate) const STRANGER: u8 = 13;
/// Who has a seat: its role, its link and its address.
pub(crate) const SEATED: u8 = 14;
/// Whether a KEY came from a seat.
pub(crate) const PROVEN: u8 = 15;
/// When the last one came.
pub(crate) const LAST_KEY: u8 = 16;
/// What it may still be sent before that.
pub(crate) const UNPROVEN: u8 = 17;
/// How often it may still be welcomed.
pub(crate) const WELCOMES: u8 = 18;
/// How many of its moves may still be shown at once.
pub(crate) const SHOWN: u8 = 19;
/// What it may still draw to itself.
pub(crate) const DRAWN: u8 = 20;
/// Why a picture is owed to it.
pub(crate) const OWED: u8 = 21;

/// Adds a fact about a peer, or takes it away when it is there.
pub(crate) fn toggle(digest: &mut Digest, what: u8, peer: PeerId, value: u64) {
    // The upper half of a number is nothing but zeros in any real room.
    let low = u32::try_from(peer.0 & u64::from(u32::MAX)).unwrap_or_default();
    digest.toggle(what, low, fold(peer.0 >> 32, value));
}

/// Replaces a fact about a peer.
pub(crate) fn change(digest: &mut Digest, what: u8, peer: PeerId, old: u64, new: u64) {
    toggle(digest, what, peer, old);
    toggle(digest, what, peer, new);
}

/// One number of two, in which order matters. Neither this nor [`hash`] is a `netcore::Fingerprint`: journals hold digests of
/// these values.
pub(crate) const fn fold(one: u64, other: u64) -> u64 {
    one.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ other
}

/// One number of a text: FNV-1a.
pub(crate) fn hash(text: &[u8]) -> u64 {
    text.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
