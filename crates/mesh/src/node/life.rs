//! The entry of the node: joining, heartbeats, leaving, and the removal of dead nodes' entries.
//!
//! A life starts when an entry is written, and ends when it is removed. The field [`apart`](crate::NodeValue::apart)
//! determines how a node proves that it is alive:
//!
//! - Not apart: each heartbeat rewrites the entry. A node uses this while it knows a node of an earlier version, which
//!   understands nothing else.
//! - Apart: heartbeats have separate entries. Before the entry of a silent node is removed, another node ends its
//!   heartbeats with a write that expects the last one: either this write fails, or all later heartbeats of this life
//!   do.
//!
//! Every change between the two rewrites the entry, so a removal that expects the earlier entry fails. A joining node
//! that does not understand separate heartbeats may remove the entry of another node only after that entry states that
//! the other node has [seen](crate::NodeValue::seen) it join, or after it has introduced itself.

use std::time::Duration;

use netcore::Time;

use super::{Plan, Purpose};
use crate::{
    Delta, ENTRY_AGE_SECONDS, Entry, HEARTBEAT, HeartbeatValue, Key, LEASE, LEVEL, Name, Node, NodeValue, Output,
    Revision, Value, Written,
};

/// The interval between checks of a name that another node uses.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// An entry with separate heartbeats is rewritten this often, so that it does not expire.
const TOUCH: Duration = Duration::from_secs(ENTRY_AGE_SECONDS / 24);

#[derive(Debug)]
pub(super) struct Life {
    pub(super) since: Revision,
    last: Revision,
    entry_lease: Time,
    /// False as soon as an entry that states `false` may have been stored.
    pub(super) apart: bool,
    /// The last stored separate heartbeat, and the lease from heartbeats.
    heartbeat: Option<Revision>,
    heartbeat_lease: Time,
    pub(super) drains: bool,
}

impl Life {
    pub(super) fn lease(&self) -> Time {
        if self.apart { self.entry_lease.max(self.heartbeat_lease) } else { self.entry_lease }
    }

    // Whether `there`, which is stored in place of the last heartbeat, proves that this life is over. A recreated
    // directory restarts revisions, so they do not show which of two lives is later. But before the first heartbeat,
    // and while the lease from the entry is valid, only an earlier life can have left a heartbeat.
    fn is_over_by(&self, there: &Value, now: Time) -> bool {
        match there {
            Value::Heartbeat(heartbeat) if heartbeat.life == self.since => heartbeat.ended,
            _ => self.heartbeat_lease > Time::ZERO || now >= self.entry_lease,
        }
    }
}

/// The fields of the last sent entry, and the revision that the watch had reached then.
#[derive(Debug, Default)]
pub(super) struct LastWrite {
    drains: bool,
    apart: bool,
    seen: Revision,
    reached: Revision,
}

impl Node {
    pub(super) fn apply_delta(&mut self, now: Time, delta: &Delta, out: &mut Vec<Output>) {
        // A new node has no rows yet.
        let is_newcomer = |(name, entry): (&Name, &Entry)| {
            *name != self.settings.name && self.view.node(name).and_then(Entry::life) != entry.life()
        };
        let joins = matches!(delta, Delta::Put(Key::Node(name), entry) if is_newcomer((name, entry)));
        self.view.apply(now, delta);
        if joins {
            self.repeat_summary();
        }
        match delta {
            Delta::Reset => self.orphans.clear(),
            Delta::Put(Key::Node(name), entry) => {
                let is_other = |life: &Life| entry.revision > life.last && entry.life() != Some(life.since);
                if *name == self.settings.name && self.life.as_ref().is_some_and(is_other) {
                    self.end_life(now);
                }
                // The watch may also show the own entry, which may lack nodes that are known by now.
                self.entry_is_due |= self.view.has_newcomers(&self.settings.name, self.last_write.seen);
                self.confirm(now);
                self.scan_orphans(now);
            }
            Delta::Removed(Key::Node(name), revision) => {
                if *name == self.settings.name && self.life.as_ref().is_some_and(|life| *revision > life.last) {
                    self.end_life(now);
                }
                self.scan_orphans(now);
            }
            Delta::Put(Key::Room(name), entry) => {
                self.room_changed(name, entry, out);
                self.update_orphan(now, name);
            }
            Delta::Removed(Key::Room(name), revision) => {
                self.room_removed(name, *revision, out);
                self.update_orphan(now, name);
            }
            Delta::Put(Key::Heartbeat(name), entry) if *name == self.settings.name && self.is_ended_by(entry) => {
                self.end_life(now);
            }
            Delta::Put(..) | Delta::Removed(..) => {}
        }
    }

    fn is_ended_by(&self, entry: &Entry) -> bool {
        let Value::Heartbeat(heartbeat) = &entry.value else { return false };
        self.life.as_ref().is_some_and(|own| heartbeat.ends(own.since))
    }

    fn wants_apart(&self) -> bool {
        self.view.others(&self.settings.name).all(|(name, life)| self.view.understands_heartbeats(name, life))
    }

    /// Handles a request of another node, which may take rooms in this life. If it does not understand separate
    /// heartbeats, only writes of the entry extend the lease from now on.
    pub(super) fn note_asker(&mut self, now: Time, name: &Name, life: Revision) {
        if !self.view.understands_heartbeats(name, life)
            && let Some(own) = self.life.as_mut().filter(|own| own.apart)
        {
            (own.apart, own.heartbeat_lease) = (false, Time::ZERO);
            self.next_entry = now;
            self.pending.remove(&self.heartbeat_key());
        }
    }

    // Other nodes have declared the node dead. It may claim its rooms in another life.
    fn end_life(&mut self, now: Time) {
        self.life = None;
        self.leases.clear_met();
        self.next_entry = now;
        self.pending.remove(&self.key());
        self.pending.remove(&self.heartbeat_key());
        self.scan_orphans(now);
    }

    pub(super) fn live(&mut self, now: Time, out: &mut Vec<Output>) {
        let key = self.key();
        let apart = self.wants_apart();
        if self.life.as_ref().is_some_and(|life| life.apart != apart) && !self.pending.contains_key(&key) {
            self.next_entry = self.next_entry.min(now);
        }
        if self.next_entry > now || !self.is_free(now, &key) {
            return;
        }
        if let Plan::Leave { announced } = &mut self.plan {
            let Some(life) = &self.life else {
                if !std::mem::replace(announced, true) {
                    out.push(Output::Left);
                }
                self.next_entry = Time::from_nanos(u64::MAX);
                return;
            };
            let expected = Some(life.last);
            self.write(now, Purpose::Leave, key, (None, expected), out);
            return;
        }
        let (life, expected) = match &self.life {
            Some(life) => (Some(life.since), Some(life.last)),
            None => match self.view.node(&self.settings.name) {
                None => (None, None),
                // An earlier life of this data directory. Its process is dead or is this one.
                Some(entry) if matches!(&entry.value, Value::Node(node) if node.identity == self.settings.identity) => {
                    (None, Some(entry.revision))
                }
                Some(_) => {
                    if !std::mem::replace(&mut self.name_taken, true) {
                        out.push(Output::NameTaken);
                    }
                    self.next_entry = now.plus(LOOK_AGAIN);
                    return;
                }
            },
        };
        let (identity, address) = (self.settings.identity.clone(), self.settings.address.clone());
        let draining = self.plan != Plan::Serve;
        let (runs, (seen, reached)) = (self.settings.runs.clone(), self.view.revisions());
        (self.last_write, self.entry_is_due) = (LastWrite { drains: draining, apart, seen, reached }, false);
        if let Some(life) = self.life.as_mut().filter(|life| life.apart && !apart) {
            // If the write is stored, other nodes count the expiry from it, so no further heartbeat is sent.
            (life.entry_lease, life.apart) = (life.lease(), false);
        }
        let (seen, apart) = (Some(seen), Some(apart));
        let value = Value::Node(NodeValue { identity, address, life, draining, runs, seen, apart, level: LEVEL });
        self.write(now, Purpose::Entry, key, (Some(value), expected), out);
    }

    pub(super) fn send_heartbeat(&mut self, now: Time, out: &mut Vec<Output>) {
        let key = self.heartbeat_key();
        let Some(life) = self.life.as_ref().filter(|life| life.apart) else { return };
        if self.next_heartbeat > now || !self.is_free(now, &key) || matches!(self.plan, Plan::Leave { .. }) {
            return;
        }
        let value = Value::Heartbeat(HeartbeatValue { life: life.since, ended: false });
        let expected = life.heartbeat;
        self.write(now, Purpose::Heartbeat, key, (Some(value), expected), out);
    }

    pub(super) fn heartbeat_answered(&mut self, now: Time, (at, of): (Time, Option<Revision>), written: Written) {
        let Some(life) = self.life.as_mut().filter(|life| Some(life.since) == of) else { return };
        match written {
            Written::Stored(revision) => {
                // The lease counts from before the send; other nodes receive the heartbeat later.
                (life.heartbeat, life.heartbeat_lease) = (Some(revision), at.plus(LEASE));
                self.next_heartbeat = at.plus(HEARTBEAT);
                if self.life.as_ref().is_some_and(|life| life.lease() > now) {
                    self.restart_expiry(now);
                }
            }
            Written::Conflict(there) => {
                let is_over = there.as_ref().is_some_and(|there| life.is_over_by(&there.value, now));
                // An earlier attempt was stored and its reply lost, or an earlier life has left this heartbeat.
                life.heartbeat = there.map(|there| there.revision);
                self.next_heartbeat = now;
                if is_over {
                    self.end_life(now);
                }
            }
        }
    }

    pub(super) fn entry_written(&mut self, now: Time, at: Time, written: Written) {
        self.take_entry_reply(now, at, written);
        // The write was in transit when draining started.
        let is_late = self.plan == Plan::Drain && self.life.as_ref().is_some_and(|life| !life.drains);
        if is_late || matches!(self.plan, Plan::Leave { .. }) {
            self.next_entry = now;
        }
        self.confirm(now);
    }

    // Nodes that have joined may remove this entry only after it states that this node knows them.
    fn confirm(&mut self, now: Time) {
        self.view.confirm(now);
        if self.entry_is_due && self.life.is_some() && !self.pending.contains_key(&self.key()) {
            self.next_entry = self.next_entry.min(now);
        }
    }

    // The entry is due earlier if joined nodes still have to be confirmed.
    fn entry_due(&self, at: Time) -> Time {
        let is_known = !self.view.has_newcomers(&self.settings.name, self.last_write.seen);
        at.plus(if self.last_write.apart && is_known { TOUCH } else { HEARTBEAT })
    }

    fn take_entry_reply(&mut self, now: Time, at: Time, written: Written) {
        let due = self.entry_due(at);
        match (written, &mut self.life) {
            (Written::Stored(revision), Some(life)) => {
                // The lease counts from before the send; other nodes receive the write later.
                (life.entry_lease, life.apart) = (at.plus(LEASE), self.last_write.apart);
                life.last = revision;
                life.drains = self.last_write.drains;
                self.view.note_written(self.last_write.reached, at, revision);
                self.next_entry = due;
                self.next_heartbeat = self.next_heartbeat.min(at.plus(HEARTBEAT));
                if at.plus(LEASE) > now {
                    self.restart_expiry(now);
                }
            }
            (Written::Stored(revision), None) => {
                let LastWrite { drains, apart, .. } = self.last_write;
                let (entry_lease, heartbeat, heartbeat_lease) = (at.plus(LEASE), None, Time::ZERO);
                let (since, last) = (revision, revision);
                self.life = Some(Life { since, last, entry_lease, apart, heartbeat, heartbeat_lease, drains });
                self.next_heartbeat = now;
                self.view.note_over(&self.settings.name, revision);
                self.view.note_written(self.last_write.reached, at, revision);
                self.name_taken = false;
                self.next_entry = due;
                self.restart_expiry(now);
                self.scan_orphans(now);
            }
            // An earlier attempt was stored, but its reply was lost.
            (Written::Conflict(Some(entry)), Some(life)) if entry.life() == Some(life.since) => {
                life.last = entry.revision;
                life.apart = matches!(entry.value, Value::Node(NodeValue { apart: Some(true), .. }));
                self.next_entry = now;
            }
            (Written::Conflict(_), Some(_)) => self.end_life(now),
            // The view contains the existing entry now.
            (Written::Conflict(entry), None) => {
                if entry.is_none() {
                    self.view.remove_node(&self.settings.name, Revision(u64::MAX));
                }
                self.next_entry = now;
            }
        }
    }

    pub(super) fn left(&mut self, written: &Written, out: &mut Vec<Output>) {
        if let (Written::Conflict(Some(entry)), Some(life)) = (written, &mut self.life)
            && entry.life() == Some(life.since)
        {
            life.last = entry.revision;
            return;
        }
        self.life = None;
        if let Plan::Leave { announced } = &mut self.plan
            && !std::mem::replace(announced, true)
        {
            out.push(Output::Left);
        }
        self.next_entry = Time::from_nanos(u64::MAX);
    }

    /// Ends the heartbeats of silent nodes, and then removes their entries. The removal fails if the node has written
    /// again.
    pub(super) fn expire_nodes(&mut self, now: Time, out: &mut Vec<Output>) {
        let silent: Vec<_> = self.expiries().filter(|(_, _, at)| *at <= now).map(|(key, of, _)| (key, of)).collect();
        for (key, revision) in silent {
            let Key::Node(name) = &key else { continue };
            if let Some((life, last)) = self.view.heartbeats_to_end(name) {
                let heartbeats = Key::Heartbeat(name.clone());
                if self.is_free(now, &heartbeats) {
                    self.leases.note_ending_heartbeats(name.clone(), life, last);
                    let ended = Value::Heartbeat(HeartbeatValue { life, ended: true });
                    self.write(now, Purpose::Expire, heartbeats, (Some(ended), last), out);
                }
            } else if self.is_free(now, &key) {
                self.leases.note_expiring(name.clone(), revision);
                self.write(now, Purpose::Expire, key, (None, Some(revision)), out);
            }
        }
    }

    pub(super) fn heartbeats_ended(&mut self, node: &Name, written: &Written) {
        match (written, self.leases.ending_life(node)) {
            (Written::Stored(revision), Some(life)) => {
                self.view.end_heartbeats(node, *revision, HeartbeatValue { life, ended: true });
            }
            (Written::Conflict(None), _) => self.view.remove_heartbeats(node),
            // The view contains the existing heartbeat now.
            _ => {}
        }
    }

    /// The entries of silent nodes, their revisions, and when each is removed if no heartbeat arrives.
    pub(super) fn expiries(&self) -> impl Iterator<Item = (Key, Revision, Time)> {
        let silent = self.view.nodes().filter(|(name, ..)| self.may_expire(name));
        silent.map(|(name, entry, last_seen)| {
            (Key::Node(name.clone()), entry.revision, self.expiry(name, entry, last_seen))
        })
    }

    /// Whether this node may remove the entry: of another node, or of another data directory with this node's name.
    pub(super) fn may_expire(&self, node: &Name) -> bool {
        if *node == self.settings.name { self.life.is_none() } else { !self.missed_heartbeats }
    }

    fn restart_expiry(&mut self, now: Time) {
        if std::mem::take(&mut self.missed_heartbeats) {
            self.view.reset_heartbeats(now);
        }
    }

    pub(super) fn node_expired(&mut self, node: &Name, written: &Written) {
        match written {
            Written::Stored(revision) => {
                self.view.remove_node(node, *revision);
                self.view.note_over(node, *revision);
            }
            // Another node was faster. The watch reports the revision, and thereby that all its lives are over.
            Written::Conflict(None) => self.view.remove_node(node, Revision(u64::MAX)),
            Written::Conflict(Some(_)) => {}
        }
    }
}
