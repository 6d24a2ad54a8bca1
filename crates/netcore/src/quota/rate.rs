//! Rate limits without a clock.

use alloc::collections::BTreeMap;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::Network;
use crate::{HostId, Time};

const NANOS: i64 = 1_000_000_000;
/// The minimum time between sweeps, which visit all buckets: a flood of new keys must not trigger each one.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The fill rate and the capacity of a [`TokenBucket`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Tokens added per second.
    pub per_second: u32,
    /// The capacity. A new bucket is full.
    pub burst: u32,
}

impl Rate {
    /// The rate of `count` hosts together.
    #[must_use]
    pub const fn times(self, count: u32) -> Self {
        Self { per_second: self.per_second.saturating_mul(count), burst: self.burst.saturating_mul(count) }
    }
}

/// A token bucket. In any `t` seconds, it grants at most `burst + t * per_second` tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TokenBucket {
    rate: Rate,
    // In billionths of a token, which avoids rounding errors. Negative after [`TokenBucket::charge`] exceeded it.
    level: i64,
    filled: Time,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(rate: Rate, now: Time) -> Self {
        Self { rate, level: i64::from(rate.burst) * NANOS, filled: now }
    }

    /// The rate of this bucket.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes `tokens`, or returns `false` and takes none.
    pub fn take(&mut self, now: Time, tokens: u32) -> bool {
        self.fill(now);
        let enough = self.level >= price(tokens);
        if enough {
            self.level -= price(tokens);
        }
        enough
    }

    /// Takes `tokens` even if unavailable, for costs that are known only afterwards.
    pub fn charge(&mut self, now: Time, tokens: u32) {
        self.fill(now);
        self.level = self.level.saturating_sub(price(tokens));
    }

    /// When `tokens` will be available; `None` if the bucket never holds that many.
    pub fn ready_at(&mut self, now: Time, tokens: u32) -> Option<Time> {
        self.fill(now);
        let missing = u64::try_from(price(tokens).saturating_sub(self.level)).unwrap_or(0);
        if tokens > self.rate.burst || (self.rate.per_second == 0 && missing > 0) {
            return None;
        }
        Some(now.plus(Duration::from_nanos(missing.div_ceil(u64::from(self.rate.per_second.max(1))))))
    }

    /// Whether the bucket is full, and so need not be stored: it behaves as a new one.
    pub fn is_full(&mut self, now: Time) -> bool {
        self.fill(now);
        self.level == i64::from(self.rate.burst) * NANOS
    }

    fn fill(&mut self, now: Time) {
        let elapsed = i64::try_from(now.since(self.filled).as_nanos()).unwrap_or(i64::MAX);
        let income = elapsed.saturating_mul(i64::from(self.rate.per_second));
        self.level = self.level.saturating_add(income).min(i64::from(self.rate.burst) * NANOS);
        self.filled = self.filled.max(now);
    }
}

const fn price(tokens: u32) -> i64 {
    tokens as i64 * NANOS
}

/// Token buckets of one [`Rate`] by key, in bounded memory.
///
/// The key is or contains a [`Network`], since the usage of a host is also charged to its networks. A key without a
/// bucket has used no tokens. A full table removes full buckets; if none is full, a new key gets no bucket, and the
/// caller decides what it may use.
///
/// ```
/// use netcore::{HostId, Rate, RateTable, Time};
///
/// let mut joins = RateTable::new(Rate { per_second: 1, burst: 2 }, 1_000);
/// let mut join = |host| joins.ready_at(Time::ZERO, host, 1) == Some(Time::ZERO) && joins.charge(Time::ZERO, host, 1);
/// let (greedy, other) = (HostId::of("10.0.0.1:1"), HostId::of("10.0.0.2:1"));
/// assert_eq!([greedy, greedy, greedy, other].map(&mut join), [true, true, false, true]);
/// ```
#[derive(Debug)]
pub struct RateTable<K> {
    rate: Rate,
    most: usize,
    buckets: BTreeMap<K, TokenBucket>,
    swept: Time,
}

impl<K: Ord> RateTable<K> {
    /// An empty table for up to `most` buckets.
    pub const fn new(rate: Rate, most: usize) -> Self {
        Self { rate, most, buckets: BTreeMap::new(), swept: Time::ZERO }
    }

    /// Whether the table has no room for more buckets.
    pub fn is_full(&self) -> bool {
        self.buckets.len() >= self.most
    }

    /// The bucket of a key, if it has one.
    pub fn get(&mut self, key: &K) -> Option<&mut TokenBucket> {
        self.buckets.get_mut(key)
    }

    /// Removes the bucket with the most tokens, whose key has used least.
    pub fn remove_fullest(&mut self, now: Time)
    where
        K: Clone,
    {
        let full_at = self.buckets.iter_mut().map(|(key, bucket)| (bucket.ready_at(now, bucket.rate.burst), key));
        if let Some(fullest) = full_at.min().map(|(_, key)| key.clone()) {
            self.buckets.remove(&fullest);
        }
    }

    /// The bucket of a key that counts as `hosts` hosts, added if necessary; `None` if the table is full.
    pub fn bucket(&mut self, now: Time, key: K, hosts: u32) -> Option<&mut TokenBucket> {
        if self.is_full() && !self.buckets.contains_key(&key) {
            if now.since(self.swept) >= SWEEP_INTERVAL {
                self.buckets.retain(|_, bucket| !bucket.is_full(now));
                self.swept = now;
            }
            if self.is_full() {
                return None;
            }
        }
        Some(self.buckets.entry(key).or_insert_with(|| TokenBucket::new(self.rate.times(hosts), now)))
    }
}

impl RateTable<Network> {
    /// Charges a host and its networks, even more than is available. Returns whether the host has a bucket.
    pub fn charge(&mut self, now: Time, host: HostId, tokens: u32) -> bool {
        let mut has_bucket = false;
        for network in host.networks() {
            if let Some(bucket) = self.bucket(now, network, network.hosts()) {
                bucket.charge(now, tokens);
                has_bucket |= network.is_host();
            }
        }
        has_bucket
    }

    /// When a host may use `tokens`; `None` if a bucket never holds that many.
    pub fn ready_at(&mut self, now: Time, host: HostId, tokens: u32) -> Option<Time> {
        let mut ready = Some(now);
        self.visit(host, |bucket| {
            ready = ready.zip(bucket.ready_at(now, tokens)).map(|(others, own)| others.max(own));
        });
        ready
    }

    /// Passes the buckets of a host and its networks to `visit`. Returns whether the host has one.
    pub fn visit(&mut self, host: HostId, mut visit: impl FnMut(&mut TokenBucket)) -> bool {
        let mut has_bucket = false;
        for network in host.networks() {
            if let Some(bucket) = self.get(&network) {
                visit(bucket);
                has_bucket |= network.is_host();
            }
        }
        has_bucket
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    #[test]
    fn burst_passes_and_then_the_rate_holds() {
        let mut bucket = TokenBucket::new(RATE, Time::ZERO);
        let given =
            |bucket: &mut TokenBucket, millis| (0..5).filter(|_| bucket.take(Time::from_millis(millis), 1)).count();
        assert_eq!(given(&mut bucket, 0), 3);
        assert_eq!(given(&mut bucket, 99), 0);
        assert_eq!(given(&mut bucket, 100), 1);
        assert_eq!(given(&mut bucket, 10_000), 3);
    }

    #[test]
    fn ready_at_is_the_first_moment_when_tokens_are_available() {
        let mut bucket = TokenBucket::new(Rate { per_second: 7, burst: 100 }, Time::ZERO);
        assert!(bucket.take(Time::ZERO, 100));
        let ready = bucket.ready_at(Time::ZERO, 13).unwrap();
        assert!(!bucket.clone().take(Time::from_nanos(ready.as_nanos() - 1), 13));
        assert!(bucket.take(ready, 13));
        assert_eq!(bucket.ready_at(ready, 101), None);
    }

    #[test]
    fn deficit_is_refilled_before_tokens_are_available() {
        let mut bucket = TokenBucket::new(RATE, Time::ZERO);
        bucket.charge(Time::ZERO, 13);
        assert!(!bucket.take(Time::from_millis(1_000), 1), "ten tokens were refilled and ten were missing");
        assert_eq!(bucket.ready_at(Time::from_millis(1_000), 1), Some(Time::from_millis(1_100)));
        assert!(bucket.take(Time::from_millis(1_100), 1));
        assert!(!bucket.is_full(Time::from_millis(1_100)));
    }

    #[test]
    fn rate_of_zero_gives_the_burst_only() {
        let mut bucket = TokenBucket::new(Rate { per_second: 0, burst: 2 }, Time::ZERO);
        assert!(bucket.take(Time::ZERO, 2));
        assert_eq!(bucket.ready_at(Time::from_millis(9_000), 1), None);
        assert!(!bucket.take(Time::from_millis(9_000), 1));
    }

    #[test]
    fn clock_that_goes_back_refills_nothing() {
        let mut bucket = TokenBucket::new(RATE, Time::from_millis(1_000));
        assert!(bucket.take(Time::from_millis(1_000), 3));
        assert!(!bucket.take(Time::ZERO, 1));
        assert!(!bucket.take(Time::from_millis(1_000), 1));
        assert!(bucket.take(Time::from_millis(1_100), 1));
    }

    fn host(number: usize) -> HostId {
        HostId::V4(u32::try_from(number).unwrap().to_be_bytes())
    }

    #[test]
    fn full_buckets_are_removed_at_most_once_a_second() {
        const MOST: usize = 100;
        // A bucket is full again after a second.
        let mut table = RateTable::new(Rate { per_second: 1, burst: 1 }, MOST);
        let take = |table: &mut RateTable<HostId>, millis, number| {
            let now = Time::from_millis(millis);
            table.bucket(now, host(number), 1).is_some_and(|bucket| bucket.take(now, 1))
        };
        for number in 0..MOST {
            assert!(take(&mut table, 10 * number as u64, number), "host {number}");
        }
        assert!(table.is_full() && table.get(&host(MOST)).is_none());
        assert!(take(&mut table, 1_500, MOST), "half of the buckets are full");
        assert!(table.get(&host(0)).is_none() && table.get(&host(MOST - 1)).is_some());
        let mut next = MOST;
        while !table.is_full() {
            next += 1;
            assert!(take(&mut table, 1_500, next));
        }
        assert!(!take(&mut table, 2_400, next + 1), "full buckets were removed 0.9 seconds ago");
        assert!(table.get(&host(next)).is_some(), "hosts in the table keep their buckets");
        assert!(take(&mut table, 2_500, next + 1));
    }

    #[test]
    fn fullest_bucket_is_removed_first() {
        let mut table = RateTable::new(RATE, 3);
        for (number, tokens) in [(1, 2), (2, 1), (3, 3)] {
            table.bucket(Time::ZERO, host(number), 1).unwrap().charge(Time::ZERO, tokens);
        }
        table.remove_fullest(Time::ZERO);
        assert_eq!([1, 2, 3].map(|number| table.get(&host(number)).is_some()), [true, false, true]);
    }

    #[test]
    fn large_network_may_use_as_much_as_a_few_hosts() {
        // 65,536 networks of 64 bits within one of 48 bits, and 256 within one of 56 bits.
        for (step, hosts) in [(256, 16), (1, 4)] {
            let mut table = RateTable::new(RATE, 1_000);
            let mut take = |host, millis| {
                let now = Time::from_millis(millis);
                table.ready_at(now, host, 1) == Some(now) && table.charge(now, host, 1)
            };
            let mut flood = |millis| {
                let networks = (0..256).map(|number| HostId::V6Network(number * step));
                networks.map(|host| (0..100).filter(|_| take(host, millis)).count()).sum::<usize>()
            };
            assert_eq!(flood(0), hosts * 3);
            assert_eq!(flood(100), hosts);
            assert!(take(HostId::V6Network(1 << 16), 100), "another customer");
        }
    }

    #[test]
    fn host_without_bucket_is_reported() {
        let mut table = RateTable::new(RATE, 1);
        assert!(table.charge(Time::ZERO, host(1), 1) && table.visit(host(1), |_| ()));
        assert!(!table.charge(Time::ZERO, host(2), 1) && !table.visit(host(2), |_| ()));
    }
}
