//! Whose turn it is, by the work that was caused.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use netcore::{Rate, Time, TokenBucket};

use crate::ConnectionId;

/// Nanoseconds of work a second that a connection may cause before it has to queue behind the others: a twentieth of a
/// processor, after a fiftieth of a second at once. Fingers cause a hundredth of that.
const LIGHT: Rate = Rate { per_second: 50_000_000, burst: 20_000_000 };

/// Shares work out between connections that want more of it than there is.
///
/// A connection that causes little is served as it comes. One that has caused more than [`LIGHT`] waits until nobody else
/// has anything, and those who wait are served in turn by the work that each has caused since it began to wait: start-time
/// fair queueing.
#[derive(Debug, Default)]
pub(crate) struct Fair {
    accounts: BTreeMap<ConnectionId, Account>,
    // Those who wait, the one that has caused least first.
    waiting: BTreeSet<(u64, ConnectionId)>,
    // What the connection served last had caused. Whoever begins to wait starts from here at least, so nobody saves up turns.
    floor: u64,
}

#[derive(Debug)]
struct Account {
    bucket: TokenBucket,
    // Nanoseconds, counted from the floor.
    caused: u64,
    waits: bool,
}

impl Fair {
    /// A new connection, which has caused nothing.
    pub(crate) fn open(&mut self, now: Time, id: ConnectionId) {
        self.accounts.insert(id, Account { bucket: TokenBucket::new(LIGHT, now), caused: 0, waits: false });
    }

    /// A connection that is no more.
    pub(crate) fn close(&mut self, id: ConnectionId) {
        if let Some(account) = self.accounts.remove(&id) {
            self.waiting.remove(&(account.caused, id));
        }
    }

    /// Whether a connection is to be served as it comes: it has caused little of late and does not wait.
    pub(crate) fn is_light(&mut self, now: Time, id: ConnectionId) -> bool {
        let Some(account) = self.accounts.get_mut(&id) else { return false };
        let light = !account.waits && account.bucket.take(now, 0);
        if light {
            // What it causes while nobody has to wait for it does not count against it later.
            account.caused = self.floor;
        }
        light
    }

    /// Puts a connection among those who wait.
    pub(crate) fn wait(&mut self, id: ConnectionId) {
        if let Some(account) = self.accounts.get_mut(&id)
            && !std::mem::replace(&mut account.waits, true)
        {
            account.caused = account.caused.max(self.floor);
            self.waiting.insert((account.caused, id));
        }
    }

    /// Takes the connection whose turn it is off those who wait.
    pub(crate) fn next(&mut self) -> Option<ConnectionId> {
        let (caused, id) = self.waiting.pop_first()?;
        self.floor = caused;
        if let Some(account) = self.accounts.get_mut(&id) {
            account.waits = false;
        }
        Some(id)
    }

    /// Whether somebody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Charges a connection for work that it has caused.
    pub(crate) fn charge(&mut self, now: Time, id: ConnectionId, work: Duration) {
        let Some(account) = self.accounts.get_mut(&id) else { return };
        account.bucket.charge(now, u32::try_from(work.as_nanos()).unwrap_or(u32::MAX));
        let before = account.caused;
        // At least something, so that a clock that stands still does not let one be served for ever.
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

    fn fair() -> Fair {
        let mut fair = Fair::default();
        for id in [ANN, BOB, EVE] {
            fair.open(Time::ZERO, id);
        }
        fair
    }

    #[test]
    fn whoever_causes_much_has_to_wait_and_is_forgiven_with_time() {
        let mut fair = fair();
        assert!(fair.is_light(Time::ZERO, ANN));
        fair.charge(Time::ZERO, ANN, micros(20_001));
        assert!(!fair.is_light(Time::ZERO, ANN));
        assert!(fair.is_light(Time::ZERO, BOB));
        assert!(fair.is_light(Time::from_millis(1), ANN), "a twentieth of a millisecond later");
    }

    #[test]
    fn those_who_wait_get_the_same_work_whatever_a_piece_of_it_costs() {
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
    fn whoever_was_away_has_saved_nothing_up() {
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
    fn what_was_caused_while_nobody_waited_does_not_count_later() {
        let mut fair = fair();
        for second in 0..100 {
            let now = Time::from_millis(1_000 * second);
            assert!(fair.is_light(now, ANN));
            fair.charge(now, ANN, micros(20_000));
        }
        // Now both want more than there is.
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
        // Ann stands behind by the 20 ms that she caused at once before she had to wait, not by two seconds.
        assert!((3_900..=5_000).contains(&turns), "{turns}");
    }

    #[test]
    fn whoever_is_gone_has_no_turn() {
        let mut fair = fair();
        fair.wait(ANN);
        fair.wait(BOB);
        fair.charge(Time::ZERO, ANN, micros(5));
        fair.close(ANN);
        assert_eq!((fair.next(), fair.next(), fair.is_empty()), (Some(BOB), None, true));
    }
}
