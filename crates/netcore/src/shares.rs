//! Something limited, shared out over hosts and the networks in which they are.

use alloc::collections::BTreeMap;
use core::fmt;

use crate::HostId;

/// The networks of an IPv6 host: how many of the 64 bits of its own network vary within them, and how many hosts they count as. Providers
/// give their customers networks of 64, 56 or 48 bits, so a customer can have 65,536 hosts and counts as 16.
const NETWORKS: [(u32, u32); 3] = [(0, 1), (8, 4), (16, 16)];

/// A host, or a network of IPv6 in which it is.
///
/// Whatever a host takes, its networks take too. What they may have together is that of a few hosts, so that one customer with a large
/// network is not thousands of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    first: HostId,
    hosts: u32,
}

impl Network {
    /// As how many hosts it counts: its hosts together may have that many times what one may have.
    pub const fn hosts(self) -> u32 {
        self.hosts
    }

    /// Whether it is a single host.
    pub const fn is_host(self) -> bool {
        self.hosts == 1
    }
}

impl HostId {
    /// The host itself and then the networks in which it is, each larger than the one before: for IPv6 those of 56 and of 48 bits.
    ///
    /// ```
    /// use netcore::HostId;
    ///
    /// let networks = |text: &str| HostId::of(text).networks().collect::<Vec<_>>();
    /// let (home, neighbour) = (networks("[2001:db8:1:203::1]:5"), networks("[2001:db8:1:2ff::1]:5"));
    /// assert_eq!(home.iter().map(|network| network.hosts()).collect::<Vec<_>>(), [1, 4, 16]);
    /// assert_ne!(home[0], neighbour[0], "two hosts");
    /// assert_eq!(home[1], neighbour[1], "of one network of 56 bits");
    /// assert_eq!(networks("10.0.0.1:5").len(), 1);
    /// ```
    pub fn networks(self) -> impl Iterator<Item = Network> + Clone {
        NETWORKS.into_iter().map_while(move |(bits, hosts)| match self {
            Self::V6Network(number) => Some(Network { first: Self::V6Network(number >> bits << bits), hosts }),
            Self::V4(_) | Self::Other => (bits == 0).then_some(Network { first: self, hosts }),
        })
    }
}

/// Why a host gets nothing more of what is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// All of it is taken: this many.
    All(usize),
    /// The host, or a network in which it is, has its present share: this many.
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

/// Counts what hosts have of something limited.
///
/// A host gets more only while at least as much is free as it would have then. So a single host comes to half of all, ten greedy ones to a bit less
/// than a tenth each, and there is always something for another host. A [`Network`] that counts as four hosts gets another one only while
/// a quarter of what it has is free.
///
/// ```
/// use netcore::{Full, HostId, Shares};
///
/// let mut seats = Shares::new(6);
/// let (greedy, other) = (HostId::of("10.0.0.1:1"), HostId::of("10.0.0.2:1"));
/// assert!((0..3).all(|_| seats.take(greedy).is_ok()));
/// assert_eq!(seats.take(greedy), Err(Full::Share(3)));
/// assert_eq!(seats.take(other), Ok(()));
/// seats.give_back(greedy);
/// assert_eq!(seats.taken(), 3);
/// ```
#[derive(Debug, Clone)]
pub struct Shares {
    most: usize,
    // What one host may have, however much is free.
    cap: usize,
    taken: usize,
    networks: BTreeMap<Network, usize>,
}

impl Shares {
    /// Of which nothing is taken yet.
    pub const fn new(most: usize) -> Self {
        Self { most, cap: usize::MAX, taken: 0, networks: BTreeMap::new() }
    }

    /// One host has at most `cap` of them, also where its share would be more.
    #[must_use]
    pub fn with_cap(mut self, cap: usize) -> Self {
        self.cap = cap;
        self
    }

    /// How many there are.
    pub const fn most(&self) -> usize {
        self.most
    }

    /// How many are taken.
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// Takes one for a host.
    pub fn take(&mut self, host: HostId) -> Result<(), Full> {
        self.take_many(host, 1)
    }

    /// Takes `count` for a host, all or none. At once they are at most half of all, too.
    pub fn take_many(&mut self, host: HostId, count: usize) -> Result<(), Full> {
        let free = self.most.saturating_sub(self.taken);
        if free < count.max(1) {
            return Err(Full::All(self.most));
        }
        let share = free.min(self.cap).min(self.most.div_ceil(2));
        for network in host.networks() {
            let own = self.networks.get(&network).copied().unwrap_or_default();
            if own.saturating_add(count) > share.saturating_mul(network.hosts() as usize) {
                return Err(Full::Share(own));
            }
        }
        self.taken += count;
        for network in host.networks() {
            *self.networks.entry(network).or_default() += count;
        }
        Ok(())
    }

    /// Takes one for many hosts together, as for a connection of a reverse proxy: they have no share.
    pub const fn take_unshared(&mut self) -> Result<(), Full> {
        if self.taken >= self.most {
            return Err(Full::All(self.most));
        }
        self.taken += 1;
        Ok(())
    }

    /// Gives back what [`Shares::take`] took for this host.
    pub fn give_back(&mut self, host: HostId) {
        self.give_back_many(host, 1);
    }

    /// Gives back what [`Shares::take_many`] took for this host, or a part of that.
    pub fn give_back_many(&mut self, host: HostId, count: usize) {
        if host.networks().any(|network| self.networks.get(&network).is_none_or(|own| *own < count)) {
            return;
        }
        self.taken = self.taken.saturating_sub(count);
        for network in host.networks() {
            if let Some(own) = self.networks.get_mut(&network) {
                *own -= count;
                if *own == 0 {
                    self.networks.remove(&network);
                }
            }
        }
    }

    /// Gives back what [`Shares::take_unshared`] took.
    pub const fn give_back_unshared(&mut self) {
        self.taken = self.taken.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn take_all(shares: &mut Shares, host: HostId) -> usize {
        let before = shares.taken();
        while shares.take(host).is_ok() {}
        shares.taken() - before
    }

    const fn v4(number: u8) -> HostId {
        HostId::V4([10, 0, 0, number])
    }

    #[test]
    fn greedy_hosts_leave_something_for_another_one() {
        let mut shares = Shares::new(224);
        let taken: Vec<usize> = (1..=7).map(|number| take_all(&mut shares, v4(number))).collect();
        assert_eq!(taken, [112, 56, 28, 14, 7, 4, 2], "the first alone has half");
        assert_eq!(shares.take(v4(8)), Ok(()));
        assert_eq!(shares.take(v4(9)), Err(Full::All(224)));
        shares.give_back(v4(9));
        assert_eq!(shares.taken(), 224, "it had none");
    }

    #[test]
    fn a_network_of_56_bits_counts_as_four_hosts_and_one_of_48_as_sixteen() {
        let take = |networks: &[u64]| {
            let mut shares = Shares::new(1_700);
            // In turns, as they come when all try at the same time.
            while networks.iter().fold(false, |some, &number| some | shares.take(HostId::V6Network(number)).is_ok()) {}
            shares
        };
        let within_56: Vec<u64> = (0..256).collect();
        assert_eq!(take(&within_56[..1]).taken(), 850);
        assert_eq!(take(&within_56).taken(), 1_700 * 4 / 5);
        let within_48: Vec<u64> = (0..1 << 16).step_by(256).collect();
        assert_eq!(take(&within_48).taken(), 1_700 * 16 / 17);
        // Somebody else comes, and somebody else of a network that is greedy elsewhere.
        let mut shares = take(&within_48);
        assert_eq!(take_all(&mut shares, v4(1)), 50);
        for &number in &within_48 {
            while shares.networks.keys().any(|network| network.is_host() && network.first == HostId::V6Network(number))
            {
                shares.give_back(HostId::V6Network(number));
            }
        }
        assert_eq!((shares.taken(), shares.networks.len()), (50, 1), "nothing is left of them");
    }

    #[test]
    fn many_are_taken_at_once_up_to_a_share_and_up_to_a_cap() {
        let mut shares = Shares::new(64);
        assert_eq!(shares.take_many(v4(1), 30), Ok(()));
        assert_eq!(shares.take_many(v4(1), 3), Err(Full::Share(30)));
        assert_eq!(shares.take_many(v4(2), 33), Err(Full::Share(0)), "more than half of all");
        assert_eq!(shares.take_many(v4(2), 35), Err(Full::All(64)));
        assert_eq!(shares.take_many(v4(1), 2), Ok(()));
        shares.give_back_many(v4(1), 33);
        assert_eq!(shares.taken(), 32, "it has not so many");
        shares.give_back_many(v4(1), 32);
        assert_eq!((shares.taken(), shares.networks.len()), (0, 0));
        let mut few = Shares::new(64).with_cap(3);
        assert_eq!((take_all(&mut few, v4(1)), take_all(&mut few, v4(2))), (3, 3));
    }

    #[test]
    fn what_is_taken_for_many_hosts_has_no_share() {
        let mut shares = Shares::new(3);
        assert!((0..3).all(|_| shares.take_unshared().is_ok()));
        assert_eq!(shares.take_unshared(), Err(Full::All(3)));
        shares.give_back_unshared();
        assert_eq!(shares.take(v4(1)), Ok(()));
    }
}
