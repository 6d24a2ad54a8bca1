//! Limits of single hosts, in bounded memory.

use std::{collections::BTreeMap, time::Duration};

use netcore::{HostId, Network, Time};

/// Hosts and networks that are told apart.
pub(crate) const MAX_HOSTS: usize = 4_096;
/// Shortest interval between two removals of idle hosts.
const CLEARING: Duration = Duration::from_secs(1);

/// What a host or a network has left of its limits.
pub(crate) trait HostLimit {
    /// The limit of a network that counts as this many hosts and has not used anything.
    fn new(now: Time, hosts: u32) -> Self;

    /// Whether it is as good as new, so that it need not be kept.
    fn is_full(&mut self, now: Time) -> bool;
}

/// The limits of at most [`MAX_HOSTS`] hosts and networks. What a host uses, its networks use too, so that a customer with a large network
/// is not thousands of hosts. The limits of those that are idle are forgotten.
#[derive(Debug)]
pub(crate) struct HostTable<L> {
    networks: BTreeMap<Network, L>,
    cleared: Time,
}

impl<L: HostLimit> HostTable<L> {
    /// An empty table.
    pub(crate) const fn new(now: Time) -> Self {
        Self { networks: BTreeMap::new(), cleared: now }
    }

    /// Passes the limits of a host and of its networks to `use_up`; those that are not in the table are added, unless it is full. Returns
    /// whether the host is in it.
    pub(crate) fn use_up(&mut self, now: Time, host: HostId, use_up: impl FnMut(&mut L)) -> bool {
        // The removal visits all hosts, so a flood of new hosts must not trigger it each time.
        if self.is_full() && now.since(self.cleared) >= CLEARING {
            self.networks.retain(|_, limit| !limit.is_full(now));
            self.cleared = now;
        }
        for network in host.networks() {
            if !self.is_full() {
                self.networks.entry(network).or_insert_with(|| L::new(now, network.hosts()));
            }
        }
        self.look(host, use_up)
    }

    /// Passes the limits of a host and of its networks to `look`, as far as they are in the table. The others have used nothing. Returns
    /// whether the host is in it.
    pub(crate) fn look(&mut self, host: HostId, mut look: impl FnMut(&mut L)) -> bool {
        let mut is_known = false;
        for network in host.networks() {
            if let Some(limit) = self.networks.get_mut(&network) {
                look(limit);
                is_known |= network.is_host();
            }
        }
        is_known
    }

    /// Whether no further host is told apart at the moment.
    pub(crate) fn is_full(&self) -> bool {
        self.networks.len() >= MAX_HOSTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Full again after a second.
    struct Second(Time);

    impl HostLimit for Second {
        fn new(now: Time, _: u32) -> Self {
            Self(now)
        }

        fn is_full(&mut self, now: Time) -> bool {
            now.since(self.0) >= Duration::from_secs(1)
        }
    }

    fn host(number: usize) -> HostId {
        HostId::V4(u32::try_from(number).unwrap().to_be_bytes())
    }

    #[test]
    fn idle_hosts_make_room_for_others() {
        let mut table = HostTable::<Second>::new(Time::ZERO);
        let enter = |table: &mut HostTable<Second>, millis, number| {
            table.use_up(Time::from_millis(millis), host(number), |_| ())
        };
        let is_known = |table: &mut HostTable<Second>, number| table.look(host(number), |_| ());
        for number in 0..MAX_HOSTS {
            assert!(enter(&mut table, number as u64 / 4, number), "host {number}");
        }
        assert!(table.is_full() && !is_known(&mut table, MAX_HOSTS));
        assert!(enter(&mut table, 1_500, MAX_HOSTS));
        assert!(!is_known(&mut table, 0) && is_known(&mut table, MAX_HOSTS - 1));
        // Half a second ago there were some, so it is not looked for more yet.
        let mut next = MAX_HOSTS;
        while !table.is_full() {
            next += 1;
            assert!(enter(&mut table, 1_500, next));
        }
        assert!(!enter(&mut table, 2_400, next + 1));
        assert!(enter(&mut table, 2_400, next), "those in it keep theirs");
        assert!(enter(&mut table, 2_500, next + 1));
    }
}
