//! A table with its seats and its pacing: who is asked, and who is told what when.
//!
//! - A seat is told what its [`View`](crate::view::View) holds and what it was not told yet, so the hole card cannot get into a message.
//! - To a text client messages go out one by one with a pause between them, since many such clients take whatever one
//!   read brings for one message. The first after a message of the client goes at once. A question counts as asked when
//!   it leaves, and only then can it be answered.
//! - Whoever sends what was not asked for, does not answer in time, or leaves in the middle of a hand, loses that hand and
//!   is sent away. Nobody waits for it longer than the time limit of an answer.
//! - A seat that has lost track hears the last round again, and the one that is played from BEGIN: the last result may have been
//!   sent to a connection that was gone. There is never more than one such result, since a seat has to answer before the next.
//! - When the server was killed and goes on, the round is called off and seats are held for those who had them, see
//!   `interruption.rs`.
//!
//! A client that closes its sending half may still be sent to: messages for it are put out until its `Close`. A shell that
//! cannot deliver them drops them.
//!
//! Sources: the requirements of the course's project, "Dealer"; what happens on trouble is our own.

mod interruption;
mod leaving;
mod rounds;
mod seat;
mod state;

use alloc::{format, string::ToString, vec::Vec};
use netcore::{Fingerprint, GameEvent, Occupant, Outbox, Outcome, PeerId, Phase, Severity, Time};

use leaving::left;
pub use seat::seat_label;
use seat::{Seat, label};
pub(super) use state::TableState;

use super::fault::{Fault, note};
use crate::{
    config::Config,
    game::{Action, Game, MAX_SEATS, Round, RoundError, Row, Standings},
    name::Name,
    protocol::{DealerMessage, Dialect, PlayerMessage},
    view::{SeatView, TableView},
};

/// A table of a [`Server`](crate::Server), and those who sit at it.
#[derive(Debug, Clone)]
pub struct Table {
    config: Config,
    number: u32,
    // By number; none where nobody sits any more.
    seats: [Option<Seat>; MAX_SEATS],
    // Who had a seat that is held for it. As long as there is one, no round is dealt.
    held: [Option<PeerId>; MAX_SEATS],
    game: Game,
    // How it ended.
    pub(super) ended: Option<Outcome>,
    // Closed peers and the result, for the lobby that owns this table.
    pub(super) closed: Vec<PeerId>,
    pub(super) result: Option<Standings>,
}

impl Table {
    /// A table with these players, whose first round is dealt. The number selects its cards and is its name.
    pub(super) fn begin(
        now: Time,
        (config, number): (Config, u32),
        players: Vec<(PeerId, Name, Dialect)>,
        out: &mut Outbox,
    ) -> Result<Self, RoundError> {
        let names: Vec<Name> = players.iter().map(|(_, name, _)| name.clone()).collect();
        let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let mut table = Self::of(config, number, Game::new(names, config.rounds, config.seed.generator(number))?);
        for (seat, (peer, name, dialect)) in players.into_iter().enumerate() {
            out.event(GameEvent::Joined { peer, name: name.to_string(), seat: label(number, seat) });
            table.seats[seat] = Some(Seat::new(now, peer, dialect));
        }
        out.event(GameEvent::Started { game: number, players: count });
        table.go_on(now, out);
        Ok(table)
    }

    // A table where nobody sits.
    fn of(config: Config, number: u32, game: Game) -> Self {
        Self {
            config,
            number,
            seats: [const { None }; MAX_SEATS],
            held: [None; MAX_SEATS],
            game,
            ended: None,
            closed: Vec::new(),
            result: None,
        }
    }

    /// Its number, from 1 at a dealer of many.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// The game that is played or was.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// What anybody may see.
    pub fn view(&self) -> TableView {
        let game = &self.game;
        let round = game.round();
        let rows = game.standings(self.number).rows;
        let seat = |seat: usize| -> Option<SeatView> {
            let Row { name, score, forfeits, .. } = rows.iter().find(|row| row.seat == seat + 1)?.clone();
            let hand = round.and_then(|round| round.shown(seat));
            Some(SeatView { name, score, forfeits, hand, decides: round.and_then(Round::turn) == Some(seat) })
        };
        TableView {
            number: self.number,
            phase: if self.ended.is_some() { Phase::Over } else { Phase::Playing },
            played: game.played(),
            rounds: self.config.rounds,
            upcard: round.filter(|round| !round.is_over()).map(Round::upcard),
            revealed: game.revealed().copied(),
            seats: (0..self.config.players).map(seat).collect(),
        }
    }

    /// Seats that somebody has, or that are held.
    pub(crate) fn taken(&self) -> usize {
        let seated = self.seats.iter().flatten().filter(|seat| !seat.leaving).count();
        seated + self.held.iter().flatten().count()
    }

    /// Whether it is over and everybody who sat there has heard so.
    pub(crate) fn is_empty(&self) -> bool {
        self.ended.is_some() && self.seats.iter().all(Option::is_none)
    }

    fn find(&self, peer: PeerId) -> Option<usize> {
        self.seats.iter().position(|seat| seat.as_ref().is_some_and(|seat| seat.peer == peer))
    }

    /// The seat of a peer that has not been told to leave.
    pub(crate) fn occupant(&self, peer: PeerId) -> Option<Occupant> {
        let number = self.find(peer)?;
        self.seats[number].as_ref().filter(|seat| !seat.leaving)?;
        Some(Occupant { peer, name: self.game.name(number)?.to_string(), seat: label(self.number, number) })
    }

    pub(crate) fn receive(&mut self, now: Time, peer: PeerId, message: PlayerMessage, out: &mut Outbox) {
        let Some(number) = self.find(peer) else { return };
        let Some(seat) = self.seats[number].as_mut() else { return };
        if self.config.trace {
            trace(seat.peer, self.game.name(number), &format!("> {message}"), out);
        }
        let action = match message {
            _ if seat.leaving => return,
            PlayerMessage::Hit if seat.asked => Action::Hit,
            PlayerMessage::Stand if seat.asked => Action::Stand,
            message => return self.send_away(now, number, &Fault::OutOfTurn(message), out),
        };
        seat.answered(now);
        // This cannot fail: the seat was asked, and a deck does not run out.
        if self.game.apply(number, action).is_ok() {
            self.go_on(now, out);
        } else {
            self.send_away(now, number, &Fault::OutOfTurn(action.into()), out);
        }
    }

    /// Sends a player the last round again, and the one that is played from its beginning.
    pub(crate) fn refresh(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        let Some(number) = self.find(peer) else { return };
        if let Some(seat) = &mut self.seats[number] {
            for message in seat.tell_last_again(out) {
                if self.config.trace {
                    trace(seat.peer, self.game.name(number), &format!("< {message}"), out);
                }
            }
            seat.tell_again(now, self.game.view(number), &self.config);
            self.flush(now, number, out);
        }
    }

    /// Sends what may leave by now, and sends away whose time is up.
    pub(crate) fn elapse(&mut self, now: Time, out: &mut Outbox) {
        for number in 0..MAX_SEATS {
            match &self.seats[number] {
                Some(seat) if seat.is_late(now) => self.send_away(now, number, &Fault::NoAnswer, out),
                Some(_) => self.flush(now, number, out),
                None => {}
            }
        }
    }

    pub(crate) fn due(&self) -> Option<Time> {
        self.seats.iter().flatten().filter_map(Seat::deadline).min()
    }

    /// Ends it before its time.
    pub(crate) fn stop(&mut self, now: Time, out: &mut Outbox) {
        if self.ended.is_none() {
            self.conclude(Outcome::Stopped, out);
        }
        for number in 0..MAX_SEATS {
            if let Some(seat) = &mut self.seats[number] {
                seat.leave_now(now);
                self.flush(now, number, out);
            }
        }
    }

    // Sends a seat what is due, and closes it after QUIT.
    fn flush(&mut self, now: Time, number: usize, out: &mut Outbox) {
        let Some(seat) = &mut self.seats[number] else { return };
        while let Some(message) = seat.flush(now, &self.config, out) {
            if self.config.trace {
                trace(seat.peer, self.game.name(number), &format!("< {message}"), out);
            }
            if message == DealerMessage::Quit {
                return self.close(number, out);
            }
        }
    }

    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add(u64::from(self.number));
        fingerprint.add(self.ended.map_or(0, |ended| ended as u64 + 1));
        fingerprint.add(self.game.fingerprint());
        for (number, seat) in (0..).zip(&self.seats) {
            let Some(seat) = seat else { continue };
            fingerprint.add(number);
            fingerprint.add(seat.fingerprint());
        }
        for (number, held) in (0..).zip(self.held) {
            let Some(peer) = held else { continue };
            fingerprint.add(number);
            fingerprint.add(peer.0);
        }
        Fingerprint::of([fingerprint.value()])
    }
}

// A line for the log about a message of a seat or to it.
fn trace(peer: PeerId, name: Option<&Name>, message: &str, out: &mut Outbox) {
    let name = name.map_or("", Name::as_str);
    note(out, Severity::Requested, Some(peer), format!("{name} {message}"));
}
