use alloc::vec::Vec;
use bytes::Bytes;
use core::time::Duration;
use netcore::{Fingerprint, HostId, Outbox, PeerId, Time};
use serde::{Deserialize, Serialize};

use super::admission::HostQuota;
use crate::config::MAX_WATCHERS;

/// The minimum time between two pictures, in which a table can play thousands of rounds.
const PICTURE_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub(crate) struct Watchers {
    quota: HostQuota,
    // The last picture. A collision (probability 2^-64) only omits one picture.
    shown: u64,
    free_at: Time,
    stale: bool,
}

impl Watchers {
    pub(crate) fn new() -> Self {
        Self { quota: HostQuota::new(MAX_WATCHERS), shown: 0, free_at: Time::ZERO, stale: false }
    }

    pub(crate) fn enter(
        &mut self,
        now: Time,
        (peer, host): (PeerId, HostId),
        picture: &Bytes,
        out: &mut Outbox,
    ) -> bool {
        if !self.quota.enter(peer, host) {
            return false;
        }
        if self.free_at <= now && fingerprint_of(picture) != self.shown {
            self.show(now, picture, out);
        } else {
            out.send(peer, picture.clone());
        }
        true
    }

    pub(crate) fn leave(&mut self, peer: PeerId) -> bool {
        self.quota.leave(peer)
    }

    pub(crate) fn has(&self, peer: PeerId) -> bool {
        self.quota.host(peer).is_some()
    }

    /// Returns whether a picture is due now, and not at the [`deadline`](Self::deadline).
    pub(crate) fn changed(&mut self, now: Time, ended: bool) -> bool {
        self.stale = !self.quota.is_empty();
        self.stale && (ended || self.free_at <= now)
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        (self.stale && !self.quota.is_empty()).then_some(self.free_at)
    }

    /// Sends a new picture to all watchers, and disconnects them at the end.
    pub(crate) fn show_or_dismiss(&mut self, now: Time, picture: &Bytes, ended: bool, out: &mut Outbox) {
        self.show(now, picture, out);
        if ended {
            for peer in self.quota.peers() {
                out.close(peer);
            }
            self.quota = HostQuota::new(MAX_WATCHERS);
        }
    }

    fn show(&mut self, now: Time, picture: &Bytes, out: &mut Outbox) {
        self.stale = false;
        let fingerprint = fingerprint_of(picture);
        if fingerprint == self.shown {
            return;
        }
        for peer in self.quota.peers() {
            out.send(peer, picture.clone());
        }
        self.shown = fingerprint;
        self.free_at = now.plus(PICTURE_PAUSE);
    }

    pub(crate) fn state(&self) -> WatchersState {
        let Self { quota, shown, free_at, stale } = self;
        WatchersState { watchers: quota.state(), shown: *shown, free_at: *free_at, stale: *stale }
    }

    pub(crate) fn restore(state: WatchersState) -> Self {
        let WatchersState { watchers, shown, free_at, stale } = state;
        Self { quota: HostQuota::restore(MAX_WATCHERS, watchers), shown, free_at, stale }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct WatchersState {
    watchers: Vec<(PeerId, HostId)>,
    shown: u64,
    free_at: Time,
    stale: bool,
}

fn fingerprint_of(picture: &Bytes) -> u64 {
    let mut fingerprint = Fingerprint::new();
    fingerprint.add_bytes(picture);
    fingerprint.value()
}
