//! Seats that are kept free for somebody for a while.

use std::{
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use netcore::{HostId, Level};
use tokio::sync::Notify;

/// Seats of a room that are kept free at the same time. Of more, the oldest is free for all.
pub(crate) const MAX_HOLDS: usize = 64;

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

/// The seats of a room that are kept free, and the company that those want who come.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    kept: Mutex<Vec<(Whom, Instant)>>,
    // Those who want bots for company once they have a seat, how well these play, and until when.
    wanted: Mutex<Vec<(Whom, Level, Instant)>>,
    // Somebody wants company, if need be that of bots; and how well these are to play.
    fill: Notify,
    level: Mutex<Level>,
    // Since when somebody has been in the room.
    occupied: Mutex<Option<Instant>>,
}

impl Holds {
    // Those that are kept still.
    fn kept(&self) -> MutexGuard<'_, Vec<(Whom, Instant)>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        kept.retain(|(_, until)| *until > now);
        kept
    }

    fn wanted(&self) -> MutexGuard<'_, Vec<(Whom, Level, Instant)>> {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        wanted.retain(|(.., until)| *until > now);
        wanted
    }

    /// Keeps a seat for somebody who was led here, unless its host has `most` of them already; then it may have a seat that is free. Once
    /// it has a seat, bots come that play at the level of its `company`. Gives whether a seat is kept.
    pub(crate) fn lead(&self, whom: Whom, time: Duration, most: usize, company: Option<Level>) -> bool {
        let mut wanted = self.wanted();
        wanted.retain(|(other, ..)| *other != whom);
        if let Some(level) = company.filter(|_| wanted.len() < MAX_HOLDS) {
            wanted.push((whom, level, Instant::now() + COMPANY));
        }
        drop(wanted);
        let of_host = |other: Whom| matches!((whom, other), (Whom::Host(host, _), Whom::Host(its, _)) if host == its);
        let may = self.kept().iter().filter(|(other, _)| *other != whom && of_host(*other)).count() < most;
        if may {
            self.keep(whom, time);
        }
        may
    }

    /// How many are kept, but for this one.
    pub(crate) fn besides(&self, whom: Whom) -> usize {
        self.kept().iter().filter(|(other, _)| *other != whom).count()
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
        let mut kept = self.kept();
        kept.retain(|(other, _)| *other != whom);
        if kept.len() >= MAX_HOLDS {
            kept.remove(0);
        }
        kept.push((whom, Instant::now() + time));
    }

    /// Whoever was at one address is at another now.
    pub(crate) fn follow(&self, before: SocketAddr, now: SocketAddr) {
        for (whom, _) in self.kept().iter_mut().filter(|(whom, _)| *whom == Whom::Seat(before)) {
            *whom = Whom::Seat(now);
        }
    }

    /// How many are kept.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.kept().len()
    }

    /// How many are kept for others than somebody of this host at this address.
    pub(crate) fn of_others(&self, host: HostId, address: Option<SocketAddr>) -> usize {
        self.kept().iter().filter(|(whom, _)| !is(*whom, host, address)).count()
    }

    /// Somebody of this host at this address has a seat, so none is kept any more.
    pub(crate) fn redeem(&self, host: HostId, address: Option<SocketAddr>) {
        let mut kept = self.kept();
        let seat = kept.iter().position(|(whom, _)| address.is_some_and(|address| *whom == Whom::Seat(address)));
        let found = seat.or_else(|| kept.iter().position(|(whom, _)| is(*whom, host, address)));
        found.map(|index| kept.remove(index));
        drop(kept);
        let mut wanted = self.wanted();
        let found = wanted.iter().position(|(whom, ..)| is(*whom, host, address));
        if let Some((_, level, _)) = found.map(|index| wanted.remove(index)) {
            self.ask_for_company(level);
        }
    }

    /// Nothing is kept for whom it was kept.
    pub(crate) fn release(&self, whom: Whom) {
        self.kept().retain(|(other, _)| *other != whom);
    }
}

fn is(whom: Whom, host: HostId, address: Option<SocketAddr>) -> bool {
    match whom {
        Whom::Host(other, _) => other == host,
        Whom::Seat(other) => address == Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_kept_for_those_they_are_kept_for_and_so_many() {
        let holds = Holds::default();
        let long = Duration::from_mins(9);
        let [ann, bob] = ["10.0.0.1:1", "10.0.0.2:1"].map(|address| address.parse::<SocketAddr>().unwrap());
        holds.keep(Whom::Seat(ann), long);
        holds.keep(Whom::Host(bob.into(), 0), long);
        holds.keep(Whom::Host(bob.into(), 0), long);
        assert_eq!((holds.count(), holds.of_others(bob.into(), Some(bob))), (2, 1));
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
