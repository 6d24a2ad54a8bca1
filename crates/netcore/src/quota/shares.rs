//! A limited amount, divided among hosts and their networks.

use alloc::collections::BTreeMap;
use core::fmt;

use super::{NETWORKS, Network};
use crate::HostId;

/// Why a host cannot take more of a limited amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// Less than requested is free. Contains the whole amount.
    All(usize),
    /// The host or one of its networks has reached its share. Contains the amount taken.
    Share(usize),
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(count) => write!(f, "all {count} are taken"),
            Self::Share(count) => {
                write!(f, "{count} are taken by this host or its network, which is its share for now")
            }
        }
    }
}

/// A limited amount, and the part taken by each host.
///
/// A host may have at most as much as remains free: a single one reaches half of the amount, ten a little less than a
/// tenth each. A [`Network`] that counts as four hosts may have four times as much.
///
/// ```
/// use netcore::{Full, HostId, Shares};
///
/// let mut seats = Shares::new(6);
/// let (greedy, other) = (HostId::of("10.0.0.1:1"), HostId::of("10.0.0.2:1"));
/// assert!((0..3).all(|_| seats.take(greedy).is_ok()));
/// assert_eq!(seats.take(greedy), Err(Full::Share(3)));
/// assert_eq!(seats.take(other), Ok(()));
/// seats.release(greedy);
/// assert_eq!(seats.in_use(), 3);
/// ```
#[derive(Debug, Clone)]
pub struct Shares {
    most: usize,
    // The maximum of one host, even if more is free.
    cap: usize,
    // The number of charged networks of a host.
    levels: usize,
    taken: usize,
    networks: BTreeMap<Network, usize>,
}

impl Shares {
    /// The amount `most`, entirely free.
    pub const fn new(most: usize) -> Self {
        Self { most, cap: usize::MAX, levels: NETWORKS.len(), taken: 0, networks: BTreeMap::new() }
    }

    /// Limits one host to `cap`, even if its share is larger.
    #[must_use]
    pub fn with_cap(mut self, cap: usize) -> Self {
        self.cap = cap;
        self
    }

    /// Limits only hosts, not networks.
    #[must_use]
    pub fn of_hosts_only(mut self) -> Self {
        self.levels = 1;
        self
    }

    /// The whole amount.
    pub const fn most(&self) -> usize {
        self.most
    }

    /// The amount taken.
    pub const fn in_use(&self) -> usize {
        self.taken
    }

    /// Takes one for a host.
    pub fn take(&mut self, host: HostId) -> Result<(), Full> {
        self.take_many(host, 1)
    }

    /// Takes `count` for a host, or nothing if that exceeds its share.
    pub fn take_many(&mut self, host: HostId, count: usize) -> Result<(), Full> {
        let free = self.most.saturating_sub(self.taken);
        if free < count.max(1) {
            return Err(Full::All(self.most));
        }
        let share = free.min(self.cap).min(self.most.div_ceil(2));
        for network in self.charged(host) {
            let own = self.networks.get(&network).copied().unwrap_or_default();
            if own.saturating_add(count) > share.saturating_mul(network.hosts() as usize) {
                return Err(Full::Share(own));
            }
        }
        self.add(host, count);
        Ok(())
    }

    /// Counts one that a host took in an earlier run, even if its share is smaller now.
    pub fn restore(&mut self, host: HostId) {
        self.add(host, 1);
    }

    /// Takes one without charging a host, for a reverse proxy's connection.
    pub const fn take_unshared(&mut self) -> Result<(), Full> {
        if self.taken >= self.most {
            return Err(Full::All(self.most));
        }
        self.taken += 1;
        Ok(())
    }

    /// Returns what [`Shares::take`] took for this host.
    pub fn release(&mut self, host: HostId) {
        self.give_back_many(host, 1);
    }

    /// Returns `count` of what a host took, or nothing if it took less.
    pub fn give_back_many(&mut self, host: HostId, count: usize) {
        if self.charged(host).any(|network| self.networks.get(&network).is_none_or(|own| *own < count)) {
            return;
        }
        self.taken = self.taken.saturating_sub(count);
        for network in self.charged(host) {
            if let Some(own) = self.networks.get_mut(&network) {
                *own -= count;
                if *own == 0 {
                    self.networks.remove(&network);
                }
            }
        }
    }

    /// Returns one that [`Shares::take_unshared`] took.
    pub const fn give_back_unshared(&mut self) {
        self.taken = self.taken.saturating_sub(1);
    }

    fn add(&mut self, host: HostId, count: usize) {
        self.taken += count;
        for network in self.charged(host) {
            *self.networks.entry(network).or_default() += count;
        }
    }

    fn charged(&self, host: HostId) -> impl Iterator<Item = Network> + use<> {
        host.networks().take(self.levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn take_all(shares: &mut Shares, host: HostId) -> usize {
        let before = shares.in_use();
        while shares.take(host).is_ok() {}
        shares.in_use() - before
    }

    const fn v4(number: u8) -> HostId {
        HostId::V4([10, 0, 0, number])
    }

    #[test]
    fn greedy_hosts_leave_something_for_another_host() {
        let mut shares = Shares::new(224);
        let taken: Vec<usize> = (1..=7).map(|number| take_all(&mut shares, v4(number))).collect();
        assert_eq!(taken, [112, 56, 28, 14, 7, 4, 2], "the first alone has half");
        assert_eq!(shares.take(v4(8)), Ok(()));
        assert_eq!(shares.take(v4(9)), Err(Full::All(224)));
        shares.release(v4(9));
        assert_eq!(shares.in_use(), 224, "it had none");
    }

    #[test]
    fn network_of_56_bits_counts_as_four_hosts_and_one_of_48_as_sixteen() {
        let take = |networks: &[u64]| {
            let mut shares = Shares::new(1_700);
            while networks.iter().fold(false, |some, &number| some | shares.take(HostId::V6Network(number)).is_ok()) {}
            shares
        };
        let within_56: Vec<u64> = (0..256).collect();
        assert_eq!(take(&within_56[..1]).in_use(), 850);
        assert_eq!(take(&within_56).in_use(), 1_700 * 4 / 5);
        let within_48: Vec<u64> = (0..1 << 16).step_by(256).collect();
        assert_eq!(take(&within_48).in_use(), 1_700 * 16 / 17);
        let mut shares = take(&within_48);
        assert_eq!(take_all(&mut shares, v4(1)), 50, "another host gets half of the rest");
        for &number in &within_48 {
            while shares.networks.keys().any(|network| network.is_host() && network.first == HostId::V6Network(number))
            {
                shares.release(HostId::V6Network(number));
            }
        }
        assert_eq!((shares.in_use(), shares.networks.len()), (50, 1), "no record of the networks remains");
    }

    #[test]
    fn amounts_are_limited_by_share_and_cap() {
        let mut shares = Shares::new(64);
        assert_eq!(shares.take_many(v4(1), 30), Ok(()));
        assert_eq!(shares.take_many(v4(1), 3), Err(Full::Share(30)));
        assert_eq!(shares.take_many(v4(2), 33), Err(Full::Share(0)), "more than half of all");
        assert_eq!(shares.take_many(v4(2), 35), Err(Full::All(64)));
        assert_eq!(shares.take_many(v4(1), 2), Ok(()));
        shares.give_back_many(v4(1), 33);
        assert_eq!(shares.in_use(), 32, "it has fewer");
        shares.give_back_many(v4(1), 32);
        assert_eq!((shares.in_use(), shares.networks.len()), (0, 0));
        let mut few = Shares::new(64).with_cap(3);
        assert_eq!((take_all(&mut few, v4(1)), take_all(&mut few, v4(2))), (3, 3));
    }

    #[test]
    fn unshared_amount_is_charged_to_no_host() {
        let mut shares = Shares::new(3);
        assert!((0..3).all(|_| shares.take_unshared().is_ok()));
        assert_eq!(shares.take_unshared(), Err(Full::All(3)));
        shares.give_back_unshared();
        assert_eq!(shares.take(v4(1)), Ok(()));
    }

    proptest! {
        /// The rule of blackjack, on which its journals depend.
        #[test]
        fn host_gets_a_place_while_more_are_free_than_it_has(
            most in 0..12_usize,
            restored in prop::collection::vec(0..6_usize, 0..14),
            steps in prop::collection::vec((any::<bool>(), 0..6_usize), 0..60),
        ) {
            // Half of the hosts are in one network of 56 bits.
            let hosts = [[0, 1, 2].map(HostId::V6Network), [3, 4, 5].map(v4)].concat();
            let mut shares = Shares::new(most).of_hosts_only();
            let mut taken = [0; 6];
            for number in restored {
                shares.restore(hosts[number]);
                taken[number] += 1;
            }
            for (takes, number) in steps {
                let own = &mut taken[number];
                if takes {
                    let may = *own < most.saturating_sub(shares.in_use());
                    prop_assert_eq!(shares.take(hosts[number]).is_ok(), may);
                    *own += usize::from(may);
                } else {
                    shares.release(hosts[number]);
                    *own = own.saturating_sub(1);
                }
                prop_assert_eq!(shares.in_use(), taken.iter().sum::<usize>());
            }
        }
    }
}
