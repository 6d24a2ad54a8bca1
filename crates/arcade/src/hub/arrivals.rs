//! Those who were led to rooms: the seats that are kept for them, and how often somebody comes.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use netcore::HostId;

use crate::{
    games::Game,
    room::{Room, reservations::Holder},
};

/// How long a seat is kept for a client that *Play now* has led to it.
pub(crate) const MAX_RESERVATION: Duration = Duration::from_secs(10);
/// Seats that are kept at the same time in all rooms.
pub(crate) const MAX_RESERVED: usize = 4_096;
/// Seats that are kept for one host at the same time.
pub(crate) const MAX_RESERVED_OF_HOST: usize = 64;
/// Arrivals of a game that are remembered, and for how long.
const ARRIVALS: (usize, Duration) = (64, Duration::from_mins(10));
/// With fewer nobody knows how often somebody comes.
const FEW: usize = 3;

type Reserved = (Weak<Room>, Instant);

/// What is remembered of those who were led to a room.
#[derive(Debug, Default)]
pub(crate) struct Players {
    // By host and browser: where, and until when.
    reserved: Mutex<BTreeMap<(HostId, u64), Reserved>>,
    arrivals: Mutex<BTreeMap<Game, VecDeque<Instant>>>,
}

impl Players {
    /// Somebody comes now. Gives how long it was between two of those who came before, if there are enough of them.
    pub(super) fn arrive(&self, game: Game, now: Instant) -> Option<Duration> {
        let mut all = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let arrivals = all.entry(game).or_default();
        arrivals.retain(|at| now.duration_since(*at) < ARRIVALS.1);
        let between = arrivals.front().filter(|_| arrivals.len() >= FEW).map(|first| {
            let count = u32::try_from(arrivals.len()).unwrap_or(u32::MAX);
            now.duration_since(*first) / count
        });
        if arrivals.len() >= ARRIVALS.0 {
            arrivals.pop_front();
        }
        arrivals.push_back(now);
        between
    }

    /// Reserves a seat for a browser in this room, and ends its reservation in another one. Returns whether it may have one.
    pub(super) fn reserve(&self, host: HostId, browser: u64, room: &Arc<Room>) -> bool {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        reserved.retain(|_, (_, until)| *until > now);
        if let Some((before, _)) = reserved.get(&(host, browser)) {
            if std::ptr::eq(before.as_ptr(), Arc::as_ptr(room)) {
                // It is not extended.
                return true;
            }
            if let Some(before) = before.upgrade() {
                before.roster.release(Holder::Host(before.roster.mask.host(host), browser));
            }
            reserved.remove(&(host, browser));
        }
        let of_host = reserved.range((host, 0)..=(host, u64::MAX)).count();
        let may = reserved.len() < MAX_RESERVED && of_host < MAX_RESERVED_OF_HOST;
        if may {
            reserved.insert((host, browser), (Arc::downgrade(room), now + MAX_RESERVATION));
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_unknown_until_some_have_come() {
        let players = Players::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let waits = [0, 10, 20, 30].map(|seconds| players.arrive(Game::Robots, at(seconds)));
        assert_eq!(waits, [None, None, None, Some(Duration::from_secs(10))]);
        assert_eq!(players.arrive(Game::Nuggets, at(30)), None);
        // What was long ago says nothing.
        assert_eq!(players.arrive(Game::Robots, at(2_000)), None);
        for second in 0..1_000 {
            players.arrive(Game::Robots, at(3_000 + second));
        }
        assert_eq!(players.arrivals.lock().unwrap()[&Game::Robots].len(), ARRIVALS.0);
    }
}
