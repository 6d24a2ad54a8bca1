//! Those who look on, and when they are shown how it stands.

use bytes::Bytes;
use core::time::Duration;
use netcore::{HostId, Outbox, PeerId, Time};

use crate::{config::MAX_WATCHERS, fingerprint::Fingerprint, shares::Shares};

/// The least time between two pictures: a table may play some tens of thousands of rounds in it, and nobody's eyes can follow that.
pub const PICTURE_PAUSE: Duration = Duration::from_millis(100);

/// Watchers, and what they have seen.
#[derive(Debug, Clone)]
pub(crate) struct Audience {
    watchers: Shares,
    // What was shown last, and when the next may be shown.
    shown: Bytes,
    fingerprint: u64,
    free_at: Time,
    // Whether something may have changed since.
    stale: bool,
}

impl Audience {
    pub(crate) const fn new() -> Self {
        Self {
            watchers: Shares::new(MAX_WATCHERS),
            shown: Bytes::new(),
            fingerprint: 0,
            free_at: Time::ZERO,
            stale: false,
        }
    }

    /// Somebody looks on from now on, unless there is no place for it, and is shown how it stands.
    pub(crate) fn enter(
        &mut self,
        now: Time,
        (peer, host): (PeerId, HostId),
        picture: impl FnOnce() -> Bytes,
        out: &mut Outbox,
    ) -> bool {
        if !self.watchers.enter(peer, host) {
            return false;
        }
        let picture = picture();
        if self.free_at <= now && picture != self.shown {
            // News to the others as well.
            self.show(now, picture, out);
        } else {
            out.send(peer, picture);
        }
        true
    }

    /// Somebody looks on no more; `false` if it never did.
    pub(crate) fn leave(&mut self, peer: PeerId) -> bool {
        self.watchers.leave(peer)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.watchers.is_empty()
    }

    pub(crate) fn has(&self, peer: PeerId) -> bool {
        self.watchers.host(peer).is_some()
    }

    /// Something may have changed. Says whether a picture is to be made now; if not, at the [`deadline`](Self::deadline).
    pub(crate) fn changed(&mut self, now: Time) -> bool {
        self.stale = !self.watchers.is_empty();
        self.stale && self.free_at <= now
    }

    /// When the next picture is wanted.
    pub(crate) fn deadline(&self) -> Option<Time> {
        (self.stale && !self.watchers.is_empty()).then_some(self.free_at)
    }

    /// Shows everybody a picture, unless they know it.
    pub(crate) fn show(&mut self, now: Time, picture: Bytes, out: &mut Outbox) {
        self.stale = false;
        if picture == self.shown {
            return;
        }
        for peer in self.watchers.peers() {
            out.send(peer, picture.clone());
        }
        let mut fingerprint = Fingerprint::new();
        fingerprint.add_bytes(&picture);
        self.fingerprint = fingerprint.value();
        self.shown = picture;
        self.free_at = now.plus(PICTURE_PAUSE);
    }

    /// Lets everybody go, after one more picture if it is news.
    pub(crate) fn dismiss(&mut self, now: Time, picture: Bytes, out: &mut Outbox) {
        self.show(now, picture, out);
        for peer in self.watchers.peers() {
            out.close(peer);
        }
        self.watchers = Shares::new(MAX_WATCHERS);
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add(self.watchers.fingerprint());
        fingerprint.add_time(self.deadline());
        fingerprint.add(self.free_at.as_nanos());
        fingerprint.add(self.fingerprint);
        fingerprint.value()
    }
}
