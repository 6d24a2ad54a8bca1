//! Limits on datagrams from addresses without a connection ("strangers").

use std::net::SocketAddr;

use netcore::{Admission, HostId, Rate, Time, TokenBucket};

use crate::host_table::{HostLimit, HostTable};

/// Datagrams per second with which addresses of one host may become peers: enough for a full table to join at once from
/// one machine. A host is an IPv4 address or an IPv6 network of 64 bits.
pub const HOST_RATE: Rate = Rate { per_second: 32, burst: 96 };
/// Datagrams per second from strangers of one host that are answered without admitting a peer. Separate from
/// [`HOST_RATE`], so that a broken program does not keep others on its machine from joining.
pub(crate) const ANSWER_RATE: Rate = Rate { per_second: 32, burst: 96 };
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

impl Share {
    const fn bucket(&mut self, admission: Admission) -> &mut TokenBucket {
        if matches!(admission, Admission::Admitted) { &mut self.joins } else { &mut self.answers }
    }
}

impl HostLimit for Share {
    fn new(now: Time, hosts: u32) -> Self {
        let bucket = |rate: Rate| TokenBucket::new(rate.times(hosts), now);
        Self { joins: bucket(HOST_RATE), answers: bucket(ANSWER_RATE) }
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
        let host = HostId::from(address);
        let mut ready = true;
        // All of them before any is used, so that a flood neither uses up more than its own share nor fills the table.
        self.hosts.look(host, |share| ready &= share.bucket(admission).ready_at(now, 1) == Some(now));
        if !ready || !self.all.take(now, 1) {
            return false;
        }
        self.hosts.use_up(now, host, |share| share.bucket(admission).charge(now, 1));
        true
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
    fn a_customer_with_a_large_network_is_a_few_hosts() {
        // Of 65,536 networks of 64 bits within one of 48, and of 256 within one of 56.
        for (step, hosts) in [(256, 16), (1, 4)] {
            let mut strangers = StrangerLimits::new(Time::ZERO);
            let from = |number: u32| format!("[2001:db8:1:{number:x}::1]:5");
            let flood = |strangers: &mut StrangerLimits, millis| {
                let numbers = (0..65_536).filter(|number| number % step == 0).take(256);
                numbers
                    .map(|number| (0..100).filter(|_| joins(strangers, millis, &from(number))).count())
                    .sum::<usize>()
            };
            assert_eq!(flood(&mut strangers, 0), hosts * 96);
            assert_eq!(flood(&mut strangers, 1_000), hosts * 32);
            assert!(joins(&mut strangers, 1_000, "[2001:db8:2::1]:5"), "somebody else");
        }
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
