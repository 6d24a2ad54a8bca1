//! A table after its server was killed and resumed.
//!
//! All connections are lost, which is not the players' fault, so no one loses a hand or a seat:
//!
//! - The round that was played is called off. Its cards are not dealt again. It counts for nobody but those whose hands were
//!   forfeited before.
//! - What counts is what was told. A result that was still on its way to a seat, in the pause between two messages, is taken
//!   back; whoever was told its result keeps it. Each seat plays on until it has its number of rounds, so one may play a
//!   round more than another at the end.
//! - Each seat is held for whoever had it, and the next round is dealt when every held seat is taken again or given up.
//! - Whoever was leaving already has left: what it had counts, told or not.

use alloc::{format, string::ToString};
use netcore::{Departure, GameEvent, Gone, Outbox, PeerId, Severity, Time};

use super::{Seat, Table, label, left};
use crate::{name::Name, protocol::Dialect, server::fault::note};

impl Table {
    /// The connection of somebody who sits there was lost with the server. Gives the seat and its name if it is held.
    ///
    /// Nothing is sent to anybody here: the other connections are lost too, and what is sent counts as told.
    pub(crate) fn interrupted(&mut self, peer: PeerId, out: &mut Outbox) -> Option<(usize, Name)> {
        let number = self.find(peer)?;
        let seat = self.seats[number].as_ref()?;
        if seat.leaving {
            self.close(number, out);
            return None;
        }
        if seat.mute {
            self.part(number, out);
            return None;
        }
        self.call_off(out);
        if let Some(verdict) = self.seats[number].as_ref()?.untold() {
            self.game.take_back(number, verdict);
        }
        self.close(number, out);
        self.held[number] = Some(peer);
        Some((number, self.game.name(number)?.clone()))
    }

    /// Somebody whose seat is held is there again.
    pub(crate) fn come_back(&mut self, now: Time, number: usize, (peer, dialect): (PeerId, Dialect), out: &mut Outbox) {
        let Some(name) = self.game.name(number).map(Name::to_string) else { return };
        if self.held.get_mut(number).is_none_or(|held| held.take().is_none()) {
            return;
        }
        out.event(GameEvent::Joined { peer, name, seat: label(self.number, number) });
        self.seats[number] = Some(Seat::new(now, peer, dialect));
        self.go_on(now, out);
    }

    /// Nobody has come in time for a seat that was held.
    pub(crate) fn give_up(&mut self, now: Time, number: usize, out: &mut Outbox) {
        self.release(number, out);
        self.game.leave(number);
        self.go_on(now, out);
    }

    // Holds a seat no more, if it was held.
    pub(super) fn release(&mut self, number: usize, out: &mut Outbox) {
        let Some(peer) = self.held.get_mut(number).and_then(Option::take) else { return };
        let why = Departure::Disconnected(Gone::Interrupted);
        out.event(left(&self.game, peer, (self.number, number), why));
    }

    // Calls off the round that is played, if there is one.
    fn call_off(&mut self, out: &mut Outbox) {
        if self.game.round().is_none() {
            return;
        }
        let (table, timeout) = (self.number, self.config.timeout);
        let text = format!("table {table}: the round is cancelled, and its seats are held for {timeout:?}");
        note(out, Severity::Info, None, text);
        self.game.call_off();
        for number in 0..self.seats.len() {
            let Some(seat) = self.seats[number].as_mut().filter(|seat| !seat.leaving) else { continue };
            seat.call_off();
            if seat.mute {
                self.part(number, out);
            }
        }
    }

    // Lets somebody go who has waited for the end of this round with its sending half closed: it could not answer in another.
    fn part(&mut self, number: usize, out: &mut Outbox) {
        if let Some(seat) = &self.seats[number] {
            let why = Departure::Disconnected(Gone::Left);
            out.event(left(&self.game, seat.peer, (self.number, number), why));
        }
        self.game.leave(number);
        self.close(number, out);
    }
}
