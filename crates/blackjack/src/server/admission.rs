//! Admission of new connections: the same for the lobby and for a table by itself.

use bytes::Bytes;
use netcore::{HostId, Outbox, PeerId, Role, Severity, Time};

use super::{fault::note, pending::Pending, places::Places, watchers::Watchers};

/// The places that there are.
pub(crate) struct Admission<'a> {
    pub(crate) pending: &'a mut Pending,
    pub(crate) places: &'a mut Places,
    pub(crate) watchers: &'a mut Watchers,
    /// Whether nobody is let in any more.
    pub(crate) closed: bool,
}

impl Admission<'_> {
    /// Admits a connection if its host has not used up its share, and closes it otherwise. A player has until `due` to join; a
    /// watcher is sent `picture`.
    pub(crate) fn enter(
        self,
        (now, due): (Time, Time),
        (peer, role): (PeerId, Role),
        address: &str,
        picture: impl FnOnce() -> Bytes,
        out: &mut Outbox,
    ) {
        let host = HostId::of(address);
        let let_in = match role {
            _ if self.closed => false,
            Role::Watcher => self.watchers.enter(now, (peer, host), picture, out),
            Role::Player => self.places.enter(peer, host),
        };
        if !let_in {
            note(out, Severity::Info, Some(peer), "is sent away: there is no place for it".into());
            out.close(peer);
        } else if role == Role::Player {
            self.pending.enter(peer, due);
        }
    }
}
