//! How a node continues without the directory: all other nodes promise not to take its rooms.
//!
//! A node whose lease runs out cannot know whether the directory is unreachable for all nodes or only for itself. It
//! sends a request to every node that could take its rooms. If the recipient cannot reach the directory itself, it
//! promises not to remove the entry of the sender for a while. Otherwise the promise covers only the time that it would
//! have waited in any case. While all promises hold, no node takes the rooms, and the sender may publish.
//!
//! The nodes must agree on the recipients. The entry of a node states the revision up to which it has
//! [seen](crate::NodeValue::seen) other nodes join. A node that joined later receives no request. It therefore removes
//! no entry until it has introduced itself, also with a request, or until the maximum time without the directory has
//! passed.

use std::{collections::BTreeMap, time::Duration};

use netcore::Time;

use super::life::Life;
use crate::{
    ASK_TIMEOUT, EXPIRY, Entry, HEARTBEAT, Holder, LEASE, Name, Node, NodeValue, Output, Revision, Ticket, Value,
};

/// How long a node may continue without the directory after its lease has expired, if all other nodes have promised not
/// to take its rooms.
pub const OUTAGE: Duration = Duration::from_secs(30 * 60);
/// The duration of a promise by a node that cannot reach the directory either.
const PROMISE: Duration = Duration::from_secs(6);
/// The interval between requests for promises.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// The interval between requests to a node that may not know this one.
const INTRODUCE_AGAIN: Duration = Duration::from_secs(5);

/// A request, from one life of a node to one life of another, not to take the rooms of the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plea {
    /// The recipient.
    pub to: Holder,
    /// The sender and its life; `None` before it has joined.
    pub from: (Name, Option<Revision>),
}

/// The reply to a [`Plea`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// The duration, from the arrival of the request. From now on, the recipient knows the sender.
    For(Duration),
    /// This life of the recipient is over.
    Gone,
}

/// A pending request.
#[derive(Debug)]
struct Asked {
    ticket: Ticket,
    at: Time,
    plea: Plea,
}

/// Pending requests, and the promises received and given.
#[derive(Debug, Default)]
pub(super) struct Promises {
    asked: BTreeMap<Name, Asked>,
    // When the next requests for promises are due.
    next: Time,
    // The promises of other nodes in their lives, and when they end by the clock of this node.
    made: BTreeMap<Name, (Revision, Time)>,
    // The promises that this node has given, and when they end.
    given: BTreeMap<Name, Time>,
    // Entries that this node has tried to remove. The write may still be in transit.
    doomed: BTreeMap<Name, Revision>,
    // The same for lives whose heartbeats are to end: the life, and the last heartbeat that the write expects.
    doomed_heartbeats: BTreeMap<Name, (Revision, Option<Revision>)>,
    // Lives of other nodes that know this node, or are over.
    met: BTreeMap<Name, Revision>,
    // When to send the next request to nodes that may not know this one.
    introduces: BTreeMap<Name, Time>,
}

impl Promises {
    /// Forgets which nodes know this one: its life is over, and no node knows the next one.
    pub(super) fn forget_met(&mut self) {
        self.met.clear();
    }

    /// Records that this revision of a node's entry is to be removed.
    pub(super) fn doom(&mut self, name: Name, revision: Revision) {
        self.doomed.insert(name, revision);
    }

    /// Records that the heartbeats of a life are to end after `last`.
    pub(super) fn doom_heartbeats(&mut self, name: Name, life: Revision, last: Option<Revision>) {
        self.doomed_heartbeats.insert(name, (life, last));
    }

    /// Returns the life of a node whose heartbeats were to end.
    pub(super) fn doomed_life(&self, name: &Name) -> Option<Revision> {
        self.doomed_heartbeats.get(name).map(|(life, _)| *life)
    }
}

impl Node {
    /// Returns the time until which the rooms of the node may publish.
    pub fn tells_until(&self) -> Option<Time> {
        let life = self.life.as_ref()?;
        let promised = |(name, life): (&Name, Revision)| match self.promises.made.get(name) {
            Some((by, until)) if *by == life => *until,
            _ => Time::ZERO,
        };
        let all = self.view.others(&self.settings.name).map(promised).min();
        let all = all.unwrap_or(Time::from_nanos(u64::MAX)).min(life.lease().plus(self.settings.outage));
        Some(life.lease().max(all))
    }

    // Whether a heartbeat is missing that should have been stored by now.
    fn doubts(&self, now: Time) -> bool {
        self.life.as_ref().is_none_or(|life| now.plus(LEASE) >= life.lease().plus(HEARTBEAT + ASK_AGAIN))
    }

    /// Answers a request of another node.
    pub fn promise(&mut self, now: Time, plea: &Plea) -> Promise {
        let own = self.life.as_ref().map(|life| life.since);
        if !self.holds(&plea.to) || own.is_some_and(|own| own > plea.to.life) {
            return Promise::Gone;
        }
        let (name, Some(life)) = &plea.from else { return Promise::For(Duration::ZERO) };
        self.view.meet(name, *life);
        self.note_asker(now, name, *life);
        // The reply that confirms the start of this life may still be in transit.
        if own.is_some_and(|own| own < plea.to.life) {
            return Promise::For(Duration::ZERO);
        }
        let entry = self.view.node(name).filter(|entry| entry.life() == Some(*life));
        let is_doomed = |entry: &Entry| self.promises.doomed.get(name) == Some(&entry.revision);
        if entry.is_none_or(is_doomed) || self.ends_heartbeats(name, *life) {
            return Promise::For(Duration::ZERO);
        }
        let until = if self.doubts(now) { now.plus(PROMISE) } else { self.view.heard(name).plus(EXPIRY) };
        let until =
            *self.promises.given.entry(name.clone()).and_modify(|given| *given = until.max(*given)).or_insert(until);
        Promise::For(until.since(now))
    }

    // Whether the heartbeats of this life of another node have ended, or a write that ends them may still be stored.
    fn ends_heartbeats(&self, name: &Name, life: Revision) -> bool {
        let last = self.view.last_heartbeat(name);
        let doomed = self.promises.doomed_heartbeats.get(name);
        self.view.has_ended(name, life) || doomed.is_some_and(|doomed| *doomed == (life, last))
    }

    /// Returns when the entry of another node, or of another data directory with the name of this one, may be removed
    /// if no heartbeat arrives.
    pub(super) fn burial(&self, name: &Name, entry: &Entry, heard: Time) -> Time {
        let knows = self.is_known_to(name, entry);
        let due = heard.plus(if knows { EXPIRY } else { EXPIRY + self.settings.outage * 3 / 2 });
        self.promises.given.get(name).map_or(due, |given| due.max(*given))
    }

    // Whether the node of this entry requests promises from this node, if it still runs.
    fn is_known_to(&self, name: &Name, entry: &Entry) -> bool {
        let has_seen = self.life.as_ref().is_some_and(|life| entry.seen().is_none_or(|seen| life.since <= seen));
        has_seen || entry.life().is_some_and(|life| self.promises.met.get(name) == Some(&life))
    }

    // Returns the nodes to contact and when: for promises, or as an introduction before their entries are removed.
    fn pleas(&self) -> impl Iterator<Item = (Time, Name, Revision)> {
        let begins = self.life.as_ref().map(|life| {
            let sent = life.lease().since(Time::ZERO.plus(LEASE));
            self.promises.next.max(Time::ZERO.plus(sent + HEARTBEAT + ASK_AGAIN))
        });
        let others =
            self.view.others(&self.settings.name).filter_map(move |(name, life)| Some((begins?, name.clone(), life)));
        let strangers = self.view.nodes().filter_map(|(name, entry, heard)| {
            let life = entry.life().filter(|_| self.may_bury(name) && !self.is_known_to(name, entry))?;
            let again = self.promises.introduces.get(name).copied().unwrap_or_default();
            Some((heard.plus(EXPIRY).max(again), name.clone(), life))
        });
        others.chain(strangers)
    }

    /// Returns when the next request is due, or a pending one times out.
    pub(super) fn next_plea(&self) -> Option<Time> {
        let free = self.pleas().filter(|(_, name, _)| !self.promises.asked.contains_key(name)).map(|(at, ..)| at);
        free.chain(self.promises.asked.values().map(|asked| asked.at.plus(ASK_TIMEOUT))).min()
    }

    /// Sends the requests that are due.
    pub(super) fn plead(&mut self, now: Time, out: &mut Vec<Output>) {
        self.promises.asked.retain(|_, asked| now.since(asked.at) < ASK_TIMEOUT);
        self.promises.given.retain(|_, until| *until > now);
        let view = &self.view;
        self.promises.doomed.retain(|name, revision| view.node(name).is_none_or(|entry| entry.revision <= *revision));
        let due: Vec<_> = self.pleas().filter(|(at, ..)| *at <= now).collect();
        if due.is_empty() {
            return;
        }
        self.promises.next = now.plus(ASK_AGAIN);
        for (_, name, life) in due {
            // A node that has been absent for long, or is of a later version, cannot be contacted.
            let Some(Value::Node(NodeValue { identity, .. })) = self.view.node(&name).map(|entry| &entry.value) else {
                continue;
            };
            if self.promises.asked.contains_key(&name) {
                continue;
            }
            let identity = identity.clone();
            self.tickets += 1;
            let ticket = Ticket(self.tickets);
            self.promises.introduces.insert(name.clone(), now.plus(INTRODUCE_AGAIN));
            let from = (self.settings.name.clone(), self.life.as_ref().map(|life| life.since));
            let to = Holder { node: name.clone(), identity, life };
            let plea = Plea { to, from };
            self.promises.asked.insert(name, Asked { ticket, at: now, plea: plea.clone() });
            out.push(Output::Plead(ticket, plea));
        }
    }

    /// Processes the reply of another node; `None` if it could not be reached.
    pub(super) fn promised(&mut self, now: Time, ticket: Ticket, promise: Option<Promise>) {
        let name = self.promises.asked.iter().find(|(_, asked)| asked.ticket == ticket).map(|(name, _)| name.clone());
        let Some(Asked { at, plea, .. }) = name.and_then(|name| self.promises.asked.remove(&name)) else { return };
        let Holder { node: name, life, .. } = plea.to;
        let own = self.life.as_ref().map(|life| life.since);
        let (until, knows) = match promise {
            None => return,
            // The clock of the other node may be slower.
            Some(Promise::For(time)) => (at.plus(time * 2 / 3), own.is_some() && plea.from.1 == own),
            Some(Promise::Gone) => (Time::from_nanos(u64::MAX), true),
        };
        if knows {
            self.promises.met.insert(name.clone(), life);
        }
        let before =
            self.promises.made.get(&name).filter(|(by, _)| *by == life).map_or(Time::ZERO, |(_, until)| *until);
        let lease = self.life.as_ref().map_or(Time::ZERO, Life::lease);
        // A node that is gone may have taken the rooms before, unless a promise or the lease prevented it.
        if promise != Some(Promise::Gone) || now < before.max(lease) {
            self.promises.made.insert(name, (life, until.max(before)));
        }
    }
}
