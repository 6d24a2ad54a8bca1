//! A dealer as an engine: what comes in, what follows from it, and when it wants to be called.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use netcore::{Engine, Fingerprint, Gone, Input, Leave, Occupant, Outbox, Outcome, PeerId, Phase, Status, Time};

use super::{Accounts, Guest, Server, fault::Fault};
use crate::protocol::{Blackjack, Request};

impl Server {
    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        while let Some(peer) = self.pending.late(now) {
            self.turn_away(peer, &Fault::NoJoin, out);
        }
        while let Some((table, seat)) = self.held.late(now) {
            self.at(now, table, out, |table, out| table.give_up(now, seat, out));
        }
        while let Some(&(at, number)) = self.alarms.first()
            && at <= now
        {
            self.alarms.pop_first();
            if let Some(entry) = self.tables.get_mut(&number) {
                entry.alarm = None;
            }
            self.at(now, number, out, |table, out| table.elapse(now, out));
        }
    }

    // What is done after each input.
    fn conclude(&mut self, now: Time, out: &mut Outbox) {
        if let (Some(mut accounts), Some(every)) = (self.accounts, self.config.accounts) {
            accounts.give(now, every, self, out);
            self.accounts = Some(accounts);
        }
        let ended = self.ended.is_some();
        if self.watchers.changed(now, ended) {
            self.watchers.show_or_dismiss(now, &self.view().to_bytes(), ended, out);
        }
    }
}

impl Engine for Server {
    type Protocol = Blackjack;

    fn input(&mut self, now: Time, input: Input<'_, Request>, out: &mut Outbox) {
        match input {
            Input::Connected { peer, role, address, .. } => self.connected(now, (peer, role), &address, out),
            Input::Message { peer, message } => self.request(now, peer, message, out),
            Input::Malformed { peer, why } => self.fault(now, peer, &Fault::Malformed(why), out),
            Input::Refresh { peer } => self.refresh(now, peer, out),
            Input::Disconnected { peer, why } => {
                self.disconnected(now, peer, why, out);
                if why == Gone::Interrupted {
                    // The watchers are gone as well: each interruption is an input of its own.
                    return;
                }
            }
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(Leave::Over) => self.stop(now, out),
            Input::Stop(Leave::Resumable) => {
                // No peer is told, and the state does not change.
                self.suspended = true;
                return;
            }
        }
        self.conclude(now, out);
    }

    fn deadline(&self) -> Option<Time> {
        let tables = self.alarms.first().map(|&(at, _)| at);
        let accounts = self.accounts.as_ref().map(|accounts| accounts.due).filter(|_| self.outcome().is_none());
        [tables, self.pending.deadline(), self.held.deadline(), self.watchers.deadline(), accounts]
            .into_iter()
            .flatten()
            .min()
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.suspended { Some(Outcome::Stopped) } else { self.ended.filter(|_| self.places.is_empty()) }
    }

    fn digest(&self) -> u64 {
        Fingerprint::of([
            self.digest.value(),
            self.places.digest.value(),
            self.pending.digest.value(),
            self.held.digest.value(),
            self.queue.fingerprint(),
            self.watchers.fingerprint(),
            self.printer.fingerprint(),
            self.accounts.as_ref().map_or(0, Accounts::fingerprint),
            self.rounds,
            u64::from(self.begun) << 32 | u64::from(self.playing),
            u64::from(self.complete) << 32 | self.ended.map_or(0, |ended| ended as u64 + 1),
            u64::from(self.suspended),
        ])
        .value()
    }

    fn status(&self) -> Status {
        let phase = match (self.ended, self.playing) {
            (Some(_), _) => Phase::Over,
            (None, 0) => Phase::Lobby,
            (None, _) => Phase::Playing,
        };
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
        let seats = self.config.tables.saturating_mul(count(self.config.players));
        let taken: u32 = self.tables().map(|table| count(table.taken())).sum();
        // A table is opened only for a full number of players; before the first, those who wait have its seats.
        let waiting = if phase == Phase::Lobby { count(self.queue.waiting) } else { 0 };
        Status { phase, taken: taken.saturating_add(waiting).min(seats), seats }
    }

    fn roster(&self) -> Vec<Occupant> {
        let occupant = |(&peer, guest): (&PeerId, &Guest)| match guest {
            Guest::Waiting { name, .. } => Some(Occupant { peer, name: name.to_string(), seat: String::new() }),
            Guest::Seated { table } => self.tables.get(table)?.table.occupant(peer),
        };
        self.guests.iter().filter_map(occupant).collect()
    }
}
