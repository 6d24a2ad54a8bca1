use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use netcore::{HostId, Level};

use super::{Hub, OpenError, attendant::FILL, rooms::free};
use crate::{
    fleet::NodeStatus,
    games::{Game, Options},
    room::{Room, reservations::Holder, roster::BrowserKey},
};

/// Names whose ratings are looked up for one player.
pub(crate) const MAX_RATED: usize = 16;
/// The largest difference of ratings at first, and its increase per second of waiting.
const NEAR: (u64, u64) = (100, 10);

#[derive(Debug, Default)]
pub(crate) struct Seeker {
    /// See [`browser_number`]; 0 without a key.
    pub(crate) browser: u64,
    /// The level of bots that join if no players do.
    pub(crate) company: Option<Level>,
    pub(crate) rating: Option<i64>,
    /// By name.
    pub(crate) ratings: BTreeMap<String, i64>,
}

#[derive(Debug)]
pub(crate) struct FoundRoom {
    pub(crate) room: Arc<Room>,
    pub(crate) kept: bool,
    /// The estimated time to the start of the match, in seconds.
    pub(crate) wait: Option<u64>,
}

/// Whether a rating differs too much from those in a room whose people have waited for `waited`.
fn is_far(own: Option<i64>, others: &[i64], waited: Duration) -> bool {
    let Some(own) = own.filter(|_| !others.is_empty()) else { return false };
    let mean = others.iter().sum::<i64>() / i64::try_from(others.len()).unwrap_or(i64::MAX);
    mean.abs_diff(own) > NEAR.0 + NEAR.1 * waited.as_secs()
}

/// Distinguishes the browsers of a host.
pub(crate) fn browser_number(key: &BrowserKey) -> u64 {
    key.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

// The number of players that a match lacks after `holder` has joined.
fn missing(room: &Room, holder: Holder) -> u32 {
    let info = room.info.borrow();
    if info.options.starts_at_once() || info.phase == "playing" {
        return 0;
    }
    let seated = u32::try_from(info.players.len()).unwrap_or(u32::MAX).max(info.taken);
    let reserved = u32::try_from(room.roster.reserved_besides(holder)).unwrap_or(u32::MAX);
    info.seats.saturating_sub(seated.saturating_add(reserved).saturating_add(1))
}

impl Hub {
    fn open_to(&self, game: Game, host: HostId, browser: u64) -> impl Iterator<Item = Arc<Room>> {
        self.rooms.all().into_iter().filter(move |room| {
            let shown = room.roster.mask.host(host);
            let reserved = room.roster.reserved_besides(Holder::Host(shown, browser));
            let is_removed = room.roster.has_removed_key(|key| browser_number(key) == browser);
            let may = !room.roster.has_spent(shown) && !room.roster.is_blocked(shown) && !is_removed;
            room.game == game && may && free(room, &room.info.borrow()) > reserved
        })
    }

    pub(crate) fn preferred_node(&self, game: Game, host: HostId, seeker: &Seeker) -> Option<NodeStatus> {
        let cluster = self.cluster()?;
        let most_here = self.open_to(game, host, seeker.browser).map(|room| room.info.borrow().people).max();
        cluster.preferred_node(game, most_here.unwrap_or_default(), &self.rooms)
    }

    /// Verified names in rooms with a free seat, at most [`MAX_RATED`].
    pub(crate) fn waiting(&self, game: Game, host: HostId) -> Vec<String> {
        let mut names = vec![];
        for room in self.open_to(game, host, 0) {
            let info = room.info.borrow();
            names.extend(info.players.iter().filter(|player| player.proven).map(|player| player.name.clone()));
        }
        names.truncate(MAX_RATED);
        names
    }

    /// Prefers rooms with similar ratings, then rooms with more people. Otherwise opens a room without an owner.
    pub(crate) fn play(self: &Arc<Self>, game: Game, host: HostId, seeker: &Seeker) -> Result<FoundRoom, OpenError> {
        let holder = |room: &Arc<Room>| Holder::Host(room.roster.mask.host(host), seeker.browser);
        // In a room with an owner, only the owner adds bots.
        let suits = |room: &Arc<Room>| seeker.company.is_none() || !room.is_owned() || missing(room, holder(room)) == 0;
        let rank = |room: &Arc<Room>| {
            let info = room.info.borrow();
            let proven = info.players.iter().filter(|player| player.proven);
            let others: Vec<i64> = proven.filter_map(|player| seeker.ratings.get(&player.name).copied()).collect();
            (!is_far(seeker.rating, &others, room.roster.occupied()), info.people)
        };
        let best = self.open_to(game, host, seeker.browser).filter(suits).map(|room| (rank(&room), room));
        let best = best.reduce(|best, other| if other.0 > best.0 { other } else { best });
        let room = match best {
            Some((_, room)) => room,
            None => self.open(&Options::usual(game), Some(host), false)?,
        };
        let between = self.players.arrive(game, Instant::now());
        let lacks = missing(&room, holder(&room));
        let company = seeker.company.filter(|_| !room.is_owned());
        let mut wait = if lacks == 0 { Some(Duration::ZERO) } else { between.map(|between| between * lacks) };
        if company.is_some() && lacks > 0 {
            wait = Some(wait.map_or(FILL, |wait| wait.min(FILL)));
        }
        let may = self.players.reserve(host, seeker.browser, &room);
        let seats = usize::try_from(room.info.borrow().seats).unwrap_or(usize::MAX);
        let kept = may && room.roster.reserve(holder(&room), MAX_RESERVATION, (seats / 2).max(1), company);
        Ok(FoundRoom { room, kept, wait: wait.map(|wait| wait.as_secs()) })
    }
}

/// How long *Play now* reserves a seat for the client.
pub(crate) const MAX_RESERVATION: Duration = Duration::from_secs(10);
/// Reserved seats in all rooms.
pub(crate) const MAX_RESERVED: usize = 4_096;
/// Reserved seats of one host.
pub(crate) const MAX_RESERVED_OF_HOST: usize = 64;
/// The number of stored arrivals per game, and how long they count.
const ARRIVALS: (usize, Duration) = (64, Duration::from_mins(10));
/// The minimum number of arrivals for an estimate.
const FEW: usize = 3;

type Reserved = (Weak<Room>, Instant);

#[derive(Debug, Default)]
pub(crate) struct Players {
    reserved: Mutex<BTreeMap<(HostId, u64), Reserved>>,
    arrivals: Mutex<BTreeMap<Game, VecDeque<Instant>>>,
}

impl Players {
    /// Returns the mean time between earlier arrivals, if there were enough.
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

    /// Registers a reservation of the browser, and ends its reservation in another room. Returns whether the limits
    /// permit it.
    pub(super) fn reserve(&self, host: HostId, browser: u64, room: &Arc<Room>) -> bool {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        reserved.retain(|_, (_, until)| *until > now);
        if let Some((before, _)) = reserved.get(&(host, browser)) {
            if std::ptr::eq(before.as_ptr(), Arc::as_ptr(room)) {
                // An existing reservation is not extended.
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
    fn longer_wait_widens_the_rating_range() {
        let seconds = Duration::from_secs;
        assert!(!is_far(None, &[2_000], seconds(0)) && !is_far(Some(1_000), &[], seconds(0)));
        assert!(!is_far(Some(1_000), &[1_100], seconds(0)) && is_far(Some(1_000), &[1_101], seconds(0)));
        assert!(is_far(Some(1_000), &[1_100, 1_300], seconds(9)) && !is_far(Some(1_000), &[1_100, 1_300], seconds(10)));
    }

    #[test]
    fn wait_is_unknown_without_samples() {
        let players = Players::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let waits = [0, 10, 20, 30].map(|seconds| players.arrive(Game::Robots, at(seconds)));
        assert_eq!(waits, [None, None, None, Some(Duration::from_secs(10))]);
        assert_eq!(players.arrive(Game::Nuggets, at(30)), None);
        assert_eq!(players.arrive(Game::Robots, at(2_000)), None);
        for second in 0..1_000 {
            players.arrive(Game::Robots, at(3_000 + second));
        }
        assert_eq!(players.arrivals.lock().unwrap()[&Game::Robots].len(), ARRIVALS.0);
    }
}
