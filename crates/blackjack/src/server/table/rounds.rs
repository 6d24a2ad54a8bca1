//! Round after round: what is told of one, how the next is dealt, and the result at the end.

use alloc::{format, string::ToString, vec::Vec};
use netcore::{Departure, GameEvent, Gone, Outbox, Outcome, Severity, Standing, Time};

use super::{
    Table,
    leaving::left,
    seat::{Seat, label},
};
use crate::{
    game::{Game, MAX_SEATS},
    server::fault::note,
};

/// How many times the progress of a game is told at most.
const PROGRESS_STEPS: u32 = 1_000;

impl Table {
    // Queues what is new for each seat, deals the next round when one is over, and sends what is due.
    pub(super) fn go_on(&mut self, now: Time, out: &mut Outbox) {
        if self.ended.is_some() {
            return;
        }
        let game = &mut self.game;
        let ended = loop {
            for (number, seat) in self.seats.iter_mut().enumerate() {
                if let (Some(seat), Some(view)) = (seat, game.view(number)) {
                    seat.tell(view);
                }
            }
            match game.round() {
                Some(round) if !round.is_over() => break None,
                Some(_) => end_round(game, &mut self.seats, (self.number, self.config.trace), out),
                // Those whose seats are held may come back.
                None if self.held.iter().any(Option::is_some) => break None,
                None => {}
            }
            // Either the rounds are played, or nobody is left to deal to.
            if let Some(outcome) = game.outcome().or_else(|| game.deal().is_err().then_some(Outcome::Deserted)) {
                break Some(outcome);
            }
        };
        if let Some(outcome) = ended {
            self.conclude(outcome, out);
        }
        for number in 0..MAX_SEATS {
            self.flush(now, number, out);
        }
    }

    // Reports the result and queues QUIT for everybody.
    pub(super) fn conclude(&mut self, outcome: Outcome, out: &mut Outbox) {
        self.ended = Some(outcome);
        let standings = self.game.standings(self.number);
        let rows = standings.rows.iter().zip(1..).map(|(row, rank)| Standing {
            rank,
            seat: label(self.number, row.seat - 1),
            name: row.name.to_string(),
            score: i64::try_from(row.score.wins).unwrap_or(i64::MAX),
        });
        let complete = outcome == Outcome::Finished;
        out.event(GameEvent::Ended { game: self.number, complete, standings: rows.collect() });
        self.result = Some(standings);
        for (number, seat) in self.seats.iter_mut().enumerate() {
            if let Some(seat) = seat.as_mut().filter(|seat| !seat.leaving) {
                out.event(left(&self.game, seat.peer, (self.number, number), Departure::GameOver));
                seat.leave();
            }
        }
        for number in 0..MAX_SEATS {
            self.release(number, out);
        }
    }
}

// Resets the seats after a round, and dismisses those that play no more.
fn end_round(game: &mut Game, seats: &mut [Option<Seat>; MAX_SEATS], (table, trace): (u32, bool), out: &mut Outbox) {
    let (done, whole) = (game.played(), game.rounds());
    if done.is_multiple_of(whole.div_ceil(PROGRESS_STEPS).max(1)) {
        out.event(GameEvent::Progress { game: table, done: done.into(), whole: whole.into() });
    }
    if trace && let Some(dealer) = game.revealed() {
        let cards: Vec<&str> = dealer.cards().iter().map(|card| card.name()).collect();
        let (round, cards) = (game.played(), cards.join(", "));
        note(out, Severity::Requested, None, format!("table {table} round {round}: the dealer had {cards}"));
    }
    for (number, seat) in seats.iter_mut().enumerate() {
        let Some(seat) = seat else { continue };
        seat.forget_round();
        if seat.leaving || game.outcome().is_some() {
            continue;
        }
        if game.is_done(number) {
            // Others have rounds left that it was told the results of.
            out.event(left(game, seat.peer, (table, number), Departure::GameOver));
            seat.leave();
        } else if seat.mute {
            out.event(left(game, seat.peer, (table, number), Departure::Disconnected(Gone::Left)));
            seat.leave();
            game.leave(number);
        }
    }
}
