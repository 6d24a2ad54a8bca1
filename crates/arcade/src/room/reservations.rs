//! Reserved seats of a room, for clients of *Play now* and for the players of a rematch.
//!
//! A rematch starts when all invited players are ready, or after a countdown with those who are. Their seats
//! stay reserved for a moment after their pages receive the message to join.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use netcore::{HostId, Level};
use serde_json::json;
use tokio::time::Instant;

/// Reserved seats of a room. Beyond it, the oldest reservation ends.
pub(crate) const MAX_RESERVATIONS: usize = 64;
/// How long an unused reservation counts against the share of its host. Repeated requests or invented keys therefore
/// cannot reserve a seat for longer than one reservation.
const UNUSED: Duration = Duration::from_mins(1);
/// How long after *Play now* a client that takes a seat still gets the requested company, since players enter their
/// names meanwhile.
const COMPANY: Duration = Duration::from_mins(5);
/// How long invited players may take to reply.
pub(super) const ANSWER: Duration = Duration::from_secs(30);
/// How long their seats remain reserved after that.
pub(super) const JOINING: Duration = Duration::from_secs(10);
/// The minimum number of players for a rematch.
const TOGETHER: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// A pseudonym, and a number that distinguishes the browsers of the host.
    Host(HostId, u64),
    Seat(SocketAddr),
}

impl Holder {
    fn is(self, host: HostId, address: Option<SocketAddr>) -> bool {
        match self {
            Self::Host(other, _) => other == host,
            Self::Seat(other) => address == Some(other),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Reservation {
    holder: Holder,
    made: Instant,
    until: Instant,
}

impl Reservation {
    fn is_active(&self, now: Instant) -> bool {
        self.until > now
    }

    // Whether it counts against the share of its host, even after it has ended.
    fn counts(&self, now: Instant) -> bool {
        matches!(self.holder, Holder::Host(..)) && self.made + UNUSED > now
    }
}

#[derive(Debug, Default)]
pub(super) struct Reservations {
    // Active or still counted, oldest first.
    all: Vec<Reservation>,
    // Requests for bots of this level once the client has a seat, with an expiry time.
    company: Vec<(Holder, Level, Instant)>,
}

impl Reservations {
    fn all(&mut self, now: Instant) -> &mut Vec<Reservation> {
        self.all.retain(|reservation| reservation.is_active(now) || reservation.counts(now));
        &mut self.all
    }

    fn active(&mut self, now: Instant, is_meant: impl Fn(&Reservation) -> bool) -> usize {
        self.all(now).iter().filter(|reservation| reservation.is_active(now) && is_meant(reservation)).count()
    }

    /// See [`Roster::reserve`](super::roster::Roster::reserve).
    pub(super) fn lead(
        &mut self,
        holder: Holder,
        time: Duration,
        most: usize,
        company: Option<Level>,
        now: Instant,
    ) -> bool {
        self.company.retain(|(other, _, until)| *other != holder && *until > now);
        if let Some(level) = company.filter(|_| self.company.len() < MAX_RESERVATIONS) {
            self.company.push((holder, level, now + COMPANY));
        }
        let of_host =
            |other: Holder| matches!((holder, other), (Holder::Host(host, _), Holder::Host(its, _)) if host == its);
        let all = self.all(now);
        if all.iter().any(|reservation| reservation.holder == holder && reservation.is_active(now)) {
            return true;
        }
        let is_allowed = all.iter().filter(|reservation| of_host(reservation.holder)).count() < most;
        if is_allowed {
            self.push(holder, time, now);
        }
        is_allowed
    }

    /// The number of reserved seats, without that of `holder`.
    pub(super) fn besides(&mut self, holder: Holder, now: Instant) -> usize {
        self.active(now, |reservation| reservation.holder != holder)
    }

    /// See [`Roster::reserved_for_others`](super::roster::Roster::reserved_for_others).
    pub(super) fn of_others(
        &mut self,
        host: HostId,
        address: Option<SocketAddr>,
        since: Instant,
        now: Instant,
    ) -> usize {
        let gives_way = |it: &Reservation| matches!(it.holder, Holder::Host(..)) && it.made > since;
        self.active(now, |it| !it.holder.is(host, address) && !gives_way(it))
    }

    pub(super) fn add(&mut self, holder: Holder, time: Duration, now: Instant) {
        self.all(now).retain(|reservation| reservation.holder != holder);
        self.push(holder, time, now);
    }

    // Beyond the limit, replaces one that has ended, or else the oldest.
    fn push(&mut self, holder: Holder, time: Duration, now: Instant) {
        let all = self.all(now);
        if all.len() >= MAX_RESERVATIONS {
            all.remove(all.iter().position(|reservation| !reservation.is_active(now)).unwrap_or(0));
        }
        all.push(Reservation { holder, made: now, until: now + time });
    }

    pub(super) fn move_seat(&mut self, before: SocketAddr, after: SocketAddr, now: Instant) {
        for reservation in self.all(now).iter_mut().filter(|it| it.holder == Holder::Seat(before)) {
            reservation.holder = Holder::Seat(after);
        }
    }

    /// Removes the reservation of a client that has a seat now. Returns the level of its requested company.
    pub(super) fn redeem(&mut self, host: HostId, address: Option<SocketAddr>, now: Instant) -> Option<Level> {
        let all = self.all(now);
        let seat = all.iter().position(|it| address.is_some_and(|address| it.holder == Holder::Seat(address)));
        // The newest one is active if any is.
        let found = seat.or_else(|| all.iter().rposition(|it| it.holder.is(host, address)));
        found.map(|index| all.remove(index));
        self.company.retain(|(.., until)| *until > now);
        let found = self.company.iter().position(|(holder, ..)| holder.is(host, address))?;
        Some(self.company.remove(found).1)
    }

    /// The ended reservation counts against the share of its host as if unused.
    pub(super) fn release(&mut self, holder: Holder, now: Instant) {
        for reservation in self.all(now).iter_mut().filter(|reservation| reservation.holder == holder) {
            reservation.until = reservation.until.min(now);
        }
    }
}

#[derive(Debug)]
pub(super) struct Rematch {
    r#match: Option<String>,
    until: Instant,
    // Whether each player is ready.
    players: BTreeMap<SocketAddr, bool>,
}

impl Rematch {
    /// `None` if there are too few players.
    pub(super) fn new(
        r#match: Option<String>,
        players: impl Iterator<Item = SocketAddr>,
        now: Instant,
    ) -> Option<Self> {
        let players: BTreeMap<SocketAddr, bool> = players.map(|player| (player, false)).collect();
        (players.len() >= TOGETHER).then(|| Self { r#match, until: now + ANSWER, players })
    }

    pub(super) const fn due(&self) -> Instant {
        self.until
    }

    pub(super) fn players(&self) -> impl Iterator<Item = SocketAddr> {
        self.players.keys().copied()
    }

    /// Returns whether the player was invited.
    pub(super) fn move_player(&mut self, before: SocketAddr, after: SocketAddr) -> bool {
        let Some(ready) = self.players.remove(&before) else { return false };
        self.players.insert(after, ready);
        true
    }

    /// If all are ready, the invitation expires now. Returns whether players have to be notified.
    pub(super) fn answer(&mut self, seat: SocketAddr, wants: bool, now: Instant) -> bool {
        let Some(ready) = self.players.get_mut(&seat) else { return false };
        *ready = wants;
        let is_open = self.ready() < self.players.len();
        if !is_open {
            self.until = now;
        }
        is_open
    }

    /// Removes and returns the players who are not ready.
    pub(super) fn drop_undecided(&mut self) -> Vec<SocketAddr> {
        self.players.extract_if(.., |_, ready| !*ready).map(|(seat, _)| seat).collect()
    }

    fn ready(&self) -> usize {
        self.players.values().filter(|ready| **ready).count()
    }

    pub(super) fn texts(&self, begins: bool, now: Instant) -> impl Iterator<Item = (SocketAddr, Arc<str>)> {
        self.players.iter().map(move |(&seat, &ready)| (seat, self.text(ready, begins, now)))
    }

    pub(super) fn text_for(&self, seat: SocketAddr, now: Instant) -> Option<Arc<str>> {
        self.players.get(&seat).map(|&ready| self.text(ready, false, now))
    }

    fn text(&self, you: bool, begins: bool, now: Instant) -> Arc<str> {
        let left = self.until.saturating_duration_since(now);
        let seconds = u64::try_from(left.as_millis().div_ceil(1_000)).unwrap_or_default();
        let rematch = json!({
            "match": self.r#match, "ready": self.ready(), "of": self.players.len(), "seconds": seconds, "you": you, "begins": begins,
        });
        json!({ "rematch": rematch }).to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(9);
    const SHORT: Duration = Duration::from_secs(10);

    #[test]
    fn seats_are_reserved_for_their_holders_and_bounded() {
        let mut reservations = Reservations::default();
        let now = Instant::now();
        let [ann, bob, moved] = ["10.0.0.1:1", "10.0.0.2:1", "10.0.0.9:1"].map(|at| at.parse::<SocketAddr>().unwrap());
        let count = |reservations: &mut Reservations| reservations.active(now, |_| true);
        reservations.add(Holder::Seat(ann), LONG, now);
        reservations.add(Holder::Host(bob.into(), 0), LONG, now);
        reservations.add(Holder::Host(bob.into(), 0), LONG, now);
        assert_eq!((count(&mut reservations), reservations.of_others(bob.into(), Some(bob), now, now)), (2, 1));
        reservations.move_seat(ann, moved, now);
        reservations.redeem(ann.into(), Some(ann), now);
        assert_eq!(count(&mut reservations), 2, "that client has another seat");
        reservations.redeem(HostId::of("10.0.0.9:5"), Some(moved), now);
        reservations.redeem(bob.into(), None, now);
        reservations.add(Holder::Seat(ann), Duration::ZERO, now);
        assert_eq!(count(&mut reservations), 0);
        for browser in 0..2 * MAX_RESERVATIONS as u64 {
            reservations.add(Holder::Host(ann.into(), browser), LONG, now);
        }
        assert_eq!(count(&mut reservations), MAX_RESERVATIONS);
        reservations.release(Holder::Host(ann.into(), 2 * MAX_RESERVATIONS as u64 - 1), now);
        assert_eq!(count(&mut reservations), MAX_RESERVATIONS - 1);
    }

    #[test]
    fn unused_reservation_ends_and_is_not_renewed_by_further_requests_or_keys() {
        let mut reservations = Reservations::default();
        let [eve, bob] = ["10.0.0.9:1", "10.0.0.2:1"].map(HostId::of);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let lead = |reservations: &mut Reservations, host, key, seconds| {
            reservations.lead(Holder::Host(host, key), SHORT, 1, None, at(seconds))
        };
        assert!(lead(&mut reservations, eve, 0, 0));
        for second in 1..60 {
            // One key after another, and then the first one again.
            lead(&mut reservations, eve, second, second);
            lead(&mut reservations, eve, 0, second);
            assert_eq!(reservations.active(at(second), |_| true), usize::from(second < 10), "after {second} s");
        }
        assert!(lead(&mut reservations, eve, 7, 60), "a minute later");
        // A used reservation does not count.
        reservations.redeem(eve, None, at(60));
        assert!(lead(&mut reservations, eve, 8, 60));
        // A reservation that moved to another room counts.
        reservations.release(Holder::Host(eve, 8), at(60));
        assert!(!lead(&mut reservations, eve, 9, 60) && lead(&mut reservations, bob, 0, 60));
    }

    #[test]
    fn reservation_gives_way_to_client_that_waited_before_it() {
        let mut reservations = Reservations::default();
        let [eve, bob] = ["10.0.0.9:1", "10.0.0.2:1"].map(HostId::of);
        let before = Instant::now();
        let made = before + Duration::from_secs(1);
        assert!(reservations.lead(Holder::Host(eve, 0), SHORT, 1, None, made));
        reservations.add(Holder::Seat("10.0.0.3:1".parse().unwrap()), 4 * SHORT, made);
        assert_eq!(reservations.of_others(bob, None, made, made), 2);
        assert_eq!(reservations.of_others(bob, None, before, made), 1, "players of a rematch keep their seats");
    }

    #[test]
    fn host_reserves_only_its_share() {
        let mut reservations = Reservations::default();
        let [ann, bob] = ["10.0.0.1:1", "10.0.0.2:1"].map(HostId::of);
        let now = Instant::now();
        let mut lead = |host, key| reservations.lead(Holder::Host(host, key), LONG, 2, None, now);
        let answers = [(ann, 1), (ann, 2), (ann, 2), (ann, 3), (bob, 3)].map(|(host, key)| lead(host, key));
        assert_eq!(answers, [true, true, true, false, true]);
        assert_eq!(reservations.besides(Holder::Host(ann, 2), now), 2);
    }
}
