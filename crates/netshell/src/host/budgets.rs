//! What peers may write into the recording of a room.

use std::time::Duration;

use netcore::{HostId, Rate, Time, TokenBucket};

use crate::host_table::{HostLimit, HostTable};

/// Bytes per second that the inputs of one host may add to the recording of a room, with a burst of two seconds.
pub const RECORDED_RATE: Rate = Rate { per_second: 300_000, burst: 600_000 };
/// The part of the burst that is reserved for peers below [`LIGHT`], so that a flood does not stop its neighbours on
/// the same host.
const RESERVED: u32 = 300_000;
/// Bytes per second of a peer that records little. A person at a keyboard causes a fifth of that.
const LIGHT: Rate = Rate { per_second: 2_000, burst: 4_000 };
/// The shortest pause, so that a busy peer is not looked at for each of its messages.
const PAUSE: Duration = Duration::from_millis(20);

/// The budgets of all hosts. What an input records is charged after it, so a host may exceed its budget by one input.
#[derive(Debug)]
pub(super) struct Budgets {
    hosts: HostTable<Budget>,
    // For all hosts that are not told apart.
    others: Budget,
}

/// What one host or network may still record.
#[derive(Debug)]
struct Budget {
    bucket: TokenBucket,
    // As many hosts as it counts.
    hosts: u32,
}

/// What one peer records, and on which host it is.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) host: HostId,
    light: TokenBucket,
}

impl HostLimit for Budget {
    fn new(now: Time, hosts: u32) -> Self {
        Self { bucket: TokenBucket::new(RECORDED_RATE.times(hosts), now), hosts }
    }

    fn is_full(&mut self, now: Time) -> bool {
        self.bucket.is_full(now)
    }
}

impl Budget {
    // When more may be recorded by anybody, beyond what is reserved for those that record little.
    fn ready(&mut self, now: Time) -> Time {
        self.bucket.ready_at(now, RESERVED.saturating_mul(self.hosts)).unwrap_or(now)
    }

    // When those may that record little.
    fn ready_for_light(&mut self, now: Time) -> Time {
        self.bucket.ready_at(now, 0).unwrap_or(now)
    }
}

impl Account {
    /// The account of a peer that has recorded nothing.
    pub(super) fn new(now: Time, host: HostId) -> Self {
        Self { host, light: TokenBucket::new(LIGHT, now) }
    }
}

impl Budgets {
    /// Full budgets for everybody.
    pub(super) fn new(now: Time) -> Self {
        Self { hosts: HostTable::new(now), others: Budget::new(now, 1) }
    }

    /// Charges a peer and its host for what an input recorded.
    pub(super) fn charge(&mut self, now: Time, account: &mut Account, bytes: u32) {
        if bytes > 0 {
            account.light.charge(now, bytes);
            if !self.hosts.use_up(now, account.host, |budget| budget.bucket.charge(now, bytes)) {
                self.others.bucket.charge(now, bytes);
            }
        }
    }

    /// Until when nothing more is taken from a peer; `None` if it may go on now.
    pub(super) fn paused_until(&mut self, now: Time, account: &mut Account) -> Option<Time> {
        let (mut ready, mut light) = (now, account.light.ready_at(now, 0).unwrap_or(now));
        self.look(account.host, |budget| {
            ready = ready.max(budget.ready(now));
            light = light.max(budget.ready_for_light(now));
        });
        let until = ready.min(light);
        (until > now).then(|| until.max(now.plus(PAUSE)))
    }

    /// Whether a datagram from an address without a connection is accepted.
    pub(super) fn hears_strangers(&mut self, now: Time, host: HostId) -> bool {
        let mut hears = true;
        self.look(host, |budget| hears &= budget.ready(now) <= now);
        hears
    }

    /// Whether a new connection is accepted. It counts as a peer that records little.
    pub(super) fn accepts(&mut self, now: Time, host: HostId) -> bool {
        let mut accepts = true;
        self.look(host, |budget| accepts &= budget.ready_for_light(now) <= now);
        accepts
    }

    // Passes the budgets of a host and of its networks to `look`. Those that are not passed are full.
    fn look(&mut self, host: HostId, mut look: impl FnMut(&mut Budget)) {
        if !self.hosts.look(host, &mut look) && self.hosts.is_full() {
            look(&mut self.others);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostId = HostId::V4([10, 0, 0, 1]);
    const ELSEWHERE: HostId = HostId::V4([10, 0, 0, 2]);

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn account(host: HostId) -> Account {
        Account::new(Time::ZERO, host)
    }

    /// Lets a peer record as much as it may until `end`, with inputs of this size; gives what it has recorded.
    fn flood(budgets: &mut Budgets, account: &mut Account, bytes: u32, end: u64) -> u64 {
        let mut recorded = 0;
        for millis in 0..end {
            while budgets.paused_until(at(millis), account).is_none() {
                budgets.charge(at(millis), account, bytes);
                recorded += u64::from(bytes);
            }
        }
        recorded
    }

    #[test]
    fn a_flood_records_at_the_rate_of_its_host() {
        for bytes in [14, 72, 65_000] {
            let (mut budgets, mut eve) = (Budgets::new(Time::ZERO), account(HOST));
            let recorded = flood(&mut budgets, &mut eve, bytes, 10_000);
            let most = 300_000 + 10 * 300_000 + u64::from(bytes);
            assert!(recorded <= most && recorded > most * 9 / 10, "{recorded} bytes by {bytes}, {most} are allowed");
        }
    }

    #[test]
    fn a_flood_stops_neither_light_neighbours_nor_other_hosts() {
        let mut budgets = Budgets::new(Time::ZERO);
        let (mut eve, mut ann, mut bob) = (account(HOST), account(HOST), account(ELSEWHERE));
        for millis in 0..10_000 {
            while budgets.paused_until(at(millis), &mut eve).is_none() {
                budgets.charge(at(millis), &mut eve, 5_000);
            }
            // Twenty keys a second.
            if millis % 50 == 0 {
                assert_eq!(budgets.paused_until(at(millis), &mut ann), None, "after {millis} ms");
                budgets.charge(at(millis), &mut ann, 14);
            }
            assert_eq!(budgets.paused_until(at(millis), &mut bob), None, "after {millis} ms");
            budgets.charge(at(millis), &mut bob, 200);
        }
        assert!(budgets.paused_until(at(9_999), &mut eve).is_some());
        assert!(!budgets.hears_strangers(at(9_999), HOST) && budgets.hears_strangers(at(9_999), ELSEWHERE));
        assert!(budgets.accepts(at(9_999), HOST), "a connection is a light neighbour");
    }

    #[test]
    fn many_peers_of_one_host_record_no_more_than_one() {
        let mut budgets = Budgets::new(Time::ZERO);
        let mut accounts: Vec<Account> = (0..2_000).map(|_| account(HOST)).collect();
        let mut recorded = 0u64;
        for millis in (0..10_000).step_by(10) {
            for account in &mut accounts {
                if budgets.paused_until(at(millis), account).is_none() {
                    budgets.charge(at(millis), account, 65_000);
                    recorded += 65_000;
                }
            }
        }
        let most = 600_000 + 10 * 300_000 + 65_000;
        assert!(recorded <= most, "{recorded} bytes, {most} are allowed");
        assert!(recorded > 3_000_000, "{recorded} bytes");
    }

    #[test]
    fn a_customer_with_a_large_network_records_as_much_as_a_few_hosts() {
        for (within, hosts) in [(1 << 16, 16), (1 << 8, 4)] {
            let mut budgets = Budgets::new(Time::ZERO);
            let numbers = (0..256).map(|number| number * within / 256);
            let mut accounts: Vec<Account> = numbers.map(|number| account(HostId::V6Network(number))).collect();
            let mut recorded = 0;
            for millis in (0..10_000).step_by(20) {
                for account in &mut accounts {
                    if budgets.paused_until(at(millis), account).is_none() {
                        budgets.charge(at(millis), account, 6_000);
                        recorded += 6_000;
                    }
                }
            }
            let most = hosts * (600_000 + 10 * 300_000) + 6_000;
            assert!(recorded <= most && recorded > most * 4 / 5, "{recorded} bytes, {most} are allowed");
            assert!(budgets.hears_strangers(at(9_999), ELSEWHERE), "other hosts notice nothing");
            let neighbour = &mut account(HostId::V6Network(7));
            assert_eq!(budgets.paused_until(at(9_999), neighbour), None, "somebody who records little goes on");
        }
    }

    #[test]
    fn an_exhausted_host_gets_no_connections_until_its_budget_refills() {
        let (mut budgets, mut eve) = (Budgets::new(Time::ZERO), account(HOST));
        budgets.charge(Time::ZERO, &mut eve, 900_000);
        assert_eq!(budgets.paused_until(Time::ZERO, &mut eve), Some(at(2_000)));
        assert!(!budgets.accepts(at(999), HOST) && budgets.accepts(at(1_000), HOST));
        assert_eq!(budgets.paused_until(at(1_999), &mut eve), Some(at(2_019)), "not for a moment only");
        assert!(!budgets.hears_strangers(at(1_999), HOST) && budgets.hears_strangers(at(2_000), HOST));
        assert_eq!(budgets.paused_until(at(2_000), &mut eve), None);
    }

    #[test]
    fn hosts_that_are_not_told_apart_share_one_budget() {
        let mut budgets = Budgets::new(Time::ZERO);
        let mut account_of = |network| {
            let mut account = account(HostId::V4(u32::to_be_bytes(network)));
            budgets.charge(Time::ZERO, &mut account, 300_001);
            account
        };
        let mut accounts: Vec<Account> = (0..5_000).map(&mut account_of).collect();
        let mut until = |index: usize| budgets.paused_until(Time::ZERO, &mut accounts[index]);
        assert_eq!(until(0), Some(at(20)));
        let others = until(4_999).expect("they have used up theirs");
        assert!(others > at(800_000), "{others:?}: all those after the first 4,096 pay for each other");
        let unknown = &mut account(HOST);
        assert!(budgets.paused_until(Time::ZERO, unknown).is_some());
    }
}
