//! What peers may cost.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use netcore::{Rate, Time, TokenBucket};

/// Datagrams a second that are taken in from addresses of one host that hold no seat: enough for a full table to sit
/// down at once from one machine. A host is an IPv4 address or an IPv6 network of 64 bits.
pub const HOST_RATE: Rate = Rate { per_second: 32, burst: 96 };
/// Datagrams a second that are taken in from all addresses that hold no seat.
pub const STRANGERS_RATE: Rate = Rate { per_second: 1_000, burst: 2_000 };
/// Datagrams a second that are taken in from one address that holds a seat; far above what fingers and bots need.
pub const PEER_RATE: Rate = Rate { per_second: 20_000, burst: 20_000 };

/// Hosts that are told apart; beyond that they share [`STRANGERS_RATE`] alone.
const MAX_HOSTS: usize = 4_096;
/// How often hosts that have been quiet are forgotten to make room for others.
const CLEARING: Duration = Duration::from_secs(1);

/// Who is told apart from others by where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Host {
    V4([u8; 4]),
    V6Network(u64),
}

impl From<SocketAddr> for Host {
    fn from(address: SocketAddr) -> Self {
        match address.ip().to_canonical() {
            IpAddr::V4(ip) => Self::V4(ip.octets()),
            IpAddr::V6(ip) => Self::V6Network(u64::try_from(ip.to_bits() >> 64).unwrap_or_default()),
        }
    }
}

/// Decides whose datagrams are looked at while their sender holds no seat. Its memory is bounded.
#[derive(Debug)]
pub(crate) struct Strangers {
    hosts: BTreeMap<Host, TokenBucket>,
    all: TokenBucket,
    cleared: Time,
}

impl Strangers {
    /// Nobody has sent anything yet.
    pub(crate) fn new(now: Time) -> Self {
        Self { hosts: BTreeMap::new(), all: TokenBucket::new(STRANGERS_RATE, now), cleared: now }
    }

    /// Whether a datagram from `address` is to be looked at.
    pub(crate) fn admit(&mut self, now: Time, address: SocketAddr) -> bool {
        let host = Host::from(address);
        // Making room means looking at all hosts, so a flood of new ones may not cause it each time.
        if self.hosts.len() >= MAX_HOSTS && now.since(self.cleared) >= CLEARING {
            self.hosts.retain(|_, bucket| !bucket.is_full(now));
            self.cleared = now;
        }
        let told_apart = self.hosts.contains_key(&host) || self.hosts.len() < MAX_HOSTS;
        let bucket = || TokenBucket::new(HOST_RATE, now);
        let by_host = !told_apart || self.hosts.entry(host).or_insert_with(bucket).take(now, 1);
        // The host first: a flood from one does not use up what is there for all.
        by_host && self.all.take(now, 1)
    }
}

/// Keeps a log readable when something happens very often: lets ten lines through at once, then one a second, and counts
/// the others.
#[derive(Debug)]
pub struct LogLimit {
    bucket: TokenBucket,
    held_back: u64,
}

impl LogLimit {
    /// Nothing is logged yet.
    pub fn new(now: Time) -> Self {
        Self { bucket: TokenBucket::new(Rate { per_second: 1, burst: 10 }, now), held_back: 0 }
    }

    /// Whether to write a line; if so, how many were held back since the last one.
    pub fn admit(&mut self, now: Time) -> Option<u64> {
        if self.bucket.take(now, 1) {
            return Some(std::mem::take(&mut self.held_back));
        }
        self.held_back += 1;
        None
    }
}

/// Lifts the soft limit on open files to the hard one, and gives the limit that holds then, if the system has one.
pub fn raise_open_files() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => limit.maximum,
            Err(_) => limit.current,
        }
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_full_table_joins_at_once_from_one_host_and_a_flood_does_not() {
        let mut strangers = Strangers::new(Time::ZERO);
        let admitted = |strangers: &mut Strangers, millis: u64, count: u16| {
            (0..count)
                .filter(|port| {
                    strangers.admit(Time::from_millis(millis), address(&format!("10.0.0.1:{}", 1_000 + port)))
                })
                .count()
        };
        assert_eq!(admitted(&mut strangers, 0, 27), 27);
        assert_eq!(admitted(&mut strangers, 0, 20_000), 96 - 27);
        assert_eq!(admitted(&mut strangers, 1_000, 20_000), 32);
    }

    #[test]
    fn a_flood_from_one_host_leaves_the_others_alone() {
        let mut strangers = Strangers::new(Time::ZERO);
        for _ in 0..100_000 {
            strangers.admit(Time::ZERO, address("10.0.0.1:1"));
        }
        assert!(strangers.admit(Time::ZERO, address("10.0.0.2:1")));
        // A host's addresses of one IPv6 network count as one; so do the two spellings of an IPv4 address.
        assert!(!strangers.admit(Time::ZERO, address("[::ffff:10.0.0.1]:2")));
    }

    #[test]
    fn the_table_of_hosts_is_bounded_and_all_strangers_together_too() {
        let mut strangers = Strangers::new(Time::ZERO);
        let admitted = (0..1_000_000u32)
            .filter(|&host| strangers.admit(Time::ZERO, SocketAddr::new(IpAddr::V4(host.to_be_bytes().into()), 7)))
            .count();
        assert_eq!(admitted, 2_000);
        assert!(strangers.hosts.len() <= MAX_HOSTS);
    }

    #[test]
    fn log_lines_above_the_limit_are_counted() {
        let mut limit = LogLimit::new(Time::ZERO);
        let shown = (0..100).filter_map(|_| limit.admit(Time::ZERO)).count();
        assert_eq!(shown, 10);
        assert_eq!(limit.admit(Time::from_millis(1_000)), Some(90));
    }
}
