//! The state of each seat of a room, beside its connection.
//!
//! A *seat* is the address by which a room identifies a client. The address of a browser is random (see [`Mask`]) and
//! outlives its WebSocket. One lock protects all state that the room, the web server and the hub share. Every table is
//! bounded, either by the connections of the room or by a constant of its own.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use netcore::{HostId, Level, Link, Network, Occupant, PeerId, Rate, RateTable, Role, Time};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{KEY_HASH_LENGTH, PlayerKind};
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::{
    mailbox::CloseReason,
    pseudonyms::{HostCodes, LOCAL, Mask},
    reservations::{ANSWER, Holder, JOINING, Rematch, Reservations},
};

/// Limit on the members of a room. Beyond it, the oldest are forgotten.
pub(crate) const MAX_MEMBERS: usize = 512;
/// Limit on the players that the owner of a room has removed from one match, and on the networks that it has blocked.
/// Beyond it, one of them may join again.
pub(crate) const MAX_BARRED: usize = 256;
/// The maximum number of messages of the hub that are queued for one page.
pub(crate) const MAX_PAGE_MESSAGES: usize = 16;
/// Hosts whose pseudonyms are remembered, and those that know the code of the room. Players of further hosts have no
/// host code.
const MAX_HOSTS: usize = 4_096;
/// Six phrases and a thumbs-up. Pages have the texts.
pub(crate) const PHRASES: u8 = 7;
/// The rate at which one host may send phrases in a room, each with the cost [`PHRASE`]: a burst of four, then one
/// every three seconds.
pub(crate) const PHRASE_RATE: Rate = Rate { per_second: 1, burst: 4 * PHRASE };
const PHRASE: u32 = 3;
/// Limit on the hosts and networks that may send phrases at the same time. Further hosts wait until one of these has
/// been silent for a while.
pub(crate) const MAX_PHRASE_SENDERS: usize = 1_024;
pub(super) const MEMBERS: &str = "In this class you play under the name that you took when you joined it.";
pub(super) const OUTSIDE: &str = "This room belongs to a class: open its link in a browser.";
pub(super) const ELSEWHERE: &str = "This room is a daily challenge: play it in a browser.";
pub(super) const PLAYED: &str = "You have played this challenge.";
const LOCKED: &str = "The owner of this room has locked it: it takes no new players.";
const BARRED: &str = "The owner of this room has removed you; you can rejoin after this match.";

/// The names that a client owns, once the database has returned them. The value may outlive the seat.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proof(Arc<OnceLock<Vec<String>>>);

impl Proof {
    pub(crate) fn kind(&self, name: &str) -> PlayerKind {
        let owns = self.0.get().is_some_and(|names| names.iter().any(|own| own == name));
        if owns { PlayerKind::Proven } else { PlayerKind::Unproven }
    }
}

/// The hash of the key of a browser.
pub(crate) type BrowserKey = [u8; KEY_HASH_LENGTH];

/// A player whom the owner has removed from a match. Each of the three properties rejects a new player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Removed {
    pub(crate) seat: Option<SocketAddr>,
    /// `None` for a native client, and for a browser that has sent no key since the hub started.
    pub(crate) key: Option<BrowserKey>,
    pub(crate) name: String,
}

/// Players and networks that may not join until the match is over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Barred {
    // Oldest first.
    removed: VecDeque<Removed>,
    // Pseudonyms.
    networks: BTreeSet<HostId>,
}

impl Barred {
    fn has_seat(&self, seat: SocketAddr) -> bool {
        self.removed.iter().any(|removed| removed.seat == Some(seat))
    }

    fn has_key(&self, key: &BrowserKey) -> bool {
        self.removed.iter().any(|removed| removed.key.as_ref() == Some(key))
    }
}

/// The name of a player whose game carries another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alias {
    /// In messages of the game.
    pub(crate) wire: String,
    pub(crate) name: String,
}

// The seat of a browser. Exists until the transport closes it.
#[derive(Debug, Default)]
struct Seat {
    alias: Option<Alias>,
    // The only name by which a member of a class may join.
    member: Option<String>,
    proof: Proof,
    key: Option<BrowserKey>,
    // Unknown after a restart of the hub until the browser reconnects.
    host: Option<HostId>,
    // A player who has joined would lose its place in the game with the seat, so the transport retains the seat.
    joined: bool,
    // Why the room is about to close the seat, unless its game has ended.
    ending: Option<CloseReason>,
    // Numbers the seats in the order of their first connection.
    order: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    /// The host of its pseudonym.
    pub(crate) host: HostId,
    /// The true host, if known.
    pub(crate) origin: Option<HostId>,
    pub(crate) link: Link,
    pub(crate) address: Option<SocketAddr>,
    /// A person who may join, not a bot or a watcher.
    pub(crate) plays: bool,
    /// Whether it has joined a match over this connection.
    pub(crate) joined: bool,
    pub(crate) since: Instant,
    // Outputs that close the peer may still wait for the journal; the observer removes the entry after them.
    open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// The seat in the last match.
    pub(crate) seat: String,
}

#[derive(Debug)]
struct Page {
    // `None` for a page that only watches.
    seat: Option<SocketAddr>,
    owner: bool,
    // An owner whose token remains valid when the room is handed on.
    is_first_owner: bool,
    messages: mpsc::Sender<Arc<str>>,
}

/// One person joins a daily challenge, once.
#[derive(Debug)]
struct Challenge {
    day: u32,
    has_joined: bool,
}

#[derive(Debug, Default)]
struct RosterState {
    seats: BTreeMap<SocketAddr, Seat>,
    seats_opened: u64,
    peers: BTreeMap<PeerId, Peer>,
    // The last address that was replaced by a pseudonym, and its host. Its client is the next to connect, or never
    // connects.
    expected: Option<(SocketAddr, HostId)>,
    // The last peer that was removed; its last events may follow.
    last_removed: Option<(PeerId, HostId)>,
    bots: BTreeMap<SocketAddr, (Level, Option<Alias>)>,
    // Maps the host of each pseudonym to the true host.
    hosts: BTreeMap<HostId, HostId>,
    members: BTreeMap<SocketAddr, Member>,
    // Oldest first.
    member_order: VecDeque<SocketAddr>,
    locked: bool,
    members_only: bool,
    challenge: Option<Challenge>,
    barred: Barred,
    // Pseudonyms of hosts that have exhausted their share of this match.
    spent: BTreeSet<HostId>,
    pages: BTreeMap<u64, Page>,
    next_page: u64,
    // When the owner last acted. Not used while a page of the owner is open.
    owner_active: Option<Instant>,
    reservations: Reservations,
    // Bots that join on request.
    company_level: Level,
    company_requested: bool,
    // Since when people have been in the room.
    occupied: Option<Instant>,
    rematch: Option<Rematch>,
}

#[derive(Debug)]
pub(crate) struct Roster {
    pub(crate) mask: Mask,
    host_codes: HostCodes,
    // The time zero of token buckets.
    start: Instant,
    state: Mutex<RosterState>,
    phrases: Mutex<RateTable<Network>>,
    changed: Notify,
}

impl Roster {
    pub(crate) fn new(mask: Mask, host_codes: HostCodes) -> Self {
        Self {
            mask,
            host_codes,
            start: Instant::now(),
            state: Mutex::default(),
            phrases: Mutex::new(RateTable::new(PHRASE_RATE, MAX_PHRASE_SENDERS)),
            changed: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, RosterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only one attendant may wait. Cancel safe.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(crate) fn notify(&self) {
        self.changed.notify_one();
    }
}

/// Seats of browsers.
impl Roster {
    /// Opens a seat, which the transport closes.
    pub(crate) fn open_seat(&self, address: SocketAddr) {
        self.state().open_seat(address);
    }

    pub(crate) fn close_seat(&self, address: SocketAddr) {
        self.state().seats.remove(&address);
    }

    pub(crate) fn has_seat(&self, address: SocketAddr) -> bool {
        self.state().seats.contains_key(&address)
    }

    pub(crate) fn set_seat_host(&self, address: SocketAddr, host: HostId) {
        let mut state = self.state();
        state.set_host(address, host);
        if let Some(seat) = state.seats.get_mut(&address) {
            seat.host = Some(host);
        }
    }

    /// The key of the first socket with a key belongs to the seat.
    pub(crate) fn set_key(&self, address: SocketAddr, key: BrowserKey) {
        if let Some(seat) = self.state().seats.get_mut(&address) {
            seat.key.get_or_insert(key);
        }
    }

    /// The key of the first socket with a key belongs to the seat, so later names have no effect. Returns `false` if
    /// the seat does not exist.
    pub(crate) fn set_names(&self, address: SocketAddr, names: &[String]) -> bool {
        self.state().seats.get(&address).map(|seat| seat.proof.0.set(names.to_vec())).is_some()
    }

    /// Revokes names that the keys of seats no longer own.
    pub(crate) fn remove_names(&self, given_up: &[String]) {
        for seat in self.state().seats.values_mut() {
            let Some(names) = seat.proof.0.get() else { continue };
            if names.iter().any(|name| given_up.contains(name)) {
                let left = names.iter().filter(|name| !given_up.contains(name)).cloned().collect::<Vec<_>>();
                seat.proof = Proof(Arc::new(left.into()));
            }
        }
    }

    /// `None` if the address is not the seat of a browser.
    pub(crate) fn proof(&self, address: Option<&str>) -> Option<Proof> {
        let address: SocketAddr = address?.parse().ok()?;
        self.state().seats.get(&address).map(|seat| seat.proof.clone())
    }

    pub(crate) fn is_proven(&self, address: Option<&str>, name: &str) -> bool {
        self.proof(address).is_some_and(|proof| proof.kind(name) == PlayerKind::Proven)
    }

    /// The room belongs to a class: only its members may join, by their names.
    pub(crate) fn set_members_only(&self) {
        self.state().members_only = true;
    }

    /// The room is a daily challenge. `has_joined` is whether its person has joined it before.
    pub(crate) fn set_challenge(&self, day: u32, has_joined: bool) {
        self.state().challenge = Some(Challenge { day, has_joined });
    }

    /// Whether the person of a daily challenge has joined. `None` in other rooms.
    pub(crate) fn has_challenger(&self) -> Option<bool> {
        self.state().challenge.as_ref().map(|challenge| challenge.has_joined)
    }

    /// A member of the class has this seat. Inside the class its name is proven.
    pub(crate) fn set_member(&self, address: SocketAddr, name: &str) {
        if let Some(seat) = self.state().seats.get_mut(&address) {
            seat.member = Some(name.to_owned());
            seat.proof = Proof(Arc::new(vec![name.to_owned()].into()));
        }
    }

    /// Whether the content of each message decides about its admission, also after the peer has joined.
    pub(crate) fn checks_messages(&self) -> bool {
        let state = self.state();
        state.members_only || state.challenge.is_some()
    }

    /// If this client may not use the room of a daily challenge. `name` is the name in a request to join; a client that
    /// has not joined may send nothing else, since it could watch the match.
    pub(crate) fn challenge_refusal(
        &self,
        peer: &Peer,
        name: Option<&str>,
        today: u32,
    ) -> Option<(&'static str, CloseReason)> {
        let state = self.state();
        let Challenge { day, has_joined } = *state.challenge.as_ref()?;
        if !peer.address.is_some_and(|address| state.seats.contains_key(&address)) {
            return Some((ELSEWHERE, CloseReason::Missing));
        }
        let is_allowed = if has_joined { peer.joined && name.is_none() } else { name.is_some() && day >= today };
        (!is_allowed).then_some((PLAYED, CloseReason::Played))
    }

    /// If this native client may not use the room.
    pub(crate) fn native_refusal(&self, address: Option<SocketAddr>) -> Option<(&'static str, CloseReason)> {
        let elsewhere = || self.state().challenge.is_some().then_some((ELSEWHERE, CloseReason::Missing));
        elsewhere().or_else(|| self.class_refusal(address, None))
    }

    /// If this client may not use a room of a class, or not by the name in its message.
    pub(crate) fn class_refusal(
        &self,
        address: Option<SocketAddr>,
        name: Option<&str>,
    ) -> Option<(&'static str, CloseReason)> {
        let state = self.state();
        if !state.members_only {
            return None;
        }
        let Some(seat) = address.and_then(|address| state.seats.get(&address)) else {
            return Some((OUTSIDE, CloseReason::Missing));
        };
        let is_owner = || state.pages.values().any(|page| page.owner && page.seat == address);
        let is_own = match (&seat.member, name) {
            (Some(member), Some(name)) => name == member,
            (None, Some(_)) => is_owner(),
            (_, None) => true,
        };
        (!is_own).then_some((MEMBERS, CloseReason::Name))
    }

    pub(crate) fn set_alias(&self, address: SocketAddr, alias: Option<Alias>) {
        if let Some(seat) = self.state().seats.get_mut(&address) {
            seat.alias = alias;
        }
    }

    pub(crate) fn alias(&self, address: Option<&str>) -> Option<Alias> {
        let (state, address) = (self.state(), address?.parse().ok()?);
        state.seats.get(&address).map(|seat| &seat.alias).or_else(|| Some(&state.bots.get(&address)?.1))?.clone()
    }

    /// Whether another seat has this name in messages of the game.
    pub(crate) fn is_alias(&self, wire: &str, besides: SocketAddr) -> bool {
        let state = self.state();
        let mut others = state.seats.iter().filter(|(address, _)| **address != besides);
        others.any(|(_, seat)| seat.alias.as_ref().is_some_and(|alias| alias.wire.eq_ignore_ascii_case(wire)))
    }

    pub(crate) fn has_joined(&self, address: SocketAddr) -> bool {
        self.state().seats.get(&address).is_some_and(|seat| seat.joined)
    }

    pub(crate) fn set_close_reason(&self, address: SocketAddr, why: CloseReason) {
        if let Some(seat) = self.state().seats.get_mut(&address) {
            seat.ending = Some(why);
        }
    }

    /// `host` is a pseudonym.
    pub(crate) fn set_close_reason_of_host(&self, host: HostId, why: CloseReason) {
        for (_, seat) in self.state().seats.iter_mut().filter(|(address, _)| HostId::from(**address) == host) {
            seat.ending = Some(why);
        }
    }

    pub(crate) fn close_reason(&self, address: SocketAddr) -> CloseReason {
        self.state().seats.get(&address).and_then(|seat| seat.ending).unwrap_or(CloseReason::Closed)
    }
}

/// Peers, hosts and bots.
impl Roster {
    /// The address by which the room identifies a client; see [`Mask::room_address`].
    pub(crate) fn room_address(&self, link: Link, address: SocketAddr) -> SocketAddr {
        let shown = self.mask.room_address(link, address);
        let mut state = self.state();
        if shown != address {
            state.expected = Some((shown, address.into()));
        }
        if link == Link::Stream {
            state.set_host(shown, address.into());
        }
        shown
    }

    pub(crate) fn connect(&self, peer: PeerId, role: Role, link: Link, address: Option<SocketAddr>) {
        let mut state = self.state();
        let expected = state.expected.take().filter(|(shown, _)| Some(*shown) == address).map(|(_, host)| host);
        let of_seat = || address.and_then(|address| state.seats.get(&address)?.host);
        let origin = expected.or_else(of_seat).or_else(|| address.map(HostId::from));
        self.insert(&mut state, peer, role, (link, address, origin));
    }

    /// Adds the peers that were connected when the hub ended. The occupants have joined.
    pub(crate) fn resume(&self, peers: &[(PeerId, Link, SocketAddr)], occupants: &[Occupant]) {
        let mut state = self.state();
        for &(peer, link, address) in peers {
            let origin = (link == Link::Datagram).then(|| address.into());
            self.insert(&mut state, peer, Role::Player, (link, Some(address), origin));
            if occupants.iter().any(|occupant| occupant.peer == peer && !occupant.name.is_empty()) {
                if link == Link::Message {
                    state.open_seat(address);
                }
                state.set_joined(peer);
            }
        }
    }

    fn insert(
        &self,
        state: &mut RosterState,
        peer: PeerId,
        role: Role,
        (link, address, origin): (Link, Option<SocketAddr>, Option<HostId>),
    ) {
        let host = address.map_or(HostId::Other, HostId::from);
        // The host is the same over any link.
        let host = if link == Link::Datagram { self.mask.host(host) } else { host };
        let plays = role == Role::Player && !address.is_some_and(|address| state.bots.contains_key(&address));
        let since = Instant::now();
        state.peers.insert(peer, Peer { host, origin, link, address, plays, joined: false, since, open: true });
    }

    pub(crate) fn peer(&self, peer: PeerId) -> Option<Peer> {
        self.state().peers.get(&peer).copied().filter(|peer| peer.open)
    }

    pub(crate) fn peer_at(&self, address: SocketAddr) -> Option<PeerId> {
        let state = self.state();
        state.peers.iter().find(|(_, peer)| peer.open && peer.address == Some(address)).map(|(&id, _)| id)
    }

    pub(crate) fn peers(&self) -> Vec<(PeerId, Link)> {
        self.state().peers.iter().filter(|(_, peer)| peer.open).map(|(&id, peer)| (id, peer.link)).collect()
    }

    /// Returns whether the peer joins its first match over this connection.
    pub(crate) fn set_joined(&self, peer: PeerId) -> bool {
        self.state().set_joined(peer)
    }

    /// The entry remains until all events of the peer are published.
    pub(crate) fn close_peer(&self, peer: PeerId) {
        if let Some(peer) = self.state().peers.get_mut(&peer) {
            peer.open = false;
        }
    }

    /// Its host remains available for its last events, which may follow.
    pub(crate) fn remove_peer(&self, peer: PeerId) {
        let mut state = self.state();
        if let Some(Peer { origin: Some(host), .. }) = state.peers.remove(&peer) {
            state.last_removed = Some((peer, host));
        }
    }

    /// The true host. It remains available until another peer is removed.
    pub(crate) fn host_of(&self, peer: PeerId, address: Option<&str>) -> Option<HostId> {
        let state = self.state();
        let last = || state.last_removed.filter(|(last, _)| *last == peer).map(|(_, host)| host);
        let of_seat = || state.seats.get(&address?.parse().ok()?)?.host;
        state.peers.get(&peer).and_then(|peer| peer.origin).or_else(last).or_else(of_seat)
    }

    /// Empty if the host is unknown.
    pub(crate) fn host_code(&self, address: &str, day: u64) -> String {
        let Ok(address) = address.parse::<SocketAddr>() else { return String::new() };
        let is_pseudonym = matches!(address.ip(), IpAddr::V6(ip) if ip.octets()[0] == LOCAL);
        let host = match self.state().hosts.get(&address.into()) {
            Some(host) => *host,
            None if is_pseudonym => return String::new(),
            // Over datagrams, the room uses the true address.
            None => address.into(),
        };
        self.host_codes.code(host, day)
    }

    /// `wire` is its name in messages of the game, which has a hyphen if the game cannot carry spaces.
    pub(crate) fn add_bot(&self, address: SocketAddr, level: Level, wire: &str) {
        let alias = wire.contains('-').then(|| Alias { wire: wire.to_owned(), name: wire.replace('-', " ") });
        self.state().bots.insert(address, (level, alias));
    }

    pub(crate) fn remove_bot(&self, address: SocketAddr) {
        self.state().bots.remove(&address);
    }

    /// `None` if it is not a bot.
    pub(crate) fn bot_level(&self, address: SocketAddr) -> Option<Level> {
        self.state().bots.get(&address).map(|(level, _)| *level)
    }
}

/// Members, and clients that may not join. Hosts are given by their pseudonyms.
impl Roster {
    pub(crate) fn add_member(&self, address: SocketAddr, name: &str, seat: &str) {
        let mut state = self.state();
        if state.members.insert(address, Member { name: name.to_owned(), seat: seat.to_owned() }).is_none() {
            state.member_order.push_back(address);
        }
        if state.member_order.len() > MAX_MEMBERS {
            let oldest = state.member_order.pop_front();
            oldest.and_then(|oldest| state.members.remove(&oldest));
        }
    }

    /// The token of the first seat proves the move. In some games, each match has new seats.
    ///
    /// No effect while the first seat exists, because another window is not that member.
    pub(crate) fn move_member(&self, before: SocketAddr, now: SocketAddr) {
        let mut state = self.state();
        if state.seats.contains_key(&before) {
            return;
        }
        if let Some(member) = state.members.remove(&before) {
            state.members.insert(now, member);
            for address in state.member_order.iter_mut().filter(|address| **address == before) {
                *address = now;
            }
        }
        if state.rematch.as_mut().is_some_and(|rematch| rematch.move_player(before, now)) {
            state.reservations.move_seat(before, now, Instant::now());
        }
    }

    pub(crate) fn set_locked(&self, locked: bool) {
        self.state().locked = locked;
    }

    /// Rejects a player until the match is over.
    pub(crate) fn bar(&self, seat: Option<SocketAddr>, name: &str) {
        let mut state = self.state();
        let key = seat.and_then(|seat| state.seats.get(&seat)?.key);
        state.barred.removed.push_back(Removed { seat, key, name: name.to_owned() });
        if state.barred.removed.len() > MAX_BARRED {
            state.barred.removed.pop_front();
        }
    }

    /// Rejects new players and spectators of a network until the match is over.
    pub(crate) fn block(&self, host: HostId) {
        let mut state = self.state();
        if state.barred.networks.len() >= MAX_BARRED {
            state.barred.networks.pop_first();
        }
        state.barred.networks.insert(host);
    }

    pub(crate) fn barred(&self) -> Barred {
        self.state().barred.clone()
    }

    pub(crate) fn set_barred(&self, barred: Barred) {
        self.state().barred = barred;
    }

    pub(crate) fn is_blocked(&self, host: HostId) -> bool {
        self.state().barred.networks.contains(&host)
    }

    pub(crate) fn is_removed(&self, seat: SocketAddr) -> bool {
        self.state().barred.has_seat(seat)
    }

    pub(crate) fn has_removed_key(&self, is_it: impl FnMut(&BrowserKey) -> bool) -> bool {
        self.state().barred.removed.iter().filter_map(|removed| removed.key.as_ref()).any(is_it)
    }

    pub(crate) fn lift_bars(&self) {
        self.set_barred(Barred::default());
    }

    /// The people in the room who share the network of a player, without the player.
    pub(crate) fn neighbours(&self, host: HostId, player: PeerId) -> usize {
        let state = self.state();
        let is_person = |peer: &Peer| {
            peer.open && !peer.address.is_some_and(|at| state.bots.contains_key(&at) || is_own_watcher(at))
        };
        state.peers.iter().filter(|(id, peer)| **id != player && peer.host == host && is_person(peer)).count()
    }

    /// If the client may not join by the name in its message: the message of the game, and the reason for browsers.
    pub(crate) fn refusal(
        &self,
        host: HostId,
        address: Option<SocketAddr>,
        name: Option<&str>,
    ) -> Option<(&'static str, CloseReason)> {
        let state = self.state();
        if address.is_some_and(|seat| state.pages.values().any(|page| page.owner && page.seat == Some(seat))) {
            return None;
        }
        let barred = Some((BARRED, CloseReason::RemovedByOwner));
        if address.is_some_and(|seat| state.barred.has_seat(seat)) {
            return barred;
        }
        if address.is_some_and(|address| state.members.contains_key(&address)) {
            return None;
        }
        let key = address.and_then(|address| state.seats.get(&address)?.key.as_ref());
        let is_barred = key.is_some_and(|key| state.barred.has_key(key))
            || state.barred.networks.contains(&host)
            || name.is_some_and(|name| state.barred.removed.iter().any(|removed| removed.name == name));
        if is_barred {
            return barred;
        }
        state.locked.then_some((LOCKED, CloseReason::Locked))
    }

    /// Sets the hosts that have exhausted their share of this match.
    pub(crate) fn set_spent(&self, hosts: BTreeSet<HostId>) {
        self.state().spent = hosts;
    }

    pub(crate) fn has_spent(&self, host: HostId) -> bool {
        self.state().spent.contains(&host)
    }
}

/// Pages, and the messages of the hub to them. If the queue of a page is full, it misses messages.
impl Roster {
    /// `seat` is `None` for a page that only watches. The page is registered until the presence is dropped.
    pub(crate) fn enter(
        self: &Arc<Self>,
        seat: Option<SocketAddr>,
        owner: bool,
    ) -> (PagePresence, mpsc::Receiver<Arc<str>>) {
        let (messages, queue) = mpsc::channel(MAX_PAGE_MESSAGES);
        let mut state = self.state();
        let number = state.next_page;
        state.next_page += 1;
        state.pages.insert(number, Page { seat, owner, is_first_owner: false, messages });
        // A player who was invited to a rematch reconnects.
        let invitation = seat.and_then(|seat| Some((seat, state.rematch.as_ref()?.text_for(seat, Instant::now())?)));
        if let Some((seat, text)) = invitation {
            state.send(seat, &text);
        }
        drop(state);
        self.notify();
        (PagePresence { roster: Arc::clone(self), number }, queue)
    }

    /// Sends a message to the pages of a seat. Returns whether at least one has accepted it.
    pub(crate) fn send(&self, seat: SocketAddr, text: &Arc<str>) -> bool {
        self.state().send(seat, text)
    }

    /// Sends a phrase of a member to all pages, within the rate of its host.
    pub(crate) fn broadcast_phrase(&self, seat: SocketAddr, phrase: u8) {
        let now = Time::ZERO.plus(self.start.elapsed());
        let state = self.state();
        let Some(Member { name, seat: shown }) = state.members.get(&seat).filter(|_| phrase < PHRASES).cloned() else {
            return;
        };
        if self.may_send_phrase(now, seat.into()) {
            let text = json!({ "said": { "seat": shown, "name": name, "phrase": phrase } }).to_string();
            let text: Arc<str> = text.into();
            for page in state.pages.values() {
                let _ = page.messages.try_send(Arc::clone(&text));
            }
        }
    }

    fn may_send_phrase(&self, now: Time, host: HostId) -> bool {
        let mut phrases = self.phrases.lock().unwrap_or_else(PoisonError::into_inner);
        phrases.ready_at(now, host, PHRASE) == Some(now) && phrases.charge(now, host, PHRASE)
    }

    pub(crate) fn has_owner_page(&self) -> bool {
        self.state().pages.values().any(|page| page.owner)
    }

    pub(crate) fn is_owner(&self, seat: SocketAddr) -> bool {
        self.state().pages.values().any(|page| page.owner && page.seat == Some(seat))
    }

    pub(crate) fn has_page(&self, seat: SocketAddr) -> bool {
        self.state().pages.values().any(|page| page.seat == Some(seat))
    }

    /// Pages of a former owner lose the role, except those of a first owner whose token remains valid.
    pub(crate) fn set_owner(&self, seat: SocketAddr, has_first_owner: bool) {
        let mut state = self.state();
        for page in state.pages.values_mut() {
            page.owner = page.seat == Some(seat) || (page.is_first_owner && has_first_owner);
        }
        state.owner_active = Some(Instant::now());
    }

    /// The seat that was opened first, among those with an open page.
    pub(crate) fn longest_present(&self) -> Option<SocketAddr> {
        let state = self.state();
        let order = |seat: &SocketAddr| state.seats.get(seat).map_or(u64::MAX, |seat| seat.order);
        state.pages.values().filter_map(|page| page.seat).min_by_key(|seat| (order(seat), *seat))
    }

    pub(crate) fn set_owner_active(&self) {
        self.state().owner_active = Some(Instant::now());
    }

    /// When the owner last acted. Not meaningful while a page of the owner is open.
    pub(crate) fn owner_active(&self) -> Instant {
        self.state().owner_active.unwrap_or(self.start)
    }
}

/// Reserved seats, bots for company, and rematches.
impl Roster {
    /// Reserves a seat for a client that *Play now* has sent here.
    ///
    /// Returns `false` if its host has `most` reservations, or had them within the last minute without using them; the
    /// client may then still take a free seat. A repeated request does not extend the reservation. Once the client has
    /// a seat, bots of the level `company` join.
    pub(crate) fn reserve(&self, holder: Holder, time: Duration, most: usize, company: Option<Level>) -> bool {
        self.state().reservations.lead(holder, time, most, company, Instant::now())
    }

    /// The number of reserved seats, without that of this holder.
    pub(crate) fn reserved_besides(&self, holder: Holder) -> usize {
        self.state().reservations.besides(holder, Instant::now())
    }

    /// The number of seats that are reserved for others than the client of this host at this address, which has been
    /// connected or waiting since `since`. Later reservations of *Play now* do not count, because it precedes them.
    pub(crate) fn reserved_for_others(&self, host: HostId, address: Option<SocketAddr>, since: Instant) -> usize {
        self.state().reservations.of_others(host, address, since, Instant::now())
    }

    /// The client has a seat now. Requests the company that it wants.
    pub(crate) fn redeem(&self, host: HostId, address: Option<SocketAddr>) {
        let company = self.state().reservations.redeem(host, address, Instant::now());
        if let Some(level) = company {
            self.request_company(level);
        }
    }

    /// Ends a reservation. It counts against the share of its host as if it had not been used.
    pub(crate) fn release(&self, holder: Holder) {
        self.state().reservations.release(holder, Instant::now());
    }

    /// Requests bots of this level, which join if no other players do.
    pub(crate) fn request_company(&self, level: Level) {
        let mut state = self.state();
        (state.company_level, state.company_requested) = (level, true);
        drop(state);
        self.notify();
    }

    /// Whether company was requested since the last call.
    pub(crate) fn take_company_request(&self) -> bool {
        std::mem::take(&mut self.state().company_requested)
    }

    pub(crate) fn company_level(&self) -> Level {
        self.state().company_level
    }

    pub(crate) fn set_occupied(&self, occupied: bool) {
        self.state().occupied = occupied.then(Instant::now);
    }

    pub(crate) fn occupied(&self) -> Duration {
        self.state().occupied.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Invites the players with a page to a rematch, and reserves their seats meanwhile.
    pub(crate) fn invite(&self, r#match: Option<String>, players: impl Iterator<Item = SocketAddr>) {
        let mut state = self.state();
        let now = Instant::now();
        let has_page = |seat: &SocketAddr| state.pages.values().any(|page| page.seat == Some(*seat));
        let Some(rematch) = Rematch::new(r#match, players.filter(has_page), now) else { return };
        for seat in rematch.players() {
            state.reservations.add(Holder::Seat(seat), ANSWER + JOINING, now);
        }
        state.publish(&rematch, false);
        state.rematch = Some(rematch);
        drop(state);
        self.notify();
    }

    pub(crate) fn answer_invitation(&self, seat: SocketAddr, ready: bool) {
        let mut state = self.state();
        let Some(mut rematch) = state.rematch.take() else { return };
        if rematch.answer(seat, ready, Instant::now()) {
            state.publish(&rematch, false);
        }
        state.rematch = Some(rematch);
        drop(state);
        self.notify();
    }

    pub(crate) fn rematch_due(&self) -> Option<Instant> {
        self.state().rematch.as_ref().map(Rematch::due)
    }

    /// The pages of the players who are ready receive a message to join. Returns whether there are any.
    pub(crate) fn start_rematch(&self) -> bool {
        let mut state = self.state();
        let Some(mut rematch) = state.rematch.take() else { return false };
        for seat in rematch.drop_undecided() {
            state.reservations.release(Holder::Seat(seat), Instant::now());
            state.send(seat, &r#"{"rematch":null}"#.into());
        }
        let begins = rematch.players().next().is_some();
        state.publish(&rematch, begins);
        begins
    }
}

impl RosterState {
    fn open_seat(&mut self, address: SocketAddr) {
        let order = self.seats_opened;
        self.seats_opened += 1;
        self.seats.entry(address).or_insert_with(|| Seat { order, ..Seat::default() });
    }

    fn set_host(&mut self, shown: SocketAddr, host: HostId) {
        let shown = HostId::from(shown);
        if self.hosts.len() >= MAX_HOSTS && !self.hosts.contains_key(&shown) {
            self.hosts.pop_first();
        }
        self.hosts.insert(shown, host);
    }

    fn set_joined(&mut self, peer: PeerId) -> bool {
        let Some(peer) = self.peers.get_mut(&peer).filter(|peer| peer.open) else { return false };
        let is_first = !std::mem::replace(&mut peer.joined, true);
        if let Some(challenge) = self.challenge.as_mut().filter(|_| peer.plays) {
            challenge.has_joined = true;
        }
        let address = peer.address.filter(|_| peer.link == Link::Message);
        if let Some(seat) = address.and_then(|address| self.seats.get_mut(&address)) {
            seat.joined = true;
        }
        is_first
    }

    fn send(&self, seat: SocketAddr, text: &Arc<str>) -> bool {
        let there = self.pages.values().filter(|page| page.seat == Some(seat));
        there.filter(|page| page.messages.try_send(Arc::clone(text)).is_ok()).count() > 0
    }

    fn publish(&self, rematch: &Rematch, begins: bool) {
        for (seat, text) in rematch.texts(begins, Instant::now()) {
            self.send(seat, &text);
        }
    }
}

#[derive(Debug)]
pub(crate) struct PagePresence {
    roster: Arc<Roster>,
    number: u64,
}

impl PagePresence {
    pub(crate) fn set_first_owner(&self) {
        if let Some(page) = self.roster.state().pages.get_mut(&self.number) {
            page.is_first_owner = true;
        }
    }
}

impl Drop for PagePresence {
    fn drop(&mut self) {
        let mut state = self.roster.state();
        if state.pages.remove(&self.number).is_some_and(|page| page.owner) {
            state.owner_active = Some(Instant::now());
        }
        drop(state);
        self.roster.notify();
    }
}

/// Wakes the attendant when it is dropped, so that it notices the end of the room.
#[derive(Debug)]
pub(super) struct EndNotice(pub(super) Arc<Roster>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        self.0.notify();
    }
}

/// The text of an address in rooms and journals.
pub(crate) fn address_text(address: SocketAddr) -> String {
    SocketAddr::new(address.ip().to_canonical(), address.port()).to_string()
}

/// An address for a watcher of the hub itself, which no client can have. Each call returns a different one, because the
/// previous watcher may not have disconnected yet.
pub(crate) fn own_watcher() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(1);
    SocketAddr::from((Ipv4Addr::UNSPECIFIED, NEXT.fetch_add(1, Ordering::Relaxed)))
}

pub(super) fn is_own_watcher(address: SocketAddr) -> bool {
    address.ip().is_unspecified()
}

#[cfg(test)]
impl Default for Roster {
    fn default() -> Self {
        Self::new(Mask::new([7; 32]), HostCodes::new([7; 32]))
    }
}

#[cfg(test)]
impl Roster {
    pub(crate) fn reserved(&self) -> usize {
        self.reserved_besides(Holder::Host(HostId::Other, u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::{sync::mpsc::Receiver, time::timeout};

    use super::*;

    fn at(number: usize) -> SocketAddr {
        SocketAddr::from(([10, 0, u8::try_from(number >> 16).unwrap(), 1], u16::try_from(number & 0xffff).unwrap()))
    }

    #[test]
    fn names_are_proven_at_open_seats_until_they_are_given_up() {
        let roster = Roster::default();
        let (ann, address) = (at(0), at(0).to_string());
        roster.open_seat(ann);
        assert!(roster.set_names(ann, &["Ann".into(), "Anna".into()]));
        for number in 1..20_000 {
            roster.open_seat(at(number));
            roster.set_names(at(number), &["Eve".into()]);
            if number % 3 == 0 {
                roster.close_seat(at(number));
            }
        }
        assert!(roster.is_proven(Some(&address), "Ann") && !roster.is_proven(Some(&address), "Eve"));
        roster.remove_names(&["Anna".into()]);
        assert!(roster.is_proven(Some(&address), "Ann") && !roster.is_proven(Some(&address), "Anna"));
        roster.close_seat(ann);
        assert!(!roster.is_proven(Some(&address), "Ann") && !roster.set_names(ann, &["Ann".into()]));
    }

    #[test]
    fn locked_or_blocked_room_takes_members_and_the_owner_only() {
        let roster = Arc::<Roster>::default();
        let host = HostId::of("10.0.0.1:1");
        let ending = |at| roster.refusal(host, at, None).map(|(_, ending)| ending);
        roster.add_member(at(1), "Ann", "A");
        assert_eq!(ending(Some(at(2))), None);
        roster.set_locked(true);
        assert_eq!(
            [Some(at(1)), Some(at(2)), None].map(ending),
            [None, Some(CloseReason::Locked), Some(CloseReason::Locked)]
        );
        roster.open_seat(at(1));
        roster.move_member(at(1), at(2));
        assert_eq!([Some(at(1)), Some(at(2))].map(ending), [None, Some(CloseReason::Locked)]);
        roster.close_seat(at(1));
        roster.move_member(at(1), at(2));
        assert_eq!([Some(at(1)), Some(at(2))].map(ending), [Some(CloseReason::Locked), None]);
        assert_eq!(roster.state().members[&at(2)].name, "Ann");
        roster.set_locked(false);
        roster.block(host);
        assert_eq!([Some(at(2)), Some(at(3))].map(ending), [None, Some(CloseReason::RemovedByOwner)]);
        roster.bar(Some(at(2)), "Ann");
        assert_eq!(ending(Some(at(2))), Some(CloseReason::RemovedByOwner));
        let (_page, _) = roster.enter(Some(at(3)), true);
        assert_eq!(ending(Some(at(3))), None, "an owner");
        roster.lift_bars();
        assert_eq!(ending(Some(at(2))), None);
    }

    #[test]
    fn members_removals_and_phrases_are_bounded() {
        let roster = Roster::default();
        for number in 0..2 * MAX_MEMBERS {
            roster.add_member(at(number), "x", "");
            roster.bar(None, "x");
            roster.block(HostId::V6Network(number as u64));
        }
        let state = roster.state();
        assert_eq!((state.members.len(), state.member_order.len()), (MAX_MEMBERS, MAX_MEMBERS));
        assert!(!state.members.contains_key(&at(MAX_MEMBERS - 1)));
        assert_eq!((state.barred.removed.len(), state.barred.networks.len()), (MAX_BARRED, MAX_BARRED));
        drop(state);
        let seconds = |seconds| Time::ZERO.plus(Duration::from_secs(seconds));
        let eve = HostId::of("10.0.0.9:1");
        assert_eq!((0..100).filter(|_| roster.may_send_phrase(seconds(0), eve)).count(), 4);
        assert_eq!([2, 3, 3].map(|at| roster.may_send_phrase(seconds(at), eve)), [false, true, false]);
        for network in 0..2 * MAX_PHRASE_SENDERS as u64 {
            roster.may_send_phrase(seconds(3), HostId::V6Network(network << 16));
        }
        assert!(roster.phrases.lock().unwrap().is_full());
        let late = HostId::V6Network(u64::MAX);
        assert!(!roster.may_send_phrase(seconds(3), late) && roster.may_send_phrase(seconds(60), late));
    }

    #[test]
    fn host_code_is_the_same_over_all_links_in_all_rooms() {
        let [one, two] = [1, 2].map(|key| Roster::new(Mask::new([key; 32]), HostCodes::new([7; 32])));
        let host = HostId::of("192.0.2.7:1");
        let code = |roster: &Roster| {
            let seat = roster.mask.seat(host).unwrap();
            roster.set_seat_host(seat, host);
            roster.host_code(&seat.to_string(), 5)
        };
        let first = code(&one);
        assert_eq!((first.is_empty(), &first), (false, &code(&two)));
        assert_eq!(first, one.host_code("192.0.2.7:9", 5), "over datagrams");
        let unknown = one.mask.seat(HostId::of("192.0.2.9:1")).unwrap();
        assert_eq!(two.host_code(&unknown.to_string(), 5), "");
    }

    #[test]
    fn true_host_of_a_peer_is_known_until_its_last_event() {
        let roster = Roster::default();
        let shown = roster.room_address(Link::Stream, "192.0.2.7:5".parse().unwrap());
        roster.connect(PeerId(1), Role::Player, Link::Stream, Some(shown));
        let host = Some(HostId::of("192.0.2.7:5"));
        assert_eq!(roster.host_of(PeerId(1), None), host);
        roster.close_peer(PeerId(1));
        assert!(roster.peer(PeerId(1)).is_none() && roster.host_of(PeerId(1), None) == host);
        roster.remove_peer(PeerId(1));
        assert_eq!([1, 2].map(|peer| roster.host_of(PeerId(peer), None)), [host, None]);
    }

    fn rematch(messages: &mut Receiver<Arc<str>>) -> Value {
        let mut last = Value::Null;
        while let Ok(text) = messages.try_recv() {
            last = serde_json::from_str::<Value>(&text).unwrap()["rematch"].take();
        }
        last
    }

    #[tokio::test]
    async fn slow_page_misses_messages_and_owner_is_one_of_the_pages() {
        let roster = Arc::<Roster>::default();
        let [one, two] = [at(1), at(2)];
        roster.open_seat(two);
        roster.open_seat(one);
        let (first, mut to_first) = roster.enter(Some(one), true);
        let (_second, mut to_second) = roster.enter(Some(two), false);
        let (_watcher, mut to_watcher) = roster.enter(None, false);
        assert!(roster.send(one, &"mine".into()) && !roster.send(at(3), &"x".into()));
        roster.add_member(one, "Ann", "A");
        roster.broadcast_phrase(one, 3);
        let said = r#"{"said":{"name":"Ann","phrase":3,"seat":"A"}}"#;
        assert_eq!((to_first.recv().await.as_deref(), to_first.recv().await.as_deref()), (Some("mine"), Some(said)));
        assert_eq!((to_second.recv().await.as_deref(), to_watcher.recv().await.as_deref()), (Some(said), Some(said)));
        let taken = (0..2 * MAX_PAGE_MESSAGES).filter(|_| roster.send(two, &"again".into())).count();
        assert_eq!(taken, MAX_PAGE_MESSAGES);
        // The second client has had its seat for longer, although its page was opened later.
        assert_eq!(roster.longest_present(), Some(two));
        assert!(roster.has_owner_page() && roster.is_owner(one) && !roster.is_owner(two));
        drop(first);
        assert!(!roster.has_owner_page());
        roster.set_owner(two, false);
        assert!(roster.is_owner(two) && roster.has_page(two) && !roster.has_page(one));
        let (first, _) = roster.enter(Some(one), true);
        first.set_first_owner();
        for (has_first_owner, is_owner) in [(true, true), (false, false)] {
            roster.set_owner(two, has_first_owner);
            assert_eq!(roster.is_owner(one), is_owner);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn rematch_begins_with_all_or_with_those_who_are_ready_in_time() {
        let roster = Arc::<Roster>::default();
        let (_one, mut first) = roster.enter(Some(at(1)), false);
        // A native player and a bot have no page.
        roster.invite(None, [at(1), at(5)].into_iter());
        assert_eq!((rematch(&mut first), roster.start_rematch()), (Value::Null, false));
        let (two, mut second) = roster.enter(Some(at(2)), false);
        roster.invite(Some("m-1".into()), [at(1), at(2), at(5)].into_iter());
        let all = json!({ "match": "m-1", "ready": 0, "of": 2, "seconds": 30, "you": false, "begins": false });
        assert_eq!((&rematch(&mut second), roster.reserved()), (&all, 2));
        roster.answer_invitation(at(1), true);
        roster.answer_invitation(at(5), true);
        assert_eq!((&rematch(&mut first)["you"], &rematch(&mut second)["ready"]), (&json!(true), &json!(1)));
        // The second page reconnects with another seat.
        drop(two);
        roster.move_member(at(2), at(3));
        let (_three, mut third) = roster.enter(Some(at(3)), false);
        assert_eq!(rematch(&mut third)["ready"], 1);
        assert_eq!(roster.rematch_due(), Some(Instant::now() + ANSWER));
        roster.answer_invitation(at(3), true);
        assert_eq!(roster.rematch_due(), Some(Instant::now()));
        assert!(timeout(Duration::ZERO, roster.changed()).await.is_ok() && roster.start_rematch());
        assert_eq!((&rematch(&mut first)["begins"], &rematch(&mut third)["of"]), (&json!(true), &json!(2)));
        assert_eq!((roster.reserved(), roster.rematch_due()), (2, None));
        // In the next rematch, only one player is ready.
        roster.invite(None, [at(1), at(3)].into_iter());
        roster.answer_invitation(at(3), true);
        rematch(&mut first);
        assert!(roster.start_rematch());
        assert_eq!((rematch(&mut first), &rematch(&mut third)["begins"]), (Value::Null, &json!(true)));
        assert_eq!(roster.reserved(), 1);
    }

    #[test]
    fn company_is_requested_once_its_client_has_a_seat() {
        let roster = Roster::default();
        let [ann, bob] = ["10.0.0.1:1", "10.0.0.2:1"].map(HostId::of);
        assert!(roster.reserve(Holder::Host(ann, 1), ANSWER, 2, Some(Level::Easy)));
        roster.redeem(bob, None);
        assert!(!roster.take_company_request());
        roster.redeem(ann, None);
        assert!(roster.take_company_request() && roster.company_level() == Level::Easy);
        roster.redeem(ann, None);
        assert!(!roster.take_company_request() && roster.reserved() == 0);
    }
}
