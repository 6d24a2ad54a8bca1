//! The entry of a node: joining, heartbeats, leaving, and the entries of nodes that are dead.

use std::time::Duration;

use netcore::{
    Time,
    probe::{self, Planted},
};

use super::{asking::Purpose, plan::Plan};
use crate::{Delta, HEARTBEAT, Key, LEASE, Name, Node, NodeValue, Output, Revision, Value, Written};

/// How soon a name is looked at again that another one has.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What the node knows of its own entry.
#[derive(Debug)]
pub(super) struct Life {
    /// The revision that began it.
    pub(super) since: Revision,
    /// The last one.
    last: Revision,
    /// Until when its claims hold.
    pub(super) lease: Time,
    /// Whether the entry says that the node drains.
    pub(super) drains: bool,
}

/// What a heartbeat says, and what of the directory was reached when it was sent.
#[derive(Debug, Default)]
pub(super) struct Said {
    drains: bool,
    seen: Revision,
    reached: Revision,
}

impl Node {
    /// Takes in a change of the directory.
    pub(super) fn see(&mut self, now: Time, delta: &Delta, out: &mut Vec<Output>) {
        self.view.apply(now, delta);
        match delta {
            Delta::Reset => self.orphans.clear(),
            Delta::Put(Key::Node(name), entry) => {
                let is_other = |life: &Life| entry.revision > life.last && entry.life() != Some(life.since);
                if *name == self.settings.name && self.life.as_ref().is_some_and(is_other) {
                    self.die(now);
                }
                // Also when its own entry is shown, which says less than is known now.
                self.hurries |= self.view.has_newcomers(&self.settings.name, self.said.seen);
                self.confirm(now);
                self.look_for_orphans(now);
            }
            Delta::Removed(Key::Node(name), revision) => {
                if *name == self.settings.name && self.life.as_ref().is_some_and(|life| *revision > life.last) {
                    self.die(now);
                }
                self.look_for_orphans(now);
            }
            Delta::Put(Key::Room(name), entry) => {
                self.room_changed(name, entry, out);
                self.look_at(now, name);
            }
            Delta::Removed(Key::Room(name), revision) => {
                self.room_removed(name, *revision, out);
                self.look_at(now, name);
            }
            Delta::Put(..) | Delta::Removed(..) => {}
        }
    }

    // The others have taken it for dead. What it owned it may own again, in another life.
    fn die(&mut self, now: Time) {
        if probe::has(Planted::ExpiryUnnoticed) {
            return;
        }
        self.life = None;
        self.promises.forget_met();
        self.next_beat = now;
        // The answer to a heartbeat of that life is of no use.
        self.asked.remove(&self.key());
        self.look_for_orphans(now);
    }

    /// Writes the entry of the node when that is due.
    pub(super) fn live(&mut self, now: Time, out: &mut Vec<Output>) {
        let key = self.key();
        if self.next_beat > now || !self.is_free(now, &key) {
            return;
        }
        if let Plan::Leave { told } = &mut self.plan {
            let Some(life) = &self.life else {
                if !std::mem::replace(told, true) {
                    out.push(Output::Left);
                }
                self.next_beat = Time::from_nanos(u64::MAX);
                return;
            };
            let expected = Some(life.last);
            self.ask(now, Purpose::Leave, key, (None, expected), out);
            return;
        }
        let (life, expected) = match &self.life {
            Some(life) => (Some(life.since), Some(life.last)),
            None => match self.view.node(&self.settings.name) {
                None => (None, None),
                // An earlier life of this data directory, whose process is dead or is this one.
                Some(entry) if matches!(&entry.value, Value::Node(node) if node.identity == self.settings.identity) => {
                    (None, Some(entry.revision))
                }
                Some(_) => {
                    if !std::mem::replace(&mut self.name_taken, true) {
                        out.push(Output::NameTaken);
                    }
                    self.next_beat = now.plus(LOOK_AGAIN);
                    return;
                }
            },
        };
        let (identity, address) = (self.settings.identity.clone(), self.settings.address.clone());
        let draining = self.plan != Plan::Serve;
        let (runs, (seen, reached)) = (self.settings.runs.clone(), self.view.known());
        (self.said, self.hurries) = (Said { drains: draining, seen, reached }, false);
        let seen = Some(seen);
        let value = Value::Node(NodeValue { identity, address, life, draining, runs, seen });
        self.ask(now, Purpose::Live, key, (Some(value), expected), out);
    }

    /// The answer to a heartbeat that was sent at `at`.
    pub(super) fn beaten(&mut self, now: Time, at: Time, written: Written) {
        self.take_beat(now, at, written);
        // It was on its way when the node was to drain.
        if self.plan == Plan::Drain && self.life.as_ref().is_some_and(|life| !life.drains) {
            self.next_beat = now;
        }
        self.confirm(now);
    }

    // Those who have joined bury this node only once its entry says that it knows them.
    fn confirm(&mut self, now: Time) {
        self.view.confirm(now);
        if self.hurries && self.life.is_some() && !self.asked.contains_key(&self.key()) {
            self.next_beat = self.next_beat.min(now);
        }
    }

    fn take_beat(&mut self, now: Time, at: Time, written: Written) {
        match (written, &mut self.life) {
            (Written::Stored(revision), Some(life)) => {
                // Counted from before it was sent: the others have heard of it later.
                life.lease = at.plus(LEASE);
                life.last = revision;
                life.drains = self.said.drains;
                self.view.note_written(self.said.reached, at, revision);
                self.next_beat = self.next_beat.max(at.plus(HEARTBEAT));
                if at.plus(LEASE) > now {
                    self.hear_again(now);
                }
            }
            (Written::Stored(revision), None) => {
                let drains = self.said.drains;
                self.life = Some(Life { since: revision, last: revision, lease: at.plus(LEASE), drains });
                self.view.note_over(&self.settings.name, revision);
                self.view.note_written(self.said.reached, at, revision);
                self.name_taken = false;
                self.next_beat = at.plus(HEARTBEAT);
                self.hear_again(now);
                self.look_for_orphans(now);
            }
            // An earlier attempt was stored though its answer was lost.
            (Written::Conflict(Some(entry)), Some(life)) if entry.life() == Some(life.since) => {
                life.last = entry.revision;
                self.next_beat = now;
            }
            (Written::Conflict(_), Some(life)) if probe::has(Planted::ExpiryUnnoticed) => {
                life.lease = at.plus(LEASE);
                self.next_beat = at.plus(HEARTBEAT);
            }
            (Written::Conflict(_), Some(_)) => self.die(now),
            // What is there is known now.
            (Written::Conflict(entry), None) => {
                if entry.is_none() {
                    self.view.forget_node(&self.settings.name, Revision(u64::MAX));
                }
                self.next_beat = now;
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
        if let Plan::Leave { told } = &mut self.plan
            && !std::mem::replace(told, true)
        {
            out.push(Output::Left);
        }
        self.next_beat = Time::from_nanos(u64::MAX);
    }

    /// Removes the entries of nodes that have been silent for too long. It fails if one has written again.
    pub(super) fn bury(&mut self, now: Time, out: &mut Vec<Output>) {
        let silent: Vec<_> = self.burials().filter(|(_, _, at)| *at <= now).map(|(key, of, _)| (key, of)).collect();
        for (key, revision) in silent {
            if let (true, Key::Node(name)) = (self.is_free(now, &key), &key) {
                self.promises.doom(name.clone(), revision);
                self.ask(now, Purpose::Bury, key, (None, Some(revision)), out);
            }
        }
    }

    /// Entries of nodes that are to be removed, of which revision, and when if nothing more is heard of them.
    pub(super) fn burials(&self) -> impl Iterator<Item = (Key, Revision, Time)> {
        let silent = self.view.nodes().filter(|(name, ..)| self.may_bury(name));
        silent.map(|(name, entry, heard)| (Key::Node(name.clone()), entry.revision, self.burial(name, entry, heard)))
    }

    /// Whether an entry is that of another node, or of another data directory that uses the name of this one.
    pub(super) fn may_bury(&self, node: &Name) -> bool {
        if *node == self.settings.name { self.life.is_none() } else { !self.is_deaf }
    }

    // Whoever was not heard while this node could not hear has as long again.
    fn hear_again(&mut self, now: Time) {
        if std::mem::take(&mut self.is_deaf) {
            self.view.hear_all(now);
        }
    }

    /// The answer to a burial.
    pub(super) fn buried(&mut self, node: &Name, written: &Written) {
        match written {
            Written::Stored(revision) => {
                self.view.forget_node(node, *revision);
                self.view.note_over(node, *revision);
            }
            // Somebody else was faster. That all its lives are over the watch tells, which has the revision.
            Written::Conflict(None) => self.view.forget_node(node, Revision(u64::MAX)),
            Written::Conflict(Some(_)) => {}
        }
    }
}
