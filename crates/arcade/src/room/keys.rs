//! What a room has of the secret of the hub.

use super::mask::Mask;

/// What a room has of the secret of the hub.
pub(crate) struct Keys {
    /// The pseudonyms of addresses in it.
    pub(crate) mask: Mask,
    /// The key of the codes of hosts, which is the same in all rooms.
    pub(crate) hosts: [u8; 32],
    /// The key of the puzzles of days, which are the same in all rooms.
    pub(crate) days: [u8; 32],
}
