//! Players who leave a table or are sent away.

use alloc::string::ToString;
use netcore::{Departure, GameEvent, Gone, Outbox, PeerId, Time};

use super::{Table, seat::label};
use crate::{game::Game, name::Name, server::fault::Fault};

impl Table {
    /// A player has violated the protocol: its hand is forfeited and it is sent away.
    pub(crate) fn fault(&mut self, now: Time, peer: PeerId, fault: &Fault, out: &mut Outbox) {
        let Some(number) = self.find(peer) else { return };
        // One that is leaving has its results. What it sends now changes nothing, but nothing more can be read from it either.
        if self.seats[number].as_ref().is_some_and(|seat| !seat.leaving) {
            self.send_away(now, number, fault, out);
        }
    }

    pub(super) fn send_away(&mut self, now: Time, number: usize, fault: &Fault, out: &mut Outbox) {
        let Some(seat) = &mut self.seats[number] else { return };
        fault.tell(seat.peer, self.game.name(number), out);
        out.event(left(&self.game, seat.peer, (self.number, number), Departure::Dismissed(fault.to_string())));
        seat.leave_now(now);
        self.flush(now, number, out);
        self.vacate(now, number, true, out);
    }

    pub(crate) fn gone(&mut self, now: Time, peer: PeerId, why: Gone, out: &mut Outbox) {
        let Some(number) = self.find(peer) else { return };
        let Some(seat) = self.seats[number].as_mut() else { return };
        let round = self.game.round();
        let in_hand = round.is_some_and(|round| round.is_playing(number));
        if why == Gone::Left && (seat.leaving || (round.is_some() && !in_hand)) {
            // Half-closed after its last answer: it may still be sent the result.
            seat.mute = true;
            return;
        }
        if !seat.leaving {
            out.event(left(&self.game, peer, (self.number, number), Departure::Disconnected(why)));
        }
        if why == Gone::Left {
            seat.leave_now(now);
            self.flush(now, number, out);
        } else {
            let leaving = seat.leaving;
            self.close(number, out);
            if leaving {
                return;
            }
        }
        self.vacate(now, number, in_hand, out);
    }

    // Goes on with the game without this seat.
    pub(super) fn vacate(&mut self, now: Time, number: usize, forfeits: bool, out: &mut Outbox) {
        if forfeits {
            self.game.forfeit(number);
        } else {
            self.game.leave(number);
        }
        self.go_on(now, out);
    }

    pub(super) fn close(&mut self, number: usize, out: &mut Outbox) {
        if let Some(seat) = self.seats[number].take() {
            out.close(seat.peer);
            self.closed.push(seat.peer);
        }
    }
}

/// The event that the player of a seat has left.
pub(super) fn left(game: &Game, peer: PeerId, (table, seat): (u32, usize), why: Departure) -> GameEvent {
    let name = game.name(seat).map(Name::to_string).unwrap_or_default();
    GameEvent::Left { peer, name, seat: label(table, seat), why }
}
