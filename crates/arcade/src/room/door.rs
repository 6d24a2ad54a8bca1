//! Who may join the match of a room.
//!
//! In some games a seat that was left is not given again in the same match, such as a letter of nuggets. Once players of one host have left
//! half of the seats of such a match, nobody else of that host joins it; those who are there do not count, so a class behind one
//! address fits into one match. New players of one host join at [`JOINS`]. Whoever is refused is told so where the game has a message
//! for it, and is disconnected before a seat is taken.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use netcore::{
    GameEvent, Gone, HostId, Input, Link, Occupant, Outbox, Output, PeerId, Progress, Rate, Role, Room, Status, Time,
    TokenBucket,
};

use tokio::time::Instant;

use super::{
    addresses::Addresses, costs::Costs, forward::forward, holds::Holds, hosts::Hosts, known::Seats, mailbox::Ending,
    mask::Mask, members::Members,
};
use crate::games::Game;

/// How fast new players of one host join a room. Those who join its next match over the same connection are not new.
pub(crate) const JOINS: Rate = Rate { per_second: 2, burst: 64 };
/// Hosts whose joining is remembered; it is forgotten when they may join as fast as ever.
const MAX_HOSTS: usize = 4_096;
/// What a player is told whose host has used up its seats.
const HALF: &str = "Players from your address have left half of the places of this match; the rest is for others.";
/// What a player is told while the free seats are kept for others.
const HELD: &str = "The free seats are kept for others for some seconds; try again in a moment.";
/// What a player is told who is one of too many new ones.
const PACE: &str = "Too many players have joined from your address just now; try again in a moment.";

/// Somebody who is connected.
#[derive(Debug)]
struct Guest {
    host: HostId,
    link: Link,
    address: Option<SocketAddr>,
    // A person who may join.
    plays: bool,
    // Whether it has joined, now or before.
    joined: bool,
    // When it has connected.
    since: Instant,
}

/// How long the hub remembers that a client had to wait because of a reserved seat, so that later reservations give way to it.
const REMEMBERED: Duration = Duration::from_mins(1);

/// Decides who may join, and notes who has.
#[derive(Debug)]
pub(crate) struct Doorkeeper {
    game: Game,
    mask: Mask,
    known: Arc<Seats>,
    members: Arc<Members>,
    holds: Arc<Holds>,
    bots: Arc<Addresses>,
    guests: BTreeMap<PeerId, Guest>,
    // Where peers really come from, and the processor time of hosts in all rooms.
    hosts: Arc<Hosts>,
    costs: Arc<Costs>,
    // Seats that are not given again in this match, by the host whose players have left them.
    left: BTreeMap<HostId, u32>,
    // Those that can be given.
    seats: u32,
    joins: BTreeMap<HostId, TokenBucket>,
    // When players of a host were first refused because the free seats were reserved, and when they were last refused.
    waiting: BTreeMap<HostId, (Instant, Instant)>,
}

impl Doorkeeper {
    pub(crate) fn new(
        game: Game,
        mask: Mask,
        (known, members, holds): (Arc<Seats>, Arc<Members>, Arc<Holds>),
        bots: Arc<Addresses>,
    ) -> Self {
        let (guests, left, joins, waiting) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (hosts, costs) = (Arc::default(), Arc::default());
        Self { game, mask, known, members, holds, bots, guests, hosts, costs, left, seats: 0, joins, waiting }
    }

    /// Charges the hosts of peers for messages that take much processor time.
    pub(crate) fn with_costs(self, hosts: Arc<Hosts>, costs: Arc<Costs>) -> Self {
        Self { hosts, costs, ..self }
    }

    /// The peers that were connected when the hub ended. Those of the roster had joined.
    pub(crate) fn resume(&mut self, peers: &[(PeerId, Link, SocketAddr)], roster: &[Occupant]) {
        for &(peer, link, address) in peers {
            self.enter(peer, Role::Player, link, Some(address));
            if roster.iter().any(|occupant| occupant.peer == peer && !occupant.name.is_empty()) {
                if link == Link::Message {
                    self.known.open(address);
                }
                self.joined(peer);
            }
        }
    }

    fn enter(&mut self, peer: PeerId, role: Role, link: Link, address: Option<SocketAddr>) {
        let host = address.map_or(HostId::Other, HostId::from);
        // The same host over any link.
        let host = if link == Link::Datagram { self.mask.host(host) } else { host };
        let plays = role == Role::Player && !address.is_some_and(|address| self.bots.has(address));
        self.guests.insert(peer, Guest { host, link, address, plays, joined: false, since: Instant::now() });
    }

    // Gives whether it is new.
    fn joined(&mut self, peer: PeerId) -> bool {
        let Some(guest) = self.guests.get_mut(&peer) else { return false };
        if let Some(address) = guest.address.filter(|_| guest.link == Link::Message) {
            self.known.set_joined(address, true);
        }
        !std::mem::replace(&mut guest.joined, true)
    }

    // Why somebody may not join, if so. Whatever else it would say before it has joined counts as the wish to join.
    fn refuses(&mut self, now: Time, peer: PeerId, status: Status) -> Option<(&'static str, Ending)> {
        let guest = self.guests.get(&peer).filter(|guest| guest.plays && !guest.joined)?;
        if let Some(why) = self.members.refuses(guest.host, guest.address) {
            return Some(why);
        }
        let since = self.waiting.get(&guest.host).map_or(guest.since, |(first, _)| guest.since.min(*first));
        let held = u32::try_from(self.holds.of_others(guest.host, guest.address, since)).unwrap_or(u32::MAX);
        if held > 0 && status.taken.saturating_add(held) >= status.seats {
            let host = guest.host;
            self.wait(host);
            return Some((HELD, Ending::Held));
        }
        if self.known.has_spent(guest.host) {
            return Some((HALF, Ending::Refused));
        }
        let joins = self.joins.get_mut(&guest.host)?;
        joins.ready_at(now, 1).filter(|ready| *ready > now).map(|_| (PACE, Ending::Refused))
    }

    // The answer to a message for which the host of its peer has no processor time left.
    fn postpones(&self, peer: PeerId, message: &[u8]) -> Option<Bytes> {
        let guest = self.guests.get(&peer)?;
        let answer = self.game.postponement(message, guest.link.framing())?;
        (!self.costs.take(self.hosts.of(peer).unwrap_or(guest.host))).then_some(answer)
    }

    // Remembers that a client of this host has to wait.
    fn wait(&mut self, host: HostId) {
        let now = Instant::now();
        self.waiting.retain(|_, (_, last)| *last + REMEMBERED > now);
        if self.waiting.len() < MAX_HOSTS || self.waiting.contains_key(&host) {
            self.waiting.entry(host).or_insert((now, now)).1 = now;
        }
    }

    fn charge(&mut self, now: Time, host: HostId) {
        if self.joins.len() >= MAX_HOSTS {
            self.joins.retain(|_, joins| !joins.is_full(now));
        }
        if self.joins.len() < MAX_HOSTS || self.joins.contains_key(&host) {
            self.joins.entry(host).or_insert_with(|| TokenBucket::new(JOINS, now)).charge(now, 1);
        }
    }

    // What has become of an input.
    fn follow(&mut self, now: Time, status: Status, outputs: &[Output]) {
        let spends = self.game.spends_seats() && status.seats < self.seats;
        for output in outputs {
            match output {
                Output::Event(GameEvent::Joined { peer, name, .. } | GameEvent::Waiting { peer, name, .. })
                    if !name.is_empty() =>
                {
                    if let Some(guest) = self.guests.get(peer).filter(|guest| guest.plays) {
                        self.holds.redeem(guest.host, guest.address);
                        self.waiting.remove(&guest.host);
                    }
                    if self.joined(*peer)
                        && let Some(host) = self.guests.get(peer).filter(|guest| guest.plays).map(|guest| guest.host)
                    {
                        self.charge(now, host);
                    }
                }
                Output::Event(GameEvent::Left { peer, name, .. }) if !name.is_empty() => {
                    // It may be closed already.
                    if let Some(guest) = self.guests.get(peer)
                        && spends
                    {
                        *self.left.entry(guest.host).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        for output in outputs {
            if let Output::Close { peer } = output {
                self.guests.remove(peer);
            }
        }
        if status.seats != self.seats {
            if status.seats > self.seats {
                // Another match.
                self.left.clear();
            }
            self.seats = status.seats;
            let all = self.seats + self.left.values().sum::<u32>();
            let spent = self.left.iter().filter(|(_, left)| **left * 2 >= all).map(|(&host, _)| host);
            self.known.set_spent(spent.collect());
        }
    }
}

/// A room with a doorkeeper.
pub(crate) struct Door<R> {
    room: R,
    keeper: Doorkeeper,
}

impl<R: Room> Door<R> {
    pub(crate) fn new(room: R, mut keeper: Doorkeeper) -> Self {
        keeper.seats = room.status().seats;
        Self { room, keeper }
    }

    fn refuse(&mut self, now: Time, peer: PeerId, (why, ending): (&str, Ending), out: &mut Outbox) {
        let Some(guest) = self.keeper.guests.remove(&peer) else { return };
        if let Some(farewell) = self.keeper.game.farewell(why, guest.link.framing()) {
            out.send(peer, farewell);
        }
        if let Some(address) = guest.address {
            self.keeper.known.end(address, ending);
        }
        self.room.input(now, Input::Disconnected { peer, why: Gone::Broken }, out);
        out.close(peer);
    }
}

impl<R: Room> Room for Door<R> {
    forward!(split, admits, deadline, outcome, status);

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        match &input {
            Input::Connected { peer, role, link, address } => {
                self.keeper.enter(*peer, *role, *link, address.parse().ok());
            }
            Input::Message { peer, .. } | Input::Malformed { peer, .. } => {
                if let Some(why) = self.keeper.refuses(now, *peer, self.room.status()) {
                    self.refuse(now, *peer, why, out);
                    return Progress::Ignored;
                }
                if let Input::Message { message, .. } = &input
                    && let Some(answer) = self.keeper.postpones(*peer, message)
                {
                    out.send(*peer, answer);
                    return Progress::Decoded;
                }
            }
            _ => {}
        }
        let start = out.position();
        let gone = if let Input::Disconnected { peer, .. } = &input { Some(*peer) } else { None };
        let progress = self.room.input(now, input, out);
        self.keeper.follow(now, self.room.status(), out.since(start));
        if let Some(peer) = gone {
            self.keeper.guests.remove(&peer);
        }
        progress
    }
}

#[cfg(test)]
mod tests;
