use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use conformance::Owner;
use ladder::{Latency, LatencyMeter};
use netcore::{Departure, GameEvent, Link, PeerId, Role, Standing, Time};
use netshell::Observer;
use nuggets::server::SPECTATOR;
use tokio::sync::Notify;

use crate::protection::Protection;

/// Connections that are traced to their owner. Tracing takes a moment, and refused connections are unbounded.
const MAX_TRACED: u32 = 16;

/// Clones share the state.
#[derive(Debug, Clone, Default)]
pub(crate) struct MatchObserver {
    state: Arc<Mutex<MatchState>>,
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
pub(crate) struct MatchState {
    /// The port of this seat accepted the latest connection.
    pub(crate) opened: usize,
    peers: BTreeMap<PeerId, usize>,
    connected: BTreeMap<usize, PeerId>,
    seats: BTreeMap<usize, Seat>,
    places: Vec<(Link, SocketAddr)>,
    owners: BTreeMap<usize, Owner>,
    protection: Protection,
    // By seat, while the game is played.
    meters: BTreeMap<usize, LatencyMeter>,
    has_started: bool,
    traced: u32,
    // Pairs of a player's seat and another seat to whose port it connected.
    intrusions: BTreeSet<(usize, usize)>,
    returned: BTreeSet<usize>,
    // The referee has ended the match, so leaving is no fault.
    is_stopped: bool,
    pub(crate) result: Option<Result>,
}

#[derive(Debug)]
struct Seat {
    peer: PeerId,
    label: String,
    left: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Result {
    /// As the game reports them.
    standings: Vec<Standing>,
    /// The summary that a server would have printed.
    pub(crate) summary: Option<String>,
}

impl MatchObserver {
    pub(crate) fn new(protection: Protection) -> Self {
        let observer = Self::default();
        observer.state().protection = protection;
        observer
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, MatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(crate) fn hosted(&self, link: Link, addresses: &[SocketAddr]) {
        self.state().places = addresses.iter().map(|&address| (link, address)).collect();
    }

    /// Records the seat of the latest connection, to which the next calls refer.
    pub(crate) fn opened(&self, seat: usize) {
        self.state().opened = seat;
    }

    /// Whether the latest connection may take its seat, which must be free. Where sockets are traced, the connection
    /// must belong to the seat's player.
    pub(crate) fn admits(&self, peer: SocketAddr) -> bool {
        let mut state = self.state();
        let seat = state.opened;
        let is_taken = state.seats.contains_key(&seat) || state.connected.contains_key(&seat);
        if state.protection != Protection::Sockets {
            return !is_taken;
        }
        let Some(&place) = state.places.get(seat) else { return false };
        if !is_taken && state.owners.get(&seat).is_some_and(|owner| owns(*owner, place, peer)) {
            return true;
        }
        if state.traced < MAX_TRACED {
            state.traced += 1;
            let mut others = state.owners.iter().filter(|&(&other, _)| other != seat);
            if let Some((&intruder, _)) = others.find(|(_, owner)| owns(**owner, place, peer)) {
                state.intrusions.insert((intruder, seat));
            }
        }
        false
    }
}

impl MatchObserver {
    /// Whether the latest connection belongs to the seat's player. Unchecked datagrams may come from any process.
    pub(crate) fn is_own(&self, peer: SocketAddr) -> bool {
        let state = self.state();
        let Some(&place) = state.places.get(state.opened) else { return state.protection != Protection::Sockets };
        match state.protection {
            Protection::Network => true,
            Protection::Sockets => state.owners.get(&state.opened).is_some_and(|owner| owns(*owner, place, peer)),
            Protection::None => place.0 != Link::Datagram,
        }
    }
}

impl MatchState {
    pub(crate) fn started(&mut self, seat: usize, owner: Owner) {
        self.owners.insert(seat, owner);
    }

    pub(crate) const fn stop(&mut self) {
        self.is_stopped = true;
    }

    pub(crate) fn intrusions(&self, seat: usize) -> impl Iterator<Item = usize> {
        self.intrusions.iter().filter(move |(intruder, _)| *intruder == seat).map(|&(_, other)| other)
    }

    pub(crate) fn has_joined(&self, seat: usize) -> bool {
        self.seats.contains_key(&seat)
    }

    pub(crate) fn is_playing(&self, seat: usize) -> bool {
        let has_seat = self.seats.get(&seat).is_some_and(|seat| seat.left.is_none());
        has_seat && self.result.is_none() && !self.is_stopped
    }

    pub(crate) fn returned(&mut self, seat: usize) {
        self.returned.insert(seat);
    }

    pub(crate) fn has_returned(&self, seat: usize) -> bool {
        self.returned.contains(&seat)
    }

    pub(crate) fn left(&self, seat: usize) -> Option<&str> {
        self.seats.get(&seat)?.left.as_deref()
    }

    pub(crate) fn score(&self, seat: usize) -> Option<i64> {
        let label = &self.seats.get(&seat)?.label;
        let standings = &self.result.as_ref()?.standings;
        standings.iter().find(|row| row.seat == *label).map(|row| row.score)
    }

    // Only messages after the start of the game require an answer.
    pub(crate) fn sent(&mut self, now: Time, seat: usize) {
        if self.has_started && self.result.is_none() {
            self.meters.entry(seat).or_default().request(now);
        }
    }

    pub(crate) fn answered(&mut self, now: Time, seat: usize) {
        if self.result.is_none()
            && let Some(meter) = self.meters.get_mut(&seat)
        {
            meter.answer(now);
        }
    }

    pub(crate) fn latency(&self, seat: usize) -> Option<Latency> {
        self.meters.get(&seat)?.latency()
    }

    fn joined(&mut self, peer: PeerId, label: &str) {
        let Some(&seat) = self.peers.get(&peer) else { return };
        self.seats.entry(seat).or_insert_with(|| Seat { peer, label: label.to_owned(), left: None });
    }

    fn disconnected(&mut self, peer: PeerId) {
        self.connected.retain(|_, connected| *connected != peer);
    }

    fn left_by(&mut self, peer: PeerId, why: &Departure) {
        if self.is_stopped {
            return;
        }
        let seat = self.peers.get(&peer).and_then(|seat| self.seats.get_mut(seat));
        if let Some(seat) = seat.filter(|seat| seat.peer == peer) {
            seat.left.get_or_insert_with(|| format!("it left the game: {why}"));
        }
    }
}

fn owns(owner: Owner, (link, server): (Link, SocketAddr), peer: SocketAddr) -> bool {
    match link {
        Link::Datagram => owner.has_udp(peer),
        Link::Stream | Link::Message => owner.has_tcp(peer, server),
    }
}

impl Observer for MatchObserver {
    fn connected(&mut self, _: Time, peer: PeerId, _: Role, _: &str) {
        let mut state = self.state();
        let seat = state.opened;
        state.peers.insert(peer, seat);
        state.connected.insert(seat, peer);
    }

    // Removes peers only now, since the event of a join may follow the end of its connection.
    fn closed(&mut self, _: Time, peer: PeerId) {
        self.state().disconnected(peer);
    }

    fn event(&mut self, _: Time, event: &GameEvent, _: Option<&str>) {
        let mut state = self.state();
        match event {
            GameEvent::Summary(text) => {
                if let Some(result) = &mut state.result {
                    result.summary.get_or_insert_with(|| text.clone());
                }
            }
            // Later events belong to another game, or are farewells.
            _ if state.result.is_some() => {}
            GameEvent::Joined { seat, .. } if seat == SPECTATOR => {}
            GameEvent::Joined { peer, seat, .. } => state.joined(*peer, seat),
            GameEvent::Left { peer, why, .. } => state.left_by(*peer, why),
            GameEvent::Started { .. } => state.has_started = true,
            GameEvent::Ended { standings, .. } => {
                state.result = Some(Result { standings: standings.clone(), summary: None });
            }
            _ => return,
        }
        drop(state);
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn player_that_leaves_forfeits_and_second_join_does_not() {
        let mut state = MatchState::default();
        for (peer, seat) in [(0, 0), (1, 1), (2, 1)] {
            state.peers.insert(PeerId(peer), seat);
        }
        state.joined(PeerId(0), "A");
        state.joined(PeerId(1), "B");
        state.joined(PeerId(2), "C");
        assert_eq!((state.left(0), state.left(1)), (None, None));
        state.left_by(PeerId(2), &Departure::Quit);
        state.left_by(PeerId(0), &Departure::Quit);
        state.stop();
        state.left_by(PeerId(1), &Departure::Quit);
        assert_eq!((state.left(0), state.left(1)), (Some("it left the game: quit"), None));
        let row = |seat: &str, score| Standing { rank: 1, seat: seat.into(), name: "x".into(), score };
        state.result = Some(Result { standings: vec![row("B", 7), row("A", 3)], ..Result::default() });
        assert_eq!((state.score(0), state.score(1), state.score(2)), (Some(3), Some(7), None));
    }

    #[test]
    fn latency_is_measured_from_the_start_to_the_end_of_the_game() {
        let mut observer = MatchObserver::new(Protection::Network);
        let at = Time::from_millis;
        let exchange = |observer: &MatchObserver, sent, answered| {
            observer.state().sent(at(sent), 0);
            observer.state().answered(at(answered), 0);
        };
        exchange(&observer, 0, 900);
        assert_eq!(observer.state().latency(0), None, "the program starts");
        observer.event(at(1_000), &GameEvent::Started { game: 1, players: 1 }, None);
        exchange(&observer, 1_000, 1_002);
        exchange(&observer, 1_010, 1_014);
        observer.event(at(1_020), &GameEvent::Ended { game: 1, complete: true, standings: vec![] }, None);
        exchange(&observer, 1_020, 1_900);
        let measured = Latency { answers: 2, mean_micros: 3_000, longest_micros: 4_000 };
        assert_eq!([0, 1].map(|seat| observer.state().latency(seat)), [Some(measured), None]);
    }

    #[test]
    fn seat_admits_one_connection_at_a_time_and_none_after_its_player_has_joined() {
        let observer = MatchObserver::new(Protection::Network);
        let address = SocketAddr::from(([127, 0, 0, 1], 9));
        let connect = |peer: u64| {
            let admits = observer.admits(address);
            if admits {
                let mut state = observer.state();
                state.peers.insert(PeerId(peer), 0);
                state.connected.insert(0, PeerId(peer));
            }
            admits
        };
        assert!(connect(0) && !connect(1));
        observer.state().disconnected(PeerId(0));
        assert!(connect(2));
        observer.state().joined(PeerId(2), "A");
        observer.state().disconnected(PeerId(2));
        assert!(!connect(3), "its match is over");
        observer.opened(1);
        assert!(observer.admits(address));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn shared_network_admits_processes_of_the_player_alone_and_traces_those_of_others() {
        let observer = MatchObserver::new(Protection::Sockets);
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let mine = socket.local_addr().unwrap();
        observer.hosted(Link::Datagram, &[SocketAddr::from(([127, 0, 0, 1], 9)); 2]);
        observer.opened(1);
        observer.state().started(0, Owner::Process(std::process::id()));
        assert!(!observer.admits(mine));
        assert_eq!([0, 1].map(|seat| observer.state().intrusions(seat).collect::<Vec<_>>()), [vec![1], vec![]]);
        observer.opened(0);
        assert!(observer.admits(mine));
        drop(socket);
        assert!(!observer.admits(mine));
    }
}
