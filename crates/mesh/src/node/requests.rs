//! Pending requests of a node: at most one for each key.

use std::time::Duration;

use netcore::Time;

use crate::{Key, Node, Output, REQUEST_TIMEOUT, Reply, Revision, Ticket, Value, WriteRequest, Written};

/// The pause of a key after an error.
const PAUSE: Duration = Duration::from_secs(1);

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Writes the entry of this node.
    Entry,
    /// Stores a heartbeat of this node separately from its entry.
    Heartbeat,
    /// Removes the entry of this node.
    Leave,
    /// Ends the heartbeats of a dead node, or removes its entry.
    Expire,
    /// Claims a room.
    Claim,
    /// Updates the row that lobbies show for a room.
    Row,
    /// Releases a room for its handover.
    Release,
    /// Removes the entry of an ended room.
    Close,
    /// Removes an unknown claim of this life.
    StaleClaim,
}

/// A pending request.
#[derive(Debug)]
pub(super) struct PendingWrite {
    ticket: Ticket,
    pub(super) at: Time,
    purpose: Purpose,
    // The life of the node at the time of the request.
    life: Option<Revision>,
}

impl Node {
    /// Whether a request for this key may be sent.
    pub(super) fn is_free(&self, now: Time, key: &Key) -> bool {
        !self.pending.contains_key(key) && self.pauses.get(key).is_none_or(|until| *until <= now)
    }

    /// Returns `at` or the end of the pause of the key, whichever is later.
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

    /// Fails the requests that have timed out.
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
            self.reschedule_row(name);
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
            (Purpose::Row, Key::Room(name)) => self.shown(now, &name, written, out),
            (Purpose::Release | Purpose::Close, Key::Room(name)) => self.ended(now, &name, &written, out),
            _ => {}
        }
    }
}
