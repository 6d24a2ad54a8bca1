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
use seat::{Pace, Seat, label};
pub(super) use state::TableState;

use super::fault::{Fault, note};
use crate::{
    config::Config,
    game::{Action, Game, MAX_SEATS, Round, Standings},
    name::Name,
    protocol::{DealerMessage, Dialect, PlayerMessage},
    view::{SeatView, TableView},
};

/// A table of a [`Server`](crate::Server), and those who sit at it.
#[derive(Debug, Clone)]
pub struct Table {
    config: Config,
    number: u32,
    // By number; none where nobody sits, not yet or not any more.
    seats: [Option<Seat>; MAX_SEATS],
    // Who had a seat that is held for it. As long as there is one, no round is dealt.
    held: [Option<PeerId>; MAX_SEATS],
    // None before all seats are taken.
    game: Option<Game>,
    // How it ended.
    pub(super) ended: Option<Outcome>,
    // Closed peers and the result, for the lobby that owns this table.
    pub(super) closed: Vec<PeerId>,
    pub(super) result: Option<Standings>,
    // As of the last `take_fingerprint`.
    pub(super) fingerprint: u64,
}

impl Table {
    /// An empty table. The number selects its cards and is its name.
    pub(super) const fn new(config: Config, number: u32) -> Self {
        Self {
            config,
            number,
            seats: [const { None }; MAX_SEATS],
            held: [None; MAX_SEATS],
            game: None,
            ended: None,
            closed: Vec::new(),
            result: None,
            fingerprint: 0,
        }
    }

    /// Its number, from 1 at a dealer of many.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// The game that is played or was; none before all seats are taken.
    pub const fn game(&self) -> Option<&Game> {
        self.game.as_ref()
    }

    /// What anybody may see.
    pub fn view(&self) -> TableView {
        let game = self.game.as_ref();
        let round = game.and_then(Game::round);
        let rows = game.map(|game| game.standings(self.number).rows).unwrap_or_default();
        let seat = |seat: usize| -> Option<SeatView> {
            let row = rows.iter().find(|row| row.seat == seat + 1);
            let name = row.map(|row| &row.name).or(self.seats[seat].as_ref().map(|seat| &seat.name))?.clone();
            let (score, forfeits) = row.map(|row| (row.score, row.forfeits)).unwrap_or_default();
            let hand = round.and_then(|round| round.shown(seat));
            Some(SeatView { name, score, forfeits, hand, decides: round.and_then(Round::turn) == Some(seat) })
        };
        TableView {
            number: self.number,
            phase: self.phase(),
            played: game.map_or(0, Game::played),
            rounds: self.config.rounds,
            upcard: round.filter(|round| !round.is_over()).map(Round::upcard),
            revealed: game.and_then(Game::revealed).copied(),
            seats: (0..self.config.players).map(seat).collect(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match (self.ended, &self.game) {
            (Some(_), _) => Phase::Over,
            (None, None) => Phase::Lobby,
            (None, Some(_)) => Phase::Playing,
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

    fn free_seat(&self) -> Option<usize> {
        self.seats.iter().take(self.config.players).position(Option::is_none)
    }

    fn find(&self, peer: PeerId) -> Option<usize> {
        self.seats.iter().position(|seat| seat.as_ref().is_some_and(|seat| seat.peer == peer))
    }

    /// The seat of a peer that has not been told to leave.
    pub(crate) fn occupant(&self, peer: PeerId) -> Option<Occupant> {
        let number = self.find(peer)?;
        let seat = self.seats[number].as_ref().filter(|seat| !seat.leaving)?;
        Some(Occupant { peer, name: seat.name.to_string(), seat: label(self.number, number) })
    }

    const fn pace(&self) -> Pace {
        Pace { delay: self.config.delay, timeout: self.config.timeout }
    }

    /// Gives a free seat to somebody, and begins if it was the last.
    pub(crate) fn seat(&mut self, now: Time, peer: PeerId, (name, dialect): (Name, Dialect), out: &mut Outbox) {
        let Some(number) = self.free_seat() else { return };
        out.event(GameEvent::Joined { peer, name: name.to_string(), seat: label(self.number, number) });
        self.seats[number] = Some(Seat::new(now, peer, name, dialect));
        if self.free_seat().is_some() {
            return;
        }
        let names: Vec<Name> = self.seats.iter().flatten().map(|seat| seat.name.clone()).collect();
        let players = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let Ok(game) = Game::new(names, self.config.rounds, self.config.seed.generator(self.number)) else { return };
        self.game = Some(game);
        out.event(GameEvent::Started { game: self.number, players });
        self.go_on(now, out);
    }

    /// Takes in a message of a player.
    pub(crate) fn receive(&mut self, now: Time, peer: PeerId, message: PlayerMessage, out: &mut Outbox) {
        let Some(number) = self.find(peer) else { return };
        let Some(seat) = self.seats[number].as_mut() else { return };
        if self.config.trace {
            note(out, Severity::Requested, Some(peer), format!("{} > {message}", seat.name));
        }
        let action = match message {
            _ if seat.leaving => return,
            PlayerMessage::Hit if seat.asked => Action::Hit,
            PlayerMessage::Stand if seat.asked => Action::Stand,
            message => return self.send_away(now, number, &Fault::OutOfTurn(message), out),
        };
        seat.answered(now);
        // This cannot fail: the seat was asked, and a deck does not run out.
        if self.game.as_mut().is_some_and(|game| game.apply(number, action).is_ok()) {
            self.go_on(now, out);
        } else {
            self.send_away(now, number, &Fault::OutOfTurn(action.into()), out);
        }
    }

    /// Sends a player the last round again, and the one that is played from its beginning.
    pub(crate) fn refresh(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        let (Some(number), pace) = (self.find(peer), self.pace()) else { return };
        if let Some(seat) = &mut self.seats[number] {
            for message in seat.tell_last_again(out) {
                if self.config.trace {
                    trace(seat, message, out);
                }
            }
            seat.tell_again(now, self.game.as_ref().and_then(|game| game.view(number)), pace);
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

    /// The earliest deadline of a seat.
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
        let pace = self.pace();
        let Some(seat) = &mut self.seats[number] else { return };
        while let Some(message) = seat.flush(now, pace, out) {
            if self.config.trace {
                trace(seat, message, out);
            }
            if message == DealerMessage::Quit {
                return self.close(number, out);
            }
        }
    }

    /// Recomputes the fingerprint.
    pub(crate) fn take_fingerprint(&mut self) {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add(u64::from(self.number));
        fingerprint.add(self.ended.map_or(0, |ended| ended as u64 + 1));
        fingerprint.add(self.game.as_ref().map_or(0, Game::fingerprint));
        for (number, seat) in (0..).zip(&self.seats) {
            let Some(seat) = seat else { continue };
            fingerprint.add(number);
            fingerprint.add(seat.fingerprint());
            if self.game.is_none() {
                fingerprint.add_bytes(seat.name.as_str().as_bytes());
            }
        }
        for (number, held) in (0..).zip(self.held) {
            let Some(peer) = held else { continue };
            fingerprint.add(number);
            fingerprint.add(peer.0);
        }
        self.fingerprint = fingerprint.value();
    }
}

// A line for the log about a message that a seat was sent.
fn trace(seat: &Seat, message: DealerMessage, out: &mut Outbox) {
    note(out, Severity::Requested, Some(seat.peer), format!("{} < {message}", seat.name));
}
