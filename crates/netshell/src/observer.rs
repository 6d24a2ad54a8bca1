use netcore::{DecodeError, DisconnectReason, GameEvent, PeerId, Role, Status, Time};

/// Receives the events of a room, for a log, a lobby or a store of results. It must not block.
///
/// Peers cause these calls, so log lines of an observer must be limited in rate.
pub trait Observer {
    /// A peer connected.
    fn connected(&mut self, now: Time, peer: PeerId, role: Role, address: &str) {
        let _ = (now, peer, role, address);
    }

    /// The status changed. Called before the outputs of that input.
    fn status(&mut self, now: Time, status: Status) {
        let _ = (now, status);
    }

    /// An event of the game, and the address of the peer concerned, if connected.
    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        let _ = (now, event, address);
    }

    /// A peer sent bytes that are not a message.
    fn malformed(&mut self, now: Time, peer: PeerId, address: &str, why: &DecodeError) {
        let _ = (now, peer, address, why);
    }

    /// A peer is no longer connected: its connection ended or the room closed it.
    fn closed(&mut self, now: Time, peer: PeerId) {
        let _ = (now, peer);
    }

    /// The connection of a peer ended.
    fn disconnected(&mut self, now: Time, peer: PeerId, address: &str, why: DisconnectReason) {
        let _ = (now, peer, address, why);
    }
}

impl Observer for () {}
