//! Quotas: limits on the usage of one host.
//!
//! They take the host, and if necessary the time, as arguments. Other crates set the amounts and rates, and add locks,
//! clocks and futures.

mod host_queue;
mod rate;
mod shares;

pub use host_queue::{HostQueue, HostQueueState};
pub use rate::{Rate, RateTable, TokenBucket};
pub use shares::{Full, Shares};

use crate::HostId;

/// The networks of an IPv6 host: the number of varying bits above the lower 64, and the number of hosts that they count
/// as. Providers assign networks of 64, 56 or 48 bits, so a customer with 65,536 hosts counts as 16.
const NETWORKS: [(u32, u32); 3] = [(0, 1), (8, 4), (16, 16)];

/// A host, or a larger IPv6 network that contains it.
///
/// The usage of a host is also charged to its networks, so that a large network does not count as thousands of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    first: HostId,
    hosts: u32,
}

impl Network {
    /// The number of hosts that it counts as, which multiplies the quota of one host.
    pub const fn hosts(self) -> u32 {
        self.hosts
    }

    /// Whether it is a single host.
    pub const fn is_host(self) -> bool {
        self.hosts == 1
    }
}

impl HostId {
    /// The host itself and its networks, in ascending size.
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
