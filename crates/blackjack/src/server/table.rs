//! A table with its seats and the pacing of their messages.
//!
//! - A seat receives only the new parts of its [`View`](crate::view::View), so no message can contain the hole card.
//! - A text client receives its messages one by one with a pause in between, since many such clients treat the result
//!   of one read as one message. The first message after one from the client is sent immediately, and a question can be
//!   answered only once it is sent.
//! - A client that sends an unrequested message, misses the deadline for its answer, or leaves during a hand loses that
//!   hand and is disconnected.
//! - A client that has lost its state receives the last round again, because its result may have been sent to a dead
//!   connection, and then the current round.
//!
//! A client that closes its sending half may still receive messages: the table emits them until the client's `Close`,
//! and a shell that cannot deliver them drops them.
//!
//! Sources: the requirements of the course's project, "Dealer". The handling of errors is our own.

use alloc::{
    collections::VecDeque,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::mem;

use netcore::{
    Departure, DisconnectReason, GameEvent, Occupant, Outbox, Outcome, PeerId, Phase, Severity, Standing, StateError,
    Time,
};
use serde::{Deserialize, Serialize};

use super::reports::{Fault, note};
use crate::{
    cards::Card,
    config::Config,
    game::{Action, Game, GameState, MAX_SEATS, Round, RoundError, Row, Standings},
    hand::Hand,
    name::Name,
    protocol::{DealerMessage, Dialect, PlayerMessage},
    verdict::Verdict,
    view::{SeatView, TableView, View},
};

const PROGRESS_STEPS: u32 = 1_000;

/// A table of a [`Server`](crate::Server), with its seats.
#[derive(Debug, Clone)]
pub struct Table {
    config: Config,
    number: u32,
    seats: [Option<Seat>; MAX_SEATS],
    // The former peers of held seats. While there is one, no round is dealt.
    held: [Option<PeerId>; MAX_SEATS],
    game: Game,
    pub(super) ended: Option<Outcome>,
    pub(super) closed: Vec<PeerId>,
    pub(super) result: Option<Standings>,
}

/// The cards of the last finished round of a table.
#[derive(Debug, Clone, Copy)]
pub struct FinishedRound {
    /// The number of the table, counted from 1.
    pub table: u32,
    /// The number of the round, counted from 1.
    pub round: u32,
    /// The dealer's hand, hole card first.
    pub dealer: Hand,
    /// By seat; `None` without cards, and in a restored game.
    pub hands: [Option<Hand>; MAX_SEATS],
}

impl Table {
    /// The number identifies the table and selects its cards.
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
        table.advance(now, out);
        Ok(table)
    }

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

    /// The number of the table, counted from 1.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// The current or last game.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// The last finished round; `None` before the end of the first.
    pub fn finished_round(&self) -> Option<FinishedRound> {
        let game = &self.game;
        let &dealer = game.revealed()?;
        Some(FinishedRound { table: self.number, round: game.played(), dealer, hands: *game.hands() })
    }

    /// The public view of the table.
    pub fn view(&self) -> TableView {
        let game = &self.game;
        let round = game.round();
        let rows = game.standings(self.number).rows;
        let seat = |seat: usize| -> Option<SeatView> {
            let Row { name, score, forfeits, .. } = rows.iter().find(|row| row.seat == seat + 1)?.clone();
            let hand = round.and_then(|round| round.public_hand(seat));
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

    pub(crate) fn taken(&self) -> usize {
        let seated = self.seats.iter().flatten().filter(|seat| !seat.leaving).count();
        seated + self.held.iter().flatten().count()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ended.is_some() && self.seats.iter().all(Option::is_none)
    }

    fn find(&self, peer: PeerId) -> Option<usize> {
        self.seats.iter().position(|seat| seat.as_ref().is_some_and(|seat| seat.peer == peer))
    }

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
        // The seat has an open question, and a deck does not run out.
        if self.game.apply(number, action).is_ok() {
            self.advance(now, out);
        } else {
            self.send_away(now, number, &Fault::OutOfTurn(action.into()), out);
        }
    }

    pub(crate) fn refresh(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        let Some(number) = self.find(peer) else { return };
        if let Some(seat) = &mut self.seats[number] {
            for message in seat.resend_last_round(out) {
                if self.config.trace {
                    trace(seat.peer, self.game.name(number), &format!("< {message}"), out);
                }
            }
            seat.resend_round(now, self.game.view(number), &self.config);
            self.flush(now, number, out);
        }
    }

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
}

fn trace(peer: PeerId, name: Option<&Name>, message: &str, out: &mut Outbox) {
    let name = name.map_or("", Name::as_str);
    note(out, Severity::Requested, Some(peer), format!("{name} {message}"));
}

impl Table {
    fn advance(&mut self, now: Time, out: &mut Outbox) {
        if self.ended.is_some() {
            return;
        }
        let game = &mut self.game;
        let ended = loop {
            for (number, seat) in self.seats.iter_mut().enumerate() {
                if let (Some(seat), Some(view)) = (seat, game.view(number)) {
                    seat.queue_view(view);
                }
            }
            match game.round() {
                Some(round) if !round.is_over() => break None,
                Some(_) => end_round(game, &mut self.seats, (self.number, self.config.trace), out),
                None if self.held.iter().any(Option::is_some) => break None,
                None => {}
            }
            // All rounds are played, or no player is left.
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

    fn conclude(&mut self, outcome: Outcome, out: &mut Outbox) {
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
        seat.reset_round();
        if seat.leaving || game.outcome().is_some() {
            continue;
        }
        if game.is_done(number) {
            out.event(left(game, seat.peer, (table, number), Departure::GameOver));
            seat.leave();
        } else if seat.mute {
            out.event(left(game, seat.peer, (table, number), Departure::Disconnected(DisconnectReason::Left)));
            seat.leave();
            game.leave(number);
        }
    }
}

impl Table {
    pub(crate) fn fault(&mut self, now: Time, peer: PeerId, fault: &Fault, out: &mut Outbox) {
        let Some(number) = self.find(peer) else { return };
        // A leaving client already has its results.
        if self.seats[number].as_ref().is_some_and(|seat| !seat.leaving) {
            self.send_away(now, number, fault, out);
        }
    }

    fn send_away(&mut self, now: Time, number: usize, fault: &Fault, out: &mut Outbox) {
        let Some(seat) = &mut self.seats[number] else { return };
        fault.log(seat.peer, self.game.name(number), out);
        out.event(left(&self.game, seat.peer, (self.number, number), Departure::Dismissed(fault.to_string())));
        seat.leave_now(now);
        self.flush(now, number, out);
        self.vacate(now, number, true, out);
    }

    pub(crate) fn disconnected(&mut self, now: Time, peer: PeerId, why: DisconnectReason, out: &mut Outbox) {
        let Some(number) = self.find(peer) else { return };
        let Some(seat) = self.seats[number].as_mut() else { return };
        let round = self.game.round();
        let in_hand = round.is_some_and(|round| round.is_playing(number));
        if why == DisconnectReason::Left && (seat.leaving || (round.is_some() && !in_hand)) {
            // The client closed its sending half after its last answer, and may still receive the result.
            seat.mute = true;
            return;
        }
        if !seat.leaving {
            out.event(left(&self.game, peer, (self.number, number), Departure::Disconnected(why)));
        }
        if why == DisconnectReason::Left {
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

    fn vacate(&mut self, now: Time, number: usize, forfeits: bool, out: &mut Outbox) {
        if forfeits {
            self.game.forfeit(number);
        } else {
            self.game.leave(number);
        }
        self.advance(now, out);
    }

    fn close(&mut self, number: usize, out: &mut Outbox) {
        if let Some(seat) = self.seats[number].take() {
            out.close(seat.peer);
            self.closed.push(seat.peer);
        }
    }
}

fn left(game: &Game, peer: PeerId, (table, seat): (u32, usize), why: Departure) -> GameEvent {
    let name = game.name(seat).map(Name::to_string).unwrap_or_default();
    GameEvent::Left { peer, name, seat: label(table, seat), why }
}

// After a killed server has resumed, no player loses a hand or a seat because of it:
//
// - The current round is cancelled, except for forfeited hands, and its cards are not dealt again.
// - Only sent results count. A queued one is taken back, so a seat may play a round more than another.
// - Each seat is held for its player. The next round is dealt when no seat is held.
// - Players who were already leaving have left: their results count, sent or not.
impl Table {
    /// Returns the seat and the name of its player if the seat is held.
    ///
    /// Sends no messages: the other connections are lost too, and sent results would count.
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
        if let Some(verdict) = self.seats[number].as_ref()?.unsent_verdict() {
            self.game.take_back(number, verdict);
        }
        self.close(number, out);
        self.held[number] = Some(peer);
        Some((number, self.game.name(number)?.clone()))
    }

    pub(crate) fn reconnect(&mut self, now: Time, number: usize, (peer, dialect): (PeerId, Dialect), out: &mut Outbox) {
        let Some(name) = self.game.name(number).map(Name::to_string) else { return };
        if self.held.get_mut(number).is_none_or(|held| held.take().is_none()) {
            return;
        }
        out.event(GameEvent::Joined { peer, name, seat: label(self.number, number) });
        self.seats[number] = Some(Seat::new(now, peer, dialect));
        self.advance(now, out);
    }

    pub(crate) fn give_up(&mut self, now: Time, number: usize, out: &mut Outbox) {
        self.release(number, out);
        self.game.leave(number);
        self.advance(now, out);
    }

    fn release(&mut self, number: usize, out: &mut Outbox) {
        let Some(peer) = self.held.get_mut(number).and_then(Option::take) else { return };
        let why = Departure::Disconnected(DisconnectReason::Interrupted);
        out.event(left(&self.game, peer, (self.number, number), why));
    }

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

    // Releases a seat whose client can no longer answer.
    fn part(&mut self, number: usize, out: &mut Outbox) {
        if let Some(seat) = &self.seats[number] {
            let why = Departure::Disconnected(DisconnectReason::Left);
            out.event(left(&self.game, seat.peer, (self.number, number), why));
        }
        self.game.leave(number);
        self.close(number, out);
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct TableState {
    number: u32,
    ended: Option<Outcome>,
    game: GameState,
    places: Vec<PlaceState>,
}

#[derive(Serialize, Deserialize)]
enum PlaceState {
    Free,
    Occupied(Seat),
    Held(PeerId),
}

impl Table {
    pub(super) fn state(&self) -> TableState {
        let place = |(seat, held): (&Option<Seat>, &Option<PeerId>)| match (seat, held) {
            (Some(seat), _) => PlaceState::Occupied(seat.clone()),
            (None, Some(peer)) => PlaceState::Held(*peer),
            (None, None) => PlaceState::Free,
        };
        TableState {
            number: self.number,
            ended: self.ended,
            game: self.game.state(),
            places: self.seats.iter().zip(&self.held).take(self.config.players).map(place).collect(),
        }
    }

    pub(super) fn restore(config: Config, state: TableState) -> Result<Self, StateError> {
        let TableState { number, ended, game, places } = state;
        let mut table = Self::of(config, number, Game::restore(config.rounds, (config.seed, number), game)?);
        for (seat, place) in places.into_iter().enumerate().take(MAX_SEATS) {
            match place {
                PlaceState::Free => {}
                PlaceState::Occupied(occupant) => table.seats[seat] = Some(occupant),
                PlaceState::Held(peer) => table.held[seat] = Some(peer),
            }
        }
        table.ended = ended;
        Ok(table)
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = PeerId> {
        self.seats.iter().flatten().map(|seat| seat.peer)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct SentParts {
    begun: bool,
    cards: usize,
    // The number of cards at the last question.
    asked: usize,
    verdict: bool,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Last {
    hand: Hand,
    upcard: Card,
    verdict: Verdict,
    told: bool,
}

/// A seat at a table. The name of its player is part of the game.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Seat {
    peer: PeerId,
    dialect: Dialect,
    sent: SentParts,
    // Sent again to a client that has lost its state.
    last: Option<Last>,
    // At most the messages from a result to the next question, and QUIT.
    queue: VecDeque<DealerMessage>,
    // The question has been sent but not answered.
    asked: bool,
    // The client has closed its sending half.
    mute: bool,
    // Only the queued messages up to QUIT remain.
    leaving: bool,
    free_at: Time,
    due: Option<Time>,
}

impl Seat {
    fn new(now: Time, peer: PeerId, dialect: Dialect) -> Self {
        Self {
            peer,
            dialect,
            sent: SentParts::default(),
            last: None,
            queue: VecDeque::new(),
            asked: false,
            mute: false,
            leaving: false,
            free_at: now,
            due: None,
        }
    }

    fn queue_view(&mut self, view: View<'_>) {
        if self.leaving {
            return;
        }
        if !mem::replace(&mut self.sent.begun, true) {
            self.queue.push_back(DealerMessage::Begin);
        }
        for &card in view.cards.get(self.sent.cards..).unwrap_or_default() {
            self.queue.push_back(DealerMessage::Card(card));
            self.sent.cards += 1;
            if self.sent.cards == 2 {
                self.queue.push_back(DealerMessage::Upcard(view.upcard));
            }
        }
        if view.asked && self.sent.asked != view.cards.len() {
            self.sent.asked = view.cards.len();
            self.queue.push_back(DealerMessage::Decision);
        }
        if let Some(verdict) = view.verdict
            && !mem::replace(&mut self.sent.verdict, true)
        {
            self.queue.push_back(DealerMessage::Result(verdict));
            self.last = Hand::of(view.cards).map(|hand| Last { hand, upcard: view.upcard, verdict, told: false });
        }
    }

    fn reset_round(&mut self) {
        self.sent = SentParts::default();
    }

    /// Sends the last round again, without pauses: only links with message boundaries need it.
    fn resend_last_round(&mut self, out: &mut Outbox) -> Vec<DealerMessage> {
        let Some(Last { hand, upcard, verdict, told }) = self.last.as_mut().filter(|_| !self.leaving) else {
            return vec![];
        };
        *told = true;
        let (first, others) = hand.cards().split_at(hand.cards().len().min(2));
        let mut messages = vec![DealerMessage::Begin];
        messages.extend(first.iter().copied().map(DealerMessage::Card));
        messages.push(DealerMessage::Upcard(*upcard));
        messages.extend(others.iter().copied().map(DealerMessage::Card));
        messages.push(DealerMessage::Result(*verdict));
        for message in &messages {
            out.send(self.peer, message.to_bytes(self.dialect));
        }
        messages
    }

    /// Sends the current round again. An open question keeps its deadline: otherwise a client that repeatedly loses its
    /// state would never have to answer.
    fn resend_round(&mut self, now: Time, view: Option<View<'_>>, config: &Config) {
        if self.leaving {
            return;
        }
        self.queue.clear();
        self.sent = SentParts::default();
        self.asked = false;
        if view.is_some_and(|view| view.asked) {
            self.due.get_or_insert(now.plus(config.timeout));
        }
        self.free_at = self.free_at.max(now);
        if let Some(view) = view {
            self.queue_view(view);
        }
    }

    const fn answered(&mut self, now: Time) {
        self.asked = false;
        self.due = None;
        self.free_at = now;
    }

    /// Cancels the round. A queued result belongs to the previous round and stays queued.
    fn call_off(&mut self) {
        let results = self.queue.iter().rposition(|message| matches!(message, DealerMessage::Result(_)));
        self.queue.truncate(results.map_or(0, |last| last + 1));
        self.sent = SentParts::default();
        self.asked = false;
        self.due = None;
    }

    /// The unsent result, at most one, since the player must answer before the next.
    fn unsent_verdict(&self) -> Option<Verdict> {
        self.last.filter(|last| !last.told).map(|last| last.verdict)
    }

    fn leave(&mut self) {
        self.leaving = true;
        self.sent = SentParts::default();
        self.last = None;
        self.asked = false;
        self.due = None;
        self.queue.push_back(DealerMessage::Quit);
    }

    fn leave_now(&mut self, now: Time) {
        self.queue.clear();
        self.leave();
        self.free_at = now;
    }

    fn is_paced(&self, config: &Config) -> bool {
        self.dialect == Dialect::Text && !config.delay.is_zero()
    }

    fn flush(&mut self, now: Time, config: &Config, out: &mut Outbox) -> Option<DealerMessage> {
        let paced = self.is_paced(config);
        if paced && self.free_at > now {
            return None;
        }
        let message = self.queue.pop_front()?;
        if paced {
            self.free_at = now.plus(config.delay);
        }
        if message == DealerMessage::Decision {
            self.asked = true;
            self.due.get_or_insert(now.plus(config.timeout));
        }
        if let (DealerMessage::Result(_), Some(last)) = (message, &mut self.last) {
            last.told = true;
        }
        out.send(self.peer, message.to_bytes(self.dialect));
        Some(message)
    }

    fn is_late(&self, now: Time) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    fn deadline(&self) -> Option<Time> {
        let free = (!self.queue.is_empty()).then_some(self.free_at);
        free.into_iter().chain(self.due).min()
    }
}

fn label(table: u32, seat: usize) -> String {
    seat_label(table, seat + 1)
}

/// The label of a seat in [`GameEvent`](netcore::GameEvent)s. Table and seat are counted from 1.
pub fn seat_label(table: u32, seat: usize) -> String {
    format!("table {table}, seat {seat}")
}
