//! How a node goes on that cannot reach the directory: all others promise to leave its rooms alone.
//!
//! A node whose lease runs out cannot know whether the directory is gone for all, or only for itself. So it asks every node that could take
//! its rooms. One that does not hear the directory either promises not to bury it for a while; one that does hear it promises no longer
//! than it would have waited anyway. While all promises hold, nobody takes the rooms, and the node may tell.
//!
//! Which nodes those are must be agreed: an entry says up to which revision its node has [seen](crate::NodeValue::seen) the others join. A
//! node that joined later is not asked, so it does not bury before it has introduced itself, by asking too, or before the time is over for
//! which a node goes on without the directory.

use std::{collections::BTreeMap, time::Duration};

use netcore::{
    Time,
    probe::{self, Planted},
};

use super::life::Life;
use crate::{
    ASK_TIMEOUT, EXPIRY, Entry, HEARTBEAT, Holder, LEASE, Name, Node, NodeValue, Output, Revision, Ticket, Value,
};

/// How long after its lease a node goes on that does not reach the directory, while all others promise it.
pub const OUTAGE: Duration = Duration::from_secs(30 * 60);
/// For how long a node promises that does not hear the directory either.
const PROMISE: Duration = Duration::from_secs(6);
/// How often others are asked.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// How often a node is asked that may not know this one.
const INTRODUCE_AGAIN: Duration = Duration::from_secs(5);

/// A question from one life of a node to one life of another one: for how long are my rooms left alone?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plea {
    /// Who is asked.
    pub to: Holder,
    /// Who asks, and in which life; none before it has joined.
    pub from: (Name, Option<Revision>),
}

/// The answer to a [`Plea`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// So long, from when the question arrived. From now on the one who was asked knows the one who asks.
    For(Duration),
    /// Nobody is there in that life, and nobody will ever be.
    Gone,
}

/// A question without an answer.
#[derive(Debug)]
struct Asked {
    ticket: Ticket,
    at: Time,
    plea: Plea,
}

/// What was asked of others, and promised.
#[derive(Debug, Default)]
pub(super) struct Promises {
    asked: BTreeMap<Name, Asked>,
    // Others are asked again then.
    next: Time,
    // What others in their lives have promised: until when, by the clock of this node.
    made: BTreeMap<Name, (Revision, Time)>,
    // What this node has promised to others.
    given: BTreeMap<Name, Time>,
    // Entries that this node has wanted to remove. The write may still be on its way.
    doomed: BTreeMap<Name, Revision>,
    // The same of lives whose heartbeats are to end: the life, and the last heartbeat that is expected.
    doomed_heartbeats: BTreeMap<Name, (Revision, Option<Revision>)>,
    // Lives of others that know this node, or are over.
    met: BTreeMap<Name, Revision>,
    // When those are asked again that may not know it.
    introduces: BTreeMap<Name, Time>,
}

impl Promises {
    /// This life of the node is over, and nobody knows the next one.
    pub(super) fn forget_met(&mut self) {
        self.met.clear();
    }

    /// The entry of a node of this revision is to be removed.
    pub(super) fn doom(&mut self, name: Name, revision: Revision) {
        self.doomed.insert(name, revision);
    }

    /// The heartbeats of a life of a node are to end after this one.
    pub(super) fn doom_heartbeats(&mut self, name: Name, life: Revision, last: Option<Revision>) {
        self.doomed_heartbeats.insert(name, (life, last));
    }

    /// The life of a node whose heartbeats were to end.
    pub(super) fn doomed_life(&self, name: &Name) -> Option<Revision> {
        self.doomed_heartbeats.get(name).map(|(life, _)| *life)
    }
}

impl Node {
    /// Until when the node may tell anybody anything of its rooms, as far as it knows.
    pub fn tells_until(&self) -> Option<Time> {
        let life = self.life.as_ref()?;
        if probe::has(Planted::LeaseIgnored) {
            return Some(Time::from_nanos(u64::MAX));
        }
        let promised = |(name, life): (&Name, Revision)| match self.promises.made.get(name) {
            Some((by, until)) if *by == life => *until,
            _ => Time::ZERO,
        };
        let all = self.view.others(&self.settings.name).map(promised).min();
        let all = all.unwrap_or(Time::from_nanos(u64::MAX)).min(life.lease().plus(self.settings.outage));
        Some(life.lease().max(all))
    }

    // Whether a heartbeat should have been stored by now that was not.
    fn doubts(&self, now: Time) -> bool {
        self.life.as_ref().is_none_or(|life| now.plus(LEASE) >= life.lease().plus(HEARTBEAT + ASK_AGAIN))
    }

    /// Answers another node.
    pub fn promise(&mut self, now: Time, plea: &Plea) -> Promise {
        let own = self.life.as_ref().map(|life| life.since);
        if !self.holds(&plea.to) || own.is_some_and(|own| own > plea.to.life) {
            return Promise::Gone;
        }
        let (name, Some(life)) = &plea.from else { return Promise::For(Duration::ZERO) };
        self.view.meet(name, *life);
        self.note_asker(now, name, *life);
        // The reply that says that this life has begun may still be on its way.
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

    /// When the entry of another node, or of another data directory with the name of this one, may be removed if nothing more is heard of it.
    pub(super) fn burial(&self, name: &Name, entry: &Entry, heard: Time) -> Time {
        // Whoever takes a minority of the time that it is allowed to be silent for death, has two owners.
        let expiry = if probe::has(Planted::ExpiredTooEarly) { EXPIRY / 4 } else { EXPIRY };
        let knows = self.is_known_to(name, entry) || probe::has(Planted::StrangerBuries);
        let due = heard.plus(if knows { expiry } else { EXPIRY + self.settings.outage * 3 / 2 });
        let given = self.promises.given.get(name).filter(|_| !probe::has(Planted::PromiseForgotten));
        given.map_or(due, |given| due.max(*given))
    }

    // Whether the node of this entry asks this node for promises, if it still runs.
    fn is_known_to(&self, name: &Name, entry: &Entry) -> bool {
        let has_seen = self.life.as_ref().is_some_and(|life| entry.seen().is_none_or(|seen| life.since <= seen));
        has_seen || entry.life().is_some_and(|life| self.promises.met.get(name) == Some(&life))
    }

    // Those who are asked now: for promises, or to know this node before it buries them.
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

    /// When somebody is asked next, or an answer is given up.
    pub(super) fn next_plea(&self) -> Option<Time> {
        let free = self.pleas().filter(|(_, name, _)| !self.promises.asked.contains_key(name)).map(|(at, ..)| at);
        free.chain(self.promises.asked.values().map(|asked| asked.at.plus(ASK_TIMEOUT))).min()
    }

    /// Asks those whose turn it is.
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
            // Whoever was not seen for long, or is of a later version, cannot be asked.
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

    /// What another node has answered; nothing if it could not be asked.
    pub(super) fn promised(&mut self, now: Time, ticket: Ticket, promise: Option<Promise>) {
        let name = self.promises.asked.iter().find(|(_, asked)| asked.ticket == ticket).map(|(name, _)| name.clone());
        let Some(Asked { at, plea, .. }) = name.and_then(|name| self.promises.asked.remove(&name)) else { return };
        let Holder { node: name, life, .. } = plea.to;
        let own = self.life.as_ref().map(|life| life.since);
        let (until, knows) = match promise {
            None => return,
            // Its clock may be slower.
            Some(Promise::For(time)) => (at.plus(time * 2 / 3), own.is_some() && plea.from.1 == own),
            Some(Promise::Gone) => (Time::from_nanos(u64::MAX), true),
        };
        if knows {
            self.promises.met.insert(name.clone(), life);
        }
        let before =
            self.promises.made.get(&name).filter(|(by, _)| *by == life).map_or(Time::ZERO, |(_, until)| *until);
        let lease = self.life.as_ref().map_or(Time::ZERO, Life::lease);
        // Whoever is gone may have taken the rooms before, if nothing kept it from that.
        if promise != Some(Promise::Gone) || now < before.max(lease) {
            self.promises.made.insert(name, (life, until.max(before)));
        }
    }
}
