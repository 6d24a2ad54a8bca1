//! A table as a room of its own.

use alloc::{format, string::ToString};
use netcore::{Engine, Fingerprint, Input, Leave, Outbox, Outcome, PeerId, Role, Severity, Status, Time};

use super::Table;
use crate::{
    protocol::{Blackjack, DealerMessage, Request},
    server::fault::{Fault, note},
};

impl Table {
    fn connected(&mut self, now: Time, (peer, role): (PeerId, Role), address: &str, out: &mut Outbox) {
        let picture = (role == Role::Watcher).then(|| self.view().to_bytes());
        let due = now.plus(self.config.timeout);
        self.admission.enter(self.ended.is_none(), (now, due), peer, address, picture, out);
    }

    fn request(&mut self, now: Time, peer: PeerId, Request { dialect, message }: Request, out: &mut Outbox) {
        if !self.admission.pending.has(peer) {
            return self.receive(now, peer, message, out);
        }
        let Some(name) = self.admission.join(peer, message, self.config.trace, out) else { return };
        if self.has_room() {
            self.seat(now, peer, (name, dialect), out);
        } else {
            note(out, Severity::Info, Some(peer), format!("{name} is sent away: all seats are taken"));
            out.send(peer, DealerMessage::Quit.to_bytes(dialect));
            self.admission.close(peer, out);
        }
    }

    // What is done after each input.
    fn settle(&mut self, now: Time, out: &mut Outbox) {
        for peer in self.take_closed() {
            self.admission.places.leave(peer);
        }
        if let Some(standings) = self.take_result() {
            out.summary(if self.config.json { standings.to_json() } else { standings.to_string() });
        }
        let ended = self.ended.is_some();
        if ended {
            self.admission.dismiss(out);
        }
        if self.admission.watchers.changed(now, ended) {
            self.admission.watchers.show_or_dismiss(now, &self.view().to_bytes(), ended, out);
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
            Input::Message { peer, .. } | Input::Malformed { peer, .. } if self.admission.watchers.has(peer) => {}
            Input::Message { peer, message } => self.request(now, peer, message, out),
            Input::Malformed { peer, why } if self.admission.pending.has(peer) => {
                self.admission.turn_away(peer, &Fault::Malformed(why), out);
            }
            Input::Malformed { peer, why } => self.fault(now, peer, &Fault::Malformed(why), out),
            Input::Refresh { peer } if self.admission.watchers.has(peer) => out.send(peer, self.view().to_bytes()),
            Input::Refresh { peer } => self.refresh(now, peer, out),
            Input::Disconnected { peer, .. } if self.admission.pending.has(peer) => self.admission.close(peer, out),
            Input::Disconnected { peer, .. } if self.admission.watchers.leave(peer) => out.close(peer),
            Input::Disconnected { peer, why } => self.gone(now, peer, why, out),
            Input::Elapsed => {
                self.admission.elapse(now, out);
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
        [self.due(), self.admission.pending.deadline(), self.admission.watchers.deadline()].into_iter().flatten().min()
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.suspended { Some(Outcome::Stopped) } else { self.ended.filter(|_| self.is_empty()) }
    }

    fn digest(&self) -> u64 {
        let mut fingerprint = Fingerprint::new();
        for part in [
            self.fingerprint(),
            self.admission.pending.fingerprint(),
            self.admission.places.fingerprint(),
            self.admission.watchers.fingerprint(),
        ] {
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
