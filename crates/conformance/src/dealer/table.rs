use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use blackjack::{
    Card, DealerMessage, Dialect, Hand, Name, PlayerMessage, Verdict,
    hand::{BEST, DEALER_STANDS},
};

use super::{
    ACE_ONE, ASKED_AGAIN, ASKED_AT_21, BEST_HAND, BUST, BUST_ENDS, CLOSES, DEAL, FAIR, GRAMMAR, HIT, LISTENS, LOW_TIE,
    NATURAL, NOTHING_MORE, ONE_DECK, OTHERS_HIDDEN, QUIT, RESULT, RESULT_AT_END, ROUND_BEGINS, ROUNDS, SAME_UPCARD,
    SHUFFLED, chance::Chance,
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    launch::Run,
    net::Connection,
    rule::Rule,
    tester::Options,
    words::blackjack::{Reader, WITH_DEALER, cards, of_dealer},
};

/// How long to wait for one connection before polling the next.
const TURN: Duration = Duration::from_millis(1);
/// With slower rounds, the required number would take too long.
const SLOW: Duration = Duration::from_millis(80);
/// Rounds between two evaluations of the statistics.
const LOOK: u32 = 128;
/// In these first rounds, the tester waits for forbidden messages.
const PATIENT: u32 = 12;
const RECENT: u32 = 20;
/// A shuffled deck never repeats this number of cards in rounds that begin like the previous one.
const SUSPICIOUS: usize = 9;

pub(super) struct Table {
    pub(super) seats: Vec<Seat>,
    pub(super) dealer: Dealer,
    pub(super) totals: SharedTotals,
    /// Has broken the protocol. It answers further questions with STAND, so that no other player has to wait.
    pub(super) offender: Option<Seat>,
    pub(super) offender_messages: Vec<DealerMessage>,
    /// The first cards of the round, including the dealer's.
    pub(super) opening: Vec<Card>,
    pub(super) upcard: Option<Card>,
    dealt_before: Vec<Card>,
    // Rounds that began with the cards of the previous round.
    repeated: Vec<u32>,
}

impl Table {
    pub(super) fn seat_players(judge: &mut Judge, mut dealer: Dealer, styles: &[Style]) -> ScenarioResult<Self> {
        let mut seats = Vec::new();
        for (number, &style) in (1..).zip(styles) {
            let mut seat = Seat::connect(judge, &mut dealer, number)?;
            seat.style = style;
            seat.join(&format!("tester{number}"))?;
            seats.push(seat);
        }
        Ok(Self::of(dealer, seats))
    }

    pub(super) fn of(dealer: Dealer, seats: Vec<Seat>) -> Self {
        Self {
            dealer,
            seats,
            totals: SharedTotals::default(),
            offender: None,
            offender_messages: Vec::new(),
            opening: Vec::new(),
            upcard: None,
            dealt_before: Vec::new(),
            repeated: Vec::new(),
        }
    }

    pub(super) fn finish_round(&mut self, judge: &mut Judge, round: u32) -> ScenarioResult {
        while let Some(index) = self.next_question(judge, round)? {
            self.hand(judge, index, round)?;
        }
        self.results(judge, round)
    }

    /// Plays until it is clear which rules the dealer keeps, until `latest` at most. After `by`, a fast dealer
    /// continues only for a soft 17, and a slow one only until each kind of hand has occurred.
    pub(super) fn play_on(
        &mut self,
        judge: &mut Judge,
        rounds: u32,
        (by, latest): (Instant, Instant),
    ) -> ScenarioResult {
        let mut fastest = Duration::MAX;
        for round in 0..rounds {
            let start = Instant::now();
            let is_clear = round > 0 && round % LOOK == 0 && self.totals.lock().chance.is_clear();
            // A slow dealer does not play enough rounds to show a soft 17.
            let is_fast = fastest < SLOW;
            let continues =
                if is_fast { self.totals.lock().chance.is_open() } else { self.totals.lock().lacks_events() };
            let is_late = start >= if continues { latest } else { by };
            if is_clear || is_late || !self.deal(judge, round, rounds)? {
                return Ok(());
            }
            self.finish_round(judge, round)?;
            fastest = fastest.min(start.elapsed());
        }
        Ok(())
    }

    /// Plays until the connections end, or until QUIT if `rounds` is `u32::MAX`.
    pub(super) fn play(&mut self, judge: &mut Judge, first: u32, rounds: u32) -> ScenarioResult {
        for round in first..rounds {
            if !self.deal(judge, round, rounds)? {
                self.leave(judge);
                return Ok(());
            }
            self.finish_round(judge, round)?;
        }
        let mut quits = 0;
        for seat in &mut self.seats {
            let received = seat.receive(judge, self.dealer.options.deadline());
            let wrong =
                || format!("seat {}: expected QUIT after the last round, {rounds}, received {received}", seat.number);
            let is_over = received != Arrival::Message(DealerMessage::Begin);
            judge.require(&ROUNDS, is_over, wrong)?;
            quits += usize::from(judge.check(&QUIT, received == Arrival::Message(DealerMessage::Quit), wrong));
            if received == Arrival::Closed {
                judge.check(&CLOSES, true, String::new);
            }
        }
        if quits < self.seats.len() {
            judge.leave_out_for([&NOTHING_MORE], &QUIT);
            return Ok(());
        }
        self.leave(judge);
        Ok(())
    }

    /// Returns `false` if QUIT ends the game instead.
    pub(super) fn deal(&mut self, judge: &mut Judge, round: u32, rounds: u32) -> ScenarioResult<bool> {
        let at = round + 1;
        let mut upcards = Vec::new();
        let mut dealt: Vec<Card> = Vec::new();
        let mut quits = 0;
        for seat in &mut self.seats {
            seat.begin_round();
            let (number, place) = (seat.number, seat.at(round));
            let mut came = Vec::new();
            let mut upcard = None;
            while seat.hand.cards().len() < 2 || upcard.is_none() {
                let received = seat.receive(judge, self.dealer.options.deadline());
                match received {
                    Arrival::Message(DealerMessage::Begin) if !came.contains(&'B') => {
                        judge.check(&ROUND_BEGINS, came.is_empty(), || {
                            format!("{place}: expected BEGIN before the first card, received it after a card")
                        });
                        came.push('B');
                    }
                    Arrival::Message(DealerMessage::Card(card)) if seat.hand.cards().len() < 2 => {
                        came.push('C');
                        seat.hand.push(card);
                    }
                    Arrival::Message(DealerMessage::Upcard(card)) if upcard.is_none() => {
                        came.push('D');
                        upcard = Some(card);
                    }
                    Arrival::Message(DealerMessage::Result(_)) if came.is_empty() && round > 0 => {
                        judge.check(&RESULT, false, || {
                            format!("{place}: expected BEGIN after RESULT, received {received}")
                        });
                    }
                    Arrival::Message(DealerMessage::Quit) if came.is_empty() && round > 0 => break,
                    Arrival::Closed if came.is_empty() && round > 0 => {
                        return judge.broken(&ROUNDS, || {
                            format!("seat {number}: expected {rounds} rounds, received {received} after round {round}")
                        });
                    }
                    _ if came.is_empty() => {
                        return judge.broken(&ROUND_BEGINS, || format!("{place}: expected BEGIN, received {received}"));
                    }
                    Arrival::Message(message @ DealerMessage::Decision) if seat.hand.cards().len() == 2 => {
                        seat.put_back(message);
                        break;
                    }
                    received => {
                        let due = ["the first CARD", "the second CARD", "DEALER"][seat.hand.cards().len().min(2)];
                        return judge.broken(&DEAL, || format!("{place}: expected {due}, received {received}"));
                    }
                }
            }
            if came.is_empty() {
                quits += 1;
                continue;
            }
            if !came.contains(&'B') {
                judge
                    .check(&ROUND_BEGINS, false, || format!("{place}: expected BEGIN before the cards, received none"));
            }
            came.retain(|&kind| kind != 'B');
            judge.check(&DEAL, came == ['C', 'C', 'D'], || match upcard {
                None => format!("{place}: expected DEALER, received DECISION"),
                Some(card) => format!("{place}: expected the second CARD, received DEALER {card}"),
            });
            dealt.extend(seat.hand.cards());
            upcards.extend(upcard);
        }
        if quits > 0 {
            judge.check(&ROUNDS, rounds == u32::MAX, || {
                format!("expected {rounds} rounds, received QUIT after round {round}")
            });
            return Ok(false);
        }
        let same = upcards.iter().all(|card| Some(card) == upcards.first());
        if self.seats.len() > 1 {
            judge.check(&SAME_UPCARD, same, || {
                format!("round {at}: expected the same upcard at all seats, received {}", cards(&upcards))
            });
        }
        self.upcard = upcards.first().copied();
        dealt.extend(self.upcard);
        self.one_deck(judge, at, &dealt);
        let repeats = self.shuffled(judge, at, &dealt);
        let before: HashSet<Card> = self.dealt_before.drain(..).collect();
        // A repeated deck adds no information about the shuffle.
        let mut totals = self.totals.lock();
        if self.upcard.is_some() && !repeats {
            totals.chance.cards.deal(&dealt, &before);
        }
        totals.first.get_or_insert_with(|| (Instant::now(), dealt.clone()));
        drop(totals);
        self.dealt_before.extend(&dealt);
        self.opening = dealt;
        Ok(true)
    }

    pub(super) fn one_deck(&self, judge: &mut Judge, at: u32, dealt: &[Card]) {
        let twice =
            dealt.iter().enumerate().find(|(index, card)| dealt.iter().take(*index).any(|other| other == *card));
        let players = self.seats.len();
        judge.check(&ONE_DECK, twice.is_none(), || match twice {
            Some((_, card)) => {
                format!("round {at}: expected each card once, received {card} twice at this table of {players}")
            }
            None => String::new(),
        });
    }

    // Returns whether the cards repeat the previous round.
    fn shuffled(&mut self, judge: &mut Judge, at: u32, dealt: &[Card]) -> bool {
        self.repeated.retain(|round| round + RECENT > at);
        let repeats = self.opening == dealt;
        if repeats {
            self.repeated.push(at);
        }
        let count = self.repeated.len();
        if at > 1 {
            judge.check(&SHUFFLED, !repeats || count * dealt.len() < SUSPICIOUS, || {
                format!("round {at}: expected a new shuffle, received the cards of the previous round, as in {count} of the last {RECENT} rounds: {}", cards(dealt))
            });
        }
        repeats
    }

    /// `None` when all hands are over.
    pub(super) fn next_question(&mut self, judge: &mut Judge, round: u32) -> ScenarioResult<Option<usize>> {
        let by = self.dealer.options.deadline();
        while !self.seats.iter().all(Seat::is_over) {
            self.serve_offender(judge);
            for index in 0..self.seats.len() {
                let Some(seat) = self.seats.get_mut(index).filter(|seat| !seat.is_over()) else { continue };
                let number = seat.number;
                let received = seat.receive(judge, Instant::now() + TURN);
                let wrong = || format!("{}: expected DECISION, received {received}", seat.at(round));
                match received {
                    Arrival::Message(DealerMessage::Decision) => {
                        Question::of(&seat.hand).record(judge, &mut self.totals.lock().events);
                        self.no_early_result(judge, number, round)?;
                        return Ok(Some(index));
                    }
                    Arrival::Nothing if Instant::now() < by => {}
                    Arrival::Message(DealerMessage::Result(verdict)) => {
                        judge.check(Question::of(&seat.hand).blamed_rule(received, &DEAL), false, wrong);
                        seat.end_with(verdict);
                    }
                    // After an extra message, the question is still expected.
                    Arrival::Message(DealerMessage::Card(_) | DealerMessage::Upcard(_)) => {
                        judge.check(&DEAL, false, wrong);
                    }
                    received => {
                        let rule = Question::of(&seat.hand).blamed_rule(received, &DEAL);
                        let at = seat.at(round);
                        if received == Arrival::Nothing {
                            self.no_question_after_bust(judge, round)?;
                        }
                        return judge.broken(rule, || format!("{at}: expected DECISION, received {received}"));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Also serves the offender while it waits.
    pub(super) fn receive_from(&mut self, judge: &mut Judge, index: usize) -> Arrival {
        let by = self.dealer.options.deadline();
        while self.offender.is_some() && Instant::now() < by {
            self.serve_offender(judge);
            let Some(seat) = self.seats.get_mut(index) else { break };
            let received = seat.receive(judge, Instant::now() + TURN);
            if received != Arrival::Nothing {
                return received;
            }
        }
        self.seats.get_mut(index).map_or(Arrival::Nothing, |seat| seat.receive(judge, by))
    }

    // The dealer may be waiting for a player whose hand is over.
    fn no_question_after_bust(&mut self, judge: &mut Judge, round: u32) -> ScenarioResult {
        for seat in self.seats.iter_mut().filter(|seat| seat.hand.points().is_bust()) {
            let received = seat.receive(judge, Instant::now() + TURN);
            let (at, total) = (seat.at(round), seat.hand.points().total());
            judge.require(&BUST_ENDS, received != Arrival::Message(DealerMessage::Decision), || {
                format!("{at}: expected no DECISION at a total of {total}, received DECISION")
            })?;
        }
        Ok(())
    }

    fn serve_offender(&mut self, judge: &mut Judge) {
        let Some(offender) = &mut self.offender else { return };
        if let Arrival::Message(message) = offender.receive(judge, Instant::now() + TURN) {
            if message == DealerMessage::Decision {
                offender.send(&PlayerMessage::Stand);
            }
            self.offender_messages.push(message);
        }
    }

    // No player may have the result of the round while another has a question. If the dealer questions players in turn,
    // an early RESULT precedes this question.
    fn no_early_result(&mut self, judge: &mut Judge, asked: usize, round: u32) -> ScenarioResult {
        let wait = if round < PATIENT { TURN } else { Duration::ZERO };
        for seat in self.seats.iter_mut().filter(|seat| seat.is_over() && seat.result.is_none()) {
            loop {
                let received = seat.receive(judge, Instant::now() + wait);
                let wrong = || {
                    format!("{}: expected nothing during the turn of seat {asked}, received {received}", seat.at(round))
                };
                let is_told = matches!(received, Arrival::Message(DealerMessage::Card(_) | DealerMessage::Decision));
                judge.check(&OTHERS_HIDDEN, !is_told, wrong);
                if is_told {
                    continue;
                }
                judge.check(&RESULT_AT_END, received == Arrival::Nothing, wrong);
                match received {
                    Arrival::Message(DealerMessage::Result(verdict)) => seat.result = Some(verdict),
                    Arrival::Closed => return Err(Halt::Broken),
                    _ => {}
                }
                break;
            }
        }
        Ok(())
    }

    pub(super) fn hand(&mut self, judge: &mut Judge, index: usize, round: u32) -> ScenarioResult {
        let deadline = || self.dealer.options.deadline();
        let upcard = self.upcard;
        let is_shared = self.seats.len() > 1;
        let seat = &mut self.seats[index];
        let at = seat.at(round);
        loop {
            if !seat.style.hits(round, &seat.hand, upcard) {
                seat.send(&PlayerMessage::Stand);
                seat.stood = true;
                return Ok(());
            }
            seat.send(&PlayerMessage::Hit);
            let mut received = seat.receive(judge, deadline());
            let mut count = 0;
            while let Arrival::Message(DealerMessage::Card(card)) = received {
                count += 1;
                judge.check(&HIT, count == 1, || {
                    format!("{at}: expected one CARD after HIT, received {card} as the second")
                });
                self.totals.lock().chance.cards.draw(card, &self.dealt_before);
                self.dealt_before.push(card);
                seat.hand.push(card);
                let hand = seat.hand.cards().to_vec();
                judge.check(&ONE_DECK, hand.iter().filter(|&&other| other == card).count() == 1, || {
                    format!("{at}: expected each card once, received {card} twice in this hand")
                });
                if seat.hand.points().is_bust() {
                    return Ok(());
                }
                received = seat.receive(judge, deadline());
            }
            judge.require(&HIT, count > 0, || format!("{at}: expected CARD after HIT, received {received}"))?;
            let question = Question::of(&seat.hand);
            if received == Arrival::Nothing && is_shared {
                // If the dealer continues anyway, the end of the round shows how it treated the hand.
                (seat.stood, seat.unasked) = (true, true);
                return Ok(());
            }
            let total = seat.hand.points().total();
            let rule = question.blamed_rule(received, &ASKED_AGAIN);
            let is_asked = received == Arrival::Message(DealerMessage::Decision);
            judge.check(rule, is_asked, || {
                format!("{at}: expected DECISION at a total of {total}, received {received}")
            });
            match received {
                Arrival::Message(DealerMessage::Decision) => question.record(judge, &mut self.totals.lock().events),
                Arrival::Message(DealerMessage::Result(verdict)) => {
                    seat.end_with(verdict);
                    return Ok(());
                }
                _ => return Err(Halt::Broken),
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Greedy,
    Modest,
    /// Alternates between `Greedy`, `Modest` and the style of a dealer.
    Mixed,
    /// Stops at this total. Takes no cards if the upcard (7 to king) almost excludes a soft 17.
    Until(u8),
    /// Like [`Style::Mixed`], with each byte in a separate segment.
    Bytes,
}

impl Style {
    pub(super) fn hits(self, round: u32, hand: &Hand, upcard: Option<Card>) -> bool {
        match (self, round % 3) {
            (Self::Greedy, _) | (Self::Mixed | Self::Bytes, 0) => true,
            (Self::Until(total), _) => {
                hand.points().total() < total && upcard.is_some_and(|card| !(7..=10).contains(&card.value()))
            }
            (Self::Modest, _) | (Self::Mixed | Self::Bytes, 1) => false,
            _ => hand.points().dealer_hits(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    Message(DealerMessage),
    Closed,
    Nothing,
}

impl std::fmt::Display for Arrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(message) => write!(f, "{message}"),
            Self::Closed => f.write_str("the end of the connection"),
            Self::Nothing => f.write_str("nothing in time"),
        }
    }
}

pub(super) struct Dealer {
    pub(super) run: Box<dyn Run>,
    pub(super) address: SocketAddr,
    pub(super) options: Options,
}

pub(super) struct Seat {
    pub(super) connection: Connection,
    pub(super) style: Style,
    pub(super) number: usize,
    pub(super) hand: Hand,
    pub(super) stood: bool,
    pub(super) unasked: bool,
    pub(super) result: Option<Verdict>,
    /// The dealer has ended the hand early, which is already recorded as a breach.
    pub(super) is_cut: bool,
    reader: Reader<DealerMessage>,
    pending: Option<DealerMessage>,
}

impl Seat {
    pub(super) fn connect(judge: &mut Judge, dealer: &mut Dealer, number: usize) -> ScenarioResult<Self> {
        let Dealer { run, address, options } = dealer;
        let opened = Connection::to_server(&mut **run, *address, options.start_deadline());
        let opened = opened.map_err(|error| {
            format!("expected a connection to {address}, but connecting failed: {error}{}", run.exit_clause())
        });
        let channel = judge.open_channel(&format!("seat {number}"), &WITH_DEALER);
        let connection = judge.expect(&LISTENS, opened)?.recorded(channel);
        Ok(Self {
            connection,
            style: Style::Mixed,
            number,
            hand: Hand::new(),
            stood: false,
            unasked: false,
            result: None,
            is_cut: false,
            reader: of_dealer(&GRAMMAR),
            pending: None,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.stood || self.hand.points().is_bust()
    }

    pub(super) fn at(&self, round: u32) -> String {
        format!("seat {}, round {}", self.number, round + 1)
    }

    pub(super) fn send(&mut self, message: &PlayerMessage) {
        let bytes = message.to_bytes(Dialect::Text);
        if self.style == Style::Bytes {
            self.connection.send_in_bytes(&bytes);
        } else {
            self.connection.send(&bytes);
        }
    }

    pub(super) fn join(&mut self, name: &str) -> ScenarioResult {
        let name = Name::new(name.as_bytes());
        self.send(&PlayerMessage::Join(name.map_err(|_| anyhow::anyhow!("invalid name for a tester"))?));
        Ok(())
    }

    pub(super) fn begin_round(&mut self) {
        (self.hand, self.stood, self.unasked, self.result, self.is_cut) = (Hand::new(), false, false, None, false);
    }

    pub(super) fn end_with(&mut self, verdict: Verdict) {
        (self.stood, self.result, self.is_cut) = (true, Some(verdict), true);
    }

    pub(super) fn put_back(&mut self, message: DealerMessage) {
        self.pending = Some(message);
    }

    /// A misspelled message counts as the message that it resembles.
    pub(super) fn receive(&mut self, judge: &mut Judge, by: Instant) -> Arrival {
        if let Some(message) = self.pending.take() {
            return Arrival::Message(message);
        }
        if matches!(self.style, Style::Until(_)) {
            // Delayed acknowledgements would slow down these long games.
            self.connection.acknowledge();
        }
        while let Some((message, _)) = self.reader.next(judge, &mut self.connection, by) {
            if let Some(message) = message {
                return Arrival::Message(message);
            }
        }
        if !self.connection.closed {
            return Arrival::Nothing;
        }
        let rest = self.connection.rest();
        if !rest.is_empty() {
            judge.check(&GRAMMAR, false, || {
                format!(
                    "expected the rest of a message before the end of the connection, received only '{}'",
                    rest.escape_ascii()
                )
            });
        }
        Arrival::Closed
    }
}

/// Dealers that handle most hands correctly are often wrong for one of these.
#[derive(PartialEq, Eq, Hash)]
enum Event {
    Dealt21,
    Drawn21,
    LowAce,
    Best,
    Ended(Verdict),
}

/// Includes one for each verdict.
const EVENTS: usize = 8;

#[derive(Default)]
pub(super) struct Totals {
    events: HashSet<Event>,
    pub(super) chance: Chance,
    pub(super) first: Option<(Instant, Vec<Card>)>,
}

impl Totals {
    pub(super) fn lacks_events(&self) -> bool {
        self.events.len() < EVENTS
    }
}

#[derive(Clone, Default)]
pub(super) struct SharedTotals(Arc<Mutex<Totals>>);

impl SharedTotals {
    pub(super) fn lock(&self) -> MutexGuard<'_, Totals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Question {
    is_dealt: bool,
    is_best: bool,
    has_low_ace: bool,
}

impl Question {
    pub(super) fn of(hand: &Hand) -> Self {
        let (cards, total) = (hand.cards(), hand.points().total());
        let with_high_aces: u32 = cards.iter().map(|card| u32::from(Card::value(*card))).sum();
        Self { is_dealt: cards.len() == 2, is_best: total == BEST, has_low_ace: with_high_aces > u32::from(total) }
    }

    fn record(self, judge: &mut Judge, events: &mut HashSet<Event>) {
        if self.has_low_ace {
            events.insert(Event::LowAce);
            judge.check(&ACE_ONE, true, String::new);
        }
        match (self.is_best, self.is_dealt) {
            (true, true) => {
                events.insert(Event::Dealt21);
                judge.check(&NATURAL, true, String::new);
            }
            (true, false) => {
                events.insert(Event::Drawn21);
                judge.check(&ASKED_AT_21, true, String::new);
            }
            (false, false) => drop(judge.check(&ASKED_AGAIN, true, String::new)),
            (false, true) => {}
        }
    }

    /// The rule that `received` breaks instead: `usual`, unless the hand explains it.
    pub(super) fn blamed_rule(self, received: Arrival, usual: &'static Rule) -> &'static Rule {
        match received {
            Arrival::Message(DealerMessage::Result(Verdict::Bust)) if self.has_low_ace => &ACE_ONE,
            Arrival::Message(DealerMessage::Result(_)) if self.is_best && self.is_dealt => &NATURAL,
            Arrival::Message(DealerMessage::Result(_)) if self.is_best => &ASKED_AT_21,
            _ => usual,
        }
    }
}

impl Table {
    pub(super) fn results(&mut self, judge: &mut Judge, round: u32) -> ScenarioResult {
        let mut verdicts = Vec::new();
        let mut dealt: Vec<Card> = self.upcard.into_iter().collect();
        for index in 0..self.seats.len() {
            let verdict = self.result(judge, index, round)?;
            let Some(seat) = self.seats.get(index) else { break };
            dealt.extend(seat.hand.cards());
            let Some(verdict) = verdict.filter(|_| !seat.is_cut) else { continue };
            let total = seat.hand.points().total();
            let is_bust = total > BEST;
            let right = match total {
                _ if is_bust => "BUST",
                BEST => "WIN or PUSH",
                _ if total < DEALER_STANDS => "WIN or LOOSE",
                _ => "WIN, LOOSE or PUSH",
            };
            let wrong = || {
                format!(
                    "{}: expected RESULT {right} at a total of {total}, received RESULT {}",
                    seat.at(round),
                    verdict.word()
                )
            };
            let mut fits =
                judge.check(if is_bust { &BUST } else { &RESULT }, (verdict == Verdict::Bust) == is_bust, wrong);
            if total == BEST {
                fits &= judge.check(&BEST_HAND, verdict != Verdict::Lose, wrong);
                self.totals.lock().events.insert(Event::Best);
            } else if total < DEALER_STANDS {
                fits &= judge.check(&LOW_TIE, verdict != Verdict::Push, wrong);
            }
            // A hand above 21 has lost, whatever the dealer reports.
            let verdict = if is_bust { Verdict::Bust } else { verdict };
            self.totals.lock().events.insert(Event::Ended(verdict));
            if fits || is_bust {
                verdicts.push((total, verdict));
            }
        }
        self.one_deck(judge, round + 1, &dealt);
        // 22 represents a bust dealer.
        let fits = |dealer: u8| verdicts.iter().all(|&(total, verdict)| Verdict::of(total, dealer) == verdict);
        let is_fair = verdicts.is_empty()
            || judge.check(&FAIR, (DEALER_STANDS..=BEST + 1).any(fits), || {
                let told = verdicts.iter().map(|(total, verdict)| format!("{} at {total}", verdict.word()));
                format!(
                    "round {}: expected results for one total of the dealer, received {}",
                    round + 1,
                    told.collect::<Vec<_>>().join(" and ")
                )
            });
        if let Some(upcard) = self.upcard.filter(|_| is_fair && !verdicts.is_empty()) {
            self.totals.lock().chance.round(upcard, &dealt, &verdicts);
        }
        Ok(())
    }

    // `None` if the round ends without a RESULT.
    fn result(&mut self, judge: &mut Judge, index: usize, round: u32) -> ScenarioResult<Option<Verdict>> {
        let is_shared = self.seats.len() > 1;
        loop {
            if let Some(verdict) = self.seats.get_mut(index).and_then(|seat| seat.result.take()) {
                return Ok(Some(verdict));
            }
            let received = self.receive_from(judge, index);
            let Some(seat) = self.seats.get_mut(index) else { return Ok(None) };
            let total = seat.hand.points().total();
            let at = seat.at(round);
            if seat.unasked {
                let rule = Question::of(&seat.hand).blamed_rule(received, &ASKED_AGAIN);
                // Each further missing question would cost a wait.
                return judge.broken(rule, || {
                    format!("{at}: expected DECISION at a total of {total}, received none, and later {received}")
                });
            }
            if total > BEST {
                let asked = received == Arrival::Message(DealerMessage::Decision);
                if !judge.check(&BUST_ENDS, !asked, || {
                    format!("{at}: expected no DECISION at a total of {total}, received DECISION")
                }) {
                    seat.send(&PlayerMessage::Stand);
                    continue;
                }
            }
            if let Arrival::Message(DealerMessage::Result(verdict)) = received {
                return Ok(Some(verdict));
            }
            let is_told = is_shared && matches!(received, Arrival::Message(DealerMessage::Card(_)));
            judge.check(if is_told { &OTHERS_HIDDEN } else { &RESULT }, false, || {
                format!("{at}: expected RESULT at a total of {total}, received {received}")
            });
            match received {
                // The RESULT is still due after another player's cards.
                Arrival::Message(DealerMessage::Card(_) | DealerMessage::Upcard(_)) => {}
                Arrival::Message(message @ (DealerMessage::Begin | DealerMessage::Quit)) => {
                    seat.put_back(message);
                    return Ok(None);
                }
                _ => return Err(Halt::Broken),
            }
        }
    }

    pub(super) fn leave(&mut self, judge: &mut Judge) {
        for seat in &mut self.seats {
            let received = seat.receive(judge, self.dealer.options.deadline());
            let wrong =
                || format!("seat {}: expected the end of the connection after QUIT, received {received}", seat.number);
            let is_silent = !matches!(received, Arrival::Message(_));
            if judge.check(&NOTHING_MORE, is_silent, wrong) {
                judge.check(&CLOSES, received == Arrival::Closed, wrong);
            }
        }
    }
}
