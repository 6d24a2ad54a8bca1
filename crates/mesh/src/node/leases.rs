//! How a node continues without the directory: all other nodes promise not to take its rooms.
//!
//! A node whose lease runs out cannot know whether the directory is unreachable for all nodes or only for itself. It
//! sends a request to every node that could take its rooms. A recipient that cannot reach the directory itself promises
//! not to remove the entry of the sender for a while. Other recipients promise this only for the time that they would
//! have waited in any case. While all promises hold, no node takes the rooms, and the sender may publish.
//!
//! The nodes must agree on the recipients: the entry of a node states the revision up to which it has
//! [seen](crate::NodeValue::seen) other nodes join. A node that joined later receives no request. It therefore removes
//! no entry until it has introduced itself with a request, or until the maximum time without the directory has passed.

use std::{collections::BTreeMap, time::Duration};

use netcore::Time;

use super::life::Life;
use crate::{
    EXPIRY, Entry, HEARTBEAT, Holder, LEASE, Name, Node, NodeValue, Output, REQUEST_TIMEOUT, Revision, Ticket, Value,
};

/// How long a node may continue after its lease, if all other nodes promise not to take its rooms.
pub const OUTAGE: Duration = Duration::from_secs(30 * 60);
/// The duration of a promise by a node without the directory.
const GRANT: Duration = Duration::from_secs(6);
const REQUEST_AGAIN: Duration = Duration::from_secs(1);
/// The interval between requests to a node that may not know this one.
const INTRODUCE_AGAIN: Duration = Duration::from_secs(5);

/// Requests from one life of another node that it does not take the rooms of the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRequest {
    pub to: Holder,
    /// The sender and its life; `None` before it has joined.
    pub from: (Name, Option<Revision>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseGrant {
    /// The duration counts from the arrival of the request. The recipient knows the sender from now on.
    For(Duration),
    /// This life of the recipient is over.
    Gone,
}

#[derive(Debug)]
struct PendingRequest {
    ticket: Ticket,
    at: Time,
    request: LeaseRequest,
}

#[derive(Debug, Default)]
pub(super) struct Leases {
    pending: BTreeMap<Name, PendingRequest>,
    next: Time,
    // Promises of other nodes: the life that made each, and when it ends by the clock of this node.
    made: BTreeMap<Name, (Revision, Time)>,
    // Promises of this node, and when they end.
    given: BTreeMap<Name, Time>,
    // Removals whose writes may still be in transit.
    expiring: BTreeMap<Name, Revision>,
    // Likewise for heartbeats: the life, and the last heartbeat that the write expects.
    ending_heartbeats: BTreeMap<Name, (Revision, Option<Revision>)>,
    // Lives that know this node, or are over.
    met: BTreeMap<Name, Revision>,
    // When to contact nodes that may not know this one.
    introduces: BTreeMap<Name, Time>,
}

impl Leases {
    /// No node knows the next life.
    pub(super) fn clear_met(&mut self) {
        self.met.clear();
    }

    pub(super) fn note_expiring(&mut self, name: Name, revision: Revision) {
        self.expiring.insert(name, revision);
    }

    pub(super) fn note_ending_heartbeats(&mut self, name: Name, life: Revision, last: Option<Revision>) {
        self.ending_heartbeats.insert(name, (life, last));
    }

    pub(super) fn ending_life(&self, name: &Name) -> Option<Revision> {
        self.ending_heartbeats.get(name).map(|(life, _)| *life)
    }
}

impl Node {
    pub fn publishes_until(&self) -> Option<Time> {
        let life = self.life.as_ref()?;
        let promised = |(name, life): (&Name, Revision)| match self.leases.made.get(name) {
            Some((by, until)) if *by == life => *until,
            _ => Time::ZERO,
        };
        let all = self.view.others(&self.settings.name).map(promised).min();
        let all = all.unwrap_or(Time::from_nanos(u64::MAX)).min(life.lease().plus(self.settings.outage));
        Some(life.lease().max(all))
    }

    // Whether a heartbeat is missing that should have been stored by now.
    fn doubts(&self, now: Time) -> bool {
        self.life.as_ref().is_none_or(|life| now.plus(LEASE) >= life.lease().plus(HEARTBEAT + REQUEST_AGAIN))
    }

    pub fn grant_lease(&mut self, now: Time, request: &LeaseRequest) -> LeaseGrant {
        let own = self.life.as_ref().map(|life| life.since);
        if !self.holds(&request.to) || own.is_some_and(|own| own > request.to.life) {
            return LeaseGrant::Gone;
        }
        let (name, Some(life)) = &request.from else { return LeaseGrant::For(Duration::ZERO) };
        self.view.meet(name, *life);
        self.note_asker(now, name, *life);
        // The reply that confirms the start of this life may still be in transit.
        if own.is_some_and(|own| own < request.to.life) {
            return LeaseGrant::For(Duration::ZERO);
        }
        let entry = self.view.node(name).filter(|entry| entry.life() == Some(*life));
        let is_expiring = |entry: &Entry| self.leases.expiring.get(name) == Some(&entry.revision);
        if entry.is_none_or(is_expiring) || self.ends_heartbeats(name, *life) {
            return LeaseGrant::For(Duration::ZERO);
        }
        let until = if self.doubts(now) { now.plus(GRANT) } else { self.view.last_seen(name).plus(EXPIRY) };
        let until =
            *self.leases.given.entry(name.clone()).and_modify(|given| *given = until.max(*given)).or_insert(until);
        LeaseGrant::For(until.since(now))
    }

    // Whether heartbeats have ended, or a write that ends them may still be stored.
    fn ends_heartbeats(&self, name: &Name, life: Revision) -> bool {
        let last = self.view.last_heartbeat(name);
        let expiring = self.leases.ending_heartbeats.get(name);
        self.view.has_ended(name, life) || expiring.is_some_and(|expiring| *expiring == (life, last))
    }

    /// When the entry of another node, or of another data directory with this node's name, may be removed if no
    /// heartbeat arrives.
    pub(super) fn expiry(&self, name: &Name, entry: &Entry, last_seen: Time) -> Time {
        let knows = self.is_known_to(name, entry);
        let due = last_seen.plus(if knows { EXPIRY } else { EXPIRY + self.settings.outage * 3 / 2 });
        self.leases.given.get(name).map_or(due, |given| due.max(*given))
    }

    // Whether the node requests promises from this one, if it still runs.
    fn is_known_to(&self, name: &Name, entry: &Entry) -> bool {
        let has_seen = self.life.as_ref().is_some_and(|life| entry.seen().is_none_or(|seen| life.since <= seen));
        has_seen || entry.life().is_some_and(|life| self.leases.met.get(name) == Some(&life))
    }

    // The nodes to contact and when: for promises, or as an introduction before their entries are removed.
    fn lease_requests(&self) -> impl Iterator<Item = (Time, Name, Revision)> {
        let begins = self.life.as_ref().map(|life| {
            let sent = life.lease().since(Time::ZERO.plus(LEASE));
            self.leases.next.max(Time::ZERO.plus(sent + HEARTBEAT + REQUEST_AGAIN))
        });
        let others =
            self.view.others(&self.settings.name).filter_map(move |(name, life)| Some((begins?, name.clone(), life)));
        let unknown_nodes = self.view.nodes().filter_map(|(name, entry, last_seen)| {
            let life = entry.life().filter(|_| self.may_expire(name) && !self.is_known_to(name, entry))?;
            let again = self.leases.introduces.get(name).copied().unwrap_or_default();
            Some((last_seen.plus(EXPIRY).max(again), name.clone(), life))
        });
        others.chain(unknown_nodes)
    }

    /// When the next request is due, or a pending one times out.
    pub(super) fn next_lease_request(&self) -> Option<Time> {
        let free =
            self.lease_requests().filter(|(_, name, _)| !self.leases.pending.contains_key(name)).map(|(at, ..)| at);
        free.chain(self.leases.pending.values().map(|pending| pending.at.plus(REQUEST_TIMEOUT))).min()
    }

    pub(super) fn request_leases(&mut self, now: Time, out: &mut Vec<Output>) {
        self.leases.pending.retain(|_, pending| now.since(pending.at) < REQUEST_TIMEOUT);
        self.leases.given.retain(|_, until| *until > now);
        let view = &self.view;
        self.leases.expiring.retain(|name, revision| view.node(name).is_none_or(|entry| entry.revision <= *revision));
        let due: Vec<_> = self.lease_requests().filter(|(at, ..)| *at <= now).collect();
        if due.is_empty() {
            return;
        }
        self.leases.next = now.plus(REQUEST_AGAIN);
        for (_, name, life) in due {
            // A node that has long been absent, or is of a later version, cannot be contacted.
            let Some(Value::Node(NodeValue { identity, .. })) = self.view.node(&name).map(|entry| &entry.value) else {
                continue;
            };
            if self.leases.pending.contains_key(&name) {
                continue;
            }
            let identity = identity.clone();
            self.tickets += 1;
            let ticket = Ticket(self.tickets);
            self.leases.introduces.insert(name.clone(), now.plus(INTRODUCE_AGAIN));
            let from = (self.settings.name.clone(), self.life.as_ref().map(|life| life.since));
            let to = Holder { node: name.clone(), identity, life };
            let request = LeaseRequest { to, from };
            self.leases.pending.insert(name, PendingRequest { ticket, at: now, request: request.clone() });
            out.push(Output::RequestLease(ticket, request));
        }
    }

    pub(super) fn lease_granted(&mut self, now: Time, ticket: Ticket, grant: Option<LeaseGrant>) {
        let name =
            self.leases.pending.iter().find(|(_, pending)| pending.ticket == ticket).map(|(name, _)| name.clone());
        let Some(PendingRequest { at, request, .. }) = name.and_then(|name| self.leases.pending.remove(&name)) else {
            return;
        };
        let Holder { node: name, life, .. } = request.to;
        let own = self.life.as_ref().map(|life| life.since);
        let (until, knows) = match grant {
            None => return,
            // The clock of the other node may be faster, by up to 3 to 2.
            Some(LeaseGrant::For(time)) => (at.plus(time * 2 / 3), own.is_some() && request.from.1 == own),
            Some(LeaseGrant::Gone) => (Time::from_nanos(u64::MAX), true),
        };
        if knows {
            self.leases.met.insert(name.clone(), life);
        }
        let before = self.leases.made.get(&name).filter(|(by, _)| *by == life).map_or(Time::ZERO, |(_, until)| *until);
        let lease = self.life.as_ref().map_or(Time::ZERO, Life::lease);
        // The node may have taken the rooms before its life ended, unless a promise or the lease prevented it.
        if grant != Some(LeaseGrant::Gone) || now < before.max(lease) {
            self.leases.made.insert(name, (life, until.max(before)));
        }
    }
}
