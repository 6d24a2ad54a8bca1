//! Seats that are kept free for somebody for a while.

use std::{
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use netcore::{HostId, Level};
use tokio::{sync::Notify, time::Instant};

/// Seats of a room that are kept free at the same time. Of more, the oldest is free for all.
pub(crate) const MAX_HOLDS: usize = 64;

/// How long a seat that was kept for a host and not taken counts against its share of the room. So neither repeated requests nor invented
/// keys keep a seat free for longer than one reservation lasts.
const UNUSED: Duration = Duration::from_mins(1);
/// How long after *Play now* somebody who has a seat at last still gets the company that was wanted: names are asked for meanwhile.
const COMPANY: Duration = Duration::from_mins(5);

/// For whom a seat is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whom {
    /// Somebody at this host, as its pseudonyms have it; the number tells its browsers apart.
    Host(HostId, u64),
    /// Whoever is at this address.
    Seat(SocketAddr),
}

/// A seat that is kept.
#[derive(Debug, Clone, Copy)]
struct Hold {
    whom: Whom,
    made: Instant,
    until: Instant,
}

impl Hold {
    fn is_active(&self, now: Instant) -> bool {
        self.until > now
    }

    // Whether it counts against the share of its host, also when it is over.
    fn counts(&self, now: Instant) -> bool {
        matches!(self.whom, Whom::Host(..)) && self.made + UNUSED > now
    }
}

/// The seats of a room that are kept free, and the company that those want who come.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    kept: Mutex<Vec<Hold>>,
    // Those who want bots for company once they have a seat, how well these play, and until when.
    wanted: Mutex<Vec<(Whom, Level, Instant)>>,
    // Somebody wants company, if need be that of bots; and how well these are to play.
    fill: Notify,
    level: Mutex<Level>,
    // Since when somebody has been in the room.
    occupied: Mutex<Option<Instant>>,
}

impl Holds {
    // Those that are active or count still.
    fn kept(&self, now: Instant) -> MutexGuard<'_, Vec<Hold>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|hold| hold.is_active(now) || hold.counts(now));
        kept
    }

    fn active(&self, is_meant: impl Fn(&Hold) -> bool) -> usize {
        let now = Instant::now();
        self.kept(now).iter().filter(|hold| hold.is_active(now) && is_meant(hold)).count()
    }

    fn wanted(&self) -> MutexGuard<'_, Vec<(Whom, Level, Instant)>> {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        wanted.retain(|(.., until)| *until > now);
        wanted
    }

    /// Keeps a seat for a client that was led here, unless its host has `most` of them, or has had them in the last minute without taking
    /// a seat; then the client may have a seat that is free. A repeated request does not keep the seat longer. Once the client has a
    /// seat, bots join that play at the level of its `company`. Returns whether a seat is kept.
    pub(crate) fn lead(&self, whom: Whom, time: Duration, most: usize, company: Option<Level>) -> bool {
        let mut wanted = self.wanted();
        wanted.retain(|(other, ..)| *other != whom);
        if let Some(level) = company.filter(|_| wanted.len() < MAX_HOLDS) {
            wanted.push((whom, level, Instant::now() + COMPANY));
        }
        drop(wanted);
        let of_host = |other: Whom| matches!((whom, other), (Whom::Host(host, _), Whom::Host(its, _)) if host == its);
        let now = Instant::now();
        let mut kept = self.kept(now);
        if kept.iter().any(|hold| hold.whom == whom && hold.is_active(now)) {
            return true;
        }
        if kept.iter().filter(|hold| of_host(hold.whom)).count() >= most {
            return false;
        }
        add(&mut kept, now, Hold { whom, made: now, until: now + time });
        true
    }

    /// How many are kept, but for this one.
    pub(crate) fn besides(&self, whom: Whom) -> usize {
        self.active(|hold| hold.whom != whom)
    }

    /// Somebody in the room wants company: bots that play so well come if nobody else does.
    pub(crate) fn ask_for_company(&self, level: Level) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = level;
        self.fill.notify_one();
    }

    /// How well bots are to play that come because somebody wants company.
    pub(crate) fn level_of_company(&self) -> Level {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves once for each request for company that is pending. Cancellation safe.
    pub(crate) async fn fill_requested(&self) {
        self.fill.notified().await;
    }

    /// Somebody is in the room now, or nobody.
    pub(crate) fn set_occupied(&self, occupied: bool) {
        *self.occupied.lock().unwrap_or_else(PoisonError::into_inner) = occupied.then(Instant::now);
    }

    /// For how long somebody has been in the room.
    pub(crate) fn occupied(&self) -> Duration {
        let since = *self.occupied.lock().unwrap_or_else(PoisonError::into_inner);
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Keeps one more seat, or the same one longer.
    pub(crate) fn keep(&self, whom: Whom, time: Duration) {
        let now = Instant::now();
        let mut kept = self.kept(now);
        kept.retain(|hold| hold.whom != whom);
        add(&mut kept, now, Hold { whom, made: now, until: now + time });
    }

    /// Whoever was at one address is at another now.
    pub(crate) fn follow(&self, before: SocketAddr, now: SocketAddr) {
        for hold in self.kept(Instant::now()).iter_mut().filter(|hold| hold.whom == Whom::Seat(before)) {
            hold.whom = Whom::Seat(now);
        }
    }

    /// How many are kept.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.active(|_| true)
    }

    /// How many seats are kept for others than a client of this host at this address, which has been connected or has asked for a seat
    /// `since` then: what is reserved later gives way to it.
    pub(crate) fn of_others(&self, host: HostId, address: Option<SocketAddr>, since: Instant) -> usize {
        let gives_way = |hold: &Hold| matches!(hold.whom, Whom::Host(..)) && hold.made > since;
        self.active(|hold| !is(hold.whom, host, address) && !gives_way(hold))
    }

    /// Somebody of this host at this address has a seat, so none is kept any more.
    pub(crate) fn redeem(&self, host: HostId, address: Option<SocketAddr>) {
        let mut kept = self.kept(Instant::now());
        let seat = kept.iter().position(|hold| address.is_some_and(|address| hold.whom == Whom::Seat(address)));
        // The newest one, which is still active if any is.
        let found = seat.or_else(|| kept.iter().rposition(|hold| is(hold.whom, host, address)));
        found.map(|index| kept.remove(index));
        drop(kept);
        let mut wanted = self.wanted();
        let found = wanted.iter().position(|(whom, ..)| is(*whom, host, address));
        if let Some((_, level, _)) = found.map(|index| wanted.remove(index)) {
            self.ask_for_company(level);
        }
    }

    /// Ends what is kept for this one. It counts against the share of its host as if it had not been taken.
    pub(crate) fn release(&self, whom: Whom) {
        let now = Instant::now();
        for hold in self.kept(now).iter_mut().filter(|hold| hold.whom == whom) {
            hold.until = hold.until.min(now);
        }
    }
}

// Instead of one that is over, or else of the oldest, if there are too many.
fn add(kept: &mut Vec<Hold>, now: Instant, hold: Hold) {
    if kept.len() >= MAX_HOLDS {
        kept.remove(kept.iter().position(|hold| !hold.is_active(now)).unwrap_or(0));
    }
    kept.push(hold);
}

fn is(whom: Whom, host: HostId, address: Option<SocketAddr>) -> bool {
    match whom {
        Whom::Host(other, _) => other == host,
        Whom::Seat(other) => address == Some(other),
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[test]
    fn seats_are_kept_for_those_they_are_kept_for_and_so_many() {
        let holds = Holds::default();
        let long = Duration::from_mins(9);
        let [ann, bob] = ["10.0.0.1:1", "10.0.0.2:1"].map(|address| address.parse::<SocketAddr>().unwrap());
        holds.keep(Whom::Seat(ann), long);
        holds.keep(Whom::Host(bob.into(), 0), long);
        holds.keep(Whom::Host(bob.into(), 0), long);
        assert_eq!((holds.count(), holds.of_others(bob.into(), Some(bob), Instant::now())), (2, 1));
        holds.follow(ann, "10.0.0.9:1".parse().unwrap());
        holds.redeem(ann.into(), Some(ann));
        assert_eq!(holds.count(), 2, "she is elsewhere now");
        holds.redeem(HostId::of("10.0.0.9:5"), "10.0.0.9:1".parse().ok());
        holds.redeem(bob.into(), None);
        holds.keep(Whom::Seat(ann), Duration::ZERO);
        assert_eq!(holds.count(), 0);
        for browser in 0..2 * MAX_HOLDS as u64 {
            holds.keep(Whom::Host(ann.into(), browser), long);
        }
        assert_eq!(holds.count(), MAX_HOLDS);
        holds.release(Whom::Host(ann.into(), 2 * MAX_HOLDS as u64 - 1));
        assert_eq!(holds.count(), MAX_HOLDS - 1);
    }

    #[tokio::test(start_paused = true)]
    async fn unused_reservation_ends_and_is_not_renewed_by_further_requests_or_keys() {
        let holds = Holds::default();
        let [eve, bob] = ["10.0.0.9:1", "10.0.0.2:1"].map(HostId::of);
        let short = Duration::from_secs(10);
        let second = Duration::from_secs(1);
        assert!(holds.lead(Whom::Host(eve, 0), short, 1, None));
        for key in 1..60 {
            // One key after the other, and the first one again.
            holds.lead(Whom::Host(eve, key), short, 1, None);
            holds.lead(Whom::Host(eve, 0), short, 1, None);
            advance(second).await;
            assert_eq!(holds.count(), usize::from(key < 10), "after {key} s");
        }
        advance(second).await;
        assert!(holds.lead(Whom::Host(eve, 7), short, 1, None), "a minute later");
        // A reservation that is used does not count.
        holds.redeem(eve, None);
        assert!(holds.lead(Whom::Host(eve, 8), short, 1, None));
        // One that is moved to another room does.
        holds.release(Whom::Host(eve, 8));
        assert!(holds.count() == 0 && !holds.lead(Whom::Host(eve, 9), short, 1, None));
        assert!(holds.lead(Whom::Host(bob, 0), short, 1, None), "other hosts are not concerned");
    }

    #[tokio::test(start_paused = true)]
    async fn reservation_gives_way_to_client_that_was_there_before() {
        let holds = Holds::default();
        let [eve, bob] = ["10.0.0.9:1", "10.0.0.2:1"].map(HostId::of);
        let before = Instant::now();
        advance(Duration::from_secs(1)).await;
        assert!(holds.lead(Whom::Host(eve, 0), Duration::from_secs(10), 1, None));
        holds.keep(Whom::Seat("10.0.0.3:1".parse().unwrap()), Duration::from_secs(40));
        let after = Instant::now();
        assert_eq!(holds.of_others(bob, None, after), 2);
        assert_eq!(holds.of_others(bob, None, before), 1, "players of a rematch keep their seats");
    }

    #[tokio::test]
    async fn company_comes_once_somebody_has_a_seat_who_wants_it_and_a_host_keeps_only_its_share() {
        let holds = Holds::default();
        let [ann, bob] = ["10.0.0.1:1", "10.0.0.2:1"].map(HostId::of);
        let long = Duration::from_mins(9);
        assert!(holds.lead(Whom::Host(ann, 1), long, 2, Some(Level::Easy)));
        assert!(holds.lead(Whom::Host(ann, 2), long, 2, None) && holds.lead(Whom::Host(ann, 2), long, 2, None));
        assert!(!holds.lead(Whom::Host(ann, 3), long, 2, None) && holds.lead(Whom::Host(bob, 3), long, 2, None));
        assert_eq!((holds.count(), holds.besides(Whom::Host(ann, 2))), (3, 2));
        let asked = || tokio::time::timeout(Duration::ZERO, holds.fill_requested());
        holds.redeem(bob, None);
        assert!(asked().await.is_err());
        holds.redeem(ann, None);
        assert!(asked().await.is_ok() && holds.level_of_company() == Level::Easy);
        holds.redeem(ann, None);
        assert!(asked().await.is_err() && holds.count() == 0);
    }
}
