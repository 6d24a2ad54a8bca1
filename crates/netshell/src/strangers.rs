//! Limits on datagrams from addresses without a connection ("strangers").

use std::net::SocketAddr;

use netcore::{Admission, HostId, Rate, Time, TokenBucket};

use crate::host_table::{HostLimit, HostTable};

/// Datagrams per second with which addresses of one host may become peers: enough for a full table to join at once from
/// one machine. A host is an IPv4 address or an IPv6 network of 64 bits.
pub const HOST_RATE: Rate = Rate { per_second: 32, burst: 96 };
/// Datagrams per second from strangers of one host that are answered without admitting a peer. Separate from
/// [`HOST_RATE`], so that a broken program does not keep others on its machine from joining.
pub const ANSWER_RATE: Rate = Rate { per_second: 32, burst: 96 };
/// Datagrams per second of both kinds from all strangers.
pub const STRANGERS_RATE: Rate = Rate { per_second: 1_000, burst: 2_000 };

/// Decides which datagrams of strangers are accepted. Its memory is bounded: hosts that are not told apart share
/// [`STRANGERS_RATE`] alone.
#[derive(Debug)]
pub(crate) struct StrangerLimits {
    hosts: HostTable<Share>,
    all: TokenBucket,
}

#[derive(Debug)]
struct Share {
    joins: TokenBucket,
    answers: TokenBucket,
}

impl HostLimit for Share {
    fn new(now: Time) -> Self {
        Self { joins: TokenBucket::new(HOST_RATE, now), answers: TokenBucket::new(ANSWER_RATE, now) }
    }

    fn is_full(&mut self, now: Time) -> bool {
        self.joins.is_full(now) && self.answers.is_full(now)
    }
}

impl StrangerLimits {
    /// Full limits for everybody.
    pub(crate) fn new(now: Time) -> Self {
        Self { hosts: HostTable::new(now), all: TokenBucket::new(STRANGERS_RATE, now) }
    }

    /// Whether a datagram from `address` that may cause `admission` is accepted. One that causes nothing costs nothing.
    pub(crate) fn admit(&mut self, now: Time, address: SocketAddr, admission: Admission) -> bool {
        if admission == Admission::Ignored {
            return false;
        }
        let by_host = self.hosts.limit(now, HostId::from(address)).is_none_or(|share| {
            let bucket = if admission == Admission::Admitted { &mut share.joins } else { &mut share.answers };
            bucket.take(now, 1)
        });
        // The host first, so that a flood from one host does not use up the limit of all.
        by_host && self.all.take(now, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn joins(strangers: &mut StrangerLimits, millis: u64, from: &str) -> bool {
        strangers.admit(Time::from_millis(millis), address(from), Admission::Admitted)
    }

    #[test]
    fn a_full_table_joins_at_once_from_one_host_and_a_flood_does_not() {
        let mut strangers = StrangerLimits::new(Time::ZERO);
        let admitted = |strangers: &mut StrangerLimits, millis: u64, count: u16| {
            (0..count).filter(|port| joins(strangers, millis, &format!("10.0.0.1:{}", 1_000 + port))).count()
        };
        assert_eq!(admitted(&mut strangers, 0, 27), 27);
        assert_eq!(admitted(&mut strangers, 0, 20_000), 96 - 27);
        assert_eq!(admitted(&mut strangers, 1_000, 20_000), 32);
    }

    #[test]
    fn a_flood_from_one_host_leaves_the_others_alone() {
        let mut strangers = StrangerLimits::new(Time::ZERO);
        for _ in 0..100_000 {
            joins(&mut strangers, 0, "10.0.0.1:1");
        }
        assert!(joins(&mut strangers, 0, "10.0.0.2:1"));
        // The addresses of an IPv6 network count as one host; so do the two notations of an IPv4 address.
        assert!(!joins(&mut strangers, 0, "[::ffff:10.0.0.1]:2"));
    }

    #[test]
    fn answers_do_not_use_up_the_joins_of_their_host() {
        let mut strangers = StrangerLimits::new(Time::ZERO);
        let from = address("10.0.0.1:1");
        for millis in 0..10_000 {
            assert!(!strangers.admit(Time::from_millis(millis), from, Admission::Ignored));
            strangers.admit(Time::from_millis(millis), from, Admission::Answered);
            if millis % 1_000 == 0 {
                assert!(joins(&mut strangers, millis, "10.0.0.1:2"), "after {millis} ms");
            }
        }
    }

    #[test]
    fn the_rate_of_all_strangers_is_bounded() {
        let mut strangers = StrangerLimits::new(Time::ZERO);
        let from = |host: u32| SocketAddr::new(IpAddr::V4(host.to_be_bytes().into()), 7);
        let admitted = (0..1_000_000u32).filter(|&host| strangers.admit(Time::ZERO, from(host), Admission::Admitted));
        assert_eq!(admitted.count(), 2_000);
    }
}
