//! How much of the stream of journals the copies of a node may take: bytes of each room, and of each host.

use std::sync::{Mutex, PoisonError};

use netcore::{HostId, Shares};

/// Bytes that the copies of a node may have in the stream of journals: an eighth of its 4 GiB. One host has half of them at most.
pub(crate) const MAX_COPIES: usize = 512 << 20;
/// Bytes of records that follow the state in the copy of a room. Then the copy begins again with a newer state, and those before are removed.
pub(crate) const MAX_COPY: usize = 4 << 20;

/// What the copies of a node have in the stream, by the host that has opened their rooms.
#[derive(Debug)]
pub(super) struct Quota(Mutex<Shares>);

impl Quota {
    pub(super) fn new(most: usize) -> Self {
        Self(Mutex::new(Shares::new(most)))
    }

    /// Bytes that all copies take.
    pub(super) fn taken(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).taken()
    }

    /// A copy of a room of this host takes `after` bytes in place of `before`. Returns whether it may; otherwise nothing changes.
    pub(super) fn exchange(&self, host: HostId, before: usize, after: usize) -> bool {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = shares.clone();
        changed.give_back_many(host, before);
        let is_granted = after <= before || changed.take_many(host, after).is_ok();
        if after <= before {
            // What gets smaller is granted in any case.
            shares.give_back_many(host, before - after);
        } else if is_granted {
            *shares = changed;
        }
        is_granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_over_its_share_takes_nothing_from_others() {
        let (quota, greedy, other) = (Quota::new(100), HostId::of("10.0.0.1:1"), HostId::of("10.0.0.2:1"));
        assert!(quota.exchange(greedy, 0, 50));
        assert!(!quota.exchange(greedy, 0, 1), "half of all");
        assert!(!quota.exchange(greedy, 10, 11) && quota.exchange(greedy, 10, 4), "less is always granted");
        assert!(quota.exchange(other, 0, 25));
        assert!(quota.exchange(other, 25, 0) && quota.exchange(greedy, 44, 0));
        assert!(quota.exchange(other, 0, 50), "all was given back");
    }
}
