//! How games end, and how the server takes leave.

use alloc::{format, string::String, string::ToString, sync::Arc, vec::Vec};
use core::mem;
use netcore::{Departure, GameEvent, Leave, Outbox, Outcome};

use super::{Server, facts, facts::hash, start::Start};
use crate::{game::Game, protocol::ServerMessage, view::Views};

impl Server {
    /// Ends the game; another follows if there are rematches.
    pub(super) fn finish(&mut self, out: &mut Outbox) {
        let text = format!("GAME OVER:\n{}", self.game.table());
        self.tell_end(out);
        self.dismiss(text.as_bytes(), &Departure::GameOver, out);
        out.summary(text.clone());
        self.toggle_game();
        let next = self.config.rematch.then(|| Game::new(Arc::clone(&self.grid), self.config.rules, &mut self.rng));
        if let Some(Ok(game)) = next {
            self.views = Views::new(&game);
            self.game = game;
            (self.number, self.start) = (self.number.saturating_add(1), Start::Waiting);
            for address in mem::take(&mut self.quitters) {
                self.digest.toggle(facts::QUITTER, 0, hash(address.as_bytes()));
            }
        } else {
            self.take_leave_of_strangers(&text, out);
            self.set_outcome(Outcome::Finished);
        }
        self.toggle_game();
    }

    pub(super) fn stop(&mut self, leave: Leave, out: &mut Outbox) {
        if leave == Leave::Over {
            let mut text = String::from("The server was stopped.");
            if !self.game.players().is_empty() {
                text = format!("{text}\n{}", self.game.table());
            }
            if self.has_begun() {
                self.tell_end(out);
            }
            self.dismiss(text.as_bytes(), &Departure::Dismissed("the server was stopped".to_string()), out);
            self.take_leave_of_strangers(&text, out);
        }
        self.set_outcome(Outcome::Stopped);
    }

    // Takes leave of everybody who has a seat.
    fn dismiss(&mut self, text: &[u8], why: &Departure, out: &mut Outbox) {
        for seat in self.seats.values() {
            out.send(seat.peer, ServerMessage::Quit(text).to_frame(seat.framing()));
        }
        for peer in self.seats.keys().copied().collect::<Vec<_>>() {
            self.leave_seat(peer, why.clone(), out);
        }
    }

    // Those who are connected and have no seat, which datagrams never are.
    fn take_leave_of_strangers(&mut self, text: &str, out: &mut Outbox) {
        for peer in self.strangers.keys().copied().collect::<Vec<_>>() {
            self.say(peer, &ServerMessage::Quit(text.as_bytes()), out);
            self.remove_stranger(peer);
            out.close(peer);
        }
    }

    fn tell_end(&self, out: &mut Outbox) {
        let standings = self.game.standings();
        out.event(GameEvent::Ended { game: self.number, complete: self.game.is_over(), standings });
    }
}
