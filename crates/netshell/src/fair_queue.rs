use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use netcore::{Rate, Time, TokenBucket};

use crate::ConnectionId;

/// Nanoseconds of work per second that a connection may cause before it queues: 5 % of a processor, with a burst of 20
/// ms. A human player causes a hundredth of that.
const LIGHT: Rate = Rate { per_second: 50_000_000, burst: 20_000_000 };

/// Start-time fair queueing.
///
/// A connection below [`LIGHT`] is served immediately. Others are queued until all light ones are idle, and served in
/// order of the work that each has caused since it was queued.
#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    accounts: BTreeMap<ConnectionId, Account>,
    // Least work first.
    waiting: BTreeSet<(u64, ConnectionId)>,
    // The lowest `caused` of a newly queued connection, so that idle ones accumulate no credit.
    floor: u64,
}

#[derive(Debug)]
struct Account {
    bucket: TokenBucket,
    // Nanoseconds of work, on the scale of `floor`.
    caused: u64,
    waits: bool,
}

impl FairQueue {
    pub(crate) fn open(&mut self, now: Time, id: ConnectionId) {
        self.accounts.insert(id, Account { bucket: TokenBucket::new(LIGHT, now), caused: 0, waits: false });
    }

    pub(crate) fn close(&mut self, id: ConnectionId) {
        if let Some(account) = self.accounts.remove(&id) {
            self.waiting.remove(&(account.caused, id));
        }
    }

    pub(crate) fn is_light(&mut self, now: Time, id: ConnectionId) -> bool {
        let Some(account) = self.accounts.get_mut(&id) else { return false };
        let light = !account.waits && account.bucket.take(now, 0);
        if light {
            // Work done before it queues does not count.
            account.caused = self.floor;
        }
        light
    }

    pub(crate) fn wait(&mut self, id: ConnectionId) {
        if let Some(account) = self.accounts.get_mut(&id)
            && !std::mem::replace(&mut account.waits, true)
        {
            account.caused = account.caused.max(self.floor);
            self.waiting.insert((account.caused, id));
        }
    }

    pub(crate) fn next(&mut self) -> Option<ConnectionId> {
        let (caused, id) = self.waiting.pop_first()?;
        self.floor = caused;
        if let Some(account) = self.accounts.get_mut(&id) {
            account.waits = false;
        }
        Some(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn charge(&mut self, now: Time, id: ConnectionId, work: Duration) {
        let Some(account) = self.accounts.get_mut(&id) else { return };
        account.bucket.charge(now, u32::try_from(work.as_nanos()).unwrap_or(u32::MAX));
        let before = account.caused;
        // At least 1, so that a stopped clock does not let one connection be served forever.
        account.caused = before.saturating_add(u64::try_from(work.as_nanos()).unwrap_or(u64::MAX).max(1));
        if account.waits {
            self.waiting.remove(&(before, id));
            self.waiting.insert((account.caused, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: ConnectionId = ConnectionId(1);
    const BOB: ConnectionId = ConnectionId(2);
    const EVE: ConnectionId = ConnectionId(3);

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    fn fair() -> FairQueue {
        let mut fair = FairQueue::default();
        for id in [ANN, BOB, EVE] {
            fair.open(Time::ZERO, id);
        }
        fair
    }

    #[test]
    fn a_busy_connection_queues_until_its_bucket_refills() {
        let mut fair = fair();
        assert!(fair.is_light(Time::ZERO, ANN));
        fair.charge(Time::ZERO, ANN, micros(20_001));
        assert!(!fair.is_light(Time::ZERO, ANN));
        assert!(fair.is_light(Time::ZERO, BOB));
        assert!(fair.is_light(Time::from_millis(1), ANN), "a twentieth of a millisecond later");
    }

    #[test]
    fn queued_connections_get_equal_work_whatever_each_message_costs() {
        let mut fair = fair();
        let cost = |id| micros(if id == EVE { 500 } else { 10 });
        let mut served = BTreeMap::new();
        for id in [ANN, BOB, EVE] {
            fair.wait(id);
        }
        for _ in 0..10_000 {
            let id = fair.next().unwrap();
            *served.entry(id).or_insert(0u32) += 1;
            fair.charge(Time::ZERO, id, cost(id));
            fair.wait(id);
        }
        assert!(served[&ANN].abs_diff(served[&BOB]) <= 1, "{served:?}");
        assert!((49..=51).contains(&(served[&ANN] / served[&EVE])), "{served:?}");
    }

    #[test]
    fn an_idle_connection_accumulates_no_credit() {
        let mut fair = fair();
        for _ in 0..1_000 {
            fair.wait(EVE);
            assert_eq!(fair.next(), Some(EVE));
            fair.charge(Time::ZERO, EVE, micros(10));
        }
        fair.wait(EVE);
        fair.wait(ANN);
        let turns: Vec<_> = (0..20)
            .map(|_| {
                let id = fair.next().unwrap();
                fair.charge(Time::ZERO, id, micros(10));
                fair.wait(id);
                id
            })
            .collect();
        assert!((9..=11).contains(&turns.iter().filter(|&&id| id == ANN).count()), "{turns:?}");
    }

    #[test]
    fn work_without_competition_does_not_count_later() {
        let mut fair = fair();
        for second in 0..100 {
            let now = Time::from_millis(1_000 * second);
            assert!(fair.is_light(now, ANN));
            fair.charge(now, ANN, micros(20_000));
        }
        // Now both request more than the processor can do.
        let now = Time::from_millis(99_000);
        fair.charge(now, ANN, micros(20));
        assert!(!fair.is_light(now, ANN));
        for id in [ANN, BOB] {
            fair.wait(id);
        }
        let mut turns = 0;
        for _ in 0..10_000 {
            let id = fair.next().unwrap();
            turns += u32::from(id == ANN);
            fair.charge(now, id, micros(10));
            fair.wait(id);
        }
        // Ann is behind by the 20 ms of her burst, not by two seconds.
        assert!((3_900..=5_000).contains(&turns), "{turns}");
    }

    #[test]
    fn a_closed_connection_has_no_turn() {
        let mut fair = fair();
        fair.wait(ANN);
        fair.wait(BOB);
        fair.charge(Time::ZERO, ANN, micros(5));
        fair.close(ANN);
        assert_eq!((fair.next(), fair.next(), fair.is_empty()), (Some(BOB), None, true));
    }
}
