//! Who is here without a seat, and who gets in.

use alloc::format;
use bytes::Bytes;
use netcore::{HostId, Outbox, PeerId, Severity, Time};

use super::{
    fault::{Fault, note},
    pending::Pending,
    places::Places,
    watchers::Watchers,
};
use crate::{config::MAX_CLIENTS, name::Name, protocol::PlayerMessage};

/// The places of players, those of them who have not joined yet, and watchers.
#[derive(Debug, Clone)]
pub(crate) struct Admission {
    pub(crate) places: Places,
    pub(crate) pending: Pending,
    pub(crate) watchers: Watchers,
}

impl Admission {
    /// Nobody.
    pub(crate) fn new() -> Self {
        Self { places: Places::new(MAX_CLIENTS), pending: Pending::default(), watchers: Watchers::new() }
    }

    /// Admits a connection if somebody is let in at all and its host has not used up its share, and closes it otherwise. It is that
    /// of a watcher if there is a `picture` for it; a player has until `due` to join.
    pub(crate) fn enter(
        &mut self,
        is_open: bool,
        (now, due): (Time, Time),
        peer: PeerId,
        address: &str,
        picture: Option<Bytes>,
        out: &mut Outbox,
    ) {
        let host = HostId::of(address);
        match picture {
            Some(picture) if is_open && self.watchers.enter(now, (peer, host), &picture, out) => {}
            None if is_open && self.places.enter(peer, host) => self.pending.enter(peer, due),
            _ => {
                note(out, Severity::Info, Some(peer), "is sent away: there is no place for it".into());
                out.close(peer);
            }
        }
    }

    /// Takes in the first message of a client. Gives its name if it joins, and turns it away otherwise. With `trace` the log is told.
    pub(crate) fn join(&mut self, peer: PeerId, message: PlayerMessage, trace: bool, out: &mut Outbox) -> Option<Name> {
        if trace {
            note(out, Severity::Requested, Some(peer), format!("> {message}"));
        }
        let PlayerMessage::Join(name) = message else {
            self.turn_away(peer, &Fault::OutOfTurn(message), out);
            return None;
        };
        self.pending.leave(peer);
        Some(name)
    }

    /// Turns those away who have not joined in time.
    pub(crate) fn elapse(&mut self, now: Time, out: &mut Outbox) {
        while let Some(peer) = self.pending.late(now) {
            self.turn_away(peer, &Fault::NoJoin, out);
        }
    }

    /// Disconnects a client that has not joined; its dialect may be unknown, so it gets no message.
    pub(crate) fn turn_away(&mut self, peer: PeerId, fault: &Fault, out: &mut Outbox) {
        fault.tell(peer, None, out);
        self.close(peer, out);
    }

    /// Disconnects a client without a seat.
    pub(crate) fn close(&mut self, peer: PeerId, out: &mut Outbox) {
        self.pending.leave(peer);
        self.places.leave(peer);
        out.close(peer);
    }

    /// Disconnects all who have not joined yet.
    pub(crate) fn dismiss(&mut self, out: &mut Outbox) {
        for peer in self.pending.peers() {
            self.close(peer, out);
        }
    }
}
