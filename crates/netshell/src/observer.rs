//! Watching what happens in a room from outside.

use netcore::{DecodeError, GameEvent, Gone, PeerId, Role, Time};

/// Is told what happens: for a log, a lobby, a store of results. Never waits.
///
/// Peers cause these calls, so whoever writes lines limits how many.
pub trait Observer {
    /// A peer is there.
    fn connected(&mut self, now: Time, peer: PeerId, role: Role, address: &str) {
        let _ = (now, peer, role, address);
    }

    /// Something happened in the game; `address` is that of the peer it is about, while that is connected.
    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        let _ = (now, event, address);
    }

    /// A peer sent bytes that are no message.
    fn malformed(&mut self, now: Time, peer: PeerId, address: &str, why: DecodeError) {
        let _ = (now, peer, address, why);
    }

    /// The connection of a peer is gone.
    fn gone(&mut self, now: Time, peer: PeerId, address: &str, why: Gone) {
        let _ = (now, peer, address, why);
    }
}

/// Observes nothing.
impl Observer for () {}
