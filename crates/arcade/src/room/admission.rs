//! Admission to the match of a room.
//!
//! In some games a vacated seat, such as a letter of nuggets, is not assigned again in the same match. Once players of
//! one host have vacated half of the seats, no other player of that host may join. Connected players do not count, so a
//! class behind one address fits into one match. A rejected player is disconnected before it takes a seat.
//!
//! Messages that take much processor time, such as hints of mastermind, delay the rooms of the same threads. All rooms
//! of the hub therefore share one rate limit for them.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use netcore::{GameEvent, HostId, Network, Output, Rate, RateTable, Shares, Status, Time};
use tokio::time::Instant;

use super::{
    mailbox::CloseReason,
    roster::{Peer, Roster},
};
use crate::{games::Game, player_name::is_path, today::today};

/// The rate at which new players of one host join a room. A player who joins the next match over the same connection
/// is not new.
pub(crate) const JOINS: Rate = Rate { per_second: 2, burst: 64 };
/// Limit on the hints that all rooms compute in a second. One takes up to 8 ms of processor time, so they use at most
/// a quarter of a processor.
pub(crate) const MAX_HINTS: usize = 32;
/// Limit on the hints of one host in a second.
pub(crate) const MAX_HINTS_OF_HOST: usize = 8;
const PERIOD: Duration = Duration::from_secs(1);
/// Limit for each of the tables by host. Joins and waits of further hosts are not counted.
const MAX_HOSTS: usize = 4_096;
/// How long a client that had to wait because of reserved seats has precedence over later reservations.
const REMEMBERED: Duration = Duration::from_mins(1);
const HALF: &str =
    "Players from your address have used half of the seats of this match; the others are for other addresses.";
const PATH: &str = "Choose a name other than . and .., which browsers resolve as paths.";
const HELD: &str = "The free seats are kept for others for some seconds; try again in a moment.";
const PACE: &str = "Too many players have joined from your address just now; try again in a moment.";

#[derive(Debug)]
pub(super) struct Admission {
    game: Game,
    roster: Arc<Roster>,
    hints: Arc<Hints>,
    // Vacated seats that are not assigned again in this match.
    left: BTreeMap<HostId, u32>,
    seats: u32,
    joins: RateTable<Network>,
    // When players of a host were first and last rejected because of reserved seats.
    waiting: BTreeMap<HostId, (Instant, Instant)>,
}

impl Admission {
    pub(super) fn new(game: Game, roster: Arc<Roster>, hints: Arc<Hints>, seats: u32) -> Self {
        let (left, waiting) = (BTreeMap::new(), BTreeMap::new());
        Self { game, roster, hints, left, seats, joins: RateTable::new(JOINS, MAX_HOSTS), waiting }
    }

    /// If the peer may not join: the message of the game, and the reason for browsers. Any message of a player who has
    /// not joined is an attempt to join; `name` is the name in it.
    pub(super) fn refuses(
        &mut self,
        now: Time,
        peer: &Peer,
        status: Status,
        name: Option<&str>,
    ) -> Option<(&'static str, CloseReason)> {
        if !peer.plays {
            return None;
        }
        if let Some(why) = self.roster.challenge_refusal(peer, name, today()) {
            return Some(why);
        }
        // Also before each later match over the same connection.
        if let Some(why) = self.roster.class_refusal(peer.address, name) {
            return Some(why);
        }
        if peer.joined {
            return None;
        }
        if name.is_some_and(is_path) {
            return Some((PATH, CloseReason::Refused));
        }
        if let Some(why) = self.roster.refusal(peer.host, peer.address, name) {
            return Some(why);
        }
        let since = self.waiting.get(&peer.host).map_or(peer.since, |(first, _)| peer.since.min(*first));
        let reserved = self.roster.reserved_for_others(peer.host, peer.address, since);
        let reserved = u32::try_from(reserved).unwrap_or(u32::MAX);
        if reserved > 0 && status.taken.saturating_add(reserved) >= status.seats {
            self.wait(peer.host);
            return Some((HELD, CloseReason::Held));
        }
        if self.roster.has_spent(peer.host) {
            return Some((HALF, CloseReason::Refused));
        }
        (self.joins.ready_at(now, peer.host, 1) != Some(now)).then_some((PACE, CloseReason::Refused))
    }

    /// The reply to a message that exceeds the rate of its host.
    pub(super) fn postpones(&self, peer: &Peer, message: &[u8]) -> Option<Bytes> {
        let answer = self.game.postponement(message, peer.link.framing())?;
        (!self.hints.take(peer.origin.unwrap_or(peer.host))).then_some(answer)
    }

    fn wait(&mut self, host: HostId) {
        let now = Instant::now();
        self.waiting.retain(|_, (_, last)| *last + REMEMBERED > now);
        if self.waiting.len() < MAX_HOSTS || self.waiting.contains_key(&host) {
            self.waiting.entry(host).or_insert((now, now)).1 = now;
        }
    }

    pub(super) fn follow(&mut self, now: Time, status: Status, outputs: &[Output]) {
        let spends = self.game.spends_seats() && status.seats < self.seats;
        for output in outputs {
            match output {
                Output::Event(GameEvent::Joined { peer, name, .. } | GameEvent::Waiting { peer, name, .. })
                    if !name.is_empty() =>
                {
                    let player = self.roster.peer(*peer).filter(|peer| peer.plays);
                    if let Some(Peer { host, address, .. }) = player {
                        self.roster.redeem(host, address);
                        self.waiting.remove(&host);
                    }
                    if self.roster.set_joined(*peer)
                        && let Some(Peer { host, .. }) = player
                    {
                        self.joins.charge(now, host, 1);
                    }
                }
                Output::Event(GameEvent::Left { peer, name, .. }) if spends && !name.is_empty() => {
                    if let Some(peer) = self.roster.peer(*peer) {
                        *self.left.entry(peer.host).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        // Events about a peer may follow the output that closes it.
        for output in outputs {
            if let Output::Close { peer } = output {
                self.roster.close_peer(*peer);
            }
        }
        if status.seats != self.seats {
            if status.seats > self.seats {
                self.left.clear();
            }
            self.seats = status.seats;
            let all = self.seats + self.left.values().sum::<u32>();
            let spent = self.left.iter().filter(|(_, left)| **left * 2 >= all).map(|(&host, _)| host);
            self.roster.set_spent(spent.collect());
        }
    }
}

/// The hints of the last [`PERIOD`], shared fairly among hosts.
#[derive(Debug)]
pub(crate) struct Hints(Mutex<HintState>);

#[derive(Debug)]
struct HintState {
    shares: Shares,
    // Oldest first.
    computed: VecDeque<(Instant, HostId)>,
}

impl Default for Hints {
    fn default() -> Self {
        let shares = Shares::new(MAX_HINTS).with_cap(MAX_HINTS_OF_HOST);
        Self(Mutex::new(HintState { shares, computed: VecDeque::new() }))
    }
}

impl Hints {
    // Counts the hint if the room may compute it.
    fn take(&self, host: HostId) -> bool {
        let now = Instant::now();
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((_, host)) = state.computed.pop_front_if(|(at, _)| *at + PERIOD <= now) {
            state.shares.release(host);
        }
        let may = state.shares.take(host).is_ok();
        if may {
            state.computed.push_back((now, host));
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use netcore::{Departure, Link, PeerId, Phase, Role};
    use tokio::time::advance;

    use super::*;
    use crate::room::{
        reservations::Holder,
        roster::{ELSEWHERE, PLAYED},
    };

    fn admission(game: Game) -> Admission {
        Admission::new(game, Arc::default(), Arc::default(), 0)
    }

    fn connect(admission: &Admission, number: u64, address: SocketAddr) -> Peer {
        admission.roster.connect(PeerId(number), Role::Player, Link::Stream, Some(address));
        admission.roster.peer(PeerId(number)).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn friend_waits_for_one_reservation_and_not_for_those_that_follow() {
        let mut admission = admission(Game::Blackjack);
        let roster = Arc::clone(&admission.roster);
        // One of two seats is taken.
        let status = Status { phase: Phase::Lobby, taken: 1, seats: 2 };
        let mut join = |number: u64, address: &str| {
            let peer = connect(&admission, number, format!("{address}:{number}").parse().unwrap());
            admission.refuses(Time::ZERO, &peer, status, None).map(|(why, _)| why)
        };
        let reserve =
            |host: u8| roster.reserve(Holder::Host(HostId::V4([10, 0, 9, host]), 0), Duration::from_secs(10), 1, None);
        assert!(reserve(0));
        advance(Duration::from_secs(1)).await;
        assert_eq!(join(1, "10.0.0.1"), Some(HELD));
        // Another host reserves the same seat before the first reservation ends.
        advance(Duration::from_secs(8)).await;
        assert!(reserve(1));
        advance(Duration::from_secs(1)).await;
        assert_eq!(join(2, "10.0.0.1"), None, "it has waited before that");
        assert_eq!(join(3, "10.0.0.2"), Some(HELD), "it connects after that");
    }

    #[test]
    fn new_players_of_a_host_join_at_a_pace_and_others_immediately() {
        let mut admission = admission(Game::Robots);
        let eve: SocketAddr = ([10, 0, 0, 9], 1).into();
        let status = Status { phase: Phase::Playing, taken: 0, seats: 4 };
        let join = |admission: &mut Admission, number: u64, address: SocketAddr, now: Time| {
            let known = connect(admission, number, address);
            let refused = admission.refuses(now, &known, status, None).map(|(why, _)| why);
            if refused.is_none() {
                let (peer, name, seat) = (PeerId(number), "Eve".to_owned(), "0".to_owned());
                let joined = GameEvent::Joined { peer, name: name.clone(), seat: seat.clone() };
                let left = GameEvent::Left { peer, name, seat, why: Departure::Quit };
                // A player who joins again over the same connection is not new.
                let again = Output::Event(joined.clone());
                let outputs = [Output::Event(joined), Output::Event(left), again, Output::Close { peer }];
                admission.follow(now, status, &outputs);
            }
            refused
        };
        let joined = (0..500).take_while(|&number| join(&mut admission, number, eve, Time::ZERO).is_none()).count();
        assert_eq!(joined, JOINS.burst as usize);
        assert_eq!(join(&mut admission, 900, ([10, 0, 0, 1], 1).into(), Time::ZERO), None);
        assert_eq!(join(&mut admission, 901, eve, Time::from_millis(400)), Some(PACE));
        assert_eq!(join(&mut admission, 902, eve, Time::from_millis(500)), None);
    }

    #[test]
    fn one_person_joins_a_challenge_once_and_sends_nothing_before() {
        let today = today();
        let at = |number| SocketAddr::from(([10, 0, 0, 1], number));
        let status = Status { phase: Phase::Lobby, taken: 0, seats: 4 };
        let stand = |day, has_joined| {
            let admission = admission(Game::Nuggets);
            admission.roster.set_challenge(day, has_joined);
            for number in 1..3 {
                admission.roster.open_seat(at(number));
            }
            admission
        };
        let refused = |admission: &mut Admission, number: u16, name: Option<&str>| {
            let id = PeerId(number.into());
            if admission.roster.peer(id).is_none() {
                connect(admission, number.into(), at(number));
            }
            let peer = admission.roster.peer(id).unwrap();
            let refused = admission.refuses(Time::ZERO, &peer, status, name).map(|(why, _)| why);
            if refused.is_none() && name.is_some() {
                let joined = GameEvent::Joined { peer: id, name: "Ann".into(), seat: "A".into() };
                admission.follow(Time::ZERO, status, &[Output::Event(joined)]);
            }
            refused
        };
        let mut open = stand(today, false);
        assert_eq!(refused(&mut open, 1, None), Some(PLAYED), "it would watch");
        assert_eq!(refused(&mut open, 3, Some("Ann")), Some(ELSEWHERE), "a native client");
        assert_eq!(open.roster.has_challenger(), Some(false));
        assert_eq!(refused(&mut open, 1, Some("Ann")), None);
        assert_eq!(refused(&mut open, 1, None), None, "a move");
        assert_eq!(refused(&mut open, 1, Some("Ann")), Some(PLAYED), "the next match");
        assert_eq!(refused(&mut open, 2, Some("Ann")), Some(PLAYED), "another tab");
        assert_eq!(refused(&mut open, 2, None), Some(PLAYED));
        assert_eq!(refused(&mut stand(today, true), 1, Some("Ann")), Some(PLAYED), "after a restart");
        assert_eq!(refused(&mut stand(today - 1, false), 1, Some("Ann")), Some(PLAYED), "replays are public");
        // Bots join without limits.
        let mut open = stand(today, true);
        open.roster.add_bot(at(9), netcore::Level::Normal, "Bot Ada");
        assert_eq!(refused(&mut open, 9, Some("Bot Ada")), None);
    }

    #[test]
    fn hints_over_the_limit_of_a_host_are_postponed_in_all_its_rooms() {
        let hints = Arc::<Hints>::default();
        let answer = |host: &str, message: &[u8]| {
            let admission = Admission::new(Game::Mastermind, Arc::default(), Arc::clone(&hints), 1);
            let peer = connect(&admission, 1, host.parse().unwrap());
            admission.postpones(&peer, message)
        };
        for room in 0..MAX_HINTS_OF_HOST {
            assert_eq!(answer("10.0.0.1:1", b"HINT\r\n"), None, "room {room}");
        }
        let refusal: &[u8] = b"NO too many hints were asked for just now; try again in a second\n";
        assert_eq!(answer("10.0.0.1:1", b"hint\n").as_deref(), Some(refusal));
        assert_eq!(answer("10.0.0.1:1", b"GUESS 1234\n"), None, "that is cheap");
        assert_eq!(answer("10.0.0.2:1", b"HINT\n"), None, "another host");
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_with_many_rooms_leave_hints_for_another_one() {
        let hints = Hints::default();
        let host = |number: u8| HostId::V4([10, 0, 0, number]);
        let take_all = |number| (0..100).filter(|_| hints.take(host(number))).count();
        assert_eq!([1, 2, 3, 4].map(take_all), [8, 8, 8, 4]);
        assert!(hints.take(host(5)));
        advance(PERIOD).await;
        assert_eq!(take_all(1), MAX_HINTS_OF_HOST);
    }
}
