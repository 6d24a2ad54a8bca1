//! A table as a room of its own.

use alloc::{format, string::ToString};
use bytes::Bytes;
use netcore::{Engine, Fingerprint, Input, Leave, Outbox, Outcome, PeerId, Role, Severity, Status, Time};

use super::Table;
use crate::{
    protocol::{Blackjack, DealerMessage, PlayerMessage, Request},
    server::{
        admission::Admission,
        fault::{Fault, note},
    },
};

impl Table {
    fn connected(&mut self, now: Time, who: (PeerId, Role), address: &str, out: &mut Outbox) {
        let due = now.plus(self.config.timeout);
        // Built for watchers only: thousands of players may connect.
        let view = (who.1 == Role::Watcher).then(|| self.view());
        let Self { pending, places, watchers, ended, .. } = self;
        let admission = Admission { pending, places, watchers, closed: ended.is_some() };
        admission.enter((now, due), who, address, || view.map_or_else(Bytes::new, |view| view.to_bytes()), out);
    }

    fn request(&mut self, now: Time, peer: PeerId, Request { dialect, message }: Request, out: &mut Outbox) {
        if !self.pending.has(peer) {
            return self.receive(now, peer, message, out);
        }
        if self.config.trace {
            note(out, Severity::Requested, Some(peer), format!("> {message}"));
        }
        let PlayerMessage::Join(name) = message else {
            return self.turn_away(peer, &Fault::OutOfTurn(message), out);
        };
        self.pending.leave(peer);
        if self.has_room() {
            self.seat(now, peer, (name, dialect), out);
        } else {
            note(out, Severity::Info, Some(peer), format!("{name} is sent away: all seats are taken"));
            out.send(peer, DealerMessage::Quit.to_bytes(dialect));
            self.let_go(peer, out);
        }
    }

    // Disconnects a client that has not joined; its dialect may be unknown, so it gets no message.
    fn turn_away(&mut self, peer: PeerId, fault: &Fault, out: &mut Outbox) {
        fault.tell(peer, None, out);
        self.let_go(peer, out);
    }

    fn let_go(&mut self, peer: PeerId, out: &mut Outbox) {
        self.pending.leave(peer);
        self.places.leave(peer);
        out.close(peer);
    }

    // What is done after each input.
    fn settle(&mut self, now: Time, out: &mut Outbox) {
        for peer in self.take_closed() {
            self.places.leave(peer);
        }
        if let Some(standings) = self.take_result() {
            out.summary(if self.config.json { standings.to_json() } else { standings.to_string() });
        }
        if self.ended.is_some() {
            for peer in self.pending.peers() {
                self.let_go(peer, out);
            }
            if !self.watchers.is_empty() {
                self.watchers.dismiss(now, &self.view().to_bytes(), out);
            }
        } else if self.watchers.changed(now) {
            self.watchers.show(now, &self.view().to_bytes(), out);
        }
        self.take_fingerprint();
    }
}

impl Engine for Table {
    type Protocol = Blackjack;

    fn input(&mut self, now: Time, input: Input<'_, Request>, out: &mut Outbox) {
        match input {
            Input::Connected { peer, role, address, .. } => self.connected(now, (peer, role), &address, out),
            // Messages of watchers are ignored.
            Input::Message { peer, .. } | Input::Malformed { peer, .. } if self.watchers.has(peer) => {}
            Input::Message { peer, message } => self.request(now, peer, message, out),
            Input::Malformed { peer, why } if self.pending.has(peer) => {
                self.turn_away(peer, &Fault::Malformed(why), out);
            }
            Input::Malformed { peer, why } => self.fault(now, peer, &Fault::Malformed(why), out),
            Input::Refresh { peer } if self.watchers.has(peer) => out.send(peer, self.view().to_bytes()),
            Input::Refresh { peer } => self.refresh(now, peer, out),
            Input::Disconnected { peer, .. } if self.pending.has(peer) => self.let_go(peer, out),
            Input::Disconnected { peer, .. } if self.watchers.leave(peer) => out.close(peer),
            Input::Disconnected { peer, why } => self.gone(now, peer, why, out),
            Input::Elapsed => {
                while let Some(peer) = self.pending.late(now) {
                    self.turn_away(peer, &Fault::NoJoin, out);
                }
                self.elapse(now, out);
            }
            Input::Stop(Leave::Over) => self.stop(now, out),
            Input::Stop(Leave::Resumable) => {
                // No peer is told, and the state does not change.
                self.suspended = true;
                return;
            }
        }
        self.settle(now, out);
    }

    fn deadline(&self) -> Option<Time> {
        [self.due(), self.pending.deadline(), self.watchers.deadline()].into_iter().flatten().min()
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.suspended { Some(Outcome::Stopped) } else { self.ended.filter(|_| self.is_empty()) }
    }

    fn digest(&self) -> u64 {
        let mut fingerprint = Fingerprint::new();
        for part in
            [self.fingerprint(), self.pending.fingerprint(), self.places.fingerprint(), self.watchers.fingerprint()]
        {
            fingerprint.add(part);
        }
        fingerprint.add(u64::from(self.suspended));
        fingerprint.value()
    }

    fn status(&self) -> Status {
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
        let seated = self.seats.iter().flatten().filter(|seat| !seat.leaving).count();
        let taken = seated + self.held.iter().flatten().count();
        Status { phase: self.phase(), taken: count(taken), seats: count(self.config.players) }
    }
}
