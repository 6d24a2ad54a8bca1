//! Limits of single hosts, in bounded memory.

use std::{collections::BTreeMap, time::Duration};

use netcore::{HostId, Time};

/// Hosts that are told apart.
pub(crate) const MAX_HOSTS: usize = 4_096;
/// Shortest interval between two removals of idle hosts.
const CLEARING: Duration = Duration::from_secs(1);

/// What one host has left of its limits.
pub(crate) trait HostLimit {
    /// The limit of a host that has not used anything.
    fn new(now: Time) -> Self;

    /// Whether it is as good as new, so that it need not be kept.
    fn is_full(&mut self, now: Time) -> bool;
}

/// The limits of at most [`MAX_HOSTS`] hosts. Those of idle hosts are forgotten.
#[derive(Debug)]
pub(crate) struct HostTable<L> {
    hosts: BTreeMap<HostId, L>,
    cleared: Time,
}

impl<L: HostLimit> HostTable<L> {
    /// An empty table.
    pub(crate) const fn new(now: Time) -> Self {
        Self { hosts: BTreeMap::new(), cleared: now }
    }

    /// The limit of a host; `None` if it is not in the table and the table is full.
    pub(crate) fn limit(&mut self, now: Time, host: HostId) -> Option<&mut L> {
        // The removal visits all hosts, so a flood of new hosts must not trigger it each time.
        if self.is_full() && now.since(self.cleared) >= CLEARING {
            self.hosts.retain(|_, limit| !limit.is_full(now));
            self.cleared = now;
        }
        if self.is_full() {
            return self.hosts.get_mut(&host);
        }
        Some(self.hosts.entry(host).or_insert_with(|| L::new(now)))
    }

    /// The limit of a host, if it is in the table.
    pub(crate) fn get(&mut self, host: HostId) -> Option<&mut L> {
        self.hosts.get_mut(&host)
    }

    /// Whether no further host is told apart at the moment.
    pub(crate) fn is_full(&self) -> bool {
        self.hosts.len() >= MAX_HOSTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Full again after a second.
    struct Second(Time);

    impl HostLimit for Second {
        fn new(now: Time) -> Self {
            Self(now)
        }

        fn is_full(&mut self, now: Time) -> bool {
            now.since(self.0) >= Duration::from_secs(1)
        }
    }

    fn host(number: usize) -> HostId {
        HostId::V6Network(number as u64)
    }

    #[test]
    fn idle_hosts_make_room_for_others() {
        let mut table = HostTable::<Second>::new(Time::ZERO);
        for number in 0..MAX_HOSTS {
            assert!(table.limit(Time::from_millis(number as u64 / 4), host(number)).is_some(), "host {number}");
        }
        let now = Time::from_millis(1_500);
        assert!(table.is_full() && table.get(host(MAX_HOSTS)).is_none());
        assert!(table.limit(now, host(MAX_HOSTS)).is_some());
        assert!(table.get(host(0)).is_none() && table.get(host(MAX_HOSTS - 1)).is_some());
        // Half a second ago there were some, so it is not looked for more yet.
        let mut next = MAX_HOSTS;
        while !table.is_full() {
            next += 1;
            assert!(table.limit(now, host(next)).is_some());
        }
        assert!(table.limit(Time::from_millis(2_400), host(next + 1)).is_none());
        assert!(table.limit(Time::from_millis(2_400), host(next)).is_some(), "those in it keep theirs");
        assert!(table.limit(Time::from_millis(2_500), host(next + 1)).is_some());
    }
}
