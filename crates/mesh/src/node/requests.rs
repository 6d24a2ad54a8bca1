//! At most one pending request for each key.

use std::time::Duration;

use netcore::Time;

use crate::{Key, Node, Output, REQUEST_TIMEOUT, Reply, Revision, Ticket, Value, WriteRequest, Written};

const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Entry,
    Heartbeat,
    Leave,
    Expire,
    Claim,
    Row,
    Release,
    Close,
    /// An unknown claim of this life.
    StaleClaim,
}

#[derive(Debug)]
pub(super) struct PendingWrite {
    ticket: Ticket,
    pub(super) at: Time,
    purpose: Purpose,
    life: Option<Revision>,
}

impl Node {
    pub(super) fn is_free(&self, now: Time, key: &Key) -> bool {
        !self.pending.contains_key(key) && self.pauses.get(key).is_none_or(|until| *until <= now)
    }

    /// The later of `at` and the end of the key's pause.
    pub(super) fn not_before(&self, key: &Key, at: Time) -> Time {
        self.pauses.get(key).map_or(at, |until| at.max(*until))
    }

    pub(super) fn write(
        &mut self,
        now: Time,
        purpose: Purpose,
        key: Key,
        (value, expected): (Option<Value>, Option<Revision>),
        out: &mut Vec<Output>,
    ) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let life = self.life.as_ref().map(|life| life.since);
        self.pending.insert(key.clone(), PendingWrite { ticket, at: now, purpose, life });
        out.push(Output::Write(ticket, WriteRequest { key, value, expected }));
    }

    pub(super) fn time_out_requests(&mut self, now: Time) {
        self.pauses.retain(|_, until| *until > now);
        let late = self.pending.iter().filter(|(_, pending)| now.since(pending.at) >= REQUEST_TIMEOUT);
        for key in late.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            if let Some(pending) = self.pending.remove(&key) {
                self.request_failed(&key, pending.purpose);
            }
        }
    }

    fn request_failed(&mut self, key: &Key, purpose: Purpose) {
        if let (Purpose::Row, Key::Room(name)) = (purpose, key) {
            self.reschedule_entry(name);
        }
    }

    pub(super) fn take_reply(&mut self, now: Time, ticket: Ticket, reply: Reply, out: &mut Vec<Output>) {
        let Some(key) = self.pending.iter().find(|(_, pending)| pending.ticket == ticket).map(|(key, _)| key.clone())
        else {
            return;
        };
        let Some(PendingWrite { at, purpose, life, .. }) = self.pending.remove(&key) else { return };
        let Reply::Written(written) = reply else {
            self.request_failed(&key, purpose);
            self.pauses.insert(key, now.plus(PAUSE));
            return;
        };
        if let Written::Conflict(Some(entry)) = &written {
            self.view.learn(now, &key, entry);
        }
        match (purpose, key) {
            (Purpose::Entry, _) => self.entry_written(now, at, written),
            (Purpose::Leave, _) => self.left(&written, out),
            (Purpose::Heartbeat, _) => self.heartbeat_answered(now, (at, life), written),
            (Purpose::Expire, Key::Node(name)) => self.node_expired(&name, &written),
            (Purpose::Expire, Key::Heartbeat(name)) => self.heartbeats_ended(&name, &written),
            (Purpose::Claim, Key::Room(name)) => self.claimed(now, (&name, life), &written, out),
            (Purpose::Row, Key::Room(name)) => self.row_written(now, &name, written, out),
            (Purpose::Release | Purpose::Close, Key::Room(name)) => self.ended(now, &name, &written, out),
            _ => {}
        }
    }
}
